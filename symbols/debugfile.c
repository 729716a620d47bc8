/* SPDX-License-Identifier: MIT */
#include "symbols/debugfile.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The name comes from the file, and we may be root: look at what it is before
 * opening it, for opening a device or a pipe can have effects. */
static int open_regular(const char *path)
{
	auto_close int probe = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	char link[40];

	if (probe < 0 || fstat(probe, &st) || !S_ISREG(st.st_mode))
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", probe);
	return open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

/* ---- does it belong to the image? ---------------------------------------- */

static int file_crc(int fd, uint32_t *ret)
{
	uint8_t buf[16384];
	off_t at = 0;
	ssize_t n;

	*ret = 0;
	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		*ret = lzma_crc32(buf, n, *ret);
		at += n;
	}
	return n < 0 ? -errno : 0;
}

/* Equal build ids settle it; without any, the checksum does. */
static bool belongs(const struct image *image, const struct image *debug,
		    int debug_fd, const uint32_t *crc)
{
	uint8_t id[20], other[20];
	size_t n = image_build_id(image, id);
	uint32_t sum;

	if (n && image_build_id(debug, other) == n)
		return !memcmp(id, other, n);
	return crc && !file_crc(debug_fd, &sum) && sum == *crc;
}

static int try_file(const struct stripped *s, const char *path,
		    const uint32_t *crc, struct image *image,
		    struct symtab *ret)
{
	auto_close int fd = open_regular(path);

	if (fd < 0)
		return -ENOENT;
	if (image_open(fd, path, image)) {
		fail_clear();
		return -ENOENT;
	}
	if (image->header.e_machine == s->image->header.e_machine &&
	    belongs(s->image, image, fd, crc))
		symtab_read(image, ret);
	image_detach(image);
	if (ret->n)
		return 0;
	image_close(image);
	return -ENOENT;
}

/* ---- where could it be? -------------------------------------------------- */

static int try_build_id(const struct stripped *s, struct image *image,
			struct symtab *ret)
{
	uint8_t id[20];
	size_t n = image_build_id(s->image, id);
	char hex[2 * sizeof(id) + 1] = "";
	auto_free char *path = NULL;

	if (n < 2)
		return -ENOENT;
	for (size_t i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	path = base_printf("%s/.build-id/%.2s/%s.debug", s->debug_root, hex,
			   hex + 2);
	return path ? try_file(s, path, NULL, image, ret) : -ENOMEM;
}

struct debuglink {
	const char *name;	/* owned by the image */
	uint32_t crc;
};

static int read_debuglink(const struct image *im, struct debuglink *ret)
{
	const GElf_Shdr *sh = image_section(im, ".gnu_debuglink");

	if (!sh || sh->sh_size > PATH_MAX)
		return -ENOENT;
	ret->name = dwelf_elf_gnu_debuglink(im->elf, &ret->crc);
	/* A name with a slash could point anywhere. */
	if (!ret->name || !*ret->name || strchr(ret->name, '/'))
		return -ENOENT;
	return 0;
}

static int try_in(const struct stripped *s, const char *prefix, const char *dir,
		  const char *sub, const struct debuglink *link,
		  struct image *image, struct symtab *ret)
{
	auto_free char *path = base_printf("%s%s/%s%s", prefix, dir, sub,
					   link->name);

	if (!path)
		return -ENOMEM;
	return try_file(s, path, &link->crc, image, ret);
}

static int try_debuglink(const struct stripped *s, struct image *image,
			 struct symtab *ret)
{
	const char *slash = strrchr(s->path, '/');
	auto_free char *dir = slash ?
		strndup(s->path, slash - s->path) : strdup(".");
	struct debuglink link;
	int err;

	if (!dir)
		return -ENOMEM;
	err = read_debuglink(s->image, &link);
	if (err)
		return err;
	err = try_in(s, "", dir, "", &link, image, ret);
	if (err == -ENOENT)
		err = try_in(s, "", dir, ".debug/", &link, image, ret);
	if (err == -ENOENT && (!*dir || *dir == '/'))
		err = try_in(s, s->debug_root, dir, "", &link, image, ret);
	return err;
}

int debugfile_read(const struct stripped *s, struct image *image,
		   struct symtab *ret)
{
	int err = try_build_id(s, image, ret);

	if (err == -ENOENT)
		err = try_debuglink(s, image, ret);
	if (!err)
		ret->source = FUNC_DEBUG;
	return err;
}
