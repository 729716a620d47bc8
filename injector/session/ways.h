/* SPDX-License-Identifier: MIT */
/*
 * ways: what becomes of a call that a probe sees? There is one struct for each way to record,
 * in a file of its own (way_times.c); WAYS lists them. What the payload does for it is in
 * hot.S (struct hot_table) and in payload/.
 */
#ifndef INJECTOR_WAYS_H
#define INJECTOR_WAYS_H

#include "injector/session/blobs.h"

struct way {
	enum counting kind;	/* what a session says of it; of watched functions, which a
				 * session may have some of, what it says of records */

	/* ---- what is probed, and by what ---- */

	bool entry_only;	/* exits are of no use */
	bool pairs;		/* entries and exits are paired in the target: what cannot be
				 * paired there is recorded, and paired by the reader */
	/* The routines of a probe, of the sets that there are (hot_table.sets). */
	struct routine_set (*routines)(const struct routine_set *sets, enum plan_routines);
	uint64_t word;		/* what is in all words of its records, */
	uint64_t late;		/* and in those of entries behind the first instruction, */
	uint64_t tail;		/* and in those of exits that are no returns */
	bool marks_late;	/* see struct routines */

	/* ---- memory of a thread, and what is in it ---- */

	/* NULL: a ring of records, as large as is asked for. Else what is added up, function by
	 * function: bytes for so many; */
	uint64_t (*room)(uint64_t nfuncs);
	/* how many functions have room in so many bytes; */
	uint64_t (*funcs)(uint64_t bytes);
	/* and their calls, by function id, where a ring has so many bytes. */
	const uint64_t *(*counts)(const struct ring *, uint64_t bytes);

	/* ---- what it costs ---- */

	double cost;		/* ns of a call; 0: what a reading of the clock takes */
	uint32_t readings;	/* of the clock, by a call that is added up */
};

#define WAYS(X) X(records) X(sifted) X(counts) X(times) X(watched) X(values) \
	X(guards)

#define X(name) extern const struct way way_##name;
WAYS(X)
#undef X

/* By what a session says; a number that no way has is taken for records. */
const struct way *ways_of(uint32_t kind);

#endif
