/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/code.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/proc/kernel.h"
#include "injector/proc/pagemap.h"

enum { AT_ONCE = 256 };		/* pages */

/* The very file that is mapped: what a path leads to may be another by now. If that
 * may not be opened, memory is read. */
static int open_mapped(const struct target *t, const struct mapping *m)
{
	char path[96];
	struct stat st;

	procfs_map_file(t->pid, m->range, path, sizeof(path));
	if (!m->ino || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

void code_open(const struct target *t, const struct mapping *m, struct code *ret)
{
	*ret = (struct code){ .target = t, .start = m->range.start, .offset = m->offset,
			      .file = open_mapped(t, m), .pagemap = -1 };
	if (ret->file >= 0)
		ret->pagemap = pagemap_open(t->pid);
}

void code_close(struct code *c)
{
	if (c->file >= 0)
		close(c->file);
	if (c->pagemap >= 0)
		close(c->pagemap);
	c->file = c->pagemap = -1;
}

/* What lies behind the file's end is as the memory is. */
static bool read_file(const struct code *c, raddr_t at, void *buf, size_t n)
{
	return c->file >= 0 && pread(c->file, buf, n, (off_t)(c->offset + (at - c->start))) ==
		(ssize_t)n;
}

static int read_some(const struct code *c, raddr_t at, uint8_t *buf, size_t n)
{
	const uint64_t size = kernel_page();
	raddr_t first = ALIGN_DOWN(at, size), end = at + n;
	uint64_t entries[AT_ONCE + 1];
	int err = 0;

	if (!pagemap_read(c->pagemap, first, (ALIGN_UP(end, size) - first) / size, entries) ||
	    !read_file(c, at, buf, n))
		return target_read(c->target, at, buf, n);
	for (raddr_t page = first; page < end && !err; page += size) {
		raddr_t from = MAX(page, at), to = MIN(page + size, end);

		if (pagemap_is_copy(entries[(page - first) / size]))
			err = target_read(c->target, from, buf + (from - at), to - from);
	}
	return err;
}

int code_read(const struct code *c, raddr_t at, void *buf, size_t n)
{
	const size_t most = AT_ONCE * kernel_page();
	int err = 0;

	for (size_t done = 0; done < n && !err; done += most)
		err = read_some(c, at + done, (uint8_t *)buf + done, MIN(n - done, most));
	return err;
}
