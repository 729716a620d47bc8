/* SPDX-License-Identifier: MIT */
/*
 * ctf_fields: values of calls as fields of CTF: integers, enumerations, floats, texts, structures,
 * arrays and sequences, which readers know by the names that the values have.
 *
 * Which fields a function's events have is said once, as the first of them comes, by its signature
 * and plan, in the language of CTF's metadata; what they hold is put together event by event.
 * One walk (ctf_walk.c) does both, so that they cannot differ. An event of which some value is not
 * there has a text instead, as a trace shows it.
 */
#ifndef TRACE_CTF_FIELDS_H
#define TRACE_CTF_FIELDS_H

#include "trace/format/about.h"
#include "trace/write/record.h"

struct ctf_fields;

/* The functions stay until ctf_fields_free. 0 or -ENOMEM. */
int ctf_fields_new(const struct reader_func *funcs, size_t nfuncs, struct ctf_fields **ret);
void ctf_fields_free(struct ctf_fields *);	/* NULL is legal */
/* For about.fields: what the metadata are to say of all functions that had events so far. It stays
 * until the next of these calls. 0 or -ENOMEM. */
int ctf_fields_text(struct ctf_fields *, const char **ret);
/* The fields of an event; false: it has none. */
bool ctf_fields_make(struct ctf_fields *, const struct event *, struct record_fields *ret);

#endif
