/* SPDX-License-Identifier: MIT */
/* export: a recording in the formats of other tools. */
#ifndef TRACE_EXPORT_H
#define TRACE_EXPORT_H

#include "trace/output/output.h"
#include "trace/read/view.h"

struct export_format {
	const char *name;
	int (*run)(struct view *, struct output *);	/* the format is a file; or */
	int (*make)(struct view *, const char *path);	/* a directory, with this name */
	const char *directory;				/* if it is given none */
	bool binary;
	bool events;		/* it takes whole events, and chooses no calls */
	bool chains;		/* it has chains of calls, which may be told by values */
	bool moments;		/* it shows when calls were, and not what they took */
};

/* All, in the order of their names: each is a struct in the file that makes it. */
#define EXPORT_FORMATS(X) \
	X(chrome) X(ctf) X(dot) X(folded) X(perfetto) X(pprof) X(speedscope) X(svg) X(uftrace)

#define X(name) extern const struct export_format format_##name;
EXPORT_FORMATS(X)
#undef X

/* The formats, in that order; NULL: there are no more. */
const struct export_format *export_format_at(size_t i);
/* Their names, for a message: "chrome, ctf, ... or uftrace". */
const char *export_names(void);
/* -EINVAL, with a message, if there is none of that name. */
int export_find(const char *name, const struct export_format **ret);

#endif
