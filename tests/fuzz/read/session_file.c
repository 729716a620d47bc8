/* SPDX-License-Identifier: MIT */
/*
 * session_file: the input is what was done to the file of a session that `start -o` has
 * made: numbers, bytes of the notes and words of the rings written over, its end cut
 * off. What a snapshot makes of it can be read, whatever stood there.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/session/session_file.h"
#include "injector/session/notes.h"
#include "injector/session/session.h"
#include "injector/verbs/snapshot_record.h"
#include "tests/fuzz/read/read.h"
#include "tests/unit/reader_world.h"
#include "trace/read/view.h"

enum { RINGS = 2, SUBBUFS = 3, NOTES = 32768, EDITS = 48, WORDS = 300 };

/* What of the file is not zeros. */
static struct piece {
	uint64_t off;
	size_t n;
	uint8_t *original, *bytes;
} head, notes, rings;
static struct input in;
static uint64_t now, file_size, text_size;
static char dir[64], path[96], made[96];

static void piece_new(struct piece *p, uint64_t off, size_t n)
{
	*p = (struct piece){ off, n, calloc(1, n), calloc(1, n) };
	CHECK(p->original && p->bytes);
}

/* Two threads that have called each other's functions, one over the end of a ring. */
static void record_calls(struct world *w)
{
	for (uint32_t i = 0; i < RINGS; i++) {
		world_claim(w, i, 100 + (int)i, 0);
		for (uint32_t sub = 0; sub < SUBBUFS; sub++) {
			for (uint64_t t = 0; t < WORDS; t++)
				world_put(w, i, t / 2 % 2 ? REC_EXIT : REC_ENTRY, t % NFUNCS,
					  1000 * (sub * WORDS + t));
			world_close(w, i);
			world_begin(w, i, 1000ull * WORDS * (sub + 1));
		}
	}
}

static void make_head(const struct world *w, struct session *s)
{
	*s = *world_session((struct world *)w);
	s->slots_off = SLOTS_OFF;
	s->notes_off = notes.off;
	s->notes_size = notes.n;
	s->rings_off = s->banks_off = rings.off;
	s->nbanks = s->bank_subs = 1;	/* no ring has it, unless an edit gives it one */
	s->size = file_size;
	s->started = s->keep_last = 1;
	s->nfuncs = NFUNCS;
	s->nwatches = 1;
}

/* By the routine that writes them, into a file of that size. */
static void make_notes(const struct session *s)
{
	static const struct about_module module = { "/srv/bin/srv", "0123", 0x555555554000 };
	struct about a = {
		.host = "host", .program = "srv", .exe = "/srv/bin/srv", .pid = 4121,
		.clock = { .ticks = now, .ns = 7, .realtime = 1700000000ull * 1000000000,
			   .run_ticks = 2000000000, .run_ns = 1000000000 },
		.begin = now, .funcs = world_funcs, .nfuncs = NFUNCS, .modules = &module,
		.nmodules = 1, .probed = NFUNCS,
	};
	struct segment seg = {
		.fd = memfd_create("notes", MFD_CLOEXEC), .size = file_size, .file = true,
	};

	CHECK(seg.fd >= 0 && ftruncate(seg.fd, (off_t)file_size) == 0);
	CHECK_EQ(notes_write(&seg, s, &a), 0);
	CHECK_EQ(pread(seg.fd, notes.original, notes.n, (off_t)notes.off), notes.n);
	((struct session *)head.original)->notes_at = 1;
	memcpy(&text_size, notes.original + NOTES / 2, sizeof(text_size));
	text_size += sizeof(text_size);
	close(seg.fd);
}

static void remove_made(void)
{
	DIR *d = opendir(made);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(made);
}

static void tidy(void)
{
	remove_made();
	session_file_drop(dir);
}

static void begin(void)
{
	struct world w;

	if (head.n)
		return;
	strcpy(dir, "inject-session-file-XXXXXX");
	CHECK(mkdtemp(dir));
	atexit(tidy);
	snprintf(path, sizeof(path), "%s/" SESSION_NAME, dir);
	snprintf(made, sizeof(made), "%s.made", dir);
	world_make(&w, RINGS, SUBBUFS);
	now = w.base;
	record_calls(&w);
	piece_new(&head, 0, sizeof(struct session));
	piece_new(&notes, ALIGN_UP(SLOTS_OFF, PAGE), NOTES);
	piece_new(&rings, notes.off + notes.n, w.size - PAGE);
	file_size = rings.off + rings.n;
	memcpy(rings.original, w.map + PAGE, rings.n);
	make_head(&w, (struct session *)head.original);
	make_notes((struct session *)head.original);
	world_end(&w);
	if (failures)
		abort();
}

static void put_number(struct piece *p, size_t at, size_t width)
{
	uint64_t v = input_value(&in, now);

	memcpy(p->bytes + at, &v, MIN(width, p->n - at));
}

/* Of the text that holds, which is the second one, and of its length before it. */
static void edit_notes(uint8_t what)
{
	uint8_t *text = notes.bytes + NOTES / 2;
	size_t at = input_number(&in, 2) % text_size, n;

	if (what & 1) {
		n = MIN(MIN(in.left, 1u + what / 16), text_size - at);
		memcpy(text + at, in.at, n);
		in.at += n;
		in.left -= n;
	} else {
		size_t from = input_number(&in, 2) % text_size;

		n = input_number(&in, 2);
		memmove(text + at, text + from, MIN(n, text_size - MAX(at, from)));
	}
}

/* Where a ring begins, or one of its sub-buffers. */
static size_t in_ring(uint8_t which)
{
	size_t stride = PAGE + SUBBUFS * (size_t)SUBBUF_SIZE;

	which /= 2;
	return which % 4 == SUBBUFS ? (which / 4) % RINGS * stride :
		(which / 4) % RINGS * stride + PAGE + which % 4 * (size_t)SUBBUF_SIZE;
}

static void edit(void)
{
	uint8_t what = (uint8_t)input_number(&in, 1), where = (uint8_t)input_number(&in, 1);

	switch (what % 8) {
	case 0:
		put_number(&head, input_number(&in, 2) % (head.n / 4) * 4, what & 8 ? 8 : 4);
		break;
	case 1: case 2:
		edit_notes(what);
		break;
	case 3: case 4:
		put_number(&rings, in_ring(where) + where % 2 * (what / 8u) * 4, 8);
		break;
	case 5: case 6:
		put_number(&rings, (in_ring(where) + input_number(&in, 2)) % rings.n & ~7ul, 8);
		break;
	case 7:
		file_size = input_number(&in, 3);
		break;
	}
}

static void write_file(void)
{
	const struct piece *all[] = { &head, &notes, &rings };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		CHECK_EQ(pwrite(fd, all[i]->bytes, all[i]->n, (off_t)all[i]->off), all[i]->n);
	CHECK_EQ(ftruncate(fd, (off_t)file_size), 0);
	close(fd);
}

static bool count_open(void *ctx, const struct call *c) { return true; }

static void count_end(void *ctx, const struct call *c)
{
	CHECK(c->func && c->func->name && c->end >= c->begin);
}

static void ignore_lost(void *ctx, const struct event *e) { }

/* What we have written ourselves is no stranger's. */
static void read_made(void)
{
	static const struct sink sink = { .open = count_open, .end = count_end,
					  .lost = ignore_lost };
	struct view_options o = { .path = made };
	struct view *v = NULL;

	CHECK_EQ(view_open(&o, &v), 0);
	if (v)
		CHECK_EQ(view_run(v, &sink, NULL), 0);
	view_close(v);
}

static int snapshot(void)
{
	struct metadata about = { 0 };
	struct ring_snapshot still = { 0 };
	struct snapshot_record r;
	struct segment segment;
	struct session s;
	int err = session_file_open(dir, &segment, &s);

	if (err)
		return err;
	err = notes_read(&segment, &s, &about);
	err = err ? err : ring_snapshot_take(&segment, &s, &still);
	err = err ? err : snapshot_record(&still, &about.about, 0, NULL, made, &r);
	if (!err)
		read_made();
	ring_snapshot_clear(&still);
	metadata_clear(&about);
	close(segment.fd);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct piece *all[] = { &head, &notes, &rings };

	begin();
	in = (struct input){ data, size };
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		memcpy(all[i]->bytes, all[i]->original, all[i]->n);
	file_size = rings.off + rings.n;
	for (int i = 0; in.left && i < EDITS; i++)
		edit();
	write_file();
	CHECK(!snapshot() || *fail_text());
	fail_clear();
	remove_made();
	if (failures)
		abort();
	return 0;
}
