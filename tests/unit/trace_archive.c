/* SPDX-License-Identifier: MIT */
/* Does a trace directory hold what was recorded, and is told what is missing? */
#include "tests/unit/trace_world.h"

#include "trace/output/place.h"

static char base[] = "/tmp/inject-archive-XXXXXX";
static char path[64];

static char notes[8192];
static bool compress;		/* what is written from now on */

static void note(void *ctx, const char *text)
{
	strncat(notes, text, sizeof(notes) - strlen(notes) - 2);
	strcat(notes, "\n");
}

struct reader_log {
	const struct world *w;
	size_t at;		/* the next event that is expected */
	size_t wrong;
	bool gaps;		/* some may be missing */
};

static bool same(const struct event *a, const struct event *b)
{
	return a->tsc == b->tsc && a->kind == b->kind && a->pid == b->pid && a->tid == b->tid &&
	       a->thread == b->thread && a->stack == b->stack &&
	       (a->kind == EVENT_LOST ? a->lost == b->lost : a->func == b->func);
}

static int compare(void *ctx, const struct event *e)
{
	struct reader_log *l = ctx;
	size_t at = l->at;

	/* It was not written: where a file is torn its stack is over. */
	while (at < l->w->n && !same(e, &l->w->events[at]))
		at++;
	if (l->gaps && e->kind == EVENT_STACK_END && at == l->w->n)
		return 0;
	while (l->gaps && l->at < l->w->n && !same(e, &l->w->events[l->at]))
		l->at++;
	if (l->at >= l->w->n || !same(e, &l->w->events[l->at]))
		l->wrong++;
	l->at++;
	return 0;
}

static struct reader_log read_back(const struct world *w, bool gaps, int want)
{
	struct reader_log log = { .w = w, .gaps = gaps };
	struct archive_filter all = { 0 };
	struct archive *a = NULL;

	notes[0] = '\0';
	fail_clear();
	CHECK_EQ(archive_open(path, note, NULL, &a), want);
	if (a)
		CHECK_EQ(archive_read(a, &all, false, compare, &log), 0);
	archive_close(a);
	return log;
}

static void test_round_trip(void)
{
	struct world w;
	struct reader_log log;

	world_switches = true;
	world_make(&w, 200000);
	world_switches = false;
	world_remove(path);
	world_write(&w, path, (struct record_options){ .compress = compress });
	log = read_back(&w, false, 0);
	CHECK_EQ(log.wrong, 0);
	CHECK_EQ(log.at, w.n);
	CHECK_EQ(strlen(notes), 0);
	free(w.events);
}

static void test_about(void)
{
	struct archive_sizes z;
	struct archive *a = NULL;
	const struct about *about;

	CHECK_EQ(archive_open(path, note, NULL, &a), 0);
	about = archive_about(a);
	CHECK_EQ(about->nfuncs, WORLD_FUNCS);
	for (size_t i = 0; i < WORLD_FUNCS; i++) {
		CHECK(strcmp(about->funcs[i].name, world_funcs[i].name) == 0);
		CHECK(strcmp(about->funcs[i].module, world_funcs[i].module) == 0);
		CHECK_EQ(about->funcs[i].entry_only, world_funcs[i].entry_only);
	}
	CHECK_EQ(about->nmodules, 2);
	CHECK(strcmp(about->modules[0].build_id, world_modules[0].build_id) == 0);
	CHECK_EQ(about->modules[1].base, world_modules[1].base);
	CHECK(strcmp(about->host, "host \"of\" test") == 0);
	CHECK(about->pid == 4121 && about->refused == 1 && about->pause_ns == 1800000);
	CHECK_EQ(clock_ns(&about->clock, 10), 5);
	archive_sizes(a, &z);
	CHECK_EQ(z.squeezed, compress);
	CHECK_EQ(z.nthreads, WORLD_THREADS);
	CHECK(strcmp(archive_thread_name(a, 4122), "thread 4122") == 0);
	CHECK(strcmp(archive_thread_name(a, 4125), "") == 0);
	CHECK(strcmp(archive_thread_name(a, 99), "") == 0);
	archive_close(a);
}

/* ---- what is missing ----------------------------------------------------- */

static char *in_dir(const char *name)
{
	static char file[400];

	snprintf(file, sizeof(file), "%s/%s%s", path, name,
		 compress && name[0] == 's' ? ".zst" : "");
	return file;
}

static off_t size_of(const char *name)
{
	struct stat st = { 0 };

	CHECK_EQ(stat(in_dir(name), &st), 0);
	return st.st_size;
}

/* Overwrite bytes of a file. */
static void scribble(const char *name, off_t at, const void *bytes, size_t n)
{
	int fd = open(in_dir(name), O_WRONLY);

	CHECK_EQ(pwrite(fd, bytes, n, at), n);
	close(fd);
}

/* The size of a stream's first packet, as it is in the file. */
static off_t first_packet(const char *name)
{
	struct squeezed q = { 0 };
	int fd = open(in_dir(name), O_RDONLY);

	CHECK_EQ(pread(fd, &q, sizeof(q), 0), sizeof(q));
	if (!compress)
		CHECK_EQ(pread(fd, &q.head, sizeof(q.head), 0), sizeof(q.head));
	close(fd);
	return compress ? (off_t)(sizeof(q) + q.frame) : (off_t)(q.head.size / 8);
}

/* Where its head stands in it. */
static off_t head_at(void)
{
	return compress ? offsetof(struct squeezed, head) : 0;
}

static void fresh(struct world *w)
{
	world_remove(path);
	world_write(w, path, (struct record_options){ .compress = compress });
}

static void expect(struct world *w, const char *word)
{
	struct reader_log log = read_back(w, true, 0);

	CHECK_EQ(log.wrong, 0);
	CHECK(strstr(notes, word));
	if (!strstr(notes, word))
		printf("no '%s' in: %s", word, notes);
}

static void test_missing(void)
{
	static const char junk[64] = "junk";
	struct world w;
	off_t first;

	world_make(&w, 60000);
	fresh(&w);
	CHECK_EQ(truncate(in_dir("stream_1"), size_of("stream_1") - 8), 0);
	expect(&w, compress ? "stream_1.zst: the packet at byte" : "stream_1: the packet at byte");
	CHECK(strstr(notes, "is torn"));
	CHECK(strstr(notes, "stream_1: the last 1 of"));

	fresh(&w);
	CHECK_EQ(unlink(in_dir("stream_2")), 0);
	expect(&w, "stream_2: the last");

	fresh(&w);
	first = first_packet("stream_0");
	scribble("stream_0", first, junk, sizeof(junk));
	expect(&w, "are no packet of this trace");
	CHECK(strstr(notes, ": 1 packets are missing before byte"));

	/* A whole packet of another trace. */
	fresh(&w);
	scribble("stream_0", first + head_at() + 4, junk, 16);
	expect(&w, "are no packet of this trace");
	free(w.events);
}

/* Cuts files of the directory off while they are read. */
struct cutter {
	off_t first;		/* bytes of a packet of stream_0 that stay */
	size_t events;
};

static int cut(void *ctx, const struct event *e)
{
	struct cutter *c = ctx;

	if (c->events++)
		return 0;
	/* A head stays whose packet does not, and nothing at all. */
	CHECK_EQ(truncate(in_dir("stream_0"), c->first + 200), 0);
	return truncate(in_dir("stream_1"), 0);
}

static void test_cut_while_read(void)
{
	struct archive_filter all = { 0 };
	struct archive *a = NULL;
	struct cutter c = { 0 };
	char gone[64];
	struct world w;

	world_make(&w, 200000);
	fresh(&w);
	c.first = first_packet("stream_0");
	notes[0] = '\0';
	CHECK_EQ(archive_open(path, note, NULL, &a), 0);
	CHECK_EQ(archive_read(a, &all, false, cut, &c), 0);
	archive_close(a);
	CHECK(c.events > 10000 && c.events < w.n);
	snprintf(gone, sizeof(gone), "byte %lld cannot be read: it is not there any more",
		 (long long)c.first);
	CHECK(strstr(notes, gone));
	CHECK(strstr(notes, compress ? "stream_0.zst: " : "stream_0: "));
	CHECK(strstr(notes, compress ? "stream_1.zst: " : "stream_1: "));
	CHECK(strstr(notes, "packets that were there cannot be found any more"));
	free(w.events);
}

/* Of many findings the first are said, and how many more there are, without reading. */
static void test_many(void)
{
	struct archive *a = NULL;
	char name[32];

	CHECK_EQ(archive_open(path, note, NULL, &a), 0);
	archive_close(a);
	for (int i = 100; i < 120; i++) {
		snprintf(name, sizeof(name), "stream_%d", i);
		CHECK_EQ(mkdir(in_dir(name), 0700), 0);
	}
	notes[0] = '\0';
	CHECK_EQ(archive_open(path, note, NULL, &a), 0);
	archive_close(a);
	CHECK(strstr(notes, "and 10 more such findings"));
}

/* A word that is none. */
static void test_word(void)
{
	struct world w;

	world_make(&w, 20000);
	fresh(&w);
	scribble("stream_0", sizeof(struct packet), "\0\0\0\0\0\0\0", 8);
	expect(&w, "words of the streams make no sense; the first is word");
	expect(&w, " of the packet in stream_0 that ends before byte ");
	free(w.events);
}

/* What zstd itself finds wrong, and what it does not. */
static void test_frame(void)
{
	const uint64_t frames[] = { 0, 1, SQUEEZED_MOST, SQUEEZED_MOST + 1, UINT64_MAX };
	int32_t tid = 4999;
	struct world w;

	world_make(&w, 60000);
	fresh(&w);
	scribble("stream_0", first_packet("stream_0") - 8, "junk", 4);
	expect(&w, "stream_0.zst: the packet at byte 0 cannot be decompressed");

	/* The head is not that of the packet. */
	fresh(&w);
	scribble("stream_0", head_at() + offsetof(struct packet, tid), &tid, sizeof(tid));
	expect(&w, "cannot be decompressed");

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		fresh(&w);
		scribble("stream_0", offsetof(struct squeezed, frame), &frames[i], 8);
		expect(&w, "stream_0.zst: ");
	}
	free(w.events);
}

/* Heads and words that would lead beyond what there is room for. */
static void test_bounds(void)
{
	const uint64_t large[] = { 150000 * 8, 150000 * 8 };
	const uint64_t extended = REC_EXT | (uint64_t)LAYOUT_UNWOUND << REC_FUNC_SHIFT;
	struct world w;

	world_make(&w, 60000);
	fresh(&w);
	scribble("stream_0", head_at() + offsetof(struct packet, content), large, sizeof(large));
	expect(&w, "are no packet of this trace");
	if (compress) {
		free(w.events);
		return;
	}
	/* Its second word is not in the packet. */
	fresh(&w);
	scribble("stream_0", first_packet("stream_0") - 8, &extended, sizeof(extended));
	expect(&w, "1 words of the streams make no sense");
	free(w.events);
}

static void test_metadata(void)
{
	struct reader_log log;
	struct world w;
	char text[8192];
	off_t size;

	world_make(&w, 1000);
	fresh(&w);
	size = size_of("metadata");
	CHECK(size < (off_t)sizeof(text));
	/* Cut anywhere: it is read, or refused with a message. */
	for (off_t at = size - 1; at >= 0; at -= 7) {
		struct archive *a = NULL;
		int err;

		CHECK_EQ(truncate(in_dir("metadata"), at), 0);
		notes[0] = '\0';
		fail_clear();
		err = archive_open(path, note, NULL, &a);
		CHECK(err ? fail_text()[0] : notes[0] || at > size - 100);
		if (a)
			CHECK(archive_about(a)->nfuncs <= WORLD_FUNCS);
		archive_close(a);
	}
	fresh(&w);
	int fd = open(in_dir("metadata"), O_RDWR);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	text[MAX(n, 0)] = '\0';
	char *version = strstr(text, "inject_layout = 6");
	CHECK(version);
	char *minor = strstr(text, "minor = 8");
	CHECK(minor);
	scribble("metadata", minor - text + 8, "9", 1);
	log = read_back(&w, false, 0);
	CHECK(strstr(notes, "are of CTF 1.9") && log.at == w.n && !log.wrong);
	scribble("metadata", version - text + 16, "7", 1);
	close(fd);
	log = read_back(&w, false, 0);
	CHECK(strstr(notes, "a later version of inject, in layout 7") && log.at == w.n && !log.wrong);
	CHECK_EQ(unlink(in_dir("metadata")), 0);
	read_back(&w, true, -ENOENT);
	CHECK(strstr(fail_text(), "is no trace directory"));
	fail_clear();
	free(w.events);
}

/* Make packets of a stream those of version 1: their heads end earlier. */
static void age_stream(const char *name)
{
	static char bytes[1 << 22];
	int fd = open(in_dir(name), O_RDWR);
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0), to = 0;
	struct packet p;

	CHECK(n > 0 && n < (ssize_t)sizeof(bytes));
	for (ssize_t at = 0; at < n; at += (ssize_t)(p.size / 8)) {
		memcpy(&p, bytes + at, sizeof(p));
		struct packet first = p;

		first.size = first.content = p.size - (sizeof(p) - PACKET_HEAD_1) * 8;
		to += pwrite(fd, &first, PACKET_HEAD_1, to);
		to += pwrite(fd, bytes + at + sizeof(p), p.size / 8 - sizeof(p), to);
	}
	CHECK_EQ(ftruncate(fd, to), 0);
	close(fd);
}

static void test_version_1(void)
{
	struct reader_log log;
	struct dirent *e;
	char text[8192];
	struct world w;
	DIR *d;

	world_make(&w, 20000);
	fresh(&w);
	int fd = open(in_dir("metadata"), O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	text[MAX(n, 0)] = '\0';
	close(fd);
	scribble("metadata", strstr(text, "inject_layout = 6") - text + 16, "1", 1);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (place_is_stream(e->d_name))
			age_stream(e->d_name);
	closedir(d);
	log = read_back(&w, false, 0);
	CHECK_EQ(log.wrong, 0);
	CHECK_EQ(log.at, w.n);
	CHECK_EQ(strlen(notes), 0);
	free(w.events);
}

/* Killed: what was flushed is there, and it is said that there was no end. */
static void test_not_ended(void)
{
	struct world w;
	struct about about = world_about();
	struct record_options o = { 0 };
	struct record *r = NULL;
	struct reader_log log;

	world_make(&w, 5000);
	world_remove(path);
	CHECK_EQ(record_new(path, &o, &about, &r), 0);
	for (size_t i = 0; i < 4000; i++)
		CHECK_EQ(record_event(r, &w.events[i]), 0);
	CHECK_EQ(record_flush(r, &about), 0);
	for (size_t i = 4000; i < 4100; i++)
		CHECK_EQ(record_event(r, &w.events[i]), 0);
	record_free(r);
	/* And packets that were full after that. */
	log = read_back(&w, true, 0);
	CHECK_EQ(log.wrong, 0);
	CHECK(log.at >= 4000 && log.at < 4100);
	CHECK(strstr(notes, "was not ended"));
	free(w.events);
}

/* ---- sizes --------------------------------------------------------------- */

static uint64_t dir_size(void)
{
	uint64_t sum = 0;
	DIR *d = opendir(path);
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)))
		if (place_is_stream(e->d_name) && fstatat(dirfd(d), e->d_name, &st, 0) == 0)
			sum += (uint64_t)st.st_size;
	if (d)
		closedir(d);
	return sum;
}

static void test_max_size(void)
{
	struct world w;
	struct reader_log log;

	world_make(&w, 400000);
	world_remove(path);
	world_write(&w, path, (struct record_options){ .max_size = 1 << 20, .compress = compress });
	/* What was in memory has become less. */
	CHECK(dir_size() <= 1 << 20 && dir_size() > (compress ? 3 << 17 : (1 << 20) - 65536));
	log = read_back(&w, false, 0);
	CHECK_EQ(log.wrong, 0);
	CHECK(log.at < w.n && log.at > 20000);
	free(w.events);
}

static void test_rotate(void)
{
	struct world w;
	struct reader_log log;

	world_make(&w, 800000);
	world_remove(path);
	world_write(&w, path, (struct record_options){
		.max_size = 1 << 20, .rotate = true, .compress = compress });
	CHECK(dir_size() <= 1 << 20 && dir_size() > 1 << 19);
	/* The last ones, without a gap. */
	log = read_back(&w, true, 0);
	CHECK_EQ(log.wrong, 0);
	CHECK_EQ(log.at, w.n);
	CHECK_EQ(strlen(notes), 0);
	free(w.events);
}

/* A lane is used again: files are as many as threads at a time. */
static void test_churn(void)
{
	struct about about = world_about();
	struct record_options o = { 0 };
	struct record *r = NULL;
	struct archive_sizes z;
	struct archive *a = NULL;
	struct event e = { .tsc = 1ull << 50 };

	world_remove(path);
	CHECK_EQ(record_new(path, &o, &about, &r), 0);
	for (int i = 0; i < 3000; i++) {
		static const uint8_t kinds[] = { EVENT_ENTRY, EVENT_EXIT, EVENT_STACK_END };

		e.thread = (uint32_t)i;
		e.tid = 5000 + i;
		for (size_t j = 0; j < ARRAY_SIZE(kinds); j++, e.tsc++) {
			e.kind = kinds[j];
			CHECK_EQ(record_event(r, &e), 0);
		}
	}
	about.end = e.tsc;
	CHECK_EQ(record_end(r, &about), 0);
	record_free(r);
	CHECK_EQ(archive_open(path, note, NULL, &a), 0);
	archive_sizes(a, &z);
	CHECK_EQ(z.streams, 1);
	CHECK_EQ(z.nthreads, 3000);
	CHECK_EQ(z.packets, 3000);
	archive_close(a);
}

/* That a thread has ended is found out later than another begins: what that one does is
 * told as of when it happened, and so among what others do. */
static void test_late_end(void)
{
	static const struct { uint32_t thread; uint64_t tsc; enum event_kind kind; } all[] = {
		{ 0, 100, EVENT_ENTRY }, { 1, 150, EVENT_ENTRY }, { 0, 900, EVENT_STACK_END },
		{ 2, 200, EVENT_ENTRY }, { 1, 300, EVENT_EXIT }, { 2, 400, EVENT_EXIT },
		{ 3, 1000, EVENT_ENTRY },
	};
	static const size_t order[] = { 0, 1, 3, 4, 5, 2, 6 };
	struct world given = { 0 }, told = { 0 };
	struct archive_sizes z;
	struct archive *a = NULL;
	struct reader_log log;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		given.now = (1ull << 50) + all[i].tsc;
		world_push(&given, (struct event){ .thread = all[i].thread, .kind = all[i].kind,
						   .pid = 4121, .tid = 4121 + (int)all[i].thread });
	}
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		told.now = given.events[order[i]].tsc;
		world_push(&told, given.events[order[i]]);
	}
	fresh(&given);
	log = read_back(&told, false, 0);
	CHECK_EQ(log.wrong, 0);
	CHECK_EQ(log.at, told.n);
	/* Only the last one came when the first lane could be had. */
	CHECK_EQ(archive_open(path, note, NULL, &a), 0);
	archive_sizes(a, &z);
	CHECK_EQ(z.streams, 3);
	archive_close(a);
	free(given.events);
	free(told.events);
}

int main(void)
{
	CHECK(mkdtemp(base));
	snprintf(path, sizeof(path), "%s/inject.data", base);
	for (int i = 0; i < 2; i++) {
		compress = i;
		test_round_trip();
		test_about();
		test_missing();
		test_bounds();
		test_cut_while_read();
		test_max_size();
		test_rotate();
		test_many();
	}
	test_frame();
	compress = false;
	test_word();
	test_metadata();
	test_version_1();
	test_not_ended();
	test_churn();
	test_late_end();
	world_remove(path);
	world_remove(base);
	return failures != 0;
}
