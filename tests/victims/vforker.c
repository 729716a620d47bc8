/* SPDX-License-Identifier: MIT */
/*
 * vforker: children that share all of its memory, and call what is probed:
 * does that silence their parent, or spoil what is recorded of it?
 *
 *	vfork, clone	-> done N	a new thread has a child of that kind call
 *					share_work first, then calls it itself;
 *					N calls in all. clone: a process that
 *					does not make its parent wait for it
 *	spawn		-> done 0	posix_spawn
 *	linger		-> done PID	a clone that goes on calling, until
 *	part		-> done 0	when it ends
 */
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/victims/victim.h"

enum { CALLS = 100, STACK = 256 << 10 };

static const char *kind;
static bool linger;
static pid_t lingering;

PROBED uint64_t share_work(uint64_t x)
{
	return x * 19 + 4;
}

static void call_it(int times)
{
	for (int i = 0; i < times; i++)
		if (share_work(i) != i * 19u + 4)
			victim_wrong("share_work");
}

static int child(void *arg)
{
	call_it(CALLS);
	_exit(0);
	return arg != NULL;
}

static int lingerer(void *arg)
{
	while (__atomic_load_n(&linger, __ATOMIC_ACQUIRE)) {
		call_it(1);
		victim_sleep_us(100);
	}
	_exit(0);
	return arg != NULL;
}

static pid_t start_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		child(NULL);
	return pid;
}

static pid_t start_clone(int (*run)(void *))
{
	static char *stack;

	if (!stack)
		stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return clone(run, stack + STACK, CLONE_VM | SIGCHLD, NULL);
}

static pid_t start_spawn(void)
{
	static char name[] = "true";
	char *argv[] = { name, NULL }, *env[] = { NULL };
	pid_t pid;

	return posix_spawnp(&pid, "true", NULL, NULL, argv, env) ? -1 : pid;
}

static void *parent(void *arg)
{
	int status = 0;
	pid_t pid = strcmp(kind, "vfork") == 0 ? start_vfork() :
		strcmp(kind, "clone") == 0 ? start_clone(child) : start_spawn();

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		victim_wrong("%s: %s, status %x", kind, strerror(errno), status);
	if (strcmp(kind, "spawn") != 0)
		call_it(CALLS);
	return arg;
}

static void part(void)
{
	int status;

	__atomic_store_n(&linger, false, __ATOMIC_RELEASE);
	if (lingering && (waitpid(lingering, &status, 0) != lingering || status))
		victim_wrong("the lingering child: status %x", status);
	lingering = 0;
}

static void command(const char *word)
{
	pthread_t t;

	if (strcmp(word, "linger") == 0) {
		linger = true;
		lingering = start_clone(lingerer);
		victim_say("done %d", lingering);
		return;
	}
	if (strcmp(word, "part") == 0) {
		part();
		victim_say("done 0");
		return;
	}
	kind = word;
	if (pthread_create(&t, NULL, parent, NULL))
		victim_wrong("pthread_create");
	pthread_join(t, NULL);
	victim_say("done %d", strcmp(word, "spawn") ? 2 * CALLS : 0);
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(5, command))
		victim_count();
	part();
	return victim_errors != 0;
}
