/* SPDX-License-Identifier: MIT */
/*
 * case: from which bytes and which state do the two runs start?
 */
#include "tests/fuzz/case.h"

#include <stdio.h>
#include <string.h>

#include "arch/x86_64/code.h"

enum {
	STUB_CAP = 4096,
	BREAKPOINT = 0xcc,
	TRIES = 16,		/* to find a place for an island */
};

/* The second byte and ModRM of `0f ae`, `0f c7` and `0f 01` name what they do. */
static bool is_system_group(const struct x86_form *f)
{
	uint8_t reg = x86_modrm_reg(f);

	switch (f->op) {
	case 0xae:	/* xsave and fxsave write where the last x87 instruction
			 * stood; wrfsbase, wrgsbase, umonitor, tpause */
		return f->memory ? reg == 0 || reg == 4 || reg == 6 :
			f->prefixes & (X86_REP | X86_REPNE | X86_OPSIZE);
	case 0xc7:	/* xsavec; rdrand, rdseed, rdpid */
		return f->memory ? reg != 1 : true;
	case 0x01:	/* wrpkru, rdtscp, xgetbv, enclaves, ... */
		return true;
	default:
		return false;
	}
}

/* What this cannot run, or not twice with the same result. */
static bool is_incomparable(const struct x86_form *f)
{
	uint8_t reg = x86_modrm_reg(f);

	if (f->coding != X86_LEGACY)
		return false;
	if (f->map == X86_MAP_ONE)
		/* popf (single steps), iret, segment registers; fnstenv and
		 * fnsave write where the last x87 instruction stood; xbegin */
		return f->op == 0x9d || f->op == 0xcf || f->op == 0x8e ||
			((f->op == 0xd9 || f->op == 0xdd) && f->memory && reg == 6) ||
			(f->op == 0xc7 && f->modrm == 0xf8);
	if (f->map != X86_MAP_0F)
		return false;
	switch (f->op) {
	case 0x31: case 0x33: case 0xa2:	/* rdtsc, rdpmc, cpuid */
	case 0xa1: case 0xa9:			/* pop fs, pop gs */
	case 0xb2: case 0xb4: case 0xb5:	/* lss, lfs, lgs */
		return true;
	default:
		return is_system_group(f);
	}
}

static bool add_ref(struct fuzz_case *c, raddr_t ref)
{
	struct range r = { ref, ref + WORLD_REF };

	if (r.start < c->world->range.start || r.end > c->world->stubs.start)
		return false;
	for (size_t i = 0; i < c->nrefs; i++)
		if (c->refs[i] < r.end && r.start < c->refs[i] + WORLD_REF)
			return false;
	if (c->nrefs == WORLD_REFS)
		return false;
	c->refs[c->nrefs++] = ref;
	return true;
}

static bool read_window(struct fuzz_case *c, const uint8_t *p)
{
	const struct site *s = c->site;

	c->nrefs = 0;
	for (size_t i = 0; i < s->ninsns; i++) {
		struct insn *in = &c->insns[i];
		size_t off = s->insns[i];
		struct x86_form form;

		if (c->arch->decode(p + off, s->window - off, s->pc + off, in) ||
		    x86_parse(p + off, in->size, &form) || is_incomparable(&form))
			return false;
		bool memory = in->flags & INSN_PCREL &&
			!(form.map == X86_MAP_ONE && form.op == 0x8d);

		if (memory && !world_is_text(c->world, in->ref) && !add_ref(c, in->ref))
			return false;
	}
	return true;
}

static void put(const struct fuzz_case *c, raddr_t at, const uint8_t *p, size_t n)
{
	memcpy(world_at(c->world, at), p, n);
}

static void put_breakpoints(const struct fuzz_case *c, raddr_t at, size_t n)
{
	memset(world_at(c->world, at), BREAKPOINT, n);
}

static void put_window(const struct fuzz_case *c)
{
	size_t left;

	put(c, c->site->pc, symbols_text(c->world->symbols, c->site->pc, &left),
	    c->site->window);
}

static void put_jump(const struct fuzz_case *c)
{
	const struct patch *hole = &c->site->hole, *jump = &c->site->jump;

	if (c->site->kept)	/* what is behind the jump is a part of it */
		put_window(c);
	if (hole->len)
		put(c, hole->pc, c->placed->new_hole, hole->len);
	put(c, jump->pc, c->placed->new_jump, jump->len);
}

void case_end(struct fuzz_case *c)
{
	const struct site *s = c->site;

	put_breakpoints(c, s->pc, MAX(s->window, s->jump.len));
	if (s->hole.len)
		put_breakpoints(c, s->hole.pc, s->hole.len);
}

static int make_stub(struct fuzz_case *c, struct placed_site *s, uint8_t code[STUB_CAP])
{
	size_t left;

	return plan_place(c->arch, c->probe, s,
			  symbols_text(c->world->symbols, s->site.pc, &left),
			  &c->world->routines, code, STUB_CAP);
}

/* The stubs that this one may have jumps into: breakpoints, where they would
 * be. What is copied at a breakpoint is plain: see case_origin. */
static bool place_others(struct fuzz_case *c)
{
	raddr_t at = c->world->stubs.end - STUB_CAP;
	uint8_t code[STUB_CAP];

	for (size_t i = 0; i < c->probe->nsites; i++, at -= STUB_CAP) {
		struct placed_site *s = &c->probe->sites[i];

		s->stub = at;
		if (at < c->own.end || make_stub(c, s, code))
			return false;
		put_breakpoints(c, at, STUB_CAP);
	}
	return true;
}

/* The bytes from the site's first on, as they are here: behind the window is not what the file
 * has. *left: so many are there. */
static uint16_t read_given(const struct fuzz_case *c, uint8_t p[ARCH_JUMP_MAX], size_t *left)
{
	const struct site *s = c->site;

	memset(p, BREAKPOINT, ARCH_JUMP_MAX);
	memcpy(p, symbols_text(c->world->symbols, s->pc, left),
	       MIN(s->window, (size_t)ARCH_JUMP_MAX));
	return (uint16_t)(UINT16_MAX << s->jump.len);
}

/* Some place that this jump of the site can lead to. */
static bool find_place(const struct fuzz_case *c, const struct jump_set *set, raddr_t *ret)
{
	for (int i = 0; i < TRIES; i++) {
		raddr_t from = set->base + (raddr_t)(int32_t)world_random();

		if (jump_set_next(set, from, ret) && world_is_free(c->world, *ret))
			return true;
	}
	return false;
}

/* With any number of prefixes that some place can be found for. */
static bool find_pun(struct fuzz_case *c)
{
	struct site *s = &c->placed->site;
	uint8_t p[ARCH_JUMP_MAX];
	size_t left;
	uint16_t given = read_given(c, p, &left);
	size_t most = c->arch->pun_prefixes, first = world_random() % (most + 1);
	struct jump_set set;

	for (size_t i = 0; i <= most; i++) {
		size_t prefix = (first + i) % (most + 1);

		if (prefix + c->arch->jump_size > left ||
		    plan_pun(c->arch, c->placed, prefix, p, given, &set) ||
		    !find_place(c, &set, &c->placed->island))
			continue;
		c->placed->prefix = prefix;
		s->kept = prefix + c->arch->jump_size - s->jump.len;
		return true;
	}
	return false;
}

/* Keep more of the window than there is need for: puns are rare. */
static bool become_pun(struct fuzz_case *c)
{
	struct placed_site full = *c->placed;
	struct site *s = &c->placed->site;

	s->tactic = TACTIC_PUN;
	s->jump.len = 1 + world_random() % (c->arch->jump_size - 1);
	s->kept = c->arch->jump_size + c->arch->pun_prefixes - s->jump.len;
	if (find_pun(c))
		return true;
	*c->placed = full;
	return false;
}

/* A pun needs an island. Of full jumps one in four becomes a pun and one in eight
 * leads to an island, as if its last bytes were kept by another jump. */
static bool find_island(struct fuzz_case *c)
{
	const struct jump_set anywhere = { .base = c->site->pc + c->arch->jump_size };
	unsigned int dice = world_random() >> 61;

	c->placed->island = 0;
	if (c->site->tactic == TACTIC_PUN)
		return find_pun(c);
	if (c->site->tactic == TACTIC_JUMP && dice < 2)
		become_pun(c);
	else if (c->site->tactic == TACTIC_JUMP && dice == 2)
		find_place(c, &anywhere, &c->placed->island);
	return true;
}

static bool place_island(struct fuzz_case *c)
{
	struct placed_site *s = c->placed;
	uint8_t code[ARCH_JUMP_MAX];

	if (!find_island(c))
		return false;
	int n = s->island ? plan_island(c->arch, s, code) : 0;

	if (n < 0 || (n && world_add_code(c->world, s->island, n)) ||
	    plan_patches(c->arch, s))
		return false;
	if (n)
		put(c, s->island, code, n);
	return true;
}

/* Somewhere within reach, at any alignment. A stub with jumps into itself is
 * made twice, the first time to learn where they lead. */
static bool place(struct fuzz_case *c)
{
	struct placed_site *s = c->placed;
	bool linked = c->probe->planned->linked;
	uint8_t code[STUB_CAP];
	raddr_t start = c->world->stubs.start;

	c->own = (struct range){ start, start + range_size(c->world->stubs) / 2 };
	if (linked && !place_others(c))
		return false;
	s->stub = start + world_random() % (range_size(c->own) - STUB_CAP);
	if ((linked && make_stub(c, s, code)) || make_stub(c, s, code))
		return false;
	put(c, s->stub, code, s->stub_size);
	return place_island(c);
}

uint64_t case_origin(const struct fuzz_case *c, uint64_t pc)
{
	raddr_t a = world_address(c->world, pc);

	for (size_t i = 0; c->probe->planned->linked && i < c->probe->nsites; i++) {
		const struct placed_site *placed = &c->probe->sites[i];
		const struct site *s = &placed->site;

		for (size_t k = 0; s != c->site && k < s->ninsns; k++)
			if (a == placed->stub + placed->stub_off[k])
				return (uintptr_t)world_at(c->world, s->pc + s->insns[k]);
	}
	return pc;
}

bool case_begin(struct fuzz_case *c, const struct placed_probe *probe,
		struct placed_site *placed)
{
	const struct site *site = &placed->site;
	size_t left;
	const uint8_t *p = symbols_text(c->world->symbols, site->pc, &left);

	c->probe = probe;
	c->placed = placed;
	c->site = site;
	if (!p || left < site->window || !read_window(c, p) || !place(c))
		return false;
	world_fill(c->world, c->begin.block);
	return true;
}

/* Some words of the block are new in each run; all of them take too long. */
static void vary_block(struct fuzz_case *c)
{
	for (int i = 0; i < 64; i++) {
		uint64_t value = world_value(c->world);

		memcpy(c->begin.block + world_random() % (WORLD_BLOCK / 8) * 8, &value, 8);
	}
	for (size_t i = 0; i < c->nrefs; i++)
		for (int k = 0; k < WORLD_REF; k += 8) {
			uint64_t value = world_value(c->world);

			memcpy(c->begin.refs[i] + k, &value, 8);
		}
}

static void put_memory(struct fuzz_case *c)
{
	memcpy(c->world->block, c->begin.block, WORLD_BLOCK);
	for (size_t i = 0; i < c->nrefs; i++)
		put(c, c->refs[i], c->begin.refs[i], WORLD_REF);
	memset(c->world->logs, 0, WORLD_LOGS * 8);
}

/* What a function finds below its stack pointer is anything: now what the stub
 * has left there, or its complement. */
static void change_below(const struct fuzz_case *c)
{
	uint8_t *sp = (uint8_t *)(uintptr_t)c->begin.state.regs[REG_RSP];
	size_t end = (size_t)(sp - c->world->block) - (c->site->place ? WORLD_RED_ZONE : 0);
	uint8_t flip = c->run == RUN_AGAIN ? 0 : 0xff;

	for (size_t at = end - WORLD_RED_ZONE; at < end && end <= WORLD_BLOCK; at++)
		c->world->block[at] = c->out[RUN_STUB].block[at] ^ flip;
}

static void begin(struct fuzz_case *c, struct state *s)
{
	vary_block(c);
	world_registers(c->world, s);
	s->regs[REG_RIP] = (greg_t)(uintptr_t)world_at(c->world, c->site->pc);
	c->begin.state = *s;
}

void case_start(struct fuzz_case *c, enum run run, struct state *s)
{
	if (run == RUN_WINDOW)
		begin(c, s);
	c->run = run;
	case_end(c);
	if (run == RUN_STUB)
		put_jump(c);
	else
		put_window(c);
	put_memory(c);
	if (run >= RUN_AGAIN && c->site->entry)
		change_below(c);
	*s = c->begin.state;
}

void case_keep(struct fuzz_case *c, const struct ending *e, const struct state *s)
{
	struct outcome *o = &c->out[c->run];

	o->end = *e;
	o->state = *s;
	memcpy(o->block, c->world->block, WORLD_BLOCK);
	for (size_t i = 0; i < c->nrefs; i++)
		memcpy(o->refs[i], world_at(c->world, c->refs[i]), WORLD_REF);
	memcpy(o->logs, c->world->logs, sizeof(o->logs));
}

void tally_print(const struct tally *t)
{
	printf("%lu sites, %lu passed over, %lu puns and %lu other jumps to "
	       "islands; %lu runs left the window, %lu met a "
	       "fault, %lu endless, %lu without a stack; %lu differ\n",
	       t->sites, t->passed_over, t->puns, t->islands, t->verdicts[VERDICT_LEFT],
	       t->verdicts[VERDICT_FAULT], t->verdicts[VERDICT_ENDLESS],
	       t->verdicts[VERDICT_NO_STACK], t->verdicts[VERDICT_DIFFERENT]);
}
