/* SPDX-License-Identifier: MIT */
/*
 * io_workers: has threads that the kernel has made for itself, for what it is asked by
 * io_uring not to do at once. They have its thread pointer, and no stack. Memory with
 * known contents lies around its thread's control block.
 */
#include <linux/io_uring.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

enum { PIPES = 4, AROUND = 1 << 20 };

struct ring {
	int fd;
	unsigned int *tail, *mask, *array;
	unsigned int *chead, *ctail, *cmask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

PROBED uint64_t io_work(uint64_t x)
{
	return x * 17 + 6;
}

static void *map_ring(int fd, size_t size, off_t what)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, what);

	if (p == MAP_FAILED)
		_exit(5);
	return p;
}

static bool ring_open(struct ring *r)
{
	struct io_uring_params p = { 0 };

	r->fd = (int)syscall(SYS_io_uring_setup, 2 * PIPES, &p);
	if (r->fd < 0)
		return false;
	char *sq = map_ring(r->fd, p.sq_off.array + p.sq_entries * sizeof(*r->array),
			    IORING_OFF_SQ_RING);
	char *cq = map_ring(r->fd, p.cq_off.cqes + p.cq_entries * sizeof(*r->cqes),
			    IORING_OFF_CQ_RING);
	r->sqes = map_ring(r->fd, p.sq_entries * sizeof(*r->sqes), IORING_OFF_SQES);
	r->tail = (unsigned int *)(sq + p.sq_off.tail);
	r->mask = (unsigned int *)(sq + p.sq_off.ring_mask);
	r->array = (unsigned int *)(sq + p.sq_off.array);
	r->chead = (unsigned int *)(cq + p.cq_off.head);
	r->ctail = (unsigned int *)(cq + p.cq_off.tail);
	r->cmask = (unsigned int *)(cq + p.cq_off.ring_mask);
	r->cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	return true;
}

static void ask(struct ring *r, int fd, uint64_t *at, uint64_t tag)
{
	unsigned int tail = *r->tail, i = tail & *r->mask;

	r->sqes[i] = (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = fd, .off = -1ull,
		.addr = (uint64_t)(uintptr_t)at, .len = sizeof(*at), .flags = IOSQE_ASYNC,
		.user_data = tag };
	r->array[i] = i;
	__atomic_store_n(r->tail, tail + 1, __ATOMIC_RELEASE);
}

/* What has been read; how many answers there were. */
static int take(struct ring *r, uint64_t round, const uint64_t *got)
{
	int n = 0;

	for (; *r->chead != __atomic_load_n(r->ctail, __ATOMIC_ACQUIRE); n++) {
		const struct io_uring_cqe *c = &r->cqes[*r->chead & *r->cmask];

		if (c->res != sizeof(*got) || got[c->user_data] != io_work(round + c->user_data))
			victim_wrong("read %d", c->res);
		__atomic_store_n(r->chead, *r->chead + 1, __ATOMIC_RELEASE);
	}
	return n;
}

static void one_round(struct ring *r, int pipes[PIPES][2], uint64_t round)
{
	uint64_t got[PIPES] = { 0 };
	int back = 0;

	for (int i = 0; i < PIPES; i++)
		ask(r, pipes[i][0], &got[i], (uint64_t)i);
	if (syscall(SYS_io_uring_enter, r->fd, PIPES, 0, 0, NULL, 0) != PIPES)
		victim_wrong("ask");
	victim_sleep_us(2000);
	for (int i = 0; i < PIPES; i++) {
		uint64_t word = io_work(round + (uint64_t)i);

		if (write(pipes[i][1], &word, sizeof(word)) != sizeof(word))
			victim_wrong("write");
	}
	while (back < PIPES) {
		syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
		back += take(r, round, got);
	}
	victim_count();
}

/* One mapping with that of the control block, which is 12 KiB otherwise. */
static unsigned char *fill_around(void)
{
	uintptr_t page = (uintptr_t)getpagesize(), self = (uintptr_t)pthread_self() & -page;
	unsigned char *p = MAP_FAILED;

	for (int i = 0; p == MAP_FAILED && i < 64; i++)
		p = mmap((void *)(self - AROUND - (uintptr_t)i * page), AROUND,
			 PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p != MAP_FAILED)
		memset(p, 0x5a, AROUND);
	return p == MAP_FAILED ? NULL : p;
}

int main(void)
{
	unsigned char *around = fill_around();
	int pipes[PIPES][2];
	struct ring r;

	if (!ring_open(&r)) {
		victim_say("none");
		return 0;
	}
	for (int i = 0; i < PIPES; i++)
		if (pipe(pipes[i]))
			return 1;
	one_round(&r, pipes, 0);
	victim_say("ready");
	for (uint64_t round = 1; victim_poll(0, NULL); round++) {
		one_round(&r, pipes, round * PIPES);
		for (int i = 0; around && i < AROUND; i++)
			if (around[i] != 0x5a) {
				victim_wrong("at %d of what lies around", i);
				around = NULL;
			}
	}
	return victim_errors != 0;
}
