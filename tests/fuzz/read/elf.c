/* SPDX-License-Identifier: MIT */
/* elf: the input is a file. Its functions are found, and probes of them planned. */
#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include "symbols/lines/inlined.h"
#include "tests/fuzz/read/read.h"
#include "tests/patch/rules.h"
#include "tests/unit/symbols_world.h"

enum { FUNCS = 200 };

/* To the file itself others lead as this one does. */
static void lead(struct symbols *s, int fd)
{
	struct outwards *o = NULL;
	raddr_t *v = NULL;
	size_t n = 0, cap = 0, left;
	int err = symbols_outwards(fd, "hostile", &o);

	MUST(!err || err == -EBADMSG || err == -EIO || err == -ENOEXEC);
	if (!err) {
		err = symbols_led_to(s, o, &v, &n, &cap);
		MUST(!err || err == -EBADMSG);
	}
	for (size_t i = 0; i < n; i++)
		MUST(symbols_text(s, v[i], &left));
	fail_clear();
	outwards_free(o);
	free(v);
}

/* Its debug information. */
static void inlined(struct symbols *s, int fd)
{
	struct inlined_list l = { 0 };
	struct timespec now;
	struct pattern p;

	clock_gettime(CLOCK_MONOTONIC, &now);
	l.deadline = ((uint64_t)now.tv_sec + 1) * 1000000000;
	MUST(pattern_parse("*a*", &p) == 0);
	MUST(inlined_find(s, fd, &p, &l) == 0);
	for (size_t i = 0; i < l.n; i++)
		MUST(l.v[i].nplaces && l.v[i].places[0].into && *l.v[i].name);
	inlined_clear(&l);
	pattern_clear(&p);
}

static void plan(struct symbols *s)
{
	const struct arch *arch = arch_by_machine(s->machine);
	const struct func *all[FUNCS];
	const struct plan *p = NULL;
	size_t n = 0;

	if (!arch || plan_linkage(arch, s) < 0)
		return;
	world_check_invariants(s);
	for (; n < s->nfuncs && n < FUNCS; n++)
		all[n] = &s->funcs[n];
	int err = plan_make(arch, s, all, n, NULL, &p);

	MUST(!err || err == -EBADMSG);
	if (!err && arch == arch_host())
		MUST(!rules_broken(p));
	plan_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_close int fd = memfd_create("hostile", MFD_CLOEXEC);
	struct symbols *s;
	char name[16];

	symbols_set_debug_root("/nonexistent");
	rules_far = true;
	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	MUST(symbols_soname(fd, "hostile", name, sizeof(name)) == (name[0] != '\0'));
	MUST(memchr(name, '\0', sizeof(name)));
	int err = symbols_open(fd, "hostile", &s);

	if (!err) {
		world_ask(s);
		lead(s, fd);
		inlined(s, fd);
		plan(s);
		symbols_close(s);
	} else {
		MUST(err == -ENOEXEC || err == -EBADMSG);
		MUST(*fail_text());
	}
	fail_clear();
	return 0;
}
