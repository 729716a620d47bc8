/* SPDX-License-Identifier: MIT */
#include "symbols/unwind/rows.h"

#include <string.h>

#include "symbols/elf/debugfile.h"
#include "symbols/unwind/unwind.h"

enum { SLOTS = 1 << 16 };	/* of the hash: twice UNWIND_RULES */

/* DWARF's numbers of registers. */
static const struct numbers {
	uint16_t machine;
	uint8_t sp, fp, ra;
	int16_t entry;		/* of the CFA, from the stack pointer on, where a function begins */
} machines[] = {
	{ EM_X86_64, 7, 6, 16, 8 },
	{ EM_AARCH64, 31, 29, 30, 0 },
};

/* What is said of one register. */
struct saved {
	enum { SAVED_SAME, SAVED_GONE, SAVED_AT, SAVED_BY } how;
	int64_t offset;		/* AT: from the CFA on */
	struct cursor by;	/* BY: an expression tells the address */
};

struct state {
	bool by;		/* the CFA is what the expression says */
	uint64_t reg;
	int64_t offset;
	struct cursor expression;
	struct saved fp, ra;
};

struct rows_run {
	const struct numbers *of;
	const struct unwind *u;
	const struct cie *cie;
	struct cursor c;
	raddr_t at;
	struct state now, initial, kept[REMEMBER_MAX];
	size_t nkept;
	bool bad;
};

/* ---- rules --------------------------------------------------------------- */

/* REGISTER + offset, and perhaps what memory holds there: DW_OP_breg, DW_OP_deref. */
static bool is_simple(struct cursor c, uint8_t reg, bool deref, int64_t *ret)
{
	if (cursor_uint(&c, 1) != DW_OP_breg0 + (uint64_t)reg)
		return false;
	*ret = cursor_sleb(&c);
	if (deref && cursor_uint(&c, 1) != DW_OP_deref)
		return false;
	return !c.bad && !cursor_left(&c);
}

/* What linkers say of a linkage table: 8 above, and 16 behind the push in each of its stubs. */
static bool is_linkage(struct cursor c, int32_t *ret)
{
	static const uint8_t begin[] = { DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const uint8_t end[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };

	if (cursor_left(&c) != sizeof(begin) + 1 + sizeof(end) ||
	    memcmp(c.p, begin, sizeof(begin)) != 0 ||
	    memcmp(c.p + sizeof(begin) + 1, end, sizeof(end)) != 0)
		return false;
	*ret = c.p[sizeof(begin)] - DW_OP_lit0;
	return *ret > 0 && *ret < 16;
}

static bool fits(int64_t value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

static const struct unwind_rule stop = { .base = UNWIND_STOP };

/* The kernel's frame of a signal: all that is known is where in it registers lie. */
static struct unwind_rule signal_rule(const struct rows_run *r)
{
	const struct state *s = &r->now;
	int64_t sp, ra, fp;

	if (!s->by || !is_simple(s->expression, r->of->sp, true, &sp) ||
	    s->ra.how != SAVED_BY || !is_simple(s->ra.by, r->of->sp, false, &ra) ||
	    s->fp.how != SAVED_BY || !is_simple(s->fp.by, r->of->sp, false, &fp) ||
	    !fits(sp) || !fits(ra) || !fits(fp))
		return stop;
	return (struct unwind_rule){ .cfa = (int32_t)sp, .ra = (int32_t)ra, .fp = (int32_t)fp,
				     .base = UNWIND_SIGNAL };
}

static bool base_rule(const struct rows_run *r, struct unwind_rule *ret)
{
	const struct state *s = &r->now;
	int64_t offset = s->offset;

	if (!s->by) {
		ret->base = s->reg == r->of->sp ? UNWIND_SP : s->reg == r->of->fp ? UNWIND_FP :
			UNWIND_STOP;
	} else if (is_simple(s->expression, r->of->fp, true, &offset)) {
		ret->base = UNWIND_FP_AT;
	} else if (r->of->entry && is_linkage(s->expression, &ret->cfa)) {
		ret->base = UNWIND_PLT;
		return true;
	}
	if (offset < INT32_MIN || offset > INT32_MAX)
		return false;
	ret->cfa = (int32_t)offset;
	return ret->base != UNWIND_STOP;
}

static bool fp_rule(const struct rows_run *r, struct unwind_rule *ret)
{
	const struct saved *fp = &r->now.fp;
	int64_t offset = fp->offset;

	switch (fp->how) {
	case SAVED_SAME:
		ret->flags |= UNWIND_FP_SAME;
		return true;
	case SAVED_GONE:
		ret->flags |= UNWIND_FP_GONE;
		return true;
	case SAVED_BY:
		if (is_simple(fp->by, r->of->fp, false, &offset))
			ret->flags |= UNWIND_FP_BY_FP;
		else
			ret->flags |= UNWIND_FP_GONE;
		break;
	case SAVED_AT:
		break;
	}
	ret->fp = (int32_t)offset;
	return ret->flags & UNWIND_FP_GONE || fits(offset);
}

/*
 * A return address at the CFA or above it would be in the caller's frame: the table forgets what
 * was pushed before, as regs_above_op has it: 16 bytes,
 * of which the upper 8 are the return address.
 */
static void raise_frame(struct unwind_rule *r)
{
	int64_t by = (int64_t)r->ra + 8, cfa = r->cfa + by, fp = r->fp - by;

	if (!fits(cfa) || !fits(fp)) {
		*r = stop;
		return;
	}
	r->cfa = (int32_t)cfa;
	r->ra = -8;
	if (!(r->flags & (UNWIND_FP_SAME | UNWIND_FP_GONE | UNWIND_FP_BY_FP)))
		r->fp = (int32_t)fp;
}

static struct unwind_rule rule_of(const struct rows_run *r)
{
	const struct saved *ra = &r->now.ra;
	struct unwind_rule ret = { .base = UNWIND_STOP };

	if (r->bad)
		return stop;
	if (ra->how == SAVED_GONE)
		return (struct unwind_rule){ .base = UNWIND_END };
	if (r->cie->signal)
		return signal_rule(r);
	if (ra->how == SAVED_BY || !fits(ra->offset) || !base_rule(r, &ret) || !fp_rule(r, &ret))
		return stop;
	ret.ra = (int32_t)ra->offset;
	if (ra->how == SAVED_SAME)
		ret.flags |= UNWIND_LINKED;
	else if (ret.ra >= 0)
		raise_frame(&ret);
	return ret;
}

/* ---- tables -------------------------------------------------------------- */

static uint32_t hash_of(const struct unwind_rule *rule)
{
	uint64_t a, b = 0;

	memcpy(&a, rule, sizeof(a));
	memcpy(&b, (const char *)rule + sizeof(a), sizeof(*rule) - sizeof(a));
	return (uint32_t)((a ^ b * 0x9e3779b97f4a7c15ull) * 0x9e3779b97f4a7c15ull >> 48);
}

/* The rule's number; -1: memory is out. Where there are too many, the rest stops. */
static int64_t intern(struct unwind_rows *rows, const struct unwind_rule *rule)
{
	uint32_t i = hash_of(rule);

	for (; rows->slots[i]; i = (i + 1) % SLOTS)
		if (!memcmp(&rows->rules[rows->slots[i] - 1], rule, sizeof(*rule)))
			return rows->slots[i] - 1;
	if (rows->nrules == UNWIND_RULES)
		return 0;
	struct unwind_rule *slot = vec_push(rows->rules, rows->nrules, rows->rules_cap);

	if (!slot)
		return -1;
	*slot = *rule;
	rows->slots[i] = (uint32_t)rows->nrules;
	return rows->slots[i] - 1;
}

static int rows_add(struct unwind_rows *rows, raddr_t at, const struct unwind_rule *rule)
{
	int64_t number = intern(rows, rule);

	if (number < 0)
		return -ENOMEM;
	if (rows->n && rows->v[rows->n - 1].at == at)
		rows->n--;
	if (rows->n && rows->v[rows->n - 1].rule == number)
		return 0;
	struct unwind_row *row = vec_push(rows->v, rows->n, rows->cap);

	if (!row)
		return -ENOMEM;
	*row = (struct unwind_row){ at, (uint16_t)number };
	return 0;
}

/* ---- programs ------------------------------------------------------------ */

static int64_t factored(const struct rows_run *r, int64_t n)
{
	int64_t ret;

	return __builtin_mul_overflow(n, r->cie->data_factor, &ret) ? INT64_MAX : ret;
}

/* What is said of a register that no rule has is passed over. */
static struct saved *saved_of(struct rows_run *r, struct state *s, uint64_t reg)
{
	static _Thread_local struct saved others;

	return reg == r->of->fp ? &s->fp : reg == r->of->ra ? &s->ra : &others;
}

static void set_at(struct rows_run *r, uint64_t reg, int64_t offset)
{
	*saved_of(r, &r->now, reg) = (struct saved){ .how = SAVED_AT, .offset = offset };
}

static void set_how(struct rows_run *r, uint64_t reg, int how)
{
	*saved_of(r, &r->now, reg) = (struct saved){ .how = how };
}

static void run_restore(struct rows_run *r, uint64_t reg)
{
	*saved_of(r, &r->now, reg) = *saved_of(r, &r->initial, reg);
}

static void run_expression(struct rows_run *r, uint64_t reg)
{
	struct cursor by = cursor_take(&r->c, cursor_uleb(&r->c));

	*saved_of(r, &r->now, reg) = (struct saved){ .how = SAVED_BY, .by = by };
}

/* The CFA is a register and a number. */
static void run_define(struct rows_run *r, uint64_t reg, int64_t offset)
{
	r->now.by = false;
	r->now.reg = reg;
	r->now.offset = offset;
}

static void run_register(struct rows_run *r, uint8_t op)
{
	uint64_t reg = cursor_uleb(&r->c);

	switch (op) {
	case DW_CFA_offset_extended:
		set_at(r, reg, factored(r, (int64_t)cursor_uleb(&r->c)));
		break;
	case DW_CFA_offset_extended_sf:
		set_at(r, reg, factored(r, cursor_sleb(&r->c)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_at(r, reg, -factored(r, (int64_t)cursor_uleb(&r->c)));
		break;
	case DW_CFA_restore_extended:
		run_restore(r, reg);
		break;
	case DW_CFA_undefined:
		set_how(r, reg, SAVED_GONE);
		break;
	case DW_CFA_same_value:
		set_how(r, reg, SAVED_SAME);
		break;
	case DW_CFA_expression:
		run_expression(r, reg);
		break;
	case DW_CFA_val_expression:
		run_expression(r, reg);
		r->bad |= reg == r->of->ra;
		set_how(r, reg, SAVED_GONE);
		break;
	default:	/* in another register, or a number and no memory */
		cursor_uleb(&r->c);
		r->bad |= reg == r->of->ra;
		set_how(r, reg, SAVED_GONE);
		break;
	}
}

static void run_state(struct rows_run *r, bool back)
{
	if (back ? !r->nkept : r->nkept == REMEMBER_MAX)
		r->bad = true;
	else if (back)
		r->now = r->kept[--r->nkept];
	else
		r->kept[r->nkept++] = r->now;
}

static void run_operation(struct rows_run *r, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_GNU_window_save:
		break;
	case DW_CFA_GNU_args_size:
		cursor_uleb(&r->c);
		break;
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
		run_state(r, op == DW_CFA_restore_state);
		break;
	case DW_CFA_def_cfa:
		reg = cursor_uleb(&r->c);
		run_define(r, reg, (int64_t)cursor_uleb(&r->c));
		break;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(&r->c);
		run_define(r, reg, factored(r, cursor_sleb(&r->c)));
		break;
	case DW_CFA_def_cfa_register:
		run_define(r, cursor_uleb(&r->c), r->now.offset);
		break;
	case DW_CFA_def_cfa_offset:
		run_define(r, r->now.reg, (int64_t)cursor_uleb(&r->c));
		break;
	case DW_CFA_def_cfa_offset_sf:
		run_define(r, r->now.reg, factored(r, cursor_sleb(&r->c)));
		break;
	case DW_CFA_def_cfa_expression:
		r->now.by = true;
		r->now.expression = cursor_take(&r->c, cursor_uleb(&r->c));
		break;
	default:
		run_register(r, op);
	}
}

/* How far the operation goes on; 0: it does not. */
static uint64_t run_advance(struct rows_run *r, uint8_t op)
{
	raddr_t to;

	switch (op) {
	case DW_CFA_set_loc:
		to = cursor_pointer(&r->c, r->cie->encoding);
		r->bad |= to < r->at;
		return to - r->at;
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		return cursor_uint(&r->c, 1u << (op - DW_CFA_advance_loc1)) * r->cie->code_factor;
	}
	return (op & 0xc0) == DW_CFA_advance_loc ? (op & 0x3f) * r->cie->code_factor : 0;
}

static bool advances(uint8_t op)
{
	return (op & 0xc0) == DW_CFA_advance_loc ||
		(op >= DW_CFA_set_loc && op <= DW_CFA_advance_loc4);
}

/* All of a program; a row for each place where it goes on. `rows` is NULL for a CIE's. */
static int run_program(struct rows_run *r, struct range range, struct unwind_rows *rows)
{
	int err = 0;

	while (!err && cursor_left(&r->c) && !r->c.bad && !r->bad) {
		uint8_t op = cursor_uint(&r->c, 1);

		if (advances(op)) {
			struct unwind_rule rule = rule_of(r);
			uint64_t by = run_advance(r, op);

			if (rows && by)
				err = rows_add(rows, r->at, &rule);
			if (by >= range.end - r->at)
				return err;
			r->at += by;
		} else if ((op & 0xc0) == DW_CFA_offset) {
			set_at(r, op & 0x3f, factored(r, (int64_t)cursor_uleb(&r->c)));
		} else if ((op & 0xc0) == DW_CFA_restore) {
			run_restore(r, op & 0x3f);
		} else {
			run_operation(r, op);
		}
	}
	struct unwind_rule rule = rule_of(r);

	return err || !rows ? err : rows_add(rows, r->at, &rule);
}

static struct cursor program_at(const struct unwind *u, const uint8_t *program, uint32_t size)
{
	return (struct cursor){ .p = program, .end = program + size,
				.addr = u->addr + (raddr_t)(program - u->copy) };
}

static int add_entry(const struct numbers *of, const struct unwind *u, struct range range,
		     const struct fde *fde, struct unwind_rows *rows)
{
	const struct cie *cie = &u->cies[fde->cie];
	struct rows_run r = { .of = of, .u = u, .cie = cie, .at = range.start };

	if (!fde->program || cie->bad)
		return rows_add(rows, range.start, &stop);
	r.now.reg = of->sp;
	r.now.offset = of->entry;
	/* Where nothing is said of it, the return address is where a call has left it. */
	if (of->entry)
		r.now.ra = (struct saved){ .how = SAVED_AT, .offset = -of->entry };
	r.c = program_at(u, cie->program, cie->size);
	run_program(&r, (struct range){ range.start, range.start + 1 }, NULL);
	r.initial = r.now;
	r.nkept = 0;
	r.at = range.start;
	r.c = program_at(u, fde->program, fde->size);
	return run_program(&r, range, rows);
}

/* An entry, and of which section. */
struct entry {
	struct range range;	/* first, to be sorted by its start */
	const struct unwind *u;
	const struct fde *fde;
};

/* Entries may overlap: the one that begins first has what is before the next. */
static int add_entries(const struct numbers *of, const struct entry *v, size_t n,
		       struct unwind_rows *rows)
{
	static const struct unwind_rule none = { .base = UNWIND_NONE };
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct range range = v[i].range;
		raddr_t next = i + 1 < n ? v[i + 1].range.start : UINT64_MAX;

		range.end = MIN(range.end, next);
		err = add_entry(of, v[i].u, range, v[i].fde, rows);
		if (!err && range.end < next)
			err = rows_add(rows, range.end, &none);
	}
	return err;
}

/* All of .eh_frame, and of what was made for debuggers the code that it says nothing of. */
static int add_both(const struct numbers *of, const struct unwind *u, const struct unwind *debug,
		    struct unwind_rows *rows)
{
	auto_free struct entry *v = calloc(u->nfdes + debug->nfdes + 1, sizeof(*v));
	size_t n = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < u->nfdes; i++)
		v[n++] = (struct entry){ u->fdes[i].range, u, &u->fdes[i] };
	for (size_t i = 0; i < debug->nfdes; i++)
		if (!unwind_find(u, debug->fdes[i].range.start))
			v[n++] = (struct entry){ debug->fdes[i].range, debug, &debug->fdes[i] };
	base_sort(v, n, sizeof(*v));
	return add_entries(of, v, n, rows);
}

/* The .debug_frame of the file, or of the debug file that was split from it. */
static int read_debug(const struct image *im, const char *path, const char *root,
		      struct unwind *ret)
{
	const struct stripped s = { .image = im, .path = path, .debug_root = root };
	auto_free char *dir = NULL;
	auto_close int fd = -1;
	struct image debug;

	*ret = (struct unwind){ 0 };
	if (image_section(im, ".debug_frame"))
		return unwind_read_debug(im, im, ret);
	int err = debugfile_open(&s, &debug, &fd, &dir);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = unwind_read_debug(im, &debug, ret);
	image_close(&debug);
	return err;
}

static int rows_make(const struct image *im, const char *path, const char *root,
		     struct unwind_rows *ret)
{
	const struct numbers *of = NULL;
	struct unwind u = { 0 }, debug = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].machine == im->header.e_machine)
			of = &machines[i];
	if (!of)
		return 0;
	int err = unwind_read(im, &u);

	err = err ? err : read_debug(im, path, root, &debug);
	ret->slots = calloc(SLOTS, sizeof(*ret->slots));
	if (!err)
		err = ret->slots && intern(ret, &stop) == 0 ? add_both(of, &u, &debug, ret) :
			-ENOMEM;
	unwind_clear(&u);
	unwind_clear(&debug);
	return err;
}

/* Where the file's code is that these bytes of it are, be they a page more. */
static int find_first(const struct image *im, struct range mapped, raddr_t *ret)
{
	for (size_t i = 0; i < im->nloads; i++) {
		const struct load *l = &im->loads[i];

		if (!(l->flags & PF_X) || l->offset >= mapped.end ||
		    l->offset + range_size(l->range) <= mapped.start)
			continue;
		*ret = l->range.start - l->offset + mapped.start;
		return 0;
	}
	return fail(ENOENT, "find code");
}

int unwind_rows_open(int fd, const char *path, const char *root, struct range mapped,
		     struct unwind_rows *ret)
{
	struct image im;

	*ret = (struct unwind_rows){ 0 };
	int err = image_open(fd, path, &im);

	if (err)
		return err;
	err = image_ready(&im, fd, path);
	err = err ? err : find_first(&im, mapped, &ret->first);
	if (!err && rows_make(&im, path, root, ret))
		err = fail(ENOMEM, "read how to unwind %s", path);
	image_close(&im);
	if (err)
		unwind_rows_clear(ret);
	return err;
}

void unwind_rows_clear(struct unwind_rows *r)
{
	free(r->v);
	free(r->rules);
	free(r->slots);
	*r = (struct unwind_rows){ 0 };
}
