/* SPDX-License-Identifier: MIT */
/*
 * Does no PC move out of a restartable sequence, and does one move that is
 * outside of the sequence that its thread still names?
 */
#include "injector/patch/park.h"

#include <errno.h>
#include <linux/rseq.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "injector/ptrace/rseq.h"
#include "injector/ptrace/tracing.h"
#include "tests/unit/check.h"

enum { TRIES = 500, PAUSE = 500 * 1000 * 1000 };

#ifdef __x86_64__

/*
 * rdi: a struct rseq, rsi: the descriptor to name. linger begins a sequence and
 * stays in it; a thread that is preempted begins again. pass runs behind a sequence of
 * one instruction, that it names again and again.
 */
__asm__(".text\n.globl linger\n.globl pass\n"
	".globl linger_start\n.globl linger_end\n.globl linger_abort\n"
	".globl pass_start\n.globl pass_behind\n.globl pass_end\n"
	".globl pass_abort\n"
	".long 0x53053053\n"
	"pass_abort: jmp pass\n"
	".long 0x53053053\n"
	"linger_abort:\n"
	"linger: mov %rsi,8(%rdi)\n"
	"linger_start: pause\njmp linger_start\n"
	"linger_end:\n"
	"pass: mov %rsi,8(%rdi)\n"
	"pass_start: nop\n"
	"pass_behind: pause\npause\njmp pass\n"
	"pass_end:\n");

void linger(struct rseq *area, const struct rseq_cs *cs);
void pass(struct rseq *area, const struct rseq_cs *cs);
extern const char linger_start[], linger_end[], linger_abort[];
extern const char pass_start[], pass_behind[], pass_end[], pass_abort[];

static struct rseq area;

struct scene {
	void (*run)(struct rseq *area, const struct rseq_cs *cs);
	struct rseq_cs cs;
	struct range loop;	/* a PC in here is wanted */
	bool inside;		/* and is in the sequence */
	pid_t child;
};

static raddr_t at(const char *label)
{
	return (uintptr_t)label;
}

/* The C library may have registered an area already: then that is ours too. */
static struct rseq *registered(void)
{
	struct __ptrace_rseq_configuration conf = { 0 };
	pid_t pid = fork();
	int status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		_exit(0);
	}
	MUST(ptrace(PTRACE_SEIZE, pid, 0, 0) == 0);
	MUST(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	long got = ptrace(PTRACE_GET_RSEQ_CONFIGURATION, pid, sizeof(conf), &conf);

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (got < 0) {
		printf("skipped: this kernel does not tell of restartable sequences\n");
		exit(77);
	}
	return (struct rseq *)(uintptr_t)conf.rseq_abi_pointer;
}

static int to_elsewhere(void *ctx, const struct rest *rest, raddr_t *to)
{
	/* Never run from there: the registers are put back. */
	*to = at(linger_abort);
	return 0;
}

/* What the thread names now, or 0. */
static uint64_t named(const struct target *t, pid_t tid)
{
	struct __ptrace_rseq_configuration conf;
	uint64_t cs;

	MUST(ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof(conf), &conf) > 0);
	MUST(target_read(t, conf.rseq_abi_pointer + 8, &cs, 8) == 0);
	return cs;
}

static void check_moved(struct thread_hold *th, raddr_t pc, int err, bool inside)
{
	if (inside) {
		MUST(err == -EBUSY && regs_pc(&th->regs) == pc);
		MUST(strstr(fail_text(), "restartable"));
		fail_clear();
		return;
	}
	th->have_regs = false;	/* the thread itself has moved, at once */
	MUST(err == 0 && thread_regs(th) == 0);
	MUST(regs_pc(&th->regs) == at(linger_abort));
	regs_set_pc(&th->regs, pc);
	MUST(regs_set(th->tid, &th->regs) == 0);
}

/* Stop, park, look. 1: not the moment that is wanted. */
static int look(struct target *t, const struct scene *s)
{
	struct sigframes frames = { 0 };
	struct thread_hold *th = NULL;
	raddr_t pc, asked;

	MUST(target_stop(t, PAUSE) == 0 && t->nthreads == 1);
	th = &t->threads[0];
	MUST(thread_regs(th) == 0);
	pc = regs_pc(&th->regs);
	if (named(t, th->tid) != (uintptr_t)&s->cs || !range_has(s->loop, pc)) {
		target_release(t);
		return 1;
	}
	MUST(rseq_is_inside(t, th) == s->inside);
	check_moved(th, pc, park(t, &frames, to_elsewhere, NULL, 0, &asked), s->inside);
	MUST(asked == pc);
	target_release(t);
	return 0;
}

static int operate(void *ctx)
{
	const struct scene *s = ctx;
	struct target t;
	int i;

	MUST(target_open(s->child, &t) == 0);
	for (i = 0; i < TRIES && look(&t, s); i++)
		usleep(2000);
	MUST(i < TRIES);
	target_close(&t);
	return 0;
}

static void play(struct rseq *r, struct scene *s)
{
	s->child = fork();
	if (!s->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (r == &area &&
		    syscall(SYS_rseq, &area, sizeof(area), 0, 0x53053053))
			_exit(1);
		s->run(r, &s->cs);
	}
	MUST(s->child > 0);
	MUST(tracing(operate, s) == 0);
	MUST(kill(s->child, SIGKILL) == 0);
	waitpid(s->child, NULL, 0);
}

int main(void)
{
	struct rseq *r = registered();
	struct scene lingers = {
		.run = linger, .inside = true,
		.loop = { at(linger_start), at(linger_end) },
		.cs = { .start_ip = at(linger_start), .abort_ip = at(linger_abort),
			.post_commit_offset = at(linger_end) - at(linger_start) },
	};
	struct scene passes = {
		.run = pass, .inside = false,
		.loop = { at(pass_behind), at(pass_end) },
		.cs = { .start_ip = at(pass_start), .abort_ip = at(pass_abort),
			.post_commit_offset = at(pass_behind) - at(pass_start) },
	};

	if (!r)
		r = &area;
	play(r, &lingers);
	play(r, &passes);
	return 0;
}

#else

int main(void)
{
	printf("skipped: the material is x86-64 code\n");
	return 77;
}

#endif
