/* SPDX-License-Identifier: MIT */
#include "trace/read/losses.h"

#include <errno.h>

struct loss {
	struct loss *next;
	uint32_t thread;
	uint64_t seen;
};

static struct loss *losses_find(const struct losses *l, uint32_t thread)
{
	struct loss *i = l->buckets[thread % ARRAY_SIZE(l->buckets)];

	while (i && i->thread != thread)
		i = i->next;
	return i;
}

int losses_note(struct losses *l, uint32_t thread, uint64_t seen)
{
	struct loss **head = &l->buckets[thread % ARRAY_SIZE(l->buckets)];
	struct loss *of = losses_find(l, thread);

	if (!of) {
		of = calloc(1, sizeof(*of));
		if (!of)
			return fail(ENOMEM, "keep what was lost");
		*of = (struct loss){ .next = *head, .thread = thread };
		*head = of;
	}
	of->seen = seen;
	return 0;
}

uint64_t losses_last(const struct losses *l, uint32_t thread)
{
	const struct loss *of = losses_find(l, thread);

	return of ? of->seen : 0;
}

void losses_clear(struct losses *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(l->buckets); i++)
		for (struct loss *of = l->buckets[i], *next; of; of = next) {
			next = of->next;
			free(of);
		}
	*l = (struct losses){ 0 };
}
