/* SPDX-License-Identifier: MIT */
/*
 * export_uftrace: a directory that uftrace replays, reports and draws (its version 4).
 *
 * uftrace knows functions by address: all are given one in a file of symbols that stands for the
 * executable. A file for each thread, and for each other stack (tracks.h), has records of 16 bytes:
 * a time, and a word with the kind (2 bits, from the lowest), no more data (1), a magic number (3),
 * the depth (10) and the address (48). Calls deeper than 10 bits tell are left out. Values stand
 * behind a record that says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/export/export.h"
#include "trace/export/tracks.h"
#include "trace/export/uftrace_values.h"

enum {
	ENTRY = 0, EXIT = 1, LOST = 2,
	MAGIC = 5, MOST_DEPTH = 1023,
	BUCKETS = 1024,		/* a power of 2 */
	MORE = 4,		/* values stand behind it */
	WORDS = 1024,		/* of a thread, kept in memory */
	FEATURES = 0x62,	/* sessions, relative symbols, a depth */
	FEATURE_ARGS = 8, FEATURE_RESULTS = 16,
	INFOS = 0x89,		/* exename, cmdline, taskinfo */
	INFO_SPECS = 1 << 10,	/* which values there are */
};

#define BASE 0x400000ull	/* where the executable is said to be mapped */
#define FIRST 0x1000ull		/* its first function, and from one to the next: */
#define STEP 16ull
#define START_NS 1000000000ull	/* when the session is said to begin */
#define STACK_TASK (1 << 22)	/* as of no thread: linux/threads.h, PID_MAX_LIMIT */
#define SID "1234567890abcdef"

struct task {
	struct task *next;
	int32_t tid;
	uint64_t last;		/* ns: times do not go back */
	uint64_t lost, lost_at;	/* events, that is to be said before what is later; ns */
	size_t n;
	uint64_t v[WORDS + 2 + UFTRACE_VALUES / 8];
};

struct uftrace {
	const struct about *about;
	const char *path, *base;	/* base: the executable's name without directories */
	int dir;
	uint64_t begin;		/* ticks */
	struct task *buckets[BUCKETS], *used;
	struct signatures signatures;
	struct tracks tracks;
	uint64_t values[UFTRACE_VALUES / 8];	/* of the next record */
	int err;
};

/* ---- records ------------------------------------------------------------- */

static int write_at_end(const struct uftrace *u, const char *name, const void *bytes, size_t n)
{
	auto_close int fd = openat(u->dir, name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW |
				   O_CLOEXEC, 0600);
	const char *from = bytes;

	while (fd >= 0 && n) {
		ssize_t done = write(fd, from, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			break;
		from += done;
		n -= (size_t)done;
	}
	return fd >= 0 && !n ? 0 : fail(errno, "write %s/%s", u->path, name);
}

static int uftrace_flush(const struct uftrace *u, struct task *t)
{
	char name[32];
	size_t n = t->n;

	t->n = 0;
	snprintf(name, sizeof(name), "%d.dat", t->tid);
	return write_at_end(u, name, t->v, n * sizeof(t->v[0]));
}

static struct task *uftrace_find(struct uftrace *u, int32_t tid)
{
	struct task **head = &u->buckets[(uint32_t)tid & (BUCKETS - 1)], *t = u->used;

	if (t && t->tid == tid)
		return t;
	for (t = *head; t && t->tid != tid;)
		t = t->next;
	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return NULL;
		t->tid = tid;
		t->next = *head;
		*head = t;
	}
	return u->used = t;
}

/* With `n` bytes of u->values behind it. */
static void put_record(struct uftrace *u, struct task *t, unsigned int kind, uint64_t ns,
		       uint64_t depth, uint64_t addr, size_t n)
{
	t->last = MAX(t->last, ns);
	t->v[t->n++] = t->last;
	t->v[t->n++] = kind | (n ? MORE : 0) | MAGIC << 3 | depth << 6 | addr << 16;
	memcpy(&t->v[t->n], u->values, n);
	t->n += n / 8;
	if (t->n >= WORDS)
		u->err = uftrace_flush(u, t);
}

static void put_lost(struct uftrace *u, struct task *t)
{
	if (t->lost)
		put_record(u, t, LOST, t->lost_at, 0, MIN(t->lost, (1ull << 48) - 1), 0);
	t->lost = 0;
}

static uint64_t uftrace_ns(const struct uftrace *u, uint64_t tsc)
{
	return START_NS + clock_ns(&u->about->clock, tsc > u->begin ? tsc - u->begin : 0);
}

static struct task *need_task(struct uftrace *u, int32_t tid)
{
	struct task *t = u->err ? NULL : uftrace_find(u, tid);

	if (!t)
		u->err = u->err ?: fail(ENOMEM, "write %s", u->path);
	return t;
}

static uint64_t address(const struct uftrace *u, const struct reader_func *func)
{
	return BASE + FIRST + STEP * (uint64_t)(func - u->about->funcs);
}

static void put_call(struct uftrace *u, unsigned int kind, const struct call *c, uint64_t tsc)
{
	size_t n = c->func->values ? uftrace_values(&u->signatures, c, kind == EXIT,
						    (uint8_t *)u->values) : 0;

	ssize_t track = tracks_of(&u->tracks, c);
	struct task *t = need_task(u, track > 0 ? STACK_TASK + (int32_t)track : c->tid);

	u->err = track < 0 ? (int)track : u->err;
	if (!t || c->depth > MOST_DEPTH)
		return;
	/* What is shown only now may have begun before. */
	if (uftrace_ns(u, tsc) >= t->lost_at)
		put_lost(u, t);
	put_record(u, t, kind, uftrace_ns(u, tsc), c->depth, address(u, c->func), n);
}

static bool call_open(void *ctx, const struct call *c)
{
	put_call(ctx, ENTRY, c, c->begin);
	return true;
}

/* uftrace has no word for a call that has no begin, and shows one without an end as one
 * that goes on. */
static void call_end(void *ctx, const struct call *c)
{
	if (call_is_moment(c) && c->how == CALL_BEFORE)
		return;
	if (!c->opened)
		put_call(ctx, ENTRY, c, c->begin);
	if (c->how != CALL_OPEN)
		put_call(ctx, EXIT, c, c->end);
}

static void uftrace_lost(void *ctx, const struct event *e)
{
	struct uftrace *u = ctx;
	struct task *t = need_task(u, e->tid);

	if (!t)
		return;
	t->lost_at = uftrace_ns(u, e->tsc);
	t->lost += e->lost;
}

/* ---- the other files ----------------------------------------------------- */

/* One file, as `make` prints it. */
static int make_file(struct uftrace *u, const char *name, const struct archive_sizes *z,
		     void (*make)(struct uftrace *, const struct archive_sizes *, FILE *))
{
	auto_free char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return fail(ENOMEM, "write %s/%s", u->path, name);
	make(u, z, f);
	if (fclose(f) != 0)
		return fail(ENOMEM, "write %s/%s", u->path, name);
	return write_at_end(u, name, text, n);
}

/* "": there are none; NULL: no memory. */
static char *specs(struct uftrace *u, bool results)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	uftrace_specs(&u->signatures, u->about, results, f);
	return fclose(f) ? (free(text), NULL) : text;
}

static void make_info(struct uftrace *u, const struct archive_sizes *z, FILE *f)
{
	auto_free char *args = specs(u, false), *results = specs(u, true);
	int lines = args && results ? !!*args + !!*results : 0;
	const struct {
		char magic[8];
		uint32_t version;
		uint16_t size;
		uint8_t little_endian, bits_64;
		uint64_t features, infos;
		uint16_t depth, unused[3];
	} head = { "Ftrace!", 4, 40, 1, 2,
		   FEATURES | (lines && *args ? FEATURE_ARGS : 0) |
		   (lines && *results ? FEATURE_RESULTS : 0),
		   INFOS | (lines ? INFO_SPECS : 0), MOST_DEPTH + 1, { 0 } };

	_Static_assert(sizeof(head) == 40, "uftrace's header");
	fwrite(&head, sizeof(head), 1, f);
	fprintf(f, "exename:%s\ncmdline:inject record -p %d\n", u->about->exe ?: "?", u->about->pid);
	fprintf(f, "taskinfo:lines=2\ntaskinfo:nr_tid=%zu\ntaskinfo:tids=", z->nthreads + u->tracks.n);
	for (size_t i = 0; i < z->nthreads; i++)
		fprintf(f, "%s%d", i ? "," : "", z->threads[i].tid);
	for (size_t i = 0; i < u->tracks.n; i++)
		fprintf(f, "%s%zu", i || z->nthreads ? "," : "", STACK_TASK + i + 1);
	fputc('\n', f);
	if (lines)
		fprintf(f, "argspec:lines=%d\n%s%s", lines, args, results);
}

static void make_tasks(struct uftrace *u, const struct archive_sizes *z, FILE *f)
{
	fprintf(f, "SESS timestamp=%llu.%09llu pid=%d sid=" SID " exename=\"%s\"\n",
		START_NS / 1000000000, START_NS % 1000000000, u->about->pid, u->about->exe ?: "?");
	for (size_t i = 0; i < z->nthreads; i++)
		if (z->threads[i].tid == z->threads[i].pid && z->threads[i].pid != u->about->pid)
			fprintf(f, "FORK timestamp=%llu.%09llu pid=%d ppid=%d\n", START_NS / 1000000000,
				START_NS % 1000000000, z->threads[i].pid, u->about->pid);
		else
			fprintf(f, "TASK timestamp=%llu.%09llu tid=%d pid=%d\n", START_NS / 1000000000,
				START_NS % 1000000000, z->threads[i].tid, z->threads[i].pid);
	for (size_t i = 0; i < u->tracks.n; i++)
		fprintf(f, "TASK timestamp=%llu.%09llu tid=%zu pid=%d\n", START_NS / 1000000000,
			START_NS % 1000000000, STACK_TASK + i + 1, u->tracks.v[i].pid);
}

/* Where the kernel begins is concluded from where the stack ends. */
static void make_map(struct uftrace *u, const struct archive_sizes *z, FILE *f)
{
	uint64_t end = BASE + FIRST + STEP * (u->about->nfuncs + 2);

	fprintf(f, "%012" PRIx64 "-%012" PRIx64 " r-xp 00000000 00:00 0                          %s\n",
		(uint64_t)BASE, (uint64_t)ALIGN_UP(end, 4096), u->about->exe ?: "?");
	fprintf(f, "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n");
}

static void make_symbols(struct uftrace *u, const struct archive_sizes *z, FILE *f)
{
	size_t all = u->about->nfuncs + 1;

	fprintf(f, "# symbols: %zu\n# path name: %s\n", all + 1, u->about->exe ?: "?");
	for (size_t i = 0; i < all; i++)
		fprintf(f, "%016" PRIx64 " T %s\n", (uint64_t)(FIRST + STEP * i),
			u->about->funcs[i].name);
	fprintf(f, "%016" PRIx64 " ? __func_end\n", (uint64_t)(FIRST + STEP * all));
}

static int make_others(struct uftrace *u, const struct view *v)
{
	auto_free char *symbols = base_printf("%s.sym", u->base);
	struct archive_sizes z;

	archive_sizes(view_archive(v), &z);
	if (!symbols)
		return fail(ENOMEM, "write %s", u->path);
	return make_file(u, "info", &z, make_info) ?: make_file(u, "task.txt", &z, make_tasks) ?:
	       make_file(u, "sid-" SID ".map", &z, make_map) ?:
	       make_file(u, symbols, &z, make_symbols);
}

static int uftrace_finish(struct uftrace *u)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct task *t = u->buckets[i], *next; t; t = next) {
			next = t->next;
			put_lost(u, t);
			u->err = u->err ?: uftrace_flush(u, t);
			free(t);
		}
	return u->err;
}

static int export_uftrace(struct view *v, const char *path)
{
	const char *exe = view_about(v)->exe ?: "?", *slash = strrchr(exe, '/');
	struct uftrace u = { .about = view_about(v), .path = path, .base = slash ? slash + 1 : exe,
			     .begin = view_begin(v), .dir = -1 };
	struct sink sink = { .open = call_open, .end = call_end, .lost = uftrace_lost, .ctx = &u };
	int err, end_err;

	if (mkdir(path, 0700) < 0)
		return fail(errno, "make the directory %s", path);
	u.dir = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (u.dir < 0)
		return fail(errno, "open the directory %s", path);
	err = view_run(v, &sink, NULL);
	end_err = uftrace_finish(&u);
	err = err ? err : make_others(&u, v);
	signatures_clear(&u.signatures);
	tracks_clear(&u.tracks);
	close(u.dir);
	return err ? err : end_err;
}

const struct export_format format_uftrace = {
	"uftrace", .make = export_uftrace,
	.directory = "uftrace.data", .moments = true,
};
