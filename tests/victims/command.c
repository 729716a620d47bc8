/* SPDX-License-Identifier: MIT */
/* command: a program to be started: `command WORD [ARG]...` does one thing and
 * ends. It works in a constructor before main, too, so that a tracer that is to see all of it
 * must be there early. */
#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/victims/victim.h"

static volatile sig_atomic_t terms;

PROBED uint64_t command_early(uint64_t x)
{
	return x * 3;
}

PROBED uint64_t command_work(uint64_t x)
{
	return x * x + 1;
}

static uint64_t early;

__attribute__((constructor)) static void begin(void)
{
	if (getenv("COMMAND_REPORTS"))
		victim_say("begun");
	for (int i = 0; i < 10; i++)
		early += command_early((uint64_t)i);
}

static void on_term(int sig)
{
	terms++;
}

/* `terms N`: end when N SIGTERM have come. */
static int count_terms(int n)
{
	struct sigaction a = { .sa_handler = on_term };
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaction(SIGTERM, &a, NULL);
	sigprocmask(SIG_BLOCK, &set, &before);
	victim_say("ready");
	while (terms < n)
		sigsuspend(&before);
	victim_say("%d terms", (int)terms);
	return 3;
}

/* `interrupted MS`: end when SIGINT has come, but for other reasons, so long after it. */
static int await_interrupt(int ms)
{
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	victim_say("ready");
	sigwait(&set, &sig);
	victim_sleep_us(1000 * (long)ms);
	victim_say("interrupted");
	return 6;
}

/* `suspend`: as by a suspend key of its own. */
static int suspend(void)
{
	victim_say("ready");
	raise(SIGTSTP);
	victim_say("back");
	return 8;
}

/* `stopped`: for a while, and a child continues it. */
static int stop_awhile(void)
{
	pid_t parent = getpid();

	victim_say("ready");
	if (fork() == 0) {
		victim_sleep_us(500000);
		kill(parent, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
	victim_say("back");
	return 9;
}

/* `group`: a child sends SIGTERM to all of the process group: how many come? */
static int count_group(void)
{
	struct sigaction a = { .sa_handler = on_term };

	sigaction(SIGTERM, &a, NULL);
	if (fork() == 0) {
		signal(SIGTERM, SIG_IGN);
		kill(0, SIGTERM);
		victim_sleep_us(500000);
		_exit(0);
	}
	while (wait(NULL) < 0)
		;
	return (int)terms;
}

/* `fork SECONDS`: end at once, while a child works on. */
static int leave_child(int seconds)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < seconds * 100; i++) {
			if (command_work(5) != 26)
				victim_wrong("command_work");
			usleep(10000);
		}
		_exit(0);
	}
	victim_say("child %d", pid);
	return 4;
}

#ifndef STATIC
/* `plugin LIBRARY FILE`: load it, and call it until FILE, to which the calls are
 * printed, has some lines; half a minute at most. */
static int call_plugin(const char *library, const char *file)
{
	void *lib = dlopen(library, RTLD_NOW);
	int (*answer)(int) = NULL;
	struct stat st;

	if (lib)
		*(void **)&answer = dlsym(lib, "plugin_answer");
	for (int i = 0; answer && i < 3000; i++) {
		answer(i);
		if (stat(file, &st) == 0 && st.st_size > 200)
			return 0;
		victim_sleep_us(10000);
	}
	return 1;
}
#endif

static int obey(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "work";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (strcmp(word, "exit") == 0)
		return n;
	if (strcmp(word, "raise") == 0)
		return raise(n);
	if (strcmp(word, "terms") == 0)
		return count_terms(n);
	if (strcmp(word, "interrupted") == 0)
		return await_interrupt(n);
	if (strcmp(word, "suspend") == 0)
		return suspend();
	if (strcmp(word, "stopped") == 0)
		return stop_awhile();
	if (strcmp(word, "group") == 0)
		return count_group();
	if (strcmp(word, "fork") == 0)
		return leave_child(n);
#ifndef STATIC
	if (strcmp(word, "plugin") == 0)
		return call_plugin(argv[2], argv[3]);
#endif
	if (strcmp(word, "exec") == 0)
		return execvp(argv[2], argv + 2);
	if (strcmp(word, "sleep") == 0) {
		victim_say("ready");
		return (int)sleep((unsigned)n);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (early != 135)
		victim_wrong("constructor");
	for (uint64_t x = 0; x < 1000; x++)
		if (command_work(x) != x * x + 1)
			victim_wrong("command_work");
	if (getenv("COMMAND_REPORTS"))
		victim_say("done");
	return victim_errors ? 99 : obey(argc, argv);
}
