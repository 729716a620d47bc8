/* SPDX-License-Identifier: MIT */
/*
 * Does our reader of .eh_frame agree with libdw, at every instruction-sized
 * step of every function of real files?
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>

#include "tests/unit/symbols_world.h"

enum { STRIDE = 5, STACK_POINTER = 7 };

static const char *const files[] = {
	"/proc/self/exe",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/bin/python3",
};

/* libdw's answer in our terms. */
static int expected(Dwarf_CFI *cfi, raddr_t pc, int64_t *ret)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t n;
	int err = -ENOTSUP;

	if (dwarf_cfi_addrframe(cfi, pc, &frame))
		return -ENOENT;
	if (!dwarf_frame_cfa(frame, &ops, &n) && n == 1 &&
	    ops->atom == DW_OP_bregx && ops->number == STACK_POINTER) {
		*ret = ops->number2;
		err = 0;
	} else if (n == 1 && ops->atom == DW_OP_breg0 + STACK_POINTER) {
		*ret = ops->number;
		err = 0;
	}
	free(frame);
	return err;
}

static void compare(const struct symbols *s, Dwarf_CFI *cfi, raddr_t pc)
{
	int64_t ours = 0, theirs = 0;
	int err = symbols_cfa_offset(s, pc, &ours);
	int their_err = expected(cfi, pc, &theirs);

	if (err == their_err && ours == theirs)
		return;
	fprintf(stderr, "%s: at %#llx we say %d, %lld; libdw %d, %lld\n",
		s->path, (unsigned long long)pc, err, (long long)ours,
		their_err, (long long)theirs);
	exit(1);
}

static size_t compare_file(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct symbols *s = world_symbols(path);
	size_t compared = 0;

	CHECK(elf_version(EV_CURRENT) != EV_NONE);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Dwarf_CFI *cfi = elf ? dwarf_getcfi_elf(elf) : NULL;

	CHECK(cfi);
	for (size_t i = 0; i < s->nfuncs; i++) {
		struct range r = s->funcs[i].range;

		for (raddr_t pc = r.start; pc < r.end; pc += STRIDE) {
			compare(s, cfi, pc);
			compared++;
		}
	}
	dwarf_cfi_end(cfi);
	elf_end(elf);
	symbols_close(s);
	return compared;
}

int main(void)
{
	size_t compared = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!access(files[i], R_OK))
			compared += compare_file(files[i]);
	CHECK(compared > 100000);
	printf("%zu places agree\n", compared);
	return 0;
}
