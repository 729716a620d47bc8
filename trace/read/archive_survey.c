/* SPDX-License-Identifier: MIT */
/*
 * archive_survey: which packets, threads and files does a trace directory have, and
 * which are missing?
 */
#include "trace/read/archive_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/output/place.h"

static int by_place(const void *x, const void *y)
{
	const struct source *a = *(struct source *const *)x, *b = *(struct source *const *)y;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	if (a->chunk != b->chunk)
		return a->chunk < b->chunk ? -1 : 1;
	return a->squeezed - b->squeezed;
}

static int add_source(struct archive *a, const char *name)
{
	struct source **slot, *s;
	char *end;
	struct stat st = { 0 };

	if (fstatat(a->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode)) {
		archive_say(a, "%s/%s cannot be read: %s", a->path, name,
			    st.st_mode ? "it is no file" : strerror(errno));
		return 0;
	}
	slot = vec_push(a->sources, a->nsources, a->sources_cap);
	s = slot ? calloc(1, sizeof(*s)) : NULL;
	if (!s) {
		a->nsources -= slot != NULL;
		return fail(ENOMEM, "read %s", a->path);
	}
	*slot = s;
	s->name = strdup(name);
	s->size = (uint64_t)st.st_size;
	s->lane = strtoull(name + strlen("stream_"), &end, 10);
	s->chunk = *end == '_' ? strtoull(end + 1, &end, 10) : 0;
	s->squeezed = *end != '\0';
	return s->name ? 0 : fail(ENOMEM, "read %s", a->path);
}

/* A stream that was decompressed for another reader may be there in both forms. */
static void drop_doubles(struct archive *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->nsources; i++) {
		struct source *s = a->sources[i], *before = n ? a->sources[n - 1] : NULL;

		if (before && s->squeezed && s->lane == before->lane && s->chunk == before->chunk)
			source_free(s);
		else
			a->sources[n++] = s;
	}
	a->nsources = n;
}

static int find_sources(struct archive *a)
{
	int copy = fcntl(a->dir, F_DUPFD_CLOEXEC, 0), err = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const char *name;

	if (!d)
		return fail(errno, "look into %s", a->path);
	while (!err && (name = place_next(d)))
		if (place_is_stream(name))
			err = add_source(a, name);
	if (!err && errno)
		archive_say(a, "%s cannot be listed to its end, streams may be missing: %s",
			    a->path, strerror(errno));
	closedir(d);
	if (!err && a->nsources)
		qsort(a->sources, a->nsources, sizeof(struct source *), by_place);
	if (!err)
		drop_doubles(a);
	return err;
}

/* Where thread `tid` stands in the index, or the free place for it. */
static uint32_t *find_thread(const struct archive *a, int32_t tid)
{
	size_t i = (uint32_t)tid * 2654435761u & (a->index_cap - 1);

	while (a->index[i] && a->threads[a->index[i] - 1].tid != tid)
		i = (i + 1) & (a->index_cap - 1);
	return &a->index[i];
}

/* At most half of the index is used. */
static int grow_index(struct archive *a)
{
	size_t cap = MAX(a->index_cap * 2, (size_t)64);
	uint32_t *index = calloc(cap, sizeof(*index));

	if (!index)
		return -ENOMEM;
	free(a->index);
	a->index = index;
	a->index_cap = cap;
	for (size_t i = 0; i < a->nthreads; i++)
		*find_thread(a, a->threads[i].tid) = (uint32_t)i + 1;
	return 0;
}

static struct archive_thread *thread_at(struct archive *a, int32_t tid)
{
	struct archive_thread *t;
	uint32_t *at;

	if (a->nthreads * 2 >= a->index_cap && grow_index(a))
		return NULL;
	at = find_thread(a, tid);
	if (*at)
		return &a->threads[*at - 1];
	t = vec_push(a->threads, a->nthreads, a->threads_cap);
	if (!t)
		return NULL;
	*at = (uint32_t)a->nthreads;
	t->tid = tid;
	t->begin = UINT64_MAX;
	return t;
}

/* Names come from the target: what would be a command to a terminal is not kept. */
static void keep_name(struct archive_thread *t, const char name[16])
{
	if (!name[0])
		return;
	memcpy(t->name, name, 16);
	for (char *p = t->name; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

static int survey_packet(struct archive *a, const struct packet *p)
{
	struct archive_sizes *z = &a->sizes;
	struct archive_thread *t = thread_at(a, p->tid);

	if (!t || archive_take_pair(a, p))
		return fail(ENOMEM, "read %s", a->path);
	t->pid = p->pid;
	keep_name(t, p->name);
	t->begin = MIN(t->begin, p->begin);
	t->end = MAX(t->end, p->end);
	z->begin = z->packets ? MIN(z->begin, p->begin) : p->begin;
	z->end = MAX(z->end, p->end);
	z->packets++;
	return 0;
}

/* One file; `seq` is the number that the lane's next packet should have. */
static int survey_source(struct archive *a, struct source *s, uint64_t *seq, uint64_t *lost)
{
	struct stored stored;
	int err = 0;

	while (!err && packet_find(a, s, true, &stored)) {
		const struct packet *p = &stored.head;

		if (p->seq > *seq && !(a->metadata.about.rotated && !s->surveyed && !s->at))
			archive_say(a, "%s/%s: %llu packets are missing before byte %llu", a->path,
				    s->name, (unsigned long long)(p->seq - *seq),
				    (unsigned long long)s->at);
		*seq = p->seq < UINT64_MAX ? p->seq + 1 : p->seq;
		*lost = p->lost;
		s->surveyed++;
		packet_pass(s, &stored);
		err = survey_packet(a, p);
	}
	a->sizes.streams++;
	a->sizes.bytes += s->size;
	a->sizes.squeezed |= s->squeezed;
	s->at = 0;
	return err;
}

/* A lane has lost its last packets, or all of them. */
static bool check_end(struct archive *a, uint64_t lane, uint64_t seq)
{
	const struct about *about = &a->metadata.about;

	if (lane >= about->lanes || seq >= about->packets[lane])
		return false;
	archive_say(a, "%s/stream_%llu: the last %llu of %llu packets are missing", a->path,
		    (unsigned long long)lane, (unsigned long long)(about->packets[lane] - seq),
		    (unsigned long long)about->packets[lane]);
	return true;
}

int archive_survey(struct archive *a)
{
	const struct about *about = &a->metadata.about;
	uint64_t lane = 0;
	int err = find_sources(a);

	for (size_t i = 0; i < a->nsources && !err; lane++) {
		uint64_t seq = 0, lost = 0;

		/* Lanes of which there is no file at all. */
		for (; lane < a->sources[i]->lane && lane < about->lanes && !about->rotated; lane++)
			check_end(a, lane, 0);
		lane = a->sources[i]->lane;
		for (; i < a->nsources && a->sources[i]->lane == lane && !err; i++)
			err = survey_source(a, a->sources[i], &seq, &lost);
		if (!err && check_end(a, lane, seq))
			a->sources[i - 1]->torn = true;
		a->sizes.lost += lost;
	}
	for (; lane < about->lanes && !about->rotated && !err; lane++)
		check_end(a, lane, 0);
	if (!err && about->failed)
		archive_say(a, "%s was ended by an error: %s; what was recorded until then is "
			       "there", a->path, strerror((int)MIN(about->failed, 4095u)));
	else if (!err && about->left_free)
		archive_say(a, "%s was ended because its disk had only %.1f MiB left (--min-free); "
			       "what was recorded until then is there", a->path,
			    (double)about->left_free / (1 << 20));
	else if (!err && !about->end)
		archive_say(a, "%s was not ended: inject was killed, or is still recording; the last "
			       "moments may be missing", a->path);
	a->sizes.threads = a->threads;
	a->sizes.nthreads = a->nthreads;
	archive_say_rest(a);
	return err ? err : archive_set_clock(a);
}

const char *archive_thread_name(const struct archive *a, int32_t tid)
{
	uint32_t at = a->index_cap ? *find_thread(a, tid) : 0;

	return at ? a->threads[at - 1].name : "";
}
