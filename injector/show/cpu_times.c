/* SPDX-License-Identifier: MIT */
#include "injector/show/cpu_times.h"

#include <errno.h>

enum { PLACES_FIRST = 64 };

struct cpu_time {
	pid_t pid;		/* 0: a free place */
	bool ended;
	uint64_t used;		/* ns, when last seen; 0 once it is in `ended` */
};

/* Its place, or the free one where it belongs. */
static struct cpu_time *place_of(const struct cpu_times *s, pid_t pid)
{
	size_t i = (uint32_t)pid * 0x9e3779b1u;

	while (s->table[i & (s->places - 1)].pid &&
	       s->table[i & (s->places - 1)].pid != pid)
		i++;
	return &s->table[i & (s->places - 1)];
}

static size_t count_alive(const struct cpu_times *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->places; i++)
		n += s->table[i].pid && !s->table[i].ended;
	return n;
}

/* A larger table, or the same without those that have ended. */
static int make_room(struct cpu_times *s)
{
	struct cpu_times next = *s;

	next.places = PLACES_FIRST;
	next.taken = 0;
	while (next.places < 4 * (count_alive(s) + 1))
		next.places *= 2;
	next.table = calloc(next.places, sizeof(*next.table));
	if (!next.table)
		return fail(ENOMEM, "watch the overhead");
	for (size_t i = 0; i < s->places; i++) {
		if (!s->table[i].pid || s->table[i].ended)
			continue;
		*place_of(&next, s->table[i].pid) = s->table[i];
		next.taken++;
	}
	free(s->table);
	*s = next;
	return 0;
}

int cpu_times_note(struct cpu_times *s, pid_t pid)
{
	if (pid == s->last || pid <= 0)
		return 0;
	if (2 * (s->taken + 1) > s->places) {
		int err = make_room(s);

		if (err)
			return err;
	}
	struct cpu_time *p = place_of(s, pid);
	s->taken += !p->pid;
	p->pid = s->last = pid;
	p->ended = false;
	return 0;
}

/* Less than before is another process of that number. */
static void cpu_times_look(struct cpu_times *s, struct cpu_time *p)
{
	uint64_t used = 0;

	p->ended = !s->used(p->pid, &used);
	if (used < p->used)
		s->ended += p->used;
	p->used = used;
}

uint64_t cpu_times_sum(struct cpu_times *s)
{
	uint64_t sum = 0;

	s->last = 0;
	for (size_t i = 0; i < s->places; i++) {
		if (s->table[i].pid && !s->table[i].ended)
			cpu_times_look(s, &s->table[i]);
		sum += s->table[i].used;
	}
	return sum + s->ended;
}

void cpu_times_clear(struct cpu_times *s)
{
	free(s->table);
	s->table = NULL;
	s->places = s->taken = 0;
}
