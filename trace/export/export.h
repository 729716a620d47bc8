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
	bool moments;		/* it shows when calls were, and not what they took */
};

/* The formats, in the order of their names; NULL: there are no more. */
const struct export_format *export_format_at(size_t i);
/* Their names, for a message: "chrome, ctf, ... or uftrace". */
const char *export_names(void);
/* -EINVAL, with a message, if there is none of that name. */
int export_find(const char *name, const struct export_format **ret);

/* One function for each. Of chains of calls, all of the same kind taken together: */
int export_folded(struct view *, struct output *);
int export_svg(struct view *, struct output *);
int export_speedscope(struct view *, struct output *);
int export_dot(struct view *, struct output *);
int export_pprof(struct view *, struct output *);
/* Of single calls: */
int export_chrome(struct view *, struct output *);
int export_perfetto(struct view *, struct output *);
/* Into a directory, which is made as place_make makes one. */
int export_ctf(struct view *, const char *path);
int export_uftrace(struct view *, const char *path);

#endif
