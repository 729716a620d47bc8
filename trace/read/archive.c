/* SPDX-License-Identifier: MIT */
/* archive: what is known of a trace directory that is open. */
#include "trace/read/archive_impl.h"

#include <stdarg.h>
#include <stdio.h>

void archive_say(struct archive *a, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (a->quiet || a->notes++ >= ARCHIVE_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	a->note(a->ctx, text);
}

void archive_say_rest(struct archive *a)
{
	unsigned int more = a->notes > ARCHIVE_NOTES ? a->notes - ARCHIVE_NOTES : 0;

	a->notes = 0;
	if (more)
		archive_say(a, "and %u more such findings", more);
}

int archive_dir(const struct archive *a)
{
	return a->dir;
}

void source_free(struct source *s)
{
	free(s->words);
	free(s->name);
	free(s);
}

void archive_close(struct archive *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->nsources; i++)
		source_free(a->sources[i]);
	free(a->sources);
	squeezer_free(a->squeezer);
	free(a->frame);
	free(a->pairs);
	free(a->heap);
	free(a->threads);
	free(a->index);
	metadata_clear(&a->metadata);
	free(a->path);
	if (a->dir >= 0)
		close(a->dir);
	free(a);
}

const struct about *archive_about(const struct archive *a)
{
	return &a->metadata.about;
}

void archive_sizes(const struct archive *a, struct archive_sizes *ret)
{
	*ret = a->sizes;
}
