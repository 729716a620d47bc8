/* SPDX-License-Identifier: MIT */
/*
 * Is the stack of every function of real files as readelf says, which has a
 * reader of .eh_frame of its own? And is it so when several threads ask at once?
 */
#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "tests/unit/symbols_world.h"

static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
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

	if (!strncmp(rule, "rsp+", 4)) {
		expected = atoll(rule + 4);
		expected_err = 0;
	}
	compared++;
	if (err == expected_err && offset == expected)
		return;
	fprintf(stderr, "%s: at %#llx we say %d, %lld; readelf %s\n", s->path,
		(unsigned long long)pc, err, (long long)offset, rule);
	exit(1);
}

/* A row holds up to the next one, or to the end of the entry. */
static void compare_row(const struct symbols *s, const struct row *row,
			raddr_t end)
{
	if (!*row->rule || row->start >= end)
		return;
	compare_at(s, row->start, row->rule);
	compare_at(s, end - 1, row->rule);
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
	symbols_close(s);
}

/* ---- several threads ------------------------------------------------------- */

enum { THREADS = 4, ASKED = 300 };

typedef int addrframe_fn(Dwarf_CFI *, Dwarf_Addr, Dwarf_Frame **);

static addrframe_fn *libdw;
static bool together;		/* there are several threads */
static int inside, most_inside;

/* In libdw's place: how many threads are in it at once? It has no lock of its own. */
int dwarf_cfi_addrframe(Dwarf_CFI *cfi, Dwarf_Addr pc, Dwarf_Frame **frame)
{
	int now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);

	if (now > most_inside)
		most_inside = now;
	if (together)
		sched_yield();
	int err = libdw(cfi, pc, frame);

	__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	return err;
}

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
	together = true;
	for (size_t i = 0; i < THREADS; i++) {
		askers[i].s = s;
		MUST(!pthread_create(&askers[i].thread, NULL, ask_all, &askers[i]));
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(askers[i].thread, NULL);
	together = false;
	MUST(askers[0].sum);
	for (size_t i = 1; i < THREADS; i++)
		MUST_EQ(askers[i].sum, askers[0].sum);
	MUST_EQ(most_inside, 1);
	symbols_close(s);
}

int main(void)
{
	world_open();
	libdw = (addrframe_fn *)dlsym(RTLD_NEXT, "dwarf_cfi_addrframe");
	MUST(libdw);
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
