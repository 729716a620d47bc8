/* SPDX-License-Identifier: MIT */
#include "injector/show/stubs.h"

#include <string.h>

#include "arch/print.h"
#include "payload/abi.h"

enum {
	STUB_CAP = 2048,
	BEHIND = 1 << 20,	/* bytes from the module's code to its stubs */
	APART = 64,		/* from one recording routine to the next */
	BYTES_SHOWN = 11,
};

struct showing {
	const struct arch *arch;
	const struct symbols *symbols;
	struct placed_probe *probe;
	struct routines to;
	struct output *out;
};

/* In what order they lie says nothing: they have addresses to be told apart by. */
static void place_routines(const struct symbols *syms, struct routines *ret)
{
	raddr_t end = 0;

	for (size_t i = 0; i < syms->ntexts; i++)
		end = MAX(end, syms->texts[i].range.end);
	end = ALIGN_UP(end + BEHIND, (raddr_t)PAGE);
	*ret = (struct routines){
		.entry = end, .exit = end + APART, .mark = end + 2 * APART,
		.late = end + 3 * APART, .find = end + 4 * APART, .leave = end + 5 * APART,
		.first = end + 6 * APART, .gates = end + PAGE,
		.late_word = REC_UNWATCHED,
	};
}

/* What an address of ours is; NULL: it is none. */
static const char *routine_name(const struct routines *to, raddr_t at)
{
	return at == to->entry || at == to->late ? "records the entry" :
		at == to->exit ? "records the exit" :
		at == to->leave ? "records the exit, and returns" :
		at == to->mark ? "records a mark" :
		at == to->find ? "shows unwinders the way" :
		at == to->first ? "makes a thread known" : NULL;
}

static void print_where(const struct showing *s, raddr_t dest)
{
	const char *routine = routine_name(&s->to, dest);
	const struct func *f = symbols_func_at(s->symbols, dest);

	if (routine)
		output_printf(s->out, "  # %s", routine);
	else if (f)
		output_printf(s->out, "  # %s+%#llx", f->name,
			      (unsigned long long)(dest - f->range.start));
}

/* One instruction; its size. */
static size_t print_insn(const struct showing *s, const uint8_t *p, size_t n, raddr_t pc)
{
	struct insn in = { 0 };
	char text[256];
	size_t size = arch_print(s->arch, p, n, pc, text, sizeof(text));

	output_printf(s->out, "    %#12llx  ", (unsigned long long)pc);
	for (size_t i = 0; i < BYTES_SHOWN; i++)
		output_printf(s->out, i < size ? "%02x " : "   ", i < size ? p[i] : 0);
	output_printf(s->out, " %s", text);
	if (s->arch->measure(p, n, pc, &in) == 0 && in.dest)
		print_where(s, in.dest);
	output_printf(s->out, "\n");
	return size;
}

static void print_code(const struct showing *s, const uint8_t *p, size_t n, raddr_t pc)
{
	for (size_t at = 0; at < n;)
		at += print_insn(s, p + at, n - at, pc + at);
}

static const char *role(const struct site *site)
{
	return site->place ? "place" : site->host ? "host of another jump" : site->entry && site->nexits ?
		"entry and exit" : site->entry ? "entry" : "exit";
}

static void print_jump(const struct showing *s, const struct site *site)
{
	output_printf(s->out, "  %s at %#llx: %s, %u byte%s written", role(site),
		      (unsigned long long)site->pc, tactic_word(site->tactic), site->jump.len,
		      site->jump.len == 1 ? "" : "s");
	if (site->hole.len)
		output_printf(s->out, ", and %u at %#llx, to which it leads", site->hole.len,
			      (unsigned long long)site->hole.pc);
	if (site->tactic == TACTIC_PUN)
		output_printf(s->out, "; %u behind them stay, and choose the island that it "
			      "leads to", site->kept);
	if (site->dead)
		output_printf(s->out, ", %u of them padding", site->dead);
	if (site->level)
		output_printf(s->out, "; jumps that lead inside are led to the stub");
	output_printf(s->out, "\n");
}

static int write_stub(struct showing *s, struct placed_site *placed, const uint8_t *text,
		      uint8_t *code)
{
	return plan_place(s->arch, s->probe, placed, text, &s->to, code, STUB_CAP);
}

/* Where one stub has jumps into another, each has to have a place first. */
static void give_places(struct showing *s)
{
	raddr_t at = s->to.gates + (1 << REC_FUNC_BITS);
	uint8_t code[STUB_CAP];
	size_t left;

	for (size_t i = 0; i < s->probe->nsites; i++) {
		struct placed_site *placed = &s->probe->sites[i];

		placed->stub = at;
		at += ALIGN_UP((raddr_t)placed->site.stub_most, (raddr_t)16);
	}
	for (size_t i = 0; i < s->probe->nsites; i++)
		write_stub(s, &s->probe->sites[i],
			   symbols_text(s->symbols, s->probe->sites[i].site.pc, &left), code);
}

static void print_site(struct showing *s, struct placed_site *placed)
{
	const struct site *site = &placed->site;
	size_t left;
	const uint8_t *text = symbols_text(s->symbols, site->pc, &left);
	uint8_t code[STUB_CAP];

	print_jump(s, site);
	if (!text || left < site->window)
		return;
	print_code(s, text, site->window, site->pc);
	int err = write_stub(s, placed, text, code);
	if (err) {
		output_printf(s->out, "  stub: out of reach\n");
		return;
	}
	output_printf(s->out, "  stub, %u bytes:\n", placed->stub_size);
	print_code(s, code, placed->stub_size, placed->stub);
}

void stubs_print(struct selected *sel, size_t i, struct output *out)
{
	struct showing s = { .arch = sel->plan->arch, .symbols = sel->plan->symbols,
			     .probe = &sel->probes[i], .out = out };

	place_routines(s.symbols, &s.to);
	give_places(&s);
	for (size_t k = 0; k < s.probe->nsites; k++)
		print_site(&s, &s.probe->sites[k]);
}
