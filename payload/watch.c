/* SPDX-License-Identifier: MIT */
/*
 * watch: the entries and exits of watched functions: these are recorded as all others, but by way
 * of C, and looked at besides (watched.c). Where values are read of them, slow.c does both.
 */
#include "payload/payload.h"

/* Also of functions that are not watched, if their stack pointer is lower here. */
void payload_watch_entry(uint64_t word, uint64_t sp)
{
	uint64_t late = word >> REC_LATE_SHIFT & (REC_LOWERED_MASK | REC_UNWATCHED);
	struct thread *t;

	sp += (late & REC_LOWERED_MASK) * 8;
	payload_slow_entry(word - (late << REC_LATE_SHIFT), sp);
	t = late & REC_UNWATCHED ? 0 : claim_kept();
	if (t)
		watch_note(t, sp);
}

void payload_watch_exit(uint64_t word, uint64_t sp)
{
	struct watching w = watch_leaves(word >> REC_FUNC_SHIFT, sp);

	payload_slow_exit(word, sp);
	watch_left(w, word >> REC_FUNC_SHIFT);
}
