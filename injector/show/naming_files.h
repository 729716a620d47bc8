/* SPDX-License-Identifier: MIT */
/* naming_files: which functions do these addresses lie in, of a process that may have ended? By the
 * files that it had mapped, if they are what they were: by their build ids. */
#ifndef INJECTOR_NAMING_FILES_H
#define INJECTOR_NAMING_FILES_H

#include "injector/modules/modules.h"
#include "trace/format/about.h"
#include "trace/format/callers.h"

struct naming_files {
	struct modules mods;	/* those that are, with their symbols */
	size_t others;		/* how many are not, or have no build id */
};

/* What the notes say is hostile: nothing but regular files is opened. 0 or -ENOMEM. */
int naming_files_open(struct naming_files *, const struct about *);
/* For struct caller_names; `ctx` is the struct naming_files. Names stay until it is closed. */
bool naming_files_find(void *ctx, uint64_t address, struct caller *ret);
void naming_files_close(struct naming_files *);

#endif
