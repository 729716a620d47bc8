/* SPDX-License-Identifier: MIT */
/* x86_64/code: the table of the instruction set, and what is written from
 * nothing: recording calls and branches around them; and what counts as padding. */
#include "arch/x86_64/code.h"
#include "arch/x86_64/stand.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>

/* loop and jrcxz have no inverse: their short form steps over the jump that
 * does the skipping. */
static int skip_unless_counted(const struct x86_form *f, size_t distance,
			       uint8_t *out)
{
	size_t n = 0;

	if (f->prefixes & X86_ADDRSIZE)
		out[n++] = 0x67;
	out[n++] = f->op;
	out[n++] = 2;
	out[n++] = 0xeb;
	out[n++] = distance;
	return n;
}

static int x86_skip_unless(const uint8_t *p, const struct insn *in,
			   size_t distance, uint8_t *out)
{
	struct x86_form form;

	if (in->kind != INSN_BRANCH || in->flags & INSN_PINNED ||
	    distance > INT8_MAX || x86_parse(p, in->size, &form))
		return -ENOTSUP;
	if (form.map == X86_MAP_ONE && form.op >= 0xe0)
		return skip_unless_counted(&form, distance, out);
	out[0] = 0x70 | ((form.op & 15) ^ 1);
	out[1] = distance;
	return 2;
}

/*
 *	push	%rcx
 *	push	%rax
 *	movabs	gate, %al
 *	movzbl	%al, %ecx
 *	jrcxz	1f
 *	movabs	$word, %rax
 *	call	routine
 * 1:	pop	%rax
 *	pop	%rcx
 *
 * The only branch that asks no flag, and the only load from any address. The routine
 * finds its return address at (%rsp), rax at 8(%rsp), rcx behind that, and the
 * application's stack from rsp + 24; it keeps all but these two. One that returns for
 * the stub is jumped to, with what would be its return address in %rcx:
 *
 *	lea	1f(%rip), %rcx
 *	movabs	$word, %rax
 *	jmp	routine
 */
static int record_plain(raddr_t at, const struct record_call *call, uint8_t *out)
{
	enum { GATE = 3, CLOSED = 15, OPEN = 16, LEA = 7, WORD = 10, GO = 5 };
	uint8_t code[RECORD_RETURN_SIZE] = {
		0x51, [RECORD_RCX] = 0x50, [RECORD_RAX] = 0xa0, [11] = 0x0f, 0xb6, 0xc8, 0xe3,
		[OPEN] = 0x48, 0x8d, 0x0d, WORD + GO,
	};
	size_t n = call->returns ? OPEN + LEA : OPEN;
	int err;

	memcpy(code + GATE, &call->gate, sizeof(call->gate));
	memcpy(code + n, (const uint8_t[]){ 0x48, 0xb8 }, 2);
	memcpy(code + n + 2, &call->word, sizeof(call->word));
	n += WORD;
	err = (call->returns ? x86_jump : x86_call)(at + n, call->routine, code + n);
	if (err < 0)
		return err;
	n += GO;
	code[CLOSED] = (uint8_t)(n - OPEN);
	memcpy(code + n, (const uint8_t[]){ 0x58, 0x59 }, 2);
	memcpy(out, code, n + 2);
	return (int)n + 2;
}

/*
 * The same below the red zone: lea changes no flag.
 *
 *	lea	-128(%rsp), %rsp
 *	...
 *	lea	128(%rsp), %rsp
 */
static int record_below(raddr_t at, const struct record_call *call, uint8_t *out)
{
	static const uint8_t lower[RECORD_LOWERED] = { 0x48, 0x8d, 0x64, 0x24, -ZONE & 0xff };
	static const uint8_t raise[RECORD_RAISED] = { 0x48, 0x8d, 0xa4, 0x24, ZONE };
	int n = record_plain(at + sizeof(lower), call, out + sizeof(lower));

	_Static_assert(ZONE == 128, "the least that one signed byte has");
	if (n < 0)
		return n;
	memcpy(out, lower, sizeof(lower));
	memcpy(out + sizeof(lower) + n, raise, sizeof(raise));
	return (int)(sizeof(lower) + sizeof(raise)) + n;
}

static int x86_record(raddr_t at, const struct record_call *call, uint8_t *out)
{
	if (call->first)
		return x86_record_tight(at, call, out);
	return call->below ? record_below(at, call, out) : record_plain(at, call, out);
}

/* ret, or repz ret: what else has a prefix is not the same on all processors. */
static bool x86_returns(const uint8_t *p, const struct insn *in)
{
	return (in->size == 1 && p[0] == 0xc3) ||
		(in->size == 2 && p[0] == 0xf3 && p[1] == 0xc3);
}

/* Bytes of padding that begin at `p`: one, or a nop; 0: code. */
static size_t padding_size(const uint8_t *p, size_t n)
{
	struct x86_form form;
	uint8_t op = x86_opcode_of_one(p, n);

	if (*p == 0x00 || *p == 0xcc)
		return 1;
	if (op != 0x90 && op != 0x0f)
		return 0;
	return x86_parse(p, n, &form) == 0 && x86_is_nop(&form) ? form.size : 0;
}

static bool x86_is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e:
	case 0x40 ... 0x4f:
	case 0x64 ... 0x67:
	case 0xf0: case 0xf2 ... 0xf3:
		return true;
	}
	return false;
}

static bool x86_is_padding(const uint8_t *p, size_t n)
{
	while (n > 0) {
		size_t size = padding_size(p, n);

		if (!size)
			return false;
		p += size;
		n -= size;
	}
	return true;
}

/* A jump at the first byte, or a breakpoint anywhere. */
static bool x86_is_foreign(const uint8_t *p, size_t n)
{
	enum { INT3 = 0xcc, JMP32 = 0xe9, JMP8 = 0xeb, JMP_SLOT = 0xff, SLOT = 0x25 };

	return memchr(p, INT3, n) ||
		(n > 1 && (*p == JMP32 || *p == JMP8 || (*p == JMP_SLOT && p[1] == SLOT)));
}

/* The register that a ModRM byte names, extended by `bit` of REX. */
static int x86_reg(const struct x86_form *f, uint8_t field, uint8_t bit)
{
	return field | (f->rex & bit ? 8 : 0);
}

/* What of this form sets the register `r`, as code before a jump does: addition,
 * loads, lea, and pop. */
static enum goal x86_sets(const struct x86_form *f, int r)
{
	enum { REX_B = 1, REX_R = 4 };
	bool to_reg = f->modrm_at && x86_reg(f, x86_modrm_reg(f), REX_R) == r;
	bool to_rm = f->modrm_at && !f->memory && x86_reg(f, x86_modrm_rm(f), REX_B) == r;
	bool one = f->coding == X86_LEGACY && f->map == X86_MAP_ONE;

	if (f->coding == X86_LEGACY && f->map == X86_MAP_0F)
		return to_reg && (f->op & 0xf6) == 0xb6 ? GOAL_OTHER : GOAL_NONE;
	if (!one)
		return GOAL_NONE;
	if ((to_reg && (f->op == 0x8b || f->op == 0x63 || f->op == 0x8d || f->op == 0x03)) ||
	    (to_rm && (f->op == 0x01 || f->op == 0x89 || f->op == 0xc7)))
		return GOAL_OTHER;
	return ((f->op & 0xf8) == 0x58 || (f->op & 0xf8) == 0xb8) &&
		x86_reg(f, f->op & 7, REX_B) == r ? GOAL_OTHER : GOAL_NONE;
}

/* jmp *(%base, %index, 8) */
static bool takes_entry(const struct x86_form *jump)
{
	return x86_has_sib(jump) && x86_modrm_mod(jump) == 0 && jump->sib >> 6 == 3 &&
		(jump->sib & 7) != 5;
}

/* Does this set the register to a table's address? lea table(%rip), %r */
static enum goal x86_names(const struct x86_form *f, int r)
{
	bool lea = f->coding == X86_LEGACY && f->map == X86_MAP_ONE && f->op == 0x8d;

	if (lea && x86_pcrel(f) && f->rex & X86_REX_W && !(f->prefixes & X86_ADDRSIZE) &&
	    x86_reg(f, x86_modrm_reg(f), 4) == r)
		return GOAL_TABLE;
	return x86_sets(f, r) ? GOAL_OTHER : GOAL_NONE;
}

static enum goal x86_goal(const uint8_t *p, const struct insn *in, const uint8_t *jump,
			  const struct insn *jump_in)
{
	struct x86_form f, j;

	if (x86_parse(p, in->size, &f) || x86_parse(jump, jump_in->size, &j))
		return GOAL_NONE;
	if (!j.memory)
		return x86_sets(&f, x86_reg(&j, x86_modrm_rm(&j), 1));
	return takes_entry(&j) ? x86_names(&f, x86_reg(&j, j.sib & 7, 1)) : GOAL_MEMORY;
}

/* hlt and ud2. ud1 carries a number for its handler, and a breakpoint is known to its owner by
 * its address. */
static int x86_raises(const uint8_t *p, const struct insn *in)
{
	if (in->size == 1 && *p == 0xf4)
		return SIGSEGV;
	return in->size == 2 && p[0] == 0x0f && p[1] == 0x0b ? SIGILL : 0;
}

#define BIT(signal) (1ull << ((signal) - 1))

/* Through %rsp, relative to the PC, or in the thread's own block. */
static bool is_sure(const struct x86_form *f)
{
	bool index = x86_has_sib(f) && ((f->sib >> 3 & 7) != 4 || f->rex & X86_REX_X);

	if (f->prefixes & X86_SEGMENT || (x86_pcrel(f) && !(f->prefixes & X86_ADDRSIZE)))
		return true;
	return f->coding == X86_LEGACY && x86_has_sib(f) && !index && (f->sib & 7) == 4 &&
		!(f->rex & X86_REX_B);
}

static uint64_t x86_faults(const uint8_t *p, const struct insn *in)
{
	const uint64_t memory = BIT(SIGSEGV) | BIT(SIGBUS);
	struct x86_form f;
	bool divides;

	if (x86_parse(p, in->size, &f) < 0)
		return memory;
	divides = f.coding == X86_LEGACY && f.map == X86_MAP_ONE && (f.op & 0xfe) == 0xf6 &&
		x86_modrm_reg(&f) >= 6;
	if (x86_is_implicit(&f) || (f.memory && !x86_only_names(&f) && !is_sure(&f)))
		return memory | (divides ? BIT(SIGFPE) : 0);
	return divides ? BIT(SIGFPE) : 0;
}

static bool goes_by_rsp(const struct x86_form *f)
{
	return x86_has_sib(f) && (f->sib & 7) == 4 &&
		!(f->coding == X86_LEGACY && f->rex & X86_REX_B);
}

/* Does it name what lies below %rsp, or may so do? */
static bool names_below(const uint8_t *p, const struct x86_form *f)
{
	bool legacy = f->coding == X86_LEGACY;

	if (!goes_by_rsp(f))
		return false;
	return !legacy || (f->sib >> 3 & 7) != 4 || f->rex & X86_REX_X || x86_only_names(f) ||
		(f->disp_size && x86_signed(p + f->disp_at, f->disp_size) < 0);
}

/* If it is of opcode map ONE: is it a `push`? */
static bool pushes(const struct x86_form *f)
{
	return (f->op & 0xf8) == 0x50 || f->op == 0x68 || f->op == 0x6a ||
		(f->op == 0xff && x86_modrm_reg(f) == 6);
}

static bool x86_goes_below(const uint8_t *p, const struct insn *in)
{
	struct x86_form f;

	return !x86_parse(p, in->size, &f) && names_below(p, &f);
}

/* mov to %rsp, not from %rbp: as a frame is taken down. */
static bool changes_stack(const struct x86_form *f)
{
	enum { RSP = 4, RBP = 5 };
	int reg = x86_reg(f, x86_modrm_reg(f), X86_REX_R);
	int rm = f->memory ? -1 : x86_reg(f, x86_modrm_rm(f), X86_REX_B);

	return f->rex & X86_REX_W && ((f->op == 0x89 && rm == RSP && reg != RBP) ||
				      (f->op == 0x8b && reg == RSP && rm != RBP));
}

static enum stacked x86_stacked(const uint8_t *p, const struct insn *in)
{
	struct x86_form f;

	if (x86_parse(p, in->size, &f) || f.coding != X86_LEGACY || f.map != X86_MAP_ONE)
		return STACKED_NOT;
	if (pushes(&f))
		return STACKED_PUSHED;
	if (changes_stack(&f))
		return STACKED_ELSEWHERE;
	if ((f.op & 0xf8) == 0x58)
		return STACKED_TAKEN;
	if (f.op != 0x8b || !goes_by_rsp(&f) || names_below(p, &f))
		return STACKED_NOT;
	return f.disp_size && x86_signed(p + f.disp_at, f.disp_size) ? STACKED_LOADED :
		STACKED_TAKEN;
}

static size_t starts_with(const uint8_t *p, size_t n, const char *bytes, size_t size)
{
	return n >= size && !memcmp(p, bytes, size) ? size : 0;
}

enum { THUNK_OVER = 64 };	/* bytes that a thunk's call leads over, at most */

/* call over; pause; lfence; jmp back; over: mov %reg, (%rsp); ret. Or against another
 * attack, lfence; jmp *%reg. */
static int x86_thunk(const uint8_t *p, size_t n)
{
	const uint8_t mov = 0x89, ret = 0xc3, jump = 0xff;
	size_t at = starts_with(p, n, "\xf3\x0f\x1e\xfa", 4);
	size_t fence = starts_with(p + at, n - at, "\x0f\xae\xe8", 3);
	int high;

	at += fence;
	if (fence) {
		high = n - at >= 3 && p[at] == 0x41 ? 8 : 0;
		at += high / 8;
		return n - at >= 2 && p[at] == jump && (p[at + 1] & 0xf8) == 0xe0 ?
			(p[at + 1] & 7) | high : -1;
	}
	if (n - at < 5 || p[at] != 0xe8 || p[at + 1] > THUNK_OVER || p[at + 2] || p[at + 3] ||
	    p[at + 4])
		return -1;
	at += 5 + p[at + 1];
	if (n < at + 5 || (p[at] & 0xfb) != 0x48 || p[at + 1] != mov ||
	    (p[at + 2] & 0xc7) != 4 || p[at + 3] != 0x24 || p[at + 4] != ret)
		return -1;
	return (p[at + 2] >> 3 & 7) | (p[at] & X86_REX_R ? 8 : 0);
}

/* Is there a call before it that leads there, as x86_thunk has it? */
static bool is_called(const uint8_t *p, const uint8_t *to)
{
	for (uint8_t n = 0; n <= THUNK_OVER && to - p >= 5 + n; n++) {
		const uint8_t call[] = { 0xe8, n, 0, 0, 0 };

		if (!memcmp(to - n - sizeof(call), call, sizeof(call)))
			return true;
	}
	return false;
}

/* mov %reg, (%rsp); ret: its end. Or lfence; jmp. */
static bool x86_has_thunk(const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;

	/* A single byte that is rare is found many times faster than all of them. */
	for (const uint8_t *at = p; (at = memchr(at, 0xc3, (size_t)(end - at))); at++)
		if (at - p >= 4 && at[-1] == 0x24 && (at[-4] & 0xfb) == 0x48 && at[-3] == 0x89 &&
		    (at[-2] & 0xc7) == 4 && is_called(p, at - 4))
			return true;
	for (const uint8_t *at = p; (at = memchr(at, 0xae, (size_t)(end - at))); at++)
		if (at > p && end - at >= 3 && at[-1] == 0x0f && at[1] == 0xe8 &&
		    (at[2] == 0xff || at[2] == 0x41))
			return true;
	return false;
}

/* What `push` and `sub $n, %rsp` take of the stack; -1: it does neither. */
static int takes(const uint8_t *p, const struct x86_form *f)
{
	bool one = f->coding == X86_LEGACY && f->map == X86_MAP_ONE;
	bool sub_rsp = (f->op == 0x81 || f->op == 0x83) && !f->memory && f->modrm == 0xec &&
		(f->rex & (X86_REX_W | X86_REX_B)) == X86_REX_W;
	int64_t n;

	if (!one || f->prefixes & X86_OPSIZE)
		return -1;
	n = pushes(f) ? 8 : sub_rsp ? x86_signed(p + f->imm_at, f->imm_size) : -1;
	return n >= 0 && n % 8 == 0 && n <= INT16_MAX ? (int)n : -1;
}

/* Behind 0f and in the later maps: pops of a segment's register, bswap; what has a third
 * register, that no ModRM names. */
static bool changes_stack_later(const struct x86_form *f)
{
	if (f->coding == X86_LEGACY)
		return f->map == X86_MAP_0F && ((f->op & 0xf6) == 0xa0 || f->op == 0xcc);
	return f->coding == X86_XOP ||
		(f->map == X86_MAP_0F38 && (f->op == 0xf3 || f->op == 0xf6));
}

/* Not what pops, enters or leaves, and not what names %rsp otherwise than to reach
 * memory by it, or memory below it. */
static bool keeps_stack(const struct x86_form *f)
{
	enum { RSP = 4 };
	bool one = f->coding == X86_LEGACY && f->map == X86_MAP_ONE;
	/* With an immediate, or one operand: the field goes with the opcode. */
	bool number = one && ((f->op & 0xfc) == 0x80 || (f->op & 0xf6) == 0xc6 ||
			      (f->op & 0xee) == 0xc0 || (f->op & 0xfc) == 0xd0);

	if (f->modrm_at && ((!number && x86_modrm_reg(f) == RSP) ||
			    (!f->memory && x86_modrm_rm(f) == RSP)))
		return false;
	if (!one)
		return !changes_stack_later(f);
	return !((f->op & 0xf0) == 0x50 || f->op == 0x68 || f->op == 0x6a || f->op == 0x8f ||
		 f->op == 0x94 || (f->op & 0xf7) == 0xb4 || (f->op & 0xfe) == 0x9c ||
		 (f->op & 0xfe) == 0xc8 || (f->op == 0xff && x86_modrm_reg(f) == 6));
}

/* mov %rsp, %r, or lea n(%rsp), %r with n >= 0, where that changes another register. */
static bool names_stack(const uint8_t *p, const struct x86_form *f)
{
	enum { RSP = 4 };
	bool wide = f->coding == X86_LEGACY && f->map == X86_MAP_ONE && f->rex & X86_REX_W;
	bool to_other = x86_modrm_reg(f) != RSP || f->rex & X86_REX_R;

	if (f->op == 0x89 && !f->memory)	/* mov %reg, %rm */
		return wide && !to_other && (x86_modrm_rm(f) != RSP || f->rex & X86_REX_B);
	return wide && f->op == 0x8d && to_other && x86_has_sib(f) && (f->sib & 0x3f) == 0x24 &&
		!(f->rex & (X86_REX_B | X86_REX_X)) &&
		(!f->disp_size || x86_signed(p + f->disp_at, f->disp_size) >= 0);
}

static int x86_lowers_stack(const uint8_t *p, const struct insn *in, bool zone)
{
	struct x86_form f;

	if (in->kind != INSN_PLAIN || x86_parse(p, in->size, &f) < 0)
		return -1;
	if (!zone && names_stack(p, &f))
		return 0;
	if (names_below(p, &f))
		return -1;
	return keeps_stack(&f) ? 0 : takes(p, &f);
}

/* Does it read its memory operand, before all else? Not a complete list. */
static bool reads_first(const struct x86_form *f)
{
	if (f->coding != X86_LEGACY)
		return false;
	if (f->map == X86_MAP_ONE)	/* mov, movslq, and arithmetic to a register */
		return (f->op & 0xfe) == 0x8a || f->op == 0x63 || (f->op & 0xc6) == 0x02;
	return f->map == X86_MAP_0F &&	/* movs*, movap*, movdqa, movz*, movs* */
		(f->op == 0x10 || f->op == 0x28 || f->op == 0x6f || (f->op & 0xf6) == 0xb6);
}

static bool x86_touches_stack(const uint8_t *p, const struct insn *in)
{
	struct x86_form f;

	if (in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT ||
	    x86_parse(p, in->size, &f) < 0)
		return true;
	if (f.coding == X86_LEGACY && (f.map == X86_MAP_ONE ?
	    pushes(&f) || f.op == 0x9c || f.op == 0xc8 :		/* pushf, enter */
	    f.map == X86_MAP_0F && (f.op & 0xf7) == 0xa0))		/* push %fs, %gs */
		return true;
	return goes_by_rsp(&f) && !x86_only_names(&f) && !reads_first(&f);
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.machine = EM_X86_64,
	.audit = AUDIT_ARCH_X86_64,
	.align = 1,
	.jump_size = 5,
	.short_size = 2,
	.short_reach = INT8_MAX,
	.reach = INT32_MAX - ARCH_JUMP_MAX,
	.jump_fixed = 1,
	.pun_prefixes = X86_PUN_PREFIXES,
	.stack = 4,		/* rsp */
	.frame = 5,		/* rbp */
	.returned = 0,		/* rax */
	.second = 2,		/* rdx */
	.kept = 0xf028,		/* rbx, rbp, r12 to r15 */
	.room_to_capture = true,
	.zone = ZONE,
	.calls_push = true,
	.trap_size = 1,
	.trap = { 0xcc },
	.top = 1ull << 47,
	.top_least = 1ull << 47,
	.block_at_tp = true,
	/* No kernel enforces endbr64 in user space. */
	.keeps_landing = false,
	.tells_cpu = true,
	.decode = x86_decode,
	.measure = x86_measure,
	.relocate = x86_relocate,
	.jump = x86_jump,
	.jump_short = x86_jump_short,
	.call = x86_call,
	.pun_set = x86_pun_set,
	.pun = x86_pun,
	.skip_unless = x86_skip_unless,
	.walks_moved = true,
	.narguments = 6, .arguments = { 5, 4, 1, 2, 8, 9 },	/* rdi rsi rdx rcx r8 r9 */
	.nresults = 2, .results = { 0, 1 },			/* rax rdx */
	.record = x86_record,
	.returns = x86_returns,
	.goal = x86_goal,
	.effect = x86_effect,
	.effect_of = x86_effect_of,
	.glance = x86_glance,
	.loads = x86_loads,
	.only_stores = x86_only_stores,
	.equals = x86_equals,
	.vectors = x86_vectors,
	.goes_by = x86_goes_by,
	.linkage = x86_linkage,
	.goes_below = x86_goes_below,
	.thunk = x86_thunk,
	.has_thunk = x86_has_thunk,
	.stacked = x86_stacked,
	.raises = x86_raises,
	.faults = x86_faults,
	.lowers_stack = x86_lowers_stack,
	.reaches = x86_reaches,
	.keeps = x86_keeps,
	.is_thread_call = x86_is_thread_call,
	.touches_stack = x86_touches_stack,
	.stack_check = x86_stack_check,
	.reads_g = x86_reads_g,
	.g_place = x86_g_place,
	.is_padding = x86_is_padding,
	.is_prefix = x86_is_prefix,
	.is_foreign = x86_is_foreign,
};
