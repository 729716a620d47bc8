/* SPDX-License-Identifier: MIT */
/* notes: what does a session say of itself to a later visit? */
#include "injector/session/notes.h"

#include <errno.h>
#include <string.h>

#include "injector/modules/valued.h"

enum {
	HEAD = 64 << 10,	/* all but functions and modules, and much more */
	PER_FUNCTION = 96,	/* beside its name, and its module's */
	PER_MODULE = 256,
	SPARE = 4,		/* times as much, for what is added later */
	MOST = 512 << 20,
};

uint64_t notes_room(const struct modules *mods, const struct selection *sel, uint32_t first,
		    uint64_t later)
{
	uint64_t n = HEAD + (uint64_t)first * PER_FUNCTION;

	for (size_t i = 0; i < mods->n; i++)
		n += PER_MODULE + 2 * strlen(mods->v[i].path);
	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].n; j++)
			n += PER_FUNCTION + 2 * strlen(sel->v[i].names[j]) +
			     strlen(sel->v[i].module->base);
	n *= SPARE;
	n += later;
	/* In hexadecimal. */
	for (size_t i = 0; i < sel->nvalued; i++)
		n += PER_FUNCTION + 2 * sel->valued[i]->packed.n;
	return 2 * ALIGN_UP(n, PAGE);
}

static uint64_t half(const struct session *s)
{
	return s->notes_size / 2;
}

static uint64_t text_at(const struct session *s, uint32_t which)
{
	return s->notes_off + (which ? half(s) : 0);
}

int notes_write(const struct segment *seg, const struct session *s, const struct about *about)
{
	uint32_t which = !s->notes_at;
	auto_free char *text = NULL;
	size_t size;
	int err = metadata_make(about, &text, &size);
	uint64_t length = size;

	if (!err && half(s) < size + sizeof(length))
		err = fail(ENOSPC, "there is no room in the session for the names of so many "
			   "functions");
	err = err ? err : segment_write(seg, text_at(s, which) + sizeof(length), text, size);
	err = err ? err : segment_write(seg, text_at(s, which), &length, sizeof(length));
	return err ? err : segment_write(seg, offsetof(struct session, notes_at), &which,
					 sizeof(which));
}

int notes_read(const struct segment *seg, const struct session *s, struct metadata *ret)
{
	auto_free char *text = NULL;
	uint64_t length = 0;
	uint64_t at = text_at(s, s->notes_at);
	int err = segment_read(seg, at, &length, sizeof(length));

	*ret = (struct metadata){ 0 };
	if (!err && (half(s) < sizeof(length) || length > half(s) - sizeof(length) ||
		     length > MOST))
		err = fail(EBADMSG, "the notes of the session are damaged");
	text = err ? NULL : malloc(length + 1);
	if (!err && !text)
		err = fail(ENOMEM, "read the notes of the session");
	err = err ? err : segment_read(seg, at + sizeof(length), text, length);
	if (err)
		return err;
	err = metadata_read(text, length, ret);
	return err ? fail(-err, "the notes of the session are damaged") : 0;
}
