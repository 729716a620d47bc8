/* SPDX-License-Identifier: MIT */
/* describe: what is to be known of a recording beside its events? */
#ifndef INJECTOR_DESCRIBE_H
#define INJECTOR_DESCRIBE_H

#include "injector/modules/modules.h"
#include "trace/format/about.h"

struct description {
	char host[65], comm[64], *exe;
	struct about_module *modules;
	size_t modules_cap;
	struct about about;	/* refers to the above; the caller adds the rest */
};

/* Of a process, its functions left out. 0 or -ENOMEM; what /proc does not tell
 * (any more) stays empty. */
int describe(pid_t pid, const struct modules *, struct description *ret);
/* Modules that were loaded later; they stay until describe_clear. 0 or -ENOMEM. */
int describe_modules(struct description *, const struct modules *);
enum { BUILD_ID_TEXT = 41 };
/* In hexadecimal; "" if it has none, or `symbols` is NULL. */
void describe_build_id(const struct symbols *, char ret[BUILD_ID_TEXT]);
void describe_clear(struct description *);
/* For struct record_options. */
bool describe_thread(void *ctx, int32_t tid, char name[16]);

#endif
