/* SPDX-License-Identifier: MIT */
/*
 * Is the stack of every function of real files as readelf says, which has a
 * reader of .eh_frame of its own? And is it so in whatever order it is asked, of a program that
 * says more than is kept, and when several threads ask at once?
 */
#include <errno.h>
#include <pthread.h>

#include "tests/unit/symbols_world.h"

/* What differs: a push, the number of the stack pointer, and what readelf calls it. */
#ifdef __aarch64__
#define PUSH " sub sp, sp, #16\n .cfi_adjust_cfa_offset 16\n"
#define SP "31"
#define STACK "sp+"
enum { PUSH_SIZE = 4, AT_START = 0, PUSHED = 16 };
#else
#define PUSH " push %rax\n .cfi_adjust_cfa_offset 8\n"
#define SP "7"
#define STACK "rsp+"
enum { PUSH_SIZE = 1, AT_START = 8, PUSHED = 8 };
#endif

static const char *const files[] = {
	"/lib/" MULTIARCH "/libc.so.6",
	"/usr/lib/" MULTIARCH "/libstdc++.so.6",
	"/usr/bin/python3",
};

/* A row of readelf's table: from `start` on the CFA is `rule`. */
struct row {
	unsigned long long start;
	char rule[32];
};

static size_t compared;

static void compare_at(const struct symbols *s, raddr_t pc, const char *rule)
{
	int64_t offset = 0, expected = 0;
	int expected_err = -ENOTSUP;
	int err = symbols_cfa_offset(s, pc, &offset);

	if (!strncmp(rule, STACK, strlen(STACK))) {
		expected = atoll(rule + strlen(STACK));
		expected_err = 0;
	}
	compared++;
	if (err == expected_err && offset == expected)
		return;
	fprintf(stderr, "%s: at %#llx we say %d, %lld; readelf %s\n", s->path,
		(unsigned long long)pc, err, (long long)offset, rule);
	exit(1);
}

/* What was compared, to be asked again from the last on. */
static struct {
	raddr_t pc;
	char rule[32];
} *done;
static size_t ndone, done_cap;

static void compare_and_keep(const struct symbols *s, raddr_t pc, const char *rule)
{
	void *new = vec_push(done, ndone, done_cap);

	MUST(new);
	done[ndone - 1].pc = pc;
	strcpy(done[ndone - 1].rule, rule);
	compare_at(s, pc, rule);
}

static void compare_back(const struct symbols *s)
{
	for (; ndone; ndone--)
		compare_at(s, done[ndone - 1].pc, done[ndone - 1].rule);
}

/* A row holds up to the next one, or to the end of the entry. */
static void compare_row(const struct symbols *s, const struct row *row,
			raddr_t end)
{
	if (!*row->rule || row->start >= end)
		return;
	compare_and_keep(s, row->start, row->rule);
	compare_and_keep(s, end - 1, row->rule);
}

static void compare_file(const char *path)
{
	struct symbols *s = world_symbols(path);
	char command[512], line[4096];
	unsigned long long end = 0;
	struct row row = { 0 }, next;

	snprintf(command, sizeof(command), "readelf -wF %s 2>/dev/null", path);
	FILE *f = popen(command, "r");

	MUST(f);
	while (fgets(line, sizeof(line), f)) {
		char *pc = strstr(line, " pc=");

		if (pc || strstr(line, " CIE ")) {
			compare_row(s, &row, end);
			row = (struct row){ 0 };
			end = 0;
			if (pc)
				sscanf(pc, " pc=%*x..%llx", &end);
		} else if (end && strspn(line, "0123456789abcdef") == 16 &&
			   sscanf(line, "%llx %31s", &next.start,
				  next.rule) == 2) {
			compare_row(s, &row, next.start);
			row = next;
		}
	}
	compare_row(s, &row, end);
	pclose(f);
	compare_back(s);
	symbols_close(s);
}

/* ---- more than is kept ----------------------------------------------------- */

enum { PUSHES = 3000 };

static void ask_far(const struct symbols *s, raddr_t start, size_t i)
{
	int64_t offset;

	MUST_EQ(symbols_cfa_offset(s, start + i * PUSH_SIZE, &offset), 0);
	MUST_EQ(offset, (int64_t)(AT_START + PUSHED * i));
}

/* A function that pushes without end. */
static void ask_long(void)
{
	world_write("long.s", ".globl f\n.type f,%function\nf: .cfi_startproc\n"
		    ".rept 3000\n" PUSH ".endr\n nop\n.cfi_endproc\n.size f,.-f\n"
		    ".globl g\n.type g,%function\ng: .cfi_startproc\n nop\n"
		    " .cfi_escape 0x12," SP ",0x7e\n nop\n .cfi_endproc\n.size g,.-g\n");
	MUST_EQ(world_run("gcc -shared -nostdlib -o long.so long.s"), 0);
	struct symbols *s = world_symbols("long.so");
	raddr_t f = world_func(s, "f")->range.start;

	for (size_t i = 0; i <= PUSHES; i++)
		ask_far(s, f, i);
	for (size_t i = PUSHES; i > 0; i -= 100)
		ask_far(s, f, i);
	ask_far(s, f, 0);
	/* A number that is signed, and multiplied. */
	ask_far(s, world_func(s, "g")->range.start, 1);
	symbols_close(s);
}

/* ---- several threads ------------------------------------------------------- */

enum { THREADS = 4, ASKED = 300 };

struct asker {
	pthread_t thread;
	const struct symbols *s;
	long long sum;		/* of all offsets */
};

static void *ask_all(void *ctx)
{
	struct asker *a = ctx;

	for (size_t i = 0; i < ASKED; i++) {
		int64_t offset = 0;

		if (!symbols_cfa_offset(a->s, a->s->funcs[i].range.end - 1, &offset))
			a->sum += offset;
	}
	return NULL;
}

/* Functions are planned by several threads, which ask of the same file. */
static void ask_together(const char *path)
{
	struct symbols *s = world_symbols(path);
	struct asker askers[THREADS] = { 0 };

	MUST(s->nfuncs >= ASKED);
	for (size_t i = 0; i < THREADS; i++) {
		askers[i].s = s;
		MUST(!pthread_create(&askers[i].thread, NULL, ask_all, &askers[i]));
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(askers[i].thread, NULL);
	MUST(askers[0].sum);
	for (size_t i = 1; i < THREADS; i++)
		MUST_EQ(askers[i].sum, askers[0].sum);
	symbols_close(s);
}

int main(void)
{
	world_open();
	ask_long();
	ask_together("/proc/self/exe");
	if (!world_has("readelf")) {
		printf("skipped: no readelf\n");
		return 77;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!access(files[i], R_OK))
			compare_file(files[i]);
	MUST(compared > 50000);
	printf("%zu places agree\n", compared);
	return 0;
}
