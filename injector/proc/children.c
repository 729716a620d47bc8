/* SPDX-License-Identifier: MIT */
/* children: which processes did this one start? */
#include "injector/proc/children.h"

#include <stdio.h>
#include <string.h>

#include "injector/proc/procfs.h"

struct listing {
	char *buf;
	size_t size, used, n, named;
};

static void children_add(void *ctx, pid_t child)
{
	struct listing *l = ctx;
	char name[64], one[96];
	int n;

	l->n++;
	procfs_comm(child, name, sizeof(name));
	n = snprintf(one, sizeof(one), "%s%d (%s)", l->used ? ", " : "", child, name);
	if (l->used + (size_t)n + 6 > l->size)
		return;
	memcpy(l->buf + l->used, one, (size_t)n + 1);
	l->used += (size_t)n;
	l->named++;
}

static void of_thread(pid_t pid, pid_t tid, void (*each)(void *ctx, pid_t child), void *ctx)
{
	char path[64];
	pid_t child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	FILE *f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		each(ctx, child);
	if (f)
		fclose(f);
}

static void children_found(void *ctx, pid_t child)
{
	(void)child;
	*(bool *)ctx = true;
}

bool children_any(pid_t pid, pid_t tid)
{
	bool found = false;

	of_thread(pid, tid, children_found, &found);
	return found;
}

void children_each(pid_t pid, void (*each)(void *ctx, pid_t child), void *ctx)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_tasks(pid, &tids);

	for (int i = 0; i < n; i++)
		of_thread(pid, tids[i], each, ctx);
}

size_t children_list(pid_t pid, char *buf, size_t size)
{
	static const char more[] = ", ...";
	struct listing l = { .buf = buf, .size = size };

	buf[0] = '\0';
	children_each(pid, children_add, &l);
	if (l.named < l.n && l.used + sizeof(more) <= size)
		memcpy(buf + l.used, more, sizeof(more));
	return l.n;
}
