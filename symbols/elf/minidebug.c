/* SPDX-License-Identifier: MIT */
/*
 * minidebug: what is in the compressed symbol table that some distributions
 * leave in stripped files?
 */
#include "symbols/elf/debugfile.h"

#include <errno.h>
#include <lzma.h>
#include <sys/mman.h>

enum {
	UNPACKED_MAX = 256 << 20,	/* the largest seen have some 30 MB */
	DECODER_MAX = 128 << 20,	/* xz -9 needs 65 MiB */
	CHUNK = 1 << 16,
};

/* 0 or -errno; -EBADMSG for what is not xz, or a bomb. */
static int unpack(lzma_stream *z, int fd)
{
	uint8_t chunk[CHUNK];
	lzma_ret code = LZMA_OK;

	while (code == LZMA_OK) {
		z->next_out = chunk;
		z->avail_out = sizeof(chunk);
		code = lzma_code(z, LZMA_FINISH);

		ssize_t n = sizeof(chunk) - z->avail_out;

		if (z->total_out > UNPACKED_MAX)
			return -EBADMSG;
		if (write(fd, chunk, n) != n)
			return -ENOMEM;
	}
	return code == LZMA_STREAM_END ? 0 : -EBADMSG;
}

static int unpack_to(const Elf_Data *packed, int fd)
{
	lzma_stream z = LZMA_STREAM_INIT;
	int err;

	if (lzma_stream_decoder(&z, DECODER_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	z.next_in = packed->d_buf;
	z.avail_in = packed->d_size;
	err = unpack(&z, fd);
	lzma_end(&z);
	return err;
}

/* Unpacked it is a file like any other, only that it has no name. */
int minidebug_read(const struct stripped *s, struct image *image,
		   struct symtab *ret)
{
	const GElf_Shdr *sh = image_section(s->image, ".gnu_debugdata");
	Elf_Data *packed = sh ? image_section_data(s->image, sh) : NULL;
	auto_close int fd = packed ? memfd_create(".gnu_debugdata",
						  MFD_CLOEXEC) : -1;
	int err;

	if (fd < 0)
		return -ENOENT;
	err = unpack_to(packed, fd);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	if (image_open(fd, s->path, image)) {
		fail_clear();
		return -ENOENT;
	}
	symtab_read(image, ret);
	image_detach(image);
	ret->source = FUNC_MINIDEBUG;
	if (ret->n)
		return 0;
	image_close(image);
	return -ENOENT;
}
