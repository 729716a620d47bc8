/* SPDX-License-Identifier: MIT */
/* blobs: what the injector carries into the target (see blobs_data.S). */
#ifndef INJECTOR_BLOBS_H
#define INJECTOR_BLOBS_H

#include "base/base.h"
#include "payload/abi.h"

/* The payload, an ELF shared object. */
extern const uint8_t blob_payload[], blob_payload_end[];
/* What it takes up in a target where it is at `base`, nothing if that is 0. */
struct range payload_range(raddr_t base);
/* The loader's code: flat, entered at its first byte. */
extern const uint8_t blob_loader[], blob_loader_end[];
/* The recording routines, copied to the start of every arena. */
extern const uint8_t hot_begin[], hot_end[], hot_entry[], hot_exit[], hot_mark[];
/* The same, for a payload without thread-local storage. */
extern const uint8_t seek_entry[], seek_exit[], seek_mark[];
/* Both for goroutines. */
extern const uint8_t hot_go_entry[], hot_go_exit[], hot_go_mark[];
extern const uint8_t seek_go_entry[], seek_go_exit[], seek_go_mark[];
/* Of exits that are plain returns, which these make themselves. */
extern const uint8_t hot_leave[], seek_leave[], hot_go_leave[], seek_go_leave[];
extern const uint8_t hot_timed_leave[], seek_timed_leave[];
/* Where calls are counted and not recorded. */
extern const uint8_t hot_count[], seek_count[];
/* Where they are timed. */
extern const uint8_t hot_timed_entry[], hot_timed_exit[];
extern const uint8_t seek_timed_entry[], seek_timed_exit[];
/* Of watched functions, however threads are found. */
extern const uint8_t watch_entry[], watch_exit[];
/* What unwinders are led to. */
extern const uint8_t hot_find[];
/* And where hardly any stack is left. */
extern const uint8_t hot_tight_entry[], hot_tight_exit[], hot_tight_mark[];
extern const uint8_t seek_tight_entry[], seek_tight_exit[], seek_tight_mark[];
extern const uint8_t hot_tight_count[], seek_tight_count[], tight_late[];
extern const uint8_t tight_first[], tight_first_end[];

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
