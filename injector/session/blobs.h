/* SPDX-License-Identifier: MIT */
/* blobs: what the injector carries into the target (see blobs_data.S). */
#ifndef INJECTOR_BLOBS_H
#define INJECTOR_BLOBS_H

#include "base/base.h"
#include "payload/abi.h"
#include "plan/plan.h"

/* The payload, an ELF shared object. */
extern const uint8_t blob_payload[], blob_payload_end[];
/* What it takes up in a target where it is at `base`, nothing if that is 0. */
struct range payload_range(raddr_t base);
/* The loader's code: flat, entered at its first byte. */
extern const uint8_t blob_loader[], blob_loader_end[];
/* The recording routines, copied to the start of every arena. */
extern const uint8_t hot_begin[], hot_end[];

/* Where each begins, from there on. `leave` is for exits that are plain returns, which it makes
 * itself; 0: there is none. `count` counts calls, and records nothing. */
struct routine_set {
	uint32_t entry, exit, mark, count, leave;
};

enum { ROUTINES_TIMED = ROUTINES_TIGHT + 1, ROUTINES_SIFTED, ROUTINE_SETS };

/* The list of all, made where they are (arch/x86_64/hot.S). */
extern const struct hot_table {
	/* By whether the payload lacks thread-local storage, so that threads are sought; and by
	 * enum plan_routines, or where calls are timed in the target, or sifted. */
	struct routine_set sets[2][ROUTINE_SETS];
	/* Of watched functions, however threads are found. */
	uint32_t watch_entry, watch_exit;
	/* The same of functions whose values are read. */
	uint32_t values_entry, values_exit;
	uint32_t guard;		/* the entry of what may set a filter */
	uint32_t find;		/* what unwinders are led to */
	/* Where hardly any stack is left: of an entry that is recorded late, and of a thread
	 * that has no spill frame. */
	uint32_t tight_late, tight_first, tight_first_end;
	/* By whether threads are sought: of functions whose values are the first 1, 2, ... of the
	 * registers that struct arch lists (kept_arguments, kept_results); 0: there is none. */
	struct {
		uint32_t entry[KEPT_ARGUMENTS], exit[KEPT_RESULTS], leave[KEPT_RESULTS];
	} reads[2];
	/* Likewise: of functions whose calls have to pass a condition. */
	struct {
		uint32_t entry, exit;
	} asks[2];
	/* Likewise, and by whether it is framed: the mark of a place within a function of
	 * ROUTINES_C. */
	uint32_t place[2][2];
} hot_table;

/* How these know the session: what an arena begins with, but for what is its own. */
struct arena_header arena_header_of(const struct session *, uint32_t nrings);

/* A piece of the payload as it lies in memory; offsets from its base. */
struct payload_part {
	uint64_t page, pages;	/* to be mapped: from here, so many bytes */
	uint64_t at;		/* where its bytes go; the rest is zeros */
	const uint8_t *bytes;
	size_t size;
	int prot;
};

struct payload_info {
	uint8_t build_id[20];
	raddr_t hello;		/* offset of payload_hello */
	uint64_t tls_word;	/* offset of the word that a loader fills in: where
				 * thread-local storage is, from the thread pointer */
	struct payload_part parts[8];
	size_t nparts;
	uint64_t span;		/* bytes of all, with what lies between them */
};

/* Read once from the payload itself. */
int payload_info(struct payload_info *ret);

#endif
