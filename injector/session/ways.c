/* SPDX-License-Identifier: MIT */
/* ways: those that there are. */
#include "injector/session/ways.h"

const struct way *ways_of(uint32_t kind)
{
	static const struct way *const ways[] = {
#define X(name) &way_##name,
		WAYS(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (ways[i]->kind == kind)
			return ways[i];
	return &way_records;
}
