/* SPDX-License-Identifier: MIT */
/* squeeze: how is a packet compressed, so that others can undo it? */
#include "trace/format/squeeze.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

enum { LEVEL = 1 };	/* higher ones take longer, and gain nothing here */

_Static_assert(SQUEEZED_MOST >= ZSTD_COMPRESSBOUND(PACKET_BYTES), "SQUEEZED_MOST");
_Static_assert(SQUEEZED_MAGIC == ZSTD_MAGIC_SKIPPABLE_START, "SQUEEZED_MAGIC");

struct squeezer {
	ZSTD_CCtx *in;
	ZSTD_DCtx *out;
	uint64_t packet[PACKET_BYTES / 8];
	struct {
		struct squeezed head;
		uint8_t frame[SQUEEZED_MOST];
	} stored;
};

int squeezer_new(struct squeezer **ret)
{
	struct squeezer *s = calloc(1, sizeof(*s));

	if (!s)
		return fail(ENOMEM, "compress");
	s->in = ZSTD_createCCtx();
	s->out = ZSTD_createDCtx();
	if (!s->in || !s->out ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(s->in, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(s->in, ZSTD_c_checksumFlag, 1))) {
		squeezer_free(s);
		return fail(ENOMEM, "compress");
	}
	*ret = s;
	return 0;
}

void squeezer_free(struct squeezer *s)
{
	if (!s)
		return;
	ZSTD_freeCCtx(s->in);
	ZSTD_freeDCtx(s->out);
	free(s);
}

int squeeze_packet(struct squeezer *s, const struct packet *head, const uint64_t *words, size_t n,
		   const void **ret, size_t *size)
{
	struct squeezed *at = &s->stored.head;
	size_t frame;

	memcpy(s->packet, head, sizeof(*head));
	memcpy((char *)s->packet + sizeof(*head), words, n * 8);
	frame = ZSTD_compress2(s->in, s->stored.frame, sizeof(s->stored.frame), s->packet,
			       sizeof(*head) + n * 8);
	if (ZSTD_isError(frame))
		return fail(0, "compress: %s", ZSTD_getErrorName(frame));
	at->magic = SQUEEZED_MAGIC;
	at->passed = sizeof(*at) - SQUEEZED_BEHIND;
	at->frame = frame;
	at->head = *head;
	*ret = &s->stored;
	*size = sizeof(*at) + frame;
	return 0;
}

ssize_t unsqueeze_packet(struct squeezer *s, const void *frame, size_t size, uint64_t *packet)
{
	size_t n = ZSTD_decompressDCtx(s->out, packet, PACKET_BYTES, frame, size);

	return ZSTD_isError(n) ? -EBADMSG : (ssize_t)n;
}
