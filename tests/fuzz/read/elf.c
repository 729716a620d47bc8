/* SPDX-License-Identifier: MIT */
/* elf: the input is a file. Its functions are found, and probes of them planned. */
#include <errno.h>
#include <sys/mman.h>

#include "tests/fuzz/read/read.h"
#include "tests/patch/rules.h"
#include "tests/unit/symbols_world.h"

enum { FUNCS = 200 };

static void plan(struct symbols *s)
{
	const struct arch *arch = arch_by_machine(s->machine);
	const struct func *all[FUNCS];
	struct plan *p = NULL;
	size_t n = 0;

	if (!arch || plan_linkage(arch, s) < 0)
		return;
	world_check_invariants(s);
	for (; n < s->nfuncs && n < FUNCS; n++)
		all[n] = &s->funcs[n];
	int err = plan_make(arch, s, all, n, NULL, &p);

	CHECK(!err || err == -EBADMSG);
	if (!err && arch == arch_host())
		CHECK(!rules_broken(p));
	plan_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_close int fd = memfd_create("hostile", MFD_CLOEXEC);
	struct symbols *s;
	char name[16];

	symbols_set_debug_root("/nonexistent");
	rules_far = true;
	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	CHECK(symbols_soname(fd, "hostile", name, sizeof(name)) == (name[0] != '\0'));
	CHECK(memchr(name, '\0', sizeof(name)));
	int err = symbols_open(fd, "hostile", &s);

	if (!err) {
		world_ask(s);
		plan(s);
		symbols_close(s);
	} else {
		CHECK(err == -ENOEXEC || err == -EBADMSG);
		CHECK(*fail_text());
	}
	fail_clear();
	return 0;
}
