/* SPDX-License-Identifier: MIT */
#include "symbols/elf/debugfile.h"

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

/* What is looked for: a symbol table, or debug information. */
struct found {
	struct image *image;
	struct symtab *symtab;	/* NULL: debug information, */
	int *fd;		/* of the file, which stays open then */
	char **dir;		/* in which it is */
};

/* Is it there? The file is closed, or given to the caller. */
static bool keep_if_there(int *fd, const char *path, const struct found *ret)
{
	const char *slash = strrchr(path, '/');

	if (ret->symtab) {
		symtab_read(ret->image, ret->symtab);
		image_detach(ret->image);
		return ret->symtab->n;
	}
	if (!image_section(ret->image, ".debug_info"))
		return false;
	*ret->dir = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	*ret->fd = *fd;
	*fd = -1;
	return true;
}

static int try_file(const struct stripped *s, const char *path, const uint32_t *crc,
		    const struct found *ret)
{
	auto_close int fd = open_regular(path);

	if (fd < 0)
		return -ENOENT;
	if (image_open(fd, path, ret->image)) {
		fail_clear();
		return -ENOENT;
	}
	if (ret->image->header.e_machine == s->image->header.e_machine &&
	    belongs(s->image, ret->image, fd, crc) && keep_if_there(&fd, path, ret))
		return 0;
	image_close(ret->image);
	return -ENOENT;
}

/* ---- where could it be? -------------------------------------------------- */

static int try_build_id(const struct stripped *s, const struct found *ret)
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
	return path ? try_file(s, path, NULL, ret) : -ENOMEM;
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
		  const char *sub, const struct debuglink *link, const struct found *ret)
{
	auto_free char *path = base_printf("%s%s/%s%s", prefix, dir, sub,
					   link->name);

	if (!path)
		return -ENOMEM;
	return try_file(s, path, &link->crc, ret);
}

static int try_debuglink(const struct stripped *s, const struct found *ret)
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
	err = try_in(s, "", dir, "", &link, ret);
	if (err == -ENOENT)
		err = try_in(s, "", dir, ".debug/", &link, ret);
	if (err == -ENOENT && (!*dir || *dir == '/'))
		err = try_in(s, s->debug_root, dir, "", &link, ret);
	return err;
}

static int try_all(const struct stripped *s, const struct found *ret)
{
	int err = try_build_id(s, ret);

	return err == -ENOENT ? try_debuglink(s, ret) : err;
}

int debugfile_read(const struct stripped *s, struct image *image,
		   struct symtab *ret)
{
	int err = try_all(s, &(struct found){ .image = image, .symtab = ret });

	if (!err)
		ret->source = FUNC_DEBUG;
	return err;
}

int debugfile_open(const struct stripped *s, struct image *image, int *fd, char **dir)
{
	return try_all(s, &(struct found){ .image = image, .fd = fd, .dir = dir });
}

/* ---- what debug files refer to ------------------------------------------- */

int debugfile_open_named(const char *path, struct image *image)
{
	int fd = open_regular(path);

	if (fd < 0)
		return -ENOENT;
	if (image_open(fd, path, image) == 0)
		return fd;
	fail_clear();
	close(fd);
	return -ENOENT;
}

int debugfile_open_common(const char *dir, const char *name, const uint8_t *id, size_t n,
			  struct image *image, int *fd)
{
	auto_free char *path = *name == '/' ? strdup(name) : base_printf("%s/%s", dir, name);
	uint8_t other[20];

	if (!path)
		return -ENOMEM;
	*fd = debugfile_open_named(path, image);
	if (*fd < 0)
		return -ENOENT;
	if (n && n <= sizeof(other) && image_build_id(image, other) == n && !memcmp(id, other, n))
		return 0;
	image_close(image);
	close(*fd);
	*fd = -1;
	return -ENOENT;
}
