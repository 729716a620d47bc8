/* SPDX-License-Identifier: MIT */
/* case: one window and its stub, run from the same state. */
#ifndef TESTS_FUZZ_CASE_H
#define TESTS_FUZZ_CASE_H

#include "tests/fuzz/world.h"

/* What came of a pair of runs. */
enum verdict {
	VERDICT_LEFT,		/* the same, and control left the window */
	VERDICT_FAULT,		/* the same fault at the same instruction */
	VERDICT_ENDLESS,	/* a loop that no pair of runs can wait for */
	VERDICT_NO_STACK,	/* the pointer is where no call could be made,
				 * or the window reads what is below it */
	VERDICT_DIFFERENT,
	VERDICTS
};

/* Of the window; of the stub; if they differ, of the window twice more, with
 * something else below the stack pointer. */
enum run { RUN_WINDOW, RUN_STUB, RUN_AGAIN, RUN_LAST, RUNS_OF_CASE };

/* What one run has left behind. */
struct outcome {
	struct ending end;
	struct state state;
	uint8_t block[WORLD_BLOCK];
	uint8_t refs[WORLD_REFS][WORLD_REF];
	uint64_t logs[WORLD_LOGS];
};

struct fuzz_case {
	const struct world *world;
	const struct arch *arch;
	const struct placed_probe *probe;
	struct placed_site *placed;
	const struct site *site;	/* of it */
	struct range own;	/* where its stub may lie: not those of others */
	struct insn insns[SITE_INSNS];
	raddr_t refs[WORLD_REFS];
	size_t nrefs;
	struct outcome begin;	/* where both runs start */
	struct outcome out[RUNS_OF_CASE];
	enum run run;
	const char *difference;	/* found by case_judge */
};

struct tally {
	uint64_t sites, passed_over, puns, islands, verdicts[VERDICTS];
};

/* Place the site's stub, and an island for a pun, or for a full jump now and then.
 * False if the window holds what cannot be compared: clocks, random numbers, the
 * state of the thread's memory or of its kernel. */
bool case_begin(struct fuzz_case *, const struct placed_probe *, struct placed_site *);
/* Breakpoints again where the site was. */
void case_end(struct fuzz_case *);
/* Write the state in which a run begins, and put the bytes in place: the first
 * is random, the others begin as the first did. */
void case_start(struct fuzz_case *, enum run, struct state *);
/* Keep what the run left. */
void case_keep(struct fuzz_case *, const struct ending *, const struct state *);
/* A PC at an instruction's copy in another site's stub: where it stands in the
 * text. Any other: itself. */
uint64_t case_origin(const struct fuzz_case *, uint64_t pc);
/* After the second run, and after each further one while it is DIFFERENT. */
enum verdict case_judge(struct fuzz_case *);
/* Print both outcomes where they differ. */
void case_explain(const struct fuzz_case *);

void tally_print(const struct tally *);

#endif
