/* SPDX-License-Identifier: MIT */
/*
 * reader_names: what are the threads called, where a condition asks for that?
 *
 * The kernel alone knows, and to ask it in the target would be a system call. So names are read
 * here, and written into the rings, where their threads find them: when a ring has come to a
 * thread, and again now and then, for a name may change. `named` is 0 while one does. Until a
 * thread's name is there it is unknown to it.
 */
#include "injector/reader/reader_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	LOOK_NS = 100000000,	/* between two looks at all, at least, */
	LOOK_SHARE = 10,	/* and so many times as long as the last one took */
};

static bool read_name(const struct lane *l, char ret[16])
{
	char path[64];

	memset(ret, 0, 16);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", l->pid, l->tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, 16);

	if (fd >= 0)
		close(fd);
	/* A line feed is behind it; a name may have others. */
	if (n > 0)
		ret[n - 1] = '\0';
	return n > 0;
}

static void name_thread(struct lane *l)
{
	struct ring *ring = l->ring;
	char name[16];

	if (!read_name(l, name) || (__atomic_load_n(&ring->named, __ATOMIC_RELAXED) == l->owner &&
				    !memcmp(ring->name, name, sizeof(name))))
		return;
	__atomic_store_n(&ring->named, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (size_t i = 0; i < sizeof(name); i++)
		__atomic_store_n(&ring->name[i], name[i], __ATOMIC_RELAXED);
	__atomic_store_n(&ring->named, l->owner, __ATOMIC_RELEASE);
}

void names_look(struct reader *r)
{
	uint64_t now = clock_monotonic();
	bool all = now >= r->next_names;

	if (!r->names || r->last)
		return;
	for (uint32_t i = 0; i < r->nrings; i++) {
		struct lane *l = &r->lanes[i];

		if (l->claimed && !l->gone && !l->unnamed &&
		    (all || __atomic_load_n(&l->ring->named, __ATOMIC_RELAXED) != l->owner))
			name_thread(l);
	}
	if (all)
		r->next_names = now + MAX((uint64_t)LOOK_NS,
					  (clock_monotonic() - now) * LOOK_SHARE);
}
