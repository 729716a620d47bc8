/* SPDX-License-Identifier: MIT */
/*
 * minidebug: what is in the compressed symbol table that some distributions
 * leave in stripped files?
 */
#include "symbols/debugfile.h"

#include <errno.h>
#include <lzma.h>

/* A build without liblzma works, and finds no such names. */
#pragma weak lzma_stream_decoder
#pragma weak lzma_code
#pragma weak lzma_end

enum {
	UNPACKED_MAX = 256 << 20,	/* the largest seen have some 30 MB */
	DECODER_MAX = 128 << 20,	/* xz -9 needs 65 MiB */
	CHUNK = 1 << 20,
};

static int grow(uint8_t **buf, size_t used, size_t *size)
{
	size_t bigger = *size ? *size * 2 : CHUNK;
	uint8_t *p;

	if (used < *size)
		return 0;
	if (bigger > UNPACKED_MAX)
		return -EBADMSG;
	p = realloc(*buf, bigger);
	if (!p)
		return -ENOMEM;
	*buf = p;
	*size = bigger;
	return 0;
}

static int unpack_stream(lzma_stream *z, uint8_t **buf, size_t *used)
{
	size_t size = 0;
	lzma_ret code = LZMA_OK;

	*used = 0;
	while (code == LZMA_OK) {
		int err = grow(buf, *used, &size);

		if (err)
			return err;
		z->next_out = *buf + *used;
		z->avail_out = size - *used;
		code = lzma_code(z, LZMA_FINISH);
		*used = size - z->avail_out;
	}
	return code == LZMA_STREAM_END ? 0 : -EBADMSG;
}

/* The unpacked bytes, owned by the caller also on failure. */
static int unpack(const uint8_t *packed, size_t n, uint8_t **buf, size_t *used)
{
	lzma_stream z = LZMA_STREAM_INIT;
	int err;

	if (!lzma_stream_decoder || !lzma_code || !lzma_end)
		return -ENOTSUP;
	if (lzma_stream_decoder(&z, DECODER_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	z.next_in = packed;
	z.avail_in = n;
	err = unpack_stream(&z, buf, used);
	lzma_end(&z);
	return err;
}

int minidebug_read(const struct stripped *s, struct image *image,
		   struct symtab *ret)
{
	const Elf64_Shdr *sh = image_section(s->image, ".gnu_debugdata");
	auto_free uint8_t *packed = NULL, *bytes = NULL;
	size_t n;
	int err;

	if (!sh || sh->sh_type == SHT_NOBITS)
		return -ENOENT;
	err = image_piece(s->image, sh->sh_offset, sh->sh_size, &packed);
	if (!err)
		err = unpack(packed, sh->sh_size, &bytes, &n);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	if (image_open_memory(bytes, n, s->path, image)) {
		fail_clear();
		return -ENOENT;
	}
	err = symtab_read(image, SHT_SYMTAB, ret);
	image_detach(image);
	if (!err && !ret->n)
		err = -ENOENT;
	if (err)
		image_close(image);
	ret->source = FUNC_MINIDEBUG;
	return err;
}
