/* SPDX-License-Identifier: MIT */
/*
 * regs, arm64: vector state, whole, and a signal frame made by hand, which rt_sigreturn takes.
 * Every remote call returns over such a frame, so that a target whose injector died in the
 * middle restores itself.
 *
 * Layout: arch/arm64/kernel/signal.c (struct rt_sigframe, parse_user_sigframe()),
 * arch/arm64/include/uapi/asm/sigcontext.h and ptrace.h.
 */
#include "arch/regs.h"

#include <asm/ptrace.h>
#include <asm/sigcontext.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* Newer than some headers. */
#ifndef NT_ARM_SSVE
#define NT_ARM_SSVE 0x40b
#define NT_ARM_ZA 0x40c
#endif
#define ZA_MAGIC_ 0x54366345u
#define SIG_FLAG_SM_ 1

enum {
	SET_MOST = 160 << 10,	/* ZA of the longest vectors is 64 KiB */
	INFO = 128,		/* siginfo_t */
	UC_STACK_FLAGS = 24,	/* in the ucontext behind it */
	UC_SIGMASK = 40,
	UC_MCONTEXT = 176,
	CONTEXT = INFO + UC_MCONTEXT,
	RECORDS = CONTEXT + sizeof(struct sigcontext) - 4096,	/* its __reserved */
	RECORDS_SIZE = 4096,
	FRAME = RECORDS + RECORDS_SIZE,
	TERMINATOR = 16,
	EXTRA = sizeof(struct extra_context),
};

const int frame_pc_offset = CONTEXT + offsetof(struct sigcontext, pc);
const int frame_sp_offset = CONTEXT + offsetof(struct sigcontext, sp);
const int frame_mask_offset = INFO + UC_SIGMASK;
const int frame_way_offsets[REGS_WAYS] = {
	CONTEXT + offsetof(struct sigcontext, regs[30]),
	CONTEXT + offsetof(struct sigcontext, regs[16]),
};
const int frame_popped = 0;
/* The first record that the kernel writes: the magic number and size of fpsimd_context. */
const uint64_t frame_mark = FPSIMD_MAGIC | (uint64_t)sizeof(struct fpsimd_context) << 32;
const int frame_mark_offset = RECORDS;

/* ---- what ptrace has of it: struct xstate is a list of these ---- */

struct part {
	uint32_t type;		/* NT_ARM_... */
	uint32_t size;		/* of what follows, which is rounded up to 16 bytes */
	uint64_t pad;
	uint8_t bytes[];
};

static const int types[] = { NT_PRFPREG, NT_ARM_SVE, NT_ARM_SSVE, NT_ARM_ZA };

static struct part *part_at(const struct xstate *xs, size_t at)
{
	return at < xs->size ? (struct part *)(xs->bytes + at) : NULL;
}

static size_t part_size(const struct part *p)
{
	return sizeof(*p) + ALIGN_UP((size_t)p->size, 16);
}

static const struct part *part_of(const struct xstate *xs, uint32_t type)
{
	const struct part *p;

	for (size_t at = 0; (p = part_at(xs, at)); at += part_size(p))
		if (p->type == type)
			return p;
	return NULL;
}

/* Of a set that begins with this header: is it what the thread has in use? */
static bool is_active(const struct part *p)
{
	struct user_sve_header h;

	if (!p || p->size < sizeof(h))
		return false;
	memcpy(&h, p->bytes, sizeof(h));
	if (p->type == NT_ARM_ZA)
		return p->size > sizeof(h);
	return (h.flags & SVE_PT_REGS_MASK) == SVE_PT_REGS_SVE;
}

/* A kernel or processor without one says EINVAL, or EIO. */
static int add_set(pid_t tid, int type, struct xstate *xs, size_t cap)
{
	struct part *p = (struct part *)(xs->bytes + xs->size);
	struct iovec iov = { p->bytes, cap - xs->size - sizeof(*p) };

	if (regs_request(PTRACE_GETREGSET, tid, (uintptr_t)type, &iov) < 0)
		return type == NT_PRFPREG || errno == ESRCH ? -errno : 0;
	*p = (struct part){ .type = (uint32_t)type, .size = (uint32_t)iov.iov_len };
	xs->size += part_size(p);
	return 0;
}

int xstate_get(pid_t tid, struct xstate *ret)
{
	const size_t cap = ARRAY_SIZE(types) * (SET_MOST + sizeof(struct part));
	int err = 0;

	*ret = (struct xstate){ .bytes = malloc(cap) };
	if (!ret->bytes)
		return fail(ENOMEM, "save the vector state of thread %d", tid);
	for (size_t i = 0; i < ARRAY_SIZE(types) && !err; i++)
		err = add_set(tid, types[i], ret, cap);
	if (err) {
		xstate_clear(ret);
		return fail(-err, "save the vector state of thread %d", tid);
	}
	return 0;
}

static int put_part(pid_t tid, const struct part *p)
{
	struct iovec iov = { (void *)(uintptr_t)p->bytes, p->size };

	return regs_request(PTRACE_SETREGSET, tid, p->type, &iov) < 0 ?
		fail(errno, "restore the vector state of thread %d", tid) : 0;
}

/* The one that the thread had its vectors in, for the others show the same ones; and ZA. */
int xstate_set(pid_t tid, const struct xstate *xs)
{
	const struct part *sve = part_of(xs, NT_ARM_SVE), *streaming = part_of(xs, NT_ARM_SSVE);
	const struct part *za = part_of(xs, NT_ARM_ZA);
	int err = put_part(tid, is_active(streaming) ? streaming :
			   is_active(sve) ? sve : part_of(xs, NT_PRFPREG));

	return err || !is_active(za) ? err : put_part(tid, za);
}

void xstate_clear(struct xstate *xs)
{
	free(xs->bytes);
	xs->bytes = NULL;
}

/* ---- the frame ---- */

/* A record with a header of 16 bytes: the magic number, size, vector length and flags. */
struct vector_record {
	struct _aarch64_ctx head;
	uint16_t vl, flags, pad[2];
};

/* Of the set's bytes those that a record has, too: Z, P and FFR, or ZA. */
static size_t payload_of(const struct part *p, struct user_sve_header *h)
{
	memcpy(h, p->bytes, sizeof(*h));
	size_t bytes = p->type == NT_ARM_ZA ? (size_t)h->vl * h->vl :
		SVE_PT_SVE_FFR_OFFSET(h->vl / 16) + SVE_PT_SVE_FFR_SIZE(h->vl / 16) -
		SVE_PT_SVE_OFFSET;

	return MIN(bytes, p->size - sizeof(*h));
}

static size_t record_size(const struct part *p)
{
	struct user_sve_header h;

	return is_active(p) ? sizeof(struct vector_record) + ALIGN_UP(payload_of(p, &h), 16) : 0;
}

/* Streaming or not, a thread has one of the two. */
static const struct part *vectors_of(const struct xstate *xs)
{
	const struct part *streaming = part_of(xs, NT_ARM_SSVE);

	return is_active(streaming) ? streaming : part_of(xs, NT_ARM_SVE);
}

/* So many bytes of records have no room among those of every frame, and follow it. */
static size_t extra_size(const struct xstate *xs)
{
	size_t size = record_size(vectors_of(xs)) + record_size(part_of(xs, NT_ARM_ZA));

	if (sizeof(struct fpsimd_context) + size + TERMINATOR <= RECORDS_SIZE)
		return 0;
	return size + TERMINATOR;
}

size_t frame_space(const struct xstate *xs)
{
	return ALIGN_UP((size_t)FRAME, 16) + extra_size(xs) + 16;
}

/* Nothing behind a frame is read. */
size_t frame_tail(const struct xstate *xs)
{
	(void)xs;
	return 0;
}

raddr_t frame_base(raddr_t top, const struct xstate *xs)
{
	return ALIGN_DOWN(top - frame_space(xs), 16);
}

static uint8_t *put_vectors(uint8_t *to, const struct part *p)
{
	struct user_sve_header h;

	if (!is_active(p))
		return to;
	size_t n = payload_of(p, &h);
	struct vector_record r = {
		.head = { p->type == NT_ARM_ZA ? ZA_MAGIC_ : SVE_MAGIC, (uint32_t)record_size(p) },
		.vl = h.vl, .flags = p->type == NT_ARM_SSVE ? SIG_FLAG_SM_ : 0,
	};

	memcpy(to, &r, sizeof(r));
	memcpy(to + sizeof(r), p->bytes + sizeof(h), n);
	return to + r.head.size;
}

static uint8_t *put_fpsimd(uint8_t *to, const struct part *p)
{
	struct fpsimd_context f = { .head = { FPSIMD_MAGIC, sizeof(f) } };
	struct user_fpsimd_state s;

	memcpy(&s, p->bytes, MIN(sizeof(s), (size_t)p->size));
	f.fpsr = s.fpsr;
	f.fpcr = s.fpcr;
	memcpy(f.vregs, s.vregs, sizeof(f.vregs));
	memcpy(to, &f, sizeof(f));
	return to + sizeof(f);
}

static void put_records(uint8_t *bytes, raddr_t base, const struct xstate *xs)
{
	uint8_t *to = put_fpsimd(bytes + RECORDS, part_of(xs, NT_PRFPREG));
	size_t extra = extra_size(xs);

	if (extra) {
		struct extra_context e = {
			.head = { EXTRA_MAGIC, EXTRA }, .size = (uint32_t)extra,
			.datap = base + (raddr_t)(to - bytes) + EXTRA + TERMINATOR,
		};

		memcpy(to, &e, sizeof(e));
		to += EXTRA + TERMINATOR;
	}
	to = put_vectors(to, vectors_of(xs));
	put_vectors(to, part_of(xs, NT_ARM_ZA));
}

int64_t frame_build(const struct regs *r, const struct xstate *xs, uint64_t sigmask,
		    raddr_t base, raddr_t restorer, uint8_t **ret)
{
	const struct user_pt_regs *u = (const struct user_pt_regs *)r->raw;
	size_t size = frame_space(xs);
	uint8_t *bytes = calloc(1, size);
	const int32_t no_mode = 0x40;

	(void)restorer;		/* x30 leads there */
	if (!bytes)
		return fail(ENOMEM, "build a signal frame");
	struct sigcontext *mc = (struct sigcontext *)(bytes + CONTEXT);
	/* No valid mode: do_sigaltstack() refuses it, restore_altstack()
	 * ignores that, and the thread keeps the stack that it has. */
	memcpy(bytes + INFO + UC_STACK_FLAGS, &no_mode, sizeof(no_mode));
	memcpy(bytes + INFO + UC_SIGMASK, &sigmask, sizeof(sigmask));
	memcpy(mc->regs, u->regs, sizeof(mc->regs));
	mc->sp = u->sp;
	mc->pc = u->pc;
	mc->pstate = u->pstate;
	put_records(bytes, base, xs);
	*ret = bytes;
	return (int64_t)size;
}
