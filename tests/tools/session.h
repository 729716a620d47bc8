/* SPDX-License-Identifier: MIT */
/* session: where is the session of a process, for tools that share no code with
 * inject but the layout? */
#ifndef TESTS_TOOLS_SESSION_H
#define TESTS_TOOLS_SESSION_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "payload/abi.h"

static inline int die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline uint64_t session_base(const char *pid)
{
	char path[64], line[4400];
	uint64_t base = 0;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	FILE *f = fopen(path, "re");
	if (!f)
		die(path);
	while (!base && fgets(line, sizeof(line), f))
		if (strstr(line, "/memfd:inject-session"))
			base = strtoull(line, NULL, 16);
	fclose(f);
	return base ? base : (uint64_t)die("no session");
}

/* The memory of the process. */
static inline int session_memory(const char *pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? die(path) : fd;
}

#endif
