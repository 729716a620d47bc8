/* SPDX-License-Identifier: MIT */
/*
 * cfa: how far is the frame's fixed address from the stack pointer here?
 *
 * libdw runs the call frame programs, of which it believes too much: in version
 * 0.188 a register number takes memory for all registers below it, up to 2 GB,
 * and a program that remembers states without end takes memory for each; the
 * binary search table may lead it into the middle of an entry; and it reads a
 * few bytes past what is cut off. So programs are checked first, and libdw gets
 * a file with only the entries that passed, no table, and some zeros behind.
 */
#include "symbols/unwind/unwind.h"

#include <pthread.h>
#include <string.h>

enum {
	REGISTER_MAX = 255,	/* arm64 has 128 */
	REMEMBER_MAX = 32,	/* compilers nest one deep */
	BLOCK_MAX = 1024,	/* the longest expression, in bytes */
	PADDING = 256,
};

/*
 * The operands of each operation: an integer of 1, 2 or 4 bytes, `u`leb128 (or
 * sleb128, which is as long), `r`egister, `b`lock, encoded `a`ddress; `+` and
 * `-` remember and restore a state. NULL: libdw does not know it either, or no compiler uses it.
 */
static const char *const operands[0x40] = {
	[DW_CFA_nop] = "",
	[DW_CFA_set_loc] = "a",
	[DW_CFA_advance_loc1] = "1",
	[DW_CFA_advance_loc2] = "2",
	[DW_CFA_advance_loc4] = "4",
	[DW_CFA_offset_extended] = "ru",
	[DW_CFA_restore_extended] = "r",
	[DW_CFA_undefined] = "r",
	[DW_CFA_same_value] = "r",
	[DW_CFA_register] = "rr",
	[DW_CFA_remember_state] = "+",
	[DW_CFA_restore_state] = "-",
	[DW_CFA_def_cfa] = "ru",
	[DW_CFA_def_cfa_register] = "r",
	[DW_CFA_def_cfa_offset] = "u",
	[DW_CFA_def_cfa_expression] = "b",
	[DW_CFA_expression] = "rb",
	[DW_CFA_offset_extended_sf] = "ru",
	[DW_CFA_def_cfa_sf] = "ru",
	[DW_CFA_def_cfa_offset_sf] = "u",
	[DW_CFA_val_offset] = "ru",
	[DW_CFA_val_offset_sf] = "ru",
	[DW_CFA_val_expression] = "rb",
	[DW_CFA_GNU_window_save] = "",	/* arm64: sign the return address */
	[DW_CFA_GNU_args_size] = "u",
	[DW_CFA_GNU_negative_offset_extended] = "ru",
};

static bool operand_is_sane(struct cursor *c, char kind, uint8_t encoding,
			    size_t *remembered)
{
	uint64_t n;

	switch (kind) {
	case '1':
	case '2':
	case '4':
		cursor_uint(c, kind - '0');
		break;
	case 'r':
		return cursor_uleb(c) <= REGISTER_MAX;
	case 'u':
		cursor_uleb(c);
		break;
	case 'b':
		n = cursor_uleb(c);
		cursor_skip(c, n);
		return n <= BLOCK_MAX;
	case 'a':
		cursor_pointer(c, encoding);
		break;
	case '+':
		return ++*remembered <= REMEMBER_MAX;
	case '-':
		return (*remembered)-- > 0;
	}
	return true;
}

/* Go behind the next operation. */
static bool next_operation(struct cursor *c, uint8_t encoding, size_t *remembered)
{
	uint8_t op = cursor_uint(c, 1);
	const char *kinds = operands[op & 0x3f];

	/* These three have an operand in the operation itself. */
	if (op & 0xc0)
		kinds = (op & 0xc0) == DW_CFA_offset ? "u" : "";
	if (!kinds)
		return false;
	for (; *kinds; kinds++)
		if (!operand_is_sane(c, *kinds, encoding, remembered))
			return false;
	return true;
}

bool cfa_is_sane(struct cursor c, uint8_t encoding)
{
	size_t remembered = 0;

	while (cursor_left(&c))
		if (!next_operation(&c, encoding, &remembered))
			return false;
	return !c.bad;
}

bool cfa_find(struct cursor *c, uint8_t encoding, uint8_t op, raddr_t *ret)
{
	size_t remembered = REMEMBER_MAX / 2;	/* the other half by the program before it */

	while (cursor_left(c) && !c->bad) {
		bool is = *c->p == op;

		*ret = c->addr;
		if (!next_operation(c, encoding, &remembered))
			return false;
		if (is)
			return true;
	}
	return false;
}

/* ---- the copy ------------------------------------------------------------ */

struct wrapper {
	Elf64_Ehdr header;
	Elf64_Shdr sections[3];	/* none, .eh_frame, its name */
	char names[16];
};

uint8_t *cfa_copy(const struct image *im, const struct cursor *section,
		  struct unwind *u)
{
	size_t n = cursor_left(section);
	struct wrapper *w = calloc(1, sizeof(*w) + n + PADDING);

	if (!w)
		return NULL;
	*w = (struct wrapper){
		.header = {
			.e_machine = im->header.e_machine,
			.e_type = ET_DYN,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(w->header),
			.e_shoff = offsetof(struct wrapper, sections),
			.e_shentsize = sizeof(w->sections[0]),
			.e_shnum = ARRAY_SIZE(w->sections),
			.e_shstrndx = 2,
		},
		.sections[1] = {
			.sh_name = 1, .sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC, .sh_addr = section->addr,
			.sh_offset = sizeof(*w), .sh_size = n,
		},
		.sections[2] = {
			.sh_type = SHT_STRTAB, .sh_size = sizeof(w->names),
			.sh_offset = offsetof(struct wrapper, names),
		},
		.names = "\0.eh_frame",
	};
	memcpy(w->header.e_ident, im->header.e_ident, EI_NIDENT);
	memcpy(w + 1, section->p, n);
	u->copy = (uint8_t *)w;
	u->elf = elf_memory((char *)w, sizeof(*w) + n + PADDING);
	return u->elf ? (uint8_t *)(w + 1) : NULL;
}

int cfa_open(struct unwind *u)
{
	u->cfi = dwarf_getcfi_elf(u->elf);
	return u->cfi ? 0 : -ENOMEM;
}

/* ---- lookups ------------------------------------------------------------- */

/* Machines of which we know: DWARF's number of the stack pointer, and where the
 * CFA is when a function is entered. */
static const struct machine {
	uint16_t machine;
	uint8_t stack_pointer;
	int64_t entry_offset;
} machines[] = {
	{ EM_X86_64, 7, 8 },
	{ EM_AARCH64, 31, 0 },
};

static const struct machine *machine_of(const struct unwind *u)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].machine == u->machine)
			return &machines[i];
	return NULL;
}

/* Functions are planned by several threads; libdw keeps the entries that it has read in a
 * tree without a lock, which each lookup changes. */
static int frame_at(const struct unwind *u, raddr_t pc, Dwarf_Frame **ret)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&one_at_a_time);
	int err = dwarf_cfi_addrframe(u->cfi, pc, ret);

	pthread_mutex_unlock(&one_at_a_time);
	return err;
}

int unwind_cfa(const struct unwind *u, raddr_t pc, int64_t *ret)
{
	const struct machine *m = machine_of(u);
	Dwarf_Frame *frame;
	int err = -ENOTSUP;
	Dwarf_Op *op;
	size_t n;

	if (!m || !u->cfi || frame_at(u, pc, &frame))
		return err;
	if (!dwarf_frame_cfa(frame, &op, &n) && n == 1 &&
	    op->atom == DW_OP_bregx && op->number == m->stack_pointer) {
		*ret = (int64_t)op->number2;
		err = 0;
	}
	free(frame);
	return err;
}

bool unwind_is_entered(const struct unwind *u, const struct fde *fde)
{
	const struct machine *m = machine_of(u);
	int64_t offset;

	return !m || (!unwind_cfa(u, fde->range.start, &offset) &&
		      offset == m->entry_offset);
}
