/* SPDX-License-Identifier: MIT */
/*
 * Does a recording call leave every register and flag as it was, on the fast
 * path and on each way through the slow one?
 */
#include "tests/unit/payload_world.h"

enum { GPRS = 15, VECTORS = 16 };

struct state {
	uint64_t gpr[GPRS];	/* rax rbx rcx rdx rsi rdi rbp r8..r15 */
	uint64_t flags;
	uint64_t sp;
	uint64_t pad;
	uint8_t xmm[VECTORS][16];
};

struct state state_in, state_out;
uint64_t state_sp;
void call_with_state(probed_fn *f);
probed_fn *state_call;

/* Load everything from state_in, call state_call, store all to state_out. */
__asm__(
"	.text\n"
"	.globl call_with_state\n"
"call_with_state:\n"
"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
"	sub $8, %rsp\n"
"	mov %rdi, state_call(%rip)\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
"	movdqu state_in + 144 + 16 * \\n(%rip), %xmm\\n\n"
"	.endr\n"
"	pushq state_in + 120(%rip)\n"
"	mov state_in + 0(%rip), %rax\n"
"	mov state_in + 8(%rip), %rbx\n"
"	mov state_in + 16(%rip), %rcx\n"
"	mov state_in + 24(%rip), %rdx\n"
"	mov state_in + 32(%rip), %rsi\n"
"	mov state_in + 40(%rip), %rdi\n"
"	mov state_in + 48(%rip), %rbp\n"
"	mov state_in + 56(%rip), %r8\n"
"	mov state_in + 64(%rip), %r9\n"
"	mov state_in + 72(%rip), %r10\n"
"	mov state_in + 80(%rip), %r11\n"
"	mov state_in + 88(%rip), %r12\n"
"	mov state_in + 96(%rip), %r13\n"
"	mov state_in + 104(%rip), %r14\n"
"	mov state_in + 112(%rip), %r15\n"
"	mov %rsp, state_sp(%rip)\n"
"	addq $8, state_sp(%rip)\n"
"	popf\n"
"	call *state_call(%rip)\n"
"	mov %rsp, state_out + 128(%rip)\n"
"	pushf\n"
"	popq state_out + 120(%rip)\n"
"	cld\n"
"	mov %rax, state_out + 0(%rip)\n"
"	mov %rbx, state_out + 8(%rip)\n"
"	mov %rcx, state_out + 16(%rip)\n"
"	mov %rdx, state_out + 24(%rip)\n"
"	mov %rsi, state_out + 32(%rip)\n"
"	mov %rdi, state_out + 40(%rip)\n"
"	mov %rbp, state_out + 48(%rip)\n"
"	mov %r8, state_out + 56(%rip)\n"
"	mov %r9, state_out + 64(%rip)\n"
"	mov %r10, state_out + 72(%rip)\n"
"	mov %r11, state_out + 80(%rip)\n"
"	mov %r12, state_out + 88(%rip)\n"
"	mov %r13, state_out + 96(%rip)\n"
"	mov %r14, state_out + 104(%rip)\n"
"	mov %r15, state_out + 112(%rip)\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
"	movdqu %xmm\\n, state_out + 144 + 16 * \\n(%rip)\n"
"	.endr\n"
"	add $8, %rsp\n"
"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
"	ret\n"
);

_Static_assert(offsetof(struct state, xmm) == 144, "as call_with_state has it");

static struct world w;

/* CF PF AF ZF SF DF OF, and bit 1, which is always set. */
#define FLAGS (0x1 | 0x4 | 0x10 | 0x40 | 0x80 | 0x400 | 0x800)

static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void once(probed_fn *f, uint64_t flags)
{
	uint64_t bits;
	size_t i;

	for (i = 0; i < GPRS; i++)
		state_in.gpr[i] = rnd();
	for (i = 0; i < sizeof(state_in.xmm); i++)
		((uint8_t *)state_in.xmm)[i] = rnd();
	state_in.flags = (flags & FLAGS) | 0x202;
	memset(&state_out, 0, sizeof(state_out));
	call_with_state(f);
	for (i = 0; i < GPRS; i++)
		MUST_EQ(state_out.gpr[i], state_in.gpr[i]);
	bits = state_out.flags & (FLAGS | 0x202);
	MUST_EQ(bits, state_in.flags);
	MUST_EQ(state_out.sp, state_sp);
	MUST(!memcmp(state_in.xmm, state_out.xmm, sizeof(state_in.xmm)));
}

/* Every combination of flags. */
static void every_flag(probed_fn *f)
{
	uint64_t flags = 0;

	do {
		once(f, flags);
		flags = (flags - FLAGS) & FLAGS;
	} while (flags);
}

static void fresh(uint32_t nsub)
{
	w.s = world_session(2, nsub);
	world_hello()(w.s);
}

/* The thread's first call, each time. */
static void test_claim(probed_fn *f)
{
	int i;

	for (i = 0; i < 20; i++) {
		fresh(1);
		once(f, rnd());
	}
	fresh(4);
}

/* Sub-buffers begin and end, the ring is full, the session is closed, the gates are. */
static void test_slow(probed_fn *f)
{
	int i;

	fresh(2);
	for (i = 0; i < 20000; i++)
		once(f, rnd());
	MUST(world_ring_of(&w, 0)->head == 2);
	every_flag(f);
	w.s->state = SESSION_CLOSED;
	every_flag(f);
	fresh(4);
	memset(world_gates, 0, sizeof(world_gates));
	every_flag(f);
	memset(world_gates, 1, sizeof(world_gates));
}

static void check(probed_fn *f)
{
	once(f, 0);
	every_flag(f);
	test_claim(f);
	test_slow(f);
}

/* The first call of a thread, and those that follow. */
static void check_counted(probed_fn *f)
{
	int i;

	for (i = 0; i < 20; i++) {
		fresh(1);
		w.s->counting = 1;
		once(f, rnd());
		once(f, rnd());
	}
	every_flag(f);
	fresh(4);
}

/* The same; and exits without entries, and entries without exits. */
static void check_timed(probed_fn *f)
{
	int i;

	for (i = 0; i < 20; i++) {
		fresh(TIMING_SIDES / SUBBUF_SIZE + 1);
		w.s->counting = COUNT_TIMES;
		once(f, rnd());
		once(f, rnd());
	}
	every_flag(f);
	fresh(4);
}

int main(void)
{
	probed_fn *alone;

	world_begin(&w, 2, 4);
	check(probed(&w, 1, NULL));
	check(marked(&w, 2, NULL));
	check_counted(counted(&w, 3, NULL));
	check_timed(timed(&w, 3, NULL));
	alone = (probed_fn *)here(&w);
	emit_timed_return(&w, 3);
	check_timed(alone);
	alone = (probed_fn *)here(&w);
	emit_timed_entry(&w, 3);
	emit_ret(&w);
	check_timed(alone);
	/* Exits without their entries: always on the slow path. */
	alone = (probed_fn *)here(&w);
	emit_return(&w, 3);
	check(alone);
	/* Entries without exits: unwound each time. */
	alone = (probed_fn *)here(&w);
	emit_entry(&w, 4);
	emit_ret(&w);
	check(alone);
	return 0;
}
