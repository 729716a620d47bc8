/* SPDX-License-Identifier: MIT */
/*
 * infect, continued: does the code that the kernel gives the process leave alone the register in
 * which a language's runtime keeps what its threads are known by?
 *
 * A handler may interrupt the vdso, and begins with the registers that it has. Its code is in no
 * file: it is read from memory, and each word of it that is no data, as its own table of sections
 * says, is looked at.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "injector/infect/infect_impl.h"
#include "injector/proc/procfs.h"
#include "symbols/symbols.h"

enum { VDSO_MOST = 64 << 10 };

static int note_vdso(void *ctx, const struct mapping *m)
{
	struct range *ret = ctx;

	if (strcmp(m->path, "[vdso]") == 0)
		*ret = m->range;
	return 0;
}

/* As a file of ours; -1: it cannot be read. */
static int copy_vdso(const struct target *t, struct range r)
{
	uint8_t bytes[VDSO_MOST];
	size_t size = range_size(r);
	int fd = size <= sizeof(bytes) && target_read(t, r.start, bytes, size) == 0 ?
		memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, bytes, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool keeps_g(const struct symbols *s)
{
	const struct arch *arch = arch_host();

	for (size_t i = 0; i < s->ntexts; i++) {
		const struct text *t = &s->texts[i];

		for (uint64_t at = 0; at + arch->align <= range_size(t->range); at += arch->align)
			if (!arch->keeps_g(t->bytes + at) &&
			    !symbols_is_data(s, t->range.start + at, NULL))
				return false;
	}
	return s->ntexts;
}

bool infect_vdso_keeps_g(const struct target *t)
{
	struct symbols *s = NULL;
	struct range r = { 0, 0 };

	if (!arch_host()->keeps_g)
		return true;
	if (procfs_maps(t->pid, note_vdso, &r) < 0)
		return false;
	if (!range_size(r))
		return true;
	int fd = copy_vdso(t, r);
	bool ok = fd >= 0 && symbols_open(fd, "[vdso]", &s) == 0 && keeps_g(s);

	symbols_close(s);
	if (fd >= 0)
		close(fd);
	fail_clear();
	return ok;
}
