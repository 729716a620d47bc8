/* SPDX-License-Identifier: MIT */
/* session: where is the session in us, for victims that look at it? */
#ifndef TESTS_VICTIMS_SESSION_H
#define TESTS_VICTIMS_SESSION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payload/abi.h"

/* NULL: there is none (yet). */
static inline struct session *find_session(void)
{
	char line[512];
	struct session *s = NULL;
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && !s && fgets(line, sizeof(line), f))
		if (strstr(line, "/memfd:inject-session"))
			s = (void *)strtoull(line, NULL, 16);
	if (f)
		fclose(f);
	return s;
}

#endif
