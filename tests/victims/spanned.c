/* SPDX-License-Identifier: MIT */
/*
 * spanned: how long does it take from one call to another, in whichever threads these are?
 *
 *	run	-> N lines "lasted ID LEAST MOST", then "run N LATE": a request begins in one
 *		thread, and ends in another; of each the nanoseconds that it took at least and at
 *		most; LATE calls of no time have taken 30 ms, for their thread got no processor
 *	long	-> long: one request that takes 400 ms
 *	locks	-> locks HOLDER WAITER: threads; the one waits for a lock that the other has, 60 ms
 *	memory	-> memory: some calls of malloc and its like
 */
#include <malloc.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

enum { REQUESTS = 120, WORKERS = 3, LATE_NS = 30000000 };

struct request {
	int id, sleep_ms;
	uint64_t before, began, ends, ended;
};

static struct request requests[REQUESTS];
static int taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int held, waiter;	/* threads */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

PROBED int request_begins(int id, const char *what)
{
	return id + !what;
}

PROBED int request_ends(struct request *r, int id)
{
	return r->id != id;
}

/* Begins, and ends within: as a server that works on one request at a time. */
PROBED void request_logged(const char *what)
{
	(void)*(volatile const char *)what;
}

PROBED void request_whole(int ms)
{
	victim_sleep_us(ms * 1000);
	request_logged(ms ? "slow" : "fast");
	__asm__ volatile("");	/* no jump in place of the call */
}

static void *worker(void *arg)
{
	int i;

	while ((i = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED)) < REQUESTS) {
		struct request *r = &requests[i];

		while (!__atomic_load_n(&r->began, __ATOMIC_ACQUIRE))
			victim_sleep_us(100);
		if (r->sleep_ms)
			victim_sleep_us(r->sleep_ms * 1000);
		r->ends = now();
		request_ends(r, r->id);
		r->ended = now();
	}
	return NULL;
}

/* Has it taken long, though it should not? */
static bool is_late(int ms)
{
	uint64_t before = now();

	request_whole(ms);
	return !ms && now() - before >= LATE_NS;
}

static void run(void)
{
	pthread_t t[WORKERS];
	char what[16];
	int late = 0;

	memset(requests, 0, sizeof(requests));
	taken = 0;
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < REQUESTS; i++) {
		struct request *r = &requests[i];

		r->id = i + 1;
		r->sleep_ms = i % 10 ? 0 : 40;
		snprintf(what, sizeof(what), "GET /%d", r->id);
		r->before = now();
		request_begins(r->id, what);
		__atomic_store_n(&r->began, now(), __ATOMIC_RELEASE);
		late += is_late(i % 20 == 0 ? 40 : 0);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < REQUESTS; i++) {
		const struct request *r = &requests[i];

		victim_say("lasted %d %llu %llu", r->id, (unsigned long long)(r->ends - r->began),
			   (unsigned long long)(r->ended - r->before));
	}
	victim_say("run %d %d", REQUESTS, late);
}

/* Does the other thread wait? It does nothing else that it could sleep in. */
static bool waits_now(void)
{
	int tid = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE);
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = tid ? fopen(path, "re") : NULL;
	if (f) {
		if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			victim_wrong("no state in stat");
		fclose(f);
	}
	return state == 'S';
}

static void *holds(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_rwlock_wrlock(&rwlock);
	__atomic_store_n(&held, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!waits_now())
		victim_sleep_us(100);
	victim_sleep_us(60000);
	pthread_mutex_unlock(&lock);
	victim_sleep_us(60000);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}

static void *waits(void *arg)
{
	while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
		victim_sleep_us(100);
	__atomic_store_n(&waiter, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}

static void locks(void)
{
	pthread_t t[2];

	held = waiter = 0;
	pthread_create(&t[0], NULL, holds, NULL);
	pthread_create(&t[1], NULL, waits, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	victim_say("locks %d %d", held, waiter);
}

PROBED void takes_memory(void)
{
	char *p = malloc(12345), *q = calloc(3, 777);

	p = realloc(p, 54321);
	*(volatile char *)p = *(volatile char *)q;
	free(q);
	free(p);
	malloc_trim(99);
}

static void on_command(const char *line)
{
	if (strcmp(line, "run") == 0) {
		run();
	} else if (strcmp(line, "long") == 0) {
		request_whole(400);
		victim_say("long");
	} else if (strcmp(line, "locks") == 0) {
		locks();
	} else if (strcmp(line, "memory") == 0) {
		takes_memory();
		victim_say("memory");
	}
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(20, on_command))
		victim_count();
	return victim_errors != 0;
}
