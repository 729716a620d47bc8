/* SPDX-License-Identifier: MIT */
/* columns: see the header. */
#include "trace/output/columns.h"

enum { GAP = 2, NAME_LEAST = 24 };

unsigned int columns_fit(const struct columns *c, size_t wide, int key)
{
	unsigned int shown = (unsigned int)((1ull << c->n) - 1) & ~c->hidden;
	size_t taken = GAP + NAME_LEAST;

	for (size_t i = 0; i < c->n; i++)
		taken += shown & 1u << i ? GAP + (size_t)c->width[i] : 0;
	for (size_t i = 0; i < c->n && wide && taken > wide; i++)
		if (c->spare[i] != key && shown & 1u << c->spare[i]) {
			shown &= ~(1u << c->spare[i]);
			taken -= GAP + (size_t)c->width[c->spare[i]];
		}
	return shown;
}
