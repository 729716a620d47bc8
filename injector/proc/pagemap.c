/* SPDX-License-Identifier: MIT */
#include "injector/proc/pagemap.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "injector/proc/kernel.h"
#include "injector/proc/procfs.h"

static const uint64_t present = 1ull << 63, swapped = 1ull << 62, of_file = 1ull << 61;

int pagemap_open(pid_t pid)
{
	char path[80], dir[64];

	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/pagemap", dir);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool pagemap_read(int pagemap, raddr_t at, size_t n, uint64_t *ret)
{
	size_t size = n * sizeof(*ret);

	return pagemap >= 0 &&
		pread(pagemap, ret, size, (off_t)(at / kernel_page() * sizeof(*ret))) ==
			(ssize_t)size;
}

enum pagemap_place pagemap_place(uint64_t entry)
{
	return entry & present ? PAGEMAP_THERE : entry & swapped ? PAGEMAP_SWAPPED :
		PAGEMAP_NOWHERE;
}

bool pagemap_is_copy(uint64_t entry)
{
	return pagemap_place(entry) != PAGEMAP_NOWHERE && !(entry & of_file);
}
