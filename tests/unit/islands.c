/* SPDX-License-Identifier: MIT */
/*
 * Do punned jumps that lie close together, with jumps of other kinds between
 * them, all lead to their islands, whatever is written behind them?
 *
 * Modules of small functions are made up, planned, and given islands in the
 * address space of this process; then their jumps are put into a copy of the
 * text, and read there. Nothing is mapped or run.
 */
#include "injector/islands/islands.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector/patch/probes.h"
#include "injector/proc/gaps.h"
#include "injector/proc/procfs.h"
#include "injector/session/arena.h"
#include "tests/patch/insns.h"

enum { ROUNDS = 400, FUNCS = 14 };

static uint64_t random_state = 0x9e3779b97f4a7c15;

static size_t dice(size_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 20) % n;
}

static void put_some_function(void)
{
	size_t start = m.at;

	switch (dice(10)) {
	case 0: put(RET); break;
	case 1: put(NOP, RET); break;
	case 2: put(XOR_EAX, RET); break;
	case 3: put(MOV_RDI_RAX, RET); break;
	case 4: put(PUSH_RBX, POP_RBX, RET); break;
	case 5: put(MOV_EAX_1, RET); break;
	case 6: put(XOR_EAX, 0x89, 0xc0, RET); break;
	case 7: case 8:		/* a host right behind a pun */
		put(XOR_EAX, MOV_RDI_RAX, MOV_RDI_RAX, MOV_RDI_RAX, MOV_RDI_RAX);
		put_rel8(JNE, start + 2);
		put_call(start);
		put(LEAVE, RET);
		break;
	default: put_middle(); put(ADD_RSP_40, RET);
	}
}

/* Functions without a gap, now and then with padding, across a page's end. */
static void make_up(void)
{
	static const char *const names[FUNCS] = {
		"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n" };

	module_begin();
	m.at = 4096 - dice(60);
	for (size_t i = 0; i < FUNCS; i++) {
		func(names[i], m.at);
		put_some_function();
		func_end();
		if (dice(4) == 0)
			put_n(NOP, dice(9));
	}
	func("z", m.at); put_middle(); put(RET); func_end();
	module_open();
}

static void plan_all(struct range space)
{
	const struct func *selected[FUNCS + 1];
	struct plan_options o = { .puns = true, .hosts = true, .space = space };
	size_t n = 0;

	for (size_t i = 0; i < m.symbols->nfuncs; i++)
		selected[n++] = &m.symbols->funcs[i];
	if (plan_make(m.arch, m.symbols, selected, n, &o, &m.plan) ||
	    !(m.probes = plan_placement(m.plan)))
		exit(1);
}

/* --- what is written --- */

struct cell {
	uint8_t byte;
	const struct site *jump;	/* which writes it */
	bool hole;
};

static struct cell cells[TEXT_CAP];

static void write_patch(const struct site *s, const struct patch *p, const uint8_t *new,
			bool hole)
{
	for (size_t i = 0; i < p->len; i++) {
		struct cell *c = &cells[p->pc + i - TEXT];

		*c = (struct cell){ new[i], s, hole };
	}
}

static void write_all(void)
{
	for (size_t i = 0; i < TEXT_CAP; i++)
		cells[i] = (struct cell){ .byte = m.text[i] };
	for (size_t i = 0; i < m.plan->nprobes; i++)
		for (size_t k = 0; k < m.probes[i].nsites; k++) {
			struct placed_site *placed = &m.probes[i].sites[k];
			const struct site *s = &placed->site;

			if (m.probes[i].refusal)
				continue;
			placed->stub = TEXT + 0x100000;
			CHECK(!plan_patches(m.arch, placed));
			write_patch(s, &s->hole, placed->new_hole, true);
			write_patch(s, &s->jump, placed->new_jump, s->host);
		}
}

/* --- what then has to hold --- */

static bool read_jump(const struct site *s, struct insn *ret)
{
	uint8_t bytes[ARCH_JUMP_MAX];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = cells[s->pc + i - TEXT].byte;
	return !m.arch->decode(bytes, sizeof(bytes), s->pc, ret) && ret->kind == INSN_JUMP;
}

static void check_kept(const struct site *s)
{
	for (size_t i = s->jump.len; i < (size_t)s->jump.len + s->kept; i++) {
		const struct cell *c = &cells[s->pc + i - TEXT];
		bool one_page = (s->pc + i) / PAGE == s->pc / PAGE &&
			(!c->jump || c->jump->pc / PAGE == s->pc / PAGE);

		/* written together with the pun, or not at all */
		CHECK(!c->jump || (!c->hole && one_page && c->jump->level == s->level));
	}
}

static size_t npuns, nsteered, nlost;

static void check_site(const struct placed_site *placed)
{
	const struct site *s = &placed->site;
	raddr_t island = placed->island;
	struct insn in = { 0 };

	CHECK(read_jump(s, &in));
	CHECK(in.dest == (island ? island : s->tactic == TACTIC_SHORT ? s->hole.pc :
			  placed->stub));
	npuns += s->tactic == TACTIC_PUN;
	nsteered += island && s->tactic != TACTIC_PUN;
	if (s->tactic != TACTIC_PUN)
		return;
	CHECK(island && s->jump.pc / PAGE == (s->jump.pc + s->jump.len - 1) / PAGE);
	check_kept(s);
}

static bool is_planned(const struct islands *islands, raddr_t at)
{
	for (size_t i = 0; i < islands->n; i++)
		if (islands->pages[i].at == at)
			return true;
	return false;
}

static void check_all(const struct module *mod, const struct islands *islands)
{
	raddr_t at[64];
	size_t n = 0;

	for (size_t i = 0; i < m.plan->nprobes; i++) {
		const struct placed_probe *p = &m.probes[i];

		nlost += p->refusal == REFUSED_OUT_OF_REACH;
		for (size_t k = 0; !p->refusal && k < p->nsites; k++) {
			check_site(&p->sites[k]);
			if (p->sites[k].island && n < 64)
				at[n++] = island_of(&p->sites[k], mod);
		}
	}
	for (size_t i = 0; i < n; i++) {
		CHECK(is_planned(islands, ALIGN_DOWN(at[i], PAGE)));
		CHECK(at[i] % PAGE + 5 <= PAGE);
		for (size_t j = 0; j < i; j++)
			CHECK(at[j] + 5 <= at[i] || at[i] + 5 <= at[j]);
	}
}

/* What holds a jump into another window is written before that. */
static uint8_t levels[FUNCS + 1][16];

static void note_levels(void)
{
	for (size_t i = 0; i < m.plan->nprobes; i++)
		for (size_t k = 0; k < m.probes[i].nsites && k < 16; k++)
			levels[i][k] = m.probes[i].sites[k].site.level;
}

static void check_levels(void)
{
	for (size_t i = 0; i < m.plan->nprobes; i++) {
		const struct placed_probe *p = &m.probes[i];
		bool linked = !p->refusal && p->planned->linked;

		for (size_t k = 0; linked && k < p->nsites && k < 16; k++)
			CHECK(levels[i][k] == p->sites[k].site.level);
	}
}

/* Pages are free, and no mapping is to grow into them. */
static void check_pages(const struct islands *islands, const struct gaps *gaps,
			struct range stubs)
{
	for (size_t i = 0; i < islands->n; i++) {
		bool found = false;

		for (size_t j = 0; j < gaps->n; j++)
			found |= range_has(gaps->v[j], islands->pages[i].at);
		CHECK(found);
		CHECK(!range_has(stubs, islands->pages[i].at));
		CHECK(msync((void *)(uintptr_t)islands->pages[i].at, PAGE, MS_ASYNC) < 0);
	}
}

/* Islands come to lie all over the reach of a jump; stubs need a place, too. */
static struct range find_room(pid_t pid, const struct module *mod)
{
	struct gaps gaps;
	raddr_t at = 0;

	CHECK(gaps_find(pid, GAPS_HEAP, NULL, NULL, &gaps) == 0);
	CHECK(arena_find(&gaps, mod->span, ARENA_LEAST, m.arch->reach, 0, &at) == 0);
	gaps_clear(&gaps);
	return (struct range){ at, at + ARENA_LEAST };
}

/* --- functions that drop out --- */

static struct change *list_change(struct live *live, const struct module *mod,
				  const struct patch *p, const uint8_t *new, uint8_t rank)
{
	struct change *c = vec_push(live->changes, live->nchanges, live->changes_cap);

	if (!c)
		exit(1);
	*c = (struct change){ .addr = p->pc + mod->bias, .len = p->len, .rank = rank };
	memcpy(c->to, new, ARCH_PATCH_MAX);
	return c;
}

static void make_live(const struct module *mod, struct live *ret)
{
	*ret = (struct live){ 0 };
	for (size_t i = 0; i < m.plan->nprobes; i++) {
		struct placed_probe *p = &m.probes[i];

		p->id = (uint32_t)i + 1;
		for (size_t k = 0; !p->refusal && k < p->nsites; k++) {
			const struct placed_site *placed = &p->sites[k];
			const struct site *s = &placed->site;
			struct live_site *ls = vec_push(ret->sites, ret->nsites, ret->sites_cap);

			if (!ls)
				exit(1);
			*ls = (struct live_site){ s->pc + mod->bias, s->window, placed, p, mod };
			if (s->hole.len)
				list_change(ret, mod, &s->hole, placed->new_hole, 0)->slot = p->id;
			list_change(ret, mod, &s->jump, placed->new_jump,
				    s->host ? 0 : (uint8_t)(1 + s->level))->slot = p->id;
		}
		ret->nprobed += !p->refusal;
	}
}

/* Take one function out, and read what is left. */
static void drop_one(const struct module *mod)
{
	static struct slot slots[FUNCS + 2];
	struct infection inf = { .map.slots = slots };
	struct live live;

	for (uint32_t i = 0; i < ARRAY_SIZE(slots); i++)
		slots[i].func = i;
	make_live(mod, &live);
	CHECK(puns_check(&live, &inf) == 0);
	size_t before = live.nprobed;

	if (before) {
		live_drop(&live, &inf, live.sites[dice(live.nsites)].probe, REFUSED_BUSY);
		CHECK(live.nprobed < before);
		write_all();
		for (size_t i = 0; i < live.nsites; i++)
			check_site(live.sites[i].placed);
	}
	live_clear(&live);
}

static void spoil_pun(struct placed_site *s)
{
	if (s->site.tactic == TACTIC_PUN && dice(2))
		s->new_jump[s->site.jump.len + dice(s->site.kept)] ^= 0x10;
	else if (s->site.tactic == TACTIC_PUN)
		s->island = 0;
}

/* A kept byte that differs after all; an island that was never found. */
static void keep_nothing_foreign(const struct module *mod)
{
	static struct slot slots[FUNCS + 2];
	struct infection inf = { .map.slots = slots };
	struct live live;

	make_live(mod, &live);
	for (size_t i = 0; i < m.plan->nprobes; i++)
		for (size_t k = 0; !m.probes[i].refusal && k < m.probes[i].nsites; k++)
			spoil_pun(&m.probes[i].sites[k]);
	CHECK(puns_check(&live, &inf) == 0);
	for (size_t i = 0; i < live.nsites; i++)
		CHECK(live.sites[i].placed->site.tactic != TACTIC_PUN);
	live_clear(&live);
}

/* What is written at another time. */
static void keep_nothing_later(const struct module *mod)
{
	static struct slot slots[FUNCS + 2];
	struct infection inf = { .map.slots = slots };
	struct live live;

	make_live(mod, &live);
	for (size_t i = 0; i < live.nchanges; i++)
		live.changes[i].rank = (uint8_t)i;
	CHECK(puns_check(&live, &inf) == 0);
	for (size_t i = 0; i < live.nsites; i++) {
		const struct site *s = &live.sites[i].placed->site;

		for (size_t k = s->jump.len; k < (size_t)s->jump.len + s->kept; k++)
			CHECK(!cells[s->pc + k - TEXT].jump);
	}
	live_clear(&live);
}

/* Its bytes lead the pun to the last `left` bytes of a page. */
static enum refusal near_page_end(const struct target *self, uint8_t left)
{
	struct islands islands;

	module_begin();
	func("f", 0); put(RET); func_end();
	func("g", 1); put(0x100 - 5 - left, 0x9f, 0x10, 0x20); put_middle(); put(RET);
	func_end();
	module_plan_with(&(struct plan_options){ .puns = true }, "f", NULL, NULL);
	struct module mod = { .base = "module", .bias = 0x200000000000, .symbols = m.symbols };
	struct selected one = { .module = &mod, .n = 1, .plan = m.plan,
				.probes = m.probes, .nprobes = 1 };
	struct selection sel = { .v = &one, .n = 1 };

	mod.span = (struct range){ TEXT + mod.bias, RODATA + mod.bias };
	CHECK(islands_choose(self, &sel, &islands) == 0);
	islands_clear(&islands);
	return m.probes[0].refusal;
}

/* Give up what was to land on a page that the program has mapped meanwhile. */
static void page_is_taken(const struct target *self)
{
	struct islands islands;

	module_begin();
	func("f", 0); put(MOV_EAX_1); put_rel8(JE, 14); put_call(32); put(XOR_EAX);
	put(POP_RBX, RET); func_end();
	func("g", 16); put_middle(); put(RET); func_end();
	module_plan_with(&(struct plan_options){ .puns = true }, "f", NULL, NULL);
	struct module mod = { .base = "module", .bias = 0x200000000000, .symbols = m.symbols };
	struct selected one = { .module = &mod, .n = 1, .plan = m.plan,
				.probes = m.probes, .nprobes = 1 };
	struct selection sel = { .v = &one, .n = 1 };
	struct placed_probe *p = &m.probes[0];

	mod.span = (struct range){ TEXT + mod.bias, RODATA + mod.bias };
	CHECK(islands_choose(self, &sel, &islands) == 0);
	CHECK(p->nsites == 2 && p->sites[0].site.tactic == TACTIC_PUN && !p->entry_only);
	for (size_t i = 0; i < islands.n; i++)
		islands.pages[i].mapped = true;
	islands_check(&islands, &sel);
	CHECK(!p->entry_only && p->nsites == 2);
	islands.pages[0].mapped = false;
	islands_check(&islands, &sel);
	CHECK(!p->refusal && p->entry_only == REFUSED_EXIT_NO_ROOM && p->nsites == 1);
	islands_clear(&islands);
}

static void round_at(const struct target *self, raddr_t bias, struct range space)
{
	struct gaps gaps;
	struct islands islands;

	make_up();
	plan_all(space);
	struct module mod = { .base = "module", .bias = bias, .symbols = m.symbols,
			      .span = { TEXT + bias, RODATA + bias } };
	struct selected one = { .module = &mod, .n = m.plan->nprobes, .plan = m.plan,
				.probes = m.probes, .nprobes = m.plan->nprobes };
	struct selection sel = { .v = &one, .n = 1 };

	CHECK(gaps_find(self->pid, GAPS_HEAP_LEAST, NULL, NULL, &gaps) == 0);
	note_levels();
	struct range stubs = find_room(self->pid, &mod);

	CHECK(islands_choose(self, &sel, &islands) == 0);
	check_levels();
	write_all();
	check_all(&mod, &islands);
	check_pages(&islands, &gaps, stubs);
	keep_nothing_later(&mod);
	drop_one(&mod);
	keep_nothing_foreign(&mod);
	islands_clear(&islands);
	gaps_clear(&gaps);
}

/* Go's memory is elsewhere: close above the heap there may be islands. */
static void heap_of_go(const struct target *self)
{
	struct symbols symbols = { .go = { TEXT, TEXT + 1 } };
	struct module mod = { .is_exe = true, .symbols = &symbols };
	struct selected one = { .module = &mod };
	struct selection sel = { .v = &one, .n = 1 };
	raddr_t place = procfs_heap(self->pid) + (1 << 29);
	bool found = false;
	struct gaps gaps;

	CHECK(gaps_find(self->pid, islands_heap(self->pid, &sel), NULL, NULL, &gaps) == 0);
	for (size_t i = 0; i < gaps.n; i++)
		found |= range_has(gaps.v[i], place);
	CHECK(found);
	gaps_clear(&gaps);
	/* One that has ended has no heap, as one without C. */
	pid_t ended = fork();

	if (!ended)
		_exit(0);
	CHECK(waitid(P_PID, (id_t)ended, NULL, WEXITED | WNOWAIT) == 0);
	CHECK(islands_heap(ended, &sel) == 0);
	CHECK(waitpid(ended, NULL, 0) == ended);
	symbols.go = (struct range){ 0 };
	CHECK(islands_heap(self->pid, &sel) == GAPS_HEAP);
}

/* An island for a jump that can lead to `at`, and further up as `free` has it; or 0. */
static raddr_t take_at(const struct target *self, raddr_t at, uint32_t free)
{
	struct jump_set set = { .base = at, .mask = ~free };
	struct range reach = { ALIGN_DOWN(at, PAGE) - PAGE, at + (1ull << 31) };
	raddr_t island = 0;
	struct pages ps;

	CHECK(pages_find(self, (size_t)m.arch->jump_size, GAPS_HEAP, &ps) == 0);
	CHECK(pages_may(&ps, &set, reach) == pages_take(&ps, &set, reach, &island));
	pages_clear(&ps);
	return island;
}

/* Where a heap may come late is taken if nothing else is, and where it comes soon never. */
static void heap_at_last(const struct target *self)
{
	raddr_t heap = ALIGN_UP((uintptr_t)sbrk(0), PAGE), late = heap + (1 << 29);

	CHECK(take_at(self, heap + (1 << 27), 0) == 0);
	CHECK(take_at(self, late, 0) == late);
	CHECK(take_at(self, late, 1 << 30) == late + (1 << 30));
}

/* What is taken of a gap leaves what is before and behind. */
static void takes_of_gaps(pid_t pid)
{
	struct gaps gaps;

	CHECK(gaps_find(pid, GAPS_HEAP, NULL, NULL, &gaps) == 0 && gaps.n);
	size_t n = gaps.n;
	struct range first = gaps.v[0], middle = { first.start + PAGE, first.start + 3 * PAGE };

	CHECK(gaps_take(&gaps, middle) == 0 && gaps.n == n + 1);
	CHECK(gaps.v[0].start == first.start && gaps.v[0].end == middle.start);
	CHECK(gaps.v[1].start == middle.end && gaps.v[1].end == first.end);
	CHECK(gaps_take(&gaps, (struct range){ 0, 1ull << 62 }) == 0 && !gaps.n);
	gaps_clear(&gaps);
}

/* What an earlier test of the same process has left does not matter here. */
static void check_gaps(pid_t pid)
{
	raddr_t heap = procfs_heap(pid), brk_now = (uintptr_t)sbrk(0);
	int on_stack;
	raddr_t stack = (uintptr_t)&on_stack;
	/* Where jumps reach less far, less is left to the stack. */
	uint64_t left = MIN(1ull << 29, (uint64_t)arch_host()->reach / 2);
	struct gaps gaps;

	CHECK(gaps_find(pid, GAPS_HEAP, NULL, NULL, &gaps) == 0 && gaps.n);
	CHECK(heap && heap <= brk_now);
	for (size_t i = 0; i < gaps.n; i++) {
		struct range heap_to_be = { heap, brk_now + (1 << 29) };
		struct range stack_to_be = { stack - left, stack };

		CHECK(!range_overlaps(gaps.v[i], heap_to_be));
		CHECK(!range_overlaps(gaps.v[i], stack_to_be));
		CHECK(gaps.v[i].start >= 1 << 16 && gaps.v[i].start % PAGE == 0);
	}
	gaps_clear(&gaps);
}

int main(void)
{
	struct target self = { .pid = getpid(), .mem = open("/proc/self/mem", O_RDONLY) };

	check_gaps(self.pid);
	heap_of_go(&self);
	takes_of_gaps(self.pid);
	/* Islands are chosen for jumps of the machine that inject runs on. */
	if (arch_host() != arch_by_machine(EM_X86_64)) {
		printf("skipped: the functions are x86-64 code\n");
		return failures ? 1 : 77;
	}
	for (int i = 0; i < ROUNDS; i++) {
		round_at(&self, 0x200000000000, (struct range){ 0 });
		round_at(&self, 0x400000, (struct range){ 1 << 16, 1ull << 46 });
	}
	check_gaps(self.pid);
	heap_at_last(&self);
	CHECK(near_page_end(&self, 3) == REFUSED_OUT_OF_REACH);
	CHECK(near_page_end(&self, 5) == REFUSED_NONE);
	page_is_taken(&self);
	printf("%zu puns, %zu jumps that had to move for them, %zu without a place\n", npuns,
	       nsteered, nlost);
	CHECK(npuns > 1000 && nsteered > 100);
	module_end();
	return failures != 0;
}
