/* SPDX-License-Identifier: MIT */
/*
 * Are the kernel's records taken in the order of time, whichever processor's ring is looked at
 * first? Two rings are made here. A thread is made on the first one's processor, and runs and ends
 * on the other's: where its end is taken while its birth still comes, all of it would be unknown.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "injector/proc/kernel.h"
#include "injector/switches/switches_impl.h"
#include "tests/unit/check.h"

enum { SIZE = 1 << 14, MS = 1000000 };

static struct switch_ring rings[2];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void make_ring(struct switch_ring *r)
{
	r->size = SIZE;
	r->page = mmap(NULL, kernel_page() + SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(r->page != MAP_FAILED);
}

static void put(struct switch_ring *r, const void *bytes, size_t n)
{
	uint8_t *data = (uint8_t *)r->page + kernel_page();

	memcpy(data + r->page->data_head % SIZE, bytes, n);
	r->page->data_head += n;
}

/* A record, as the kernel writes it, with the process, thread and time behind it. */
static void record(struct switch_ring *r, uint32_t type, int tid, uint64_t ns)
{
	struct { struct perf_event_header head; uint32_t ids[4]; uint64_t time; uint32_t by[2];
		 uint64_t at; } __attribute__((packed)) task = {
		.head = { .type = type, .size = sizeof(task) },
		.ids = { 1, 1, (uint32_t)tid, 1 }, .time = ns, .by = { 1, 1 }, .at = ns };
	struct { struct perf_event_header head; uint32_t by[2]; uint64_t at; }
		__attribute__((packed)) other = {
		.head = { .type = type, .size = sizeof(other) }, .by = { 1, (uint32_t)tid },
		.at = ns };

	if (type == PERF_RECORD_SWITCH)
		put(r, &other, sizeof(other));
	else
		put(r, &task, sizeof(task));
}

int main(void)
{
	struct switches s = { .rings = rings, .nrings = 2, .online_fd = -1, .blind = true };
	struct thread_switch *v = NULL;
	size_t n = 0, cap = 0;

	make_ring(&rings[0]);
	make_ring(&rings[1]);
	switches_begin(&s);
	/* What the second ring has when it is looked at, of a birth that the first one does not
	 * have yet: it has come since the clock was looked at. */
	uint64_t soon = now_ns() + 50 * MS;

	record(&rings[1], PERF_RECORD_SWITCH, 2, soon + 1000);
	record(&rings[1], PERF_RECORD_EXIT, 2, soon + 2000);
	MUST_EQ(switches_take(&s, &v, &n, &cap), 0);
	MUST_EQ(n, 0);
	record(&rings[0], PERF_RECORD_FORK, 2, soon);
	usleep(60000);
	MUST_EQ(switches_take(&s, &v, &n, &cap), 0);
	MUST_EQ(n, 3);
	MUST_EQ(v[0].kind, SWITCH_BORN);
	MUST_EQ(v[1].kind, SWITCH_ON);
	MUST_EQ(v[2].kind, SWITCH_ENDED);
	MUST_EQ(v[0].tid, 2);
	MUST(v[0].tsc < v[1].tsc && v[1].tsc < v[2].tsc);

	/* Of a ring that is full all is taken: what it drops is unknown in any case. */
	n = 0;
	soon = now_ns() + 3600ull * 1000 * MS;
	while (rings[0].page->data_head - rings[0].tail + 64 <= SIZE)
		record(&rings[0], PERF_RECORD_SWITCH, 2, soon);
	MUST_EQ(switches_take(&s, &v, &n, &cap), 0);
	MUST(n > 100 && switches_gaps(&s) > 0);
	free(v);
	return failures != 0;
}
