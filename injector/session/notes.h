/* SPDX-License-Identifier: MIT */
/*
 * notes: what does a session say of itself to a later visit?
 *
 * The names of its functions, and what else is to be known beside the events, as
 * the text that a trace directory has for that (trace/format/metadata.h). It stands in the
 * session's memory twice: one text holds while the other one is written.
 */
#ifndef INJECTOR_NOTES_H
#define INJECTOR_NOTES_H

#include "injector/modules/modules.h"
#include "injector/modules/select.h"
#include "injector/session/segment.h"
#include "payload/abi.h"
#include "trace/format/metadata.h"

/* Bytes, whole pages, for the notes of a selection and some that may be added to
 * it, and for so many bytes of the values of these; function ids begin at `first`. */
uint64_t notes_room(const struct modules *, const struct selection *, uint32_t first,
		    uint64_t later);
/* -ENOSPC if there is not so much room. `s` is the session's head as it is now. */
int notes_write(const struct segment *, const struct session *s, const struct about *);
/* Everything there is hostile. The caller clears what it gets. */
int notes_read(const struct segment *, const struct session *s, struct metadata *ret);

#endif
