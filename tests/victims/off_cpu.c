/* SPDX-License-Identifier: MIT */
/*
 * off_cpu: is it seen when a thread has a processor, and when not? Each command makes CALLS calls
 * of a function off_NAME. For each call in which the thread might wait there is a line "did
 * FUNCTION TID TIMES": so often has it left its processor to wait, as the kernel counts it. At the
 * end there is a line "NAME".
 *
 *	sleep	for 5 ms
 *	futex	waits for it, for 5 ms
 *	lock	waits for a mutex, which is held for 5 ms more when it does
 *	spin	until the thread has had a processor for 5 ms
 *	deep	within each other, each sleeps for 1 ms and spins for 1 ms
 *	crowd	two threads that have one processor together spin, for 60 ms each: off_crowd
 *	brief	threads that are made for it, and end with it: off_brief sleeps and spins for 1 ms
 *	churn	the same, and the threads make a thread that makes the call
 *	storm	one call, in which two threads switch more often than the kernel keeps
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

enum { CALLS = 10, MS = 1000000 };

static uint64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void spin_for(uint64_t ns)
{
	uint64_t end = cpu_now() + ns;

	while (cpu_now() < end)
		;
}

static long times_off(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return r.ru_nvcsw;
}

static void note(const char *function, void (*call)(void))
{
	long before = times_off();

	call();
	victim_say("did %s %ld %ld", function, syscall(SYS_gettid), times_off() - before);
}

PROBED void off_sleep(void)
{
	victim_sleep_us(5000);
	victim_count();
}

PROBED void off_spin(void)
{
	spin_for(5 * MS);
	victim_count();
}

PROBED void off_futex(void)
{
	const struct timespec t = { 0, 5 * MS };
	uint32_t word = 0;

	while (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0) < 0 &&
	       errno != ETIMEDOUT)
		;
	victim_count();
}

/* ---- a mutex ------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int held;
static pid_t waiter;

PROBED void off_lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	victim_count();
}

static bool sleeps(pid_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d %*[^)]) %c", &state) != 1)
		victim_wrong("stat");
	if (f)
		fclose(f);
	return state == 'S';
}

static void *hold(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	held = 1;
	while (!sleeps(waiter))
		sched_yield();
	victim_sleep_us(5000);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void contend(void)
{
	pthread_t t;

	held = 0;
	waiter = (pid_t)syscall(SYS_gettid);
	if (pthread_create(&t, NULL, hold, NULL)) {
		victim_wrong("pthread_create");
		return;
	}
	while (!held)
		sched_yield();
	note("off_lock", off_lock);
	pthread_join(t, NULL);
}

/* -------------------------------------------------------------------------- */

PROBED int off_deep(int n)
{
	victim_sleep_us(1000);
	spin_for(MS);
	volatile int below = n > 1 ? off_deep(n - 1) : 0;	/* no loop */

	return below + 1;
}

static void deep(void)
{
	if (off_deep(CALLS) != CALLS)
		victim_wrong("off_deep");
}

static pthread_barrier_t both;

PROBED void off_crowd(void)
{
	spin_for(60 * MS);
	victim_count();
}

static void *crowd_one(void *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((uintptr_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		victim_wrong("sched_setaffinity");
	pthread_barrier_wait(&both);
	off_crowd();
	return NULL;
}

static void crowd(void)
{
	int cpu = sched_getcpu();
	pthread_t t[2];

	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, crowd_one, (void *)(uintptr_t)cpu))
			victim_wrong("pthread_create");
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

PROBED void off_brief(void)
{
	victim_sleep_us(1000);
	spin_for(MS);
	victim_count();
}

static void *brief_one(void *deeper)
{
	pthread_t t;

	if (!deeper)
		note("off_brief", off_brief);
	else if (pthread_create(&t, NULL, brief_one, NULL) || pthread_join(t, NULL))
		victim_wrong("pthread_create");
	return NULL;
}

static void brief_of(void *deeper)
{
	pthread_t t;

	if (pthread_create(&t, NULL, brief_one, deeper) || pthread_join(t, NULL))
		victim_wrong("pthread_create");
}

static void brief(void)
{
	brief_of(NULL);
}

static void churn(void)
{
	brief_of(&both);
}

enum { STORM = 50000 };
static int there[2], back[2];

static void *echo(void *arg)
{
	char c;

	(void)arg;
	for (int i = 0; i < STORM; i++)
		if (read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1)
			victim_wrong("echo");
	return NULL;
}

PROBED void off_storm(void)
{
	char c = 0;

	for (int i = 0; i < STORM; i++)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			victim_wrong("storm");
}

static void storm(void)
{
	pthread_t t;

	if (pipe(there) || pipe(back) || pthread_create(&t, NULL, echo, NULL)) {
		victim_wrong("pthread_create");
		return;
	}
	off_storm();
	pthread_join(t, NULL);
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
}

static void sleep_once(void)
{
	note("off_sleep", off_sleep);
}

static void futex_once(void)
{
	note("off_futex", off_futex);
}

static const struct {
	const char *name;
	void (*once)(void);
	int times;
} commands[] = {
	{ "sleep", sleep_once, CALLS }, { "spin", off_spin, CALLS }, { "futex", futex_once, CALLS },
	{ "lock", contend, CALLS }, { "deep", deep, 1 }, { "crowd", crowd, 1 },
	{ "brief", brief, CALLS }, { "churn", churn, CALLS }, { "storm", storm, 1 },
};

static void on_command(const char *command)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(command, commands[i].name))
			continue;
		for (int j = 0; j < commands[i].times; j++)
			commands[i].once();
		victim_say("%s", command);
		return;
	}
	victim_say("what is %s?", command);
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(20, on_command))
		victim_count();
	return victim_errors != 0;
}
