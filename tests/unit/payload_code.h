/* SPDX-License-Identifier: MIT */
/*
 * payload_code: the machine code of which tests of the payload make functions, beside what arch
 * writes. Part of payload_world.h.
 */
#ifndef TESTS_UNIT_PAYLOAD_CODE_H
#define TESTS_UNIT_PAYLOAD_CODE_H

#if defined(__x86_64__)

/* What make_late() pushes, in words of eight bytes. */
enum { LATE_PUSHED = 1 };

static inline void emit_ret(struct world *w)
{
	EMIT(w, 0xc3);
}

/* sub $8, %rsp; movabs $body, %rax; call *%rax; add $8, %rsp */
static inline void emit_call(struct world *w, probed_fn *body)
{
	EMIT(w, 0x48, 0x83, 0xec, 8, 0x48, 0xb8);
	emit(w, &body, 8);
	EMIT(w, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8);
}

/* push %rbx, and what emit_pop takes back: the stack is aligned as at a function's start. */
static inline void emit_push(struct world *w)
{
	EMIT(w, 0x53);
}

static inline void emit_pop(struct world *w)
{
	EMIT(w, 0x5b);
}

/* The same by eight bytes that nothing is written to. */
static inline void emit_align(struct world *w)
{
	EMIT(w, 0x48, 0x83, 0xec, 8);
}

static inline void emit_unalign(struct world *w)
{
	EMIT(w, 0x48, 0x83, 0xc4, 8);
}

/* As a recording call of `word` whose routine gives it to `slow`. */
static inline void emit_slow(struct world *w, uint64_t word, uint64_t slow)
{
	EMIT(w, 0x51, 0x50, 0x48, 0xb8);		/* push twice; movabs */
	emit(w, &word, 8);
	EMIT(w, 0xff, 0x15, 2, 0, 0, 0, 0xeb, 8);	/* call *slow */
	emit(w, &slow, 8);
	EMIT(w, 0x58, 0x59);
}

/* push %r14; mov %rdi, %r14; call 1f; pop %r14; ret; 1: */
static inline void emit_with_g(struct world *w)
{
	EMIT(w, 0x41, 0x56, 0x49, 0x89, 0xfe, 0xe8, 3, 0, 0, 0, 0x41, 0x5e, 0xc3);
}

/* Step through code with SIGTRAP at each instruction, as a debugger would, until the handler
 * says that it is enough. */
#define TRAP_FLAG 0x100
enum { CAN_STEP = 1 };

static inline void call_stepping(probed_fn *f)
{
	__asm__ volatile("pushf; orl %0, (%%rsp); popf" : : "i"(TRAP_FLAG) : "memory", "cc");
	f(NULL);
	__asm__ volatile("pushf; andl %0, (%%rsp); popf" : : "i"(~TRAP_FLAG) : "memory", "cc");
}

static inline void stop_stepping(void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

#elif defined(__aarch64__)

enum { LATE_PUSHED = 2 };

/* No program can step itself here; and a pair of ldxr and stxr that is stepped through never
 * comes to its end. */
enum { CAN_STEP = 0 };

static inline void call_stepping(probed_fn *f)
{
	f(NULL);
}

static inline void stop_stepping(void *context)
{
	(void)context;
}

static inline void emit_word(struct world *w, uint32_t word)
{
	emit(w, &word, sizeof(word));
}

static inline void emit_number(struct world *w, unsigned int reg, uint64_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		emit_word(w, (i ? 0xf2800000 : 0xd2800000) | i << 21 |
			  (uint32_t)(value >> 16 * i & 0xffff) << 5 | reg);
}

static inline void emit_ret(struct world *w)
{
	emit_word(w, 0xd65f03c0);
}

/* stp x29, x30, [sp, #-16]!; x16 = body; blr x16; ldp x29, x30, [sp], #16 */
static inline void emit_call(struct world *w, probed_fn *body)
{
	emit_word(w, 0xa9bf7bfd);
	emit_number(w, 16, (uint64_t)body);
	emit_word(w, 0xd63f0200);
	emit_word(w, 0xa8c17bfd);
}

/* stp x19, x30, [sp, #-16]!; ldp x19, x30, [sp], #16 */
static inline void emit_push(struct world *w)
{
	emit_word(w, 0xa9bf7bf3);
}

static inline void emit_pop(struct world *w)
{
	emit_word(w, 0xa8c17bf3);
}

/* It always is. */
static inline void emit_align(struct world *w)
{
	(void)w;
}

static inline void emit_unalign(struct world *w)
{
	(void)w;
}

static inline void emit_slow(struct world *w, uint64_t word, uint64_t slow)
{
	emit_word(w, 0xa9bd7bf1);		/* stp x17, x30, [sp, #-48]! */
	emit_word(w, 0xf9000bf0);		/* str x16, [sp, #16] */
	emit_number(w, 16, word);
	emit_number(w, 17, slow);
	emit_word(w, 0xd63f0220);		/* blr x17 */
	emit_word(w, 0xf9400bf0);
	emit_word(w, 0xa8c37bf1);
}

/* stp x28, x30, [sp, #-16]!; mov x28, x0; bl 1f; ldp x28, x30, [sp], #16; ret; 1: */
static inline void emit_with_g(struct world *w)
{
	static const uint32_t code[] = {
		0xa9bf7bfc, 0xaa0003fc, 0x94000003, 0xa8c17bfc, 0xd65f03c0,
	};

	emit(w, code, sizeof(code));
}

#else
#error "tests/unit/payload_code.h does not know this instruction set"
#endif

#endif
