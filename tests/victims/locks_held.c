/* SPDX-License-Identifier: MIT */
/*
 * locks_held: a thread sleeps for seconds with a lock of the C library or its loader held,
 * as one does whose signal handler is slow, or whose library's constructor. Others, which
 * want no such lock, tick, and wait for semaphores in between. How long has one of them
 * been kept from it? By the first argument; a second one is how many seconds it sleeps at most,
 * not 60:
 *
 *	FILE.so		dlopen of it, with a constructor that sleeps
 *	malloc		a handler has interrupted malloc or free, in the only arena
 *	stacks		a handler has interrupted pthread_join, which gives a stack back
 *
 *	hold	-> ok hold	the lock is held now, until free is said, or for so long
 *	gap	-> gap MS	the longest between two ticks since then
 *	free	-> ok free	it has been given back
 */
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>

#include "tests/machine.h"
#include "tests/victims/victim.h"

enum {
	HELD = 60,		/* seconds */
	TICKERS = 4,
	TICK_US = 2000, SLEEP_US = 20000,
	TRIAL_US = 300000,	/* in which a thread gets a lock that is free, as a rule; longer
				 * where it is held for longer, for all is slow there */
	SIZE = 3000,		/* of what no thread caches */
	STACK = 64 << 20,	/* what the stack cache does not keep */
};

static const char *how;
static int seconds = HELD;
static pthread_t holder, trier;
static sem_t begin, try, tried, over;
static volatile bool held, trying, enough;
static uintptr_t libc_start, libc_end;
static volatile uint64_t gap;

PROBED uint64_t held_tick(uint64_t x)
{
	return x * 3 + 1;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* False if it was not posted in that time. */
static bool wait_for(sem_t *sem, long us)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += us * 1000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return sem_timedwait(sem, &t) == 0;
}

static void *tick(void *arg)
{
	uint64_t before = now_us(), x = 1;
	sem_t never;

	sem_init(&never, 0, 0);
	for (;;) {
		wait_for(&never, TICK_US);
		if (held_tick(x) != x * 3 + 1)
			victim_wrong("held_tick");
		x++;
		victim_count();
		uint64_t now = now_us();
		if (now - before > gap)
			gap = now - before;
		before = now;
	}
	return arg;
}

static void *nothing(void *arg)
{
	return arg;
}

static void with_stack(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if (pthread_create(&t, &attr, nothing, NULL) == 0)
		pthread_join(t, NULL);
	pthread_attr_destroy(&attr);
}

static void with_memory(void)
{
	void *volatile p = malloc(SIZE);

	free(p);
}

static void work(void)
{
	if (strcmp(how, "malloc") == 0)
		with_memory();
	else
		with_stack();
}

static void *try_it(void *arg)
{
	for (;;) {
		while (sem_wait(&try) < 0)
			;
		work();
		sem_post(&tried);
	}
	return arg;
}

static void sleep_held(void)
{
	gap = 0;
	held = true;
	sem_post(&begin);
	for (uint64_t until = now_us() + (uint64_t)seconds * 1000000; !enough && now_us() < until;)
		victim_sleep_us(SLEEP_US);
	held = false;
	sem_post(&over);
}

/* Is what was interrupted in the C library, and does another thread not get through it? */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	uintptr_t pc = (uintptr_t)CONTEXT_PC((ucontext_t *)context);

	(void)sig, (void)info;
	if (!trying || pc < libc_start || pc >= libc_end)
		return;
	sem_post(&try);
	if (wait_for(&tried, (long)TRIAL_US * seconds / HELD))
		return;
	trying = false;
	sleep_held();
	if (sem_trywait(&tried) == 0)
		victim_wrong("the lock was not held");
}

static void *hold_it(void *arg)
{
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	while (sem_wait(&over) < 0)
		;
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
	if (strchr(how, '/') && !dlopen(how, RTLD_NOW))
		victim_wrong("dlopen: %s", dlerror());
	while (trying)
		work();
	return arg;
}

/* What the library's constructor calls. */
void in_constructor(void)
{
	sleep_held();
}

static void on_command(const char *command)
{
	if (strcmp(command, "gap") == 0) {
		victim_say("gap %d%s", (int)(gap / 1000), held ? "" : " no more");
		return;
	}
	if (strcmp(command, "hold") == 0) {
		trying = !strchr(how, '/');
		sem_post(&over);
		while (!wait_for(&begin, 1000))
			if (trying)
				pthread_kill(holder, SIGUSR1);
	} else {
		enough = true;
		pthread_join(holder, NULL);
		sem_wait(&over);
	}
	victim_say("ok %s", command);
}

static int note_libc(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	for (int i = 0; strstr(info->dlpi_name, "libc.so") && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		libc_start = info->dlpi_addr + p->p_vaddr;
		libc_end = libc_start + p->p_memsz;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	pthread_t t;

	if (argc < 2)
		return 2;
	how = argv[1];
	if (argc > 2)
		seconds = atoi(argv[2]);
	mallopt(M_ARENA_MAX, 1);
	sem_init(&begin, 0, 0);
	sem_init(&try, 0, 0);
	sem_init(&tried, 0, 0);
	sem_init(&over, 0, 0);
	dl_iterate_phdr(note_libc, NULL);
	sigaction(SIGUSR1, &act, NULL);
	sigaddset(&act.sa_mask, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &act.sa_mask, NULL);
	if (pthread_create(&holder, NULL, hold_it, NULL) ||
	    pthread_create(&trier, NULL, try_it, NULL))
		return 1;
	for (int i = 0; i < TICKERS; i++)
		if (pthread_create(&t, NULL, tick, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(5, on_command))
		;
	return victim_errors != 0;
}
