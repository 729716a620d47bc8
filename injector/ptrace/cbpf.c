/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/cbpf.h"

#include "base/base.h"

enum {
	MOST_STEPS = 200000,	/* over all ways */
	MOST_FORKS = 100,	/* on one way */
};

struct program {
	const struct sock_filter *code;
	size_t n;
	const struct cbpf_data *data;
	void (*tell)(void *ctx, uint32_t answer);
	void *ctx;
	int steps;		/* that are left */
};

struct state {
	size_t pc;
	int forks;
	struct cbpf_word a, x, mem[BPF_MEMWORDS];
};

static struct cbpf_word known(uint32_t value)
{
	return (struct cbpf_word){ value, true };
}

static bool cbpf_load(const struct program *p, const struct state *s, const struct sock_filter *f,
		      struct cbpf_word *to)
{
	switch (BPF_MODE(f->code)) {
	case BPF_IMM:
		*to = known(f->k);
		return true;
	case BPF_MEM:
		if (f->k >= BPF_MEMWORDS)
			return false;
		*to = s->mem[f->k];
		return true;
	case BPF_LEN:
		*to = known(CBPF_WORDS * sizeof(uint32_t));
		return true;
	case BPF_ABS:
		if (BPF_SIZE(f->code) != BPF_W || f->k % sizeof(uint32_t) ||
		    f->k / sizeof(uint32_t) >= CBPF_WORDS)
			return false;
		*to = p->data->word[f->k / sizeof(uint32_t)];
		return true;
	default:
		return false;
	}
}

static bool cbpf_store(struct state *s, const struct sock_filter *f, struct cbpf_word value)
{
	if (f->k >= BPF_MEMWORDS)
		return false;
	s->mem[f->k] = value;
	return true;
}

static struct cbpf_word operand(const struct state *s, const struct sock_filter *f)
{
	return BPF_SRC(f->code) == BPF_X ? s->x : known(f->k);
}

/* False: no such operation, or one without a result. */
static bool cbpf_operate(uint16_t op, uint32_t a, uint32_t b, uint32_t *ret)
{
	switch (op) {
	case BPF_ADD: *ret = a + b; return true;
	case BPF_SUB: *ret = a - b; return true;
	case BPF_MUL: *ret = a * b; return true;
	case BPF_AND: *ret = a & b; return true;
	case BPF_OR: *ret = a | b; return true;
	case BPF_XOR: *ret = a ^ b; return true;
	case BPF_NEG: *ret = -a; return true;
	case BPF_DIV: *ret = b ? a / b : 0; return b;
	case BPF_LSH: *ret = b < 32 ? a << b : 0; return b < 32;
	case BPF_RSH: *ret = b < 32 ? a >> b : 0; return b < 32;
	default: return false;
	}
}

static bool calculate(struct state *s, const struct sock_filter *f)
{
	struct cbpf_word b = BPF_OP(f->code) == BPF_NEG ? known(0) : operand(s, f);

	/* What would fail may fail if it is not known. */
	if (!b.known && (BPF_OP(f->code) == BPF_DIV || BPF_OP(f->code) == BPF_LSH ||
			 BPF_OP(f->code) == BPF_RSH))
		return false;
	s->a.known &= b.known;
	return cbpf_operate(BPF_OP(f->code), s->a.value, b.known ? b.value : 0, &s->a.value);
}

static bool cbpf_compare(uint16_t op, uint32_t a, uint32_t b, bool *ret)
{
	switch (op) {
	case BPF_JEQ: *ret = a == b; return true;
	case BPF_JGT: *ret = a > b; return true;
	case BPF_JGE: *ret = a >= b; return true;
	case BPF_JSET: *ret = a & b; return true;
	default: return false;
	}
}

static bool cbpf_run(struct program *p, struct state s);

/* The way that is taken, or one of two after the other was followed to its end. */
static bool jump(struct program *p, struct state *s, const struct sock_filter *f)
{
	struct cbpf_word b = operand(s, f);
	bool yes;

	if (BPF_OP(f->code) == BPF_JA) {
		s->pc += f->k;
		return true;
	}
	if (!cbpf_compare(BPF_OP(f->code), s->a.value, b.value, &yes))
		return false;
	if (!s->a.known || !b.known) {
		struct state other = *s;

		other.pc += f->jt;
		if (++other.forks > MOST_FORKS || !cbpf_run(p, other))
			return false;
		s->forks++;
		yes = false;
	}
	s->pc += yes ? f->jt : f->jf;
	return true;
}

static bool cbpf_step(struct program *p, struct state *s, const struct sock_filter *f)
{
	switch (BPF_CLASS(f->code)) {
	case BPF_LD:
		return cbpf_load(p, s, f, &s->a);
	case BPF_LDX:
		return BPF_MODE(f->code) != BPF_ABS && cbpf_load(p, s, f, &s->x);
	case BPF_ST:
		return cbpf_store(s, f, s->a);
	case BPF_STX:
		return cbpf_store(s, f, s->x);
	case BPF_ALU:
		return calculate(s, f);
	case BPF_JMP:
		return jump(p, s, f);
	case BPF_MISC:
		if (BPF_MISCOP(f->code) == BPF_TAX)
			s->x = s->a;
		else
			s->a = s->x;
		return true;
	default:
		return false;
	}
}

static bool cbpf_run(struct program *p, struct state s)
{
	while (s.pc < p->n && p->steps-- > 0) {
		const struct sock_filter *f = &p->code[s.pc++];

		if (BPF_CLASS(f->code) == BPF_RET) {
			struct cbpf_word answer = BPF_RVAL(f->code) == BPF_A ? s.a : known(f->k);

			if (answer.known)
				p->tell(p->ctx, answer.value);
			return answer.known;
		}
		if (!cbpf_step(p, &s, f))
			return false;
	}
	return false;
}

bool cbpf_answers(const struct sock_filter *code, size_t n, const struct cbpf_data *data,
		  void (*tell)(void *ctx, uint32_t answer), void *ctx)
{
	struct program p = { code, n, data, tell, ctx, MOST_STEPS };
	struct state s = { .a = known(0), .x = known(0) };

	for (size_t i = 0; i < ARRAY_SIZE(s.mem); i++)
		s.mem[i] = known(0);
	return cbpf_run(&p, s);
}
