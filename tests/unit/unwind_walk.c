/* SPDX-License-Identifier: MIT */
/* Does the walk of a stopped thread's stack pass every function that waits there, also where
 * functions sign their return addresses, and know when it has come to the end? And at any
 * instruction of a call that the dynamic linker finds the function of: does it pass them, or say
 * that it has not come to the end? */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector/ptrace/unwind.h"
#include "tests/unit/check.h"

#if defined(__aarch64__)
#define SIGNS __attribute__((noinline, noclone, target("branch-protection=pac-ret+leaf")))
#else
#define SIGNS __attribute__((noinline, noclone))
#endif

enum { DEPTH = 4, SIZE = 256, STOP = 1000 * 1000 * 1000, STEPS = 1 << 20, LINKER = 16 };

static int ready[2];
static volatile bool go;	/* of the child, which is told to */

/* The child waits in the innermost, and calls what it has not called before. What stands behind
 * each call keeps it from being a jump. */
SIGNS static int level_0(int x)
{
	x += (int)write(ready[1], "", 1);
	while (!go)
		x++;
	x += getpgid(0);
	go = false;
	for (;;)
		x++;
	return x;
}

SIGNS static int level_1(int x) { return level_0(x + 1) + 1; }
SIGNS static int level_2(int x) { return level_1(x + 2) + 2; }
SIGNS static int level_3(int x) { return level_2(x + 3) + 3; }

static int (*const levels[DEPTH])(int) = { level_0, level_1, level_2, level_3 };

/* How many of them has the walk come to, in their order? */
static int note(void *ctx, const struct unwind_frame *f)
{
	int *next = ctx;
	bool is = *next < DEPTH && f->pc - (raddr_t)(uintptr_t)levels[*next] < SIZE;

	*next += is;
	return 0;
}

static int walk(struct target *t, pid_t child, int *passed)
{
	*passed = 0;
	return unwind_walk(t, child, note, passed);
}

static bool is_at(const struct thread_hold *th, const void *f, uint64_t size)
{
	return regs_pc(&th->regs) - (raddr_t)(uintptr_t)f < size;
}

/* The child's call, an instruction at a time, and a walk at each; there are thousands within the
 * dynamic linker, of which one in LINKER is looked at. */
static void step_call(struct target *t, struct thread_hold *th)
{
	int walks = 0, whole = 0, passed, steps = 0;
	bool on = true;

	CHECK_EQ(target_write(t, (raddr_t)(uintptr_t)&go, &on, sizeof(on)), 0);
	for (; on && steps < STEPS && !failures; steps++) {
		int status = thread_resume(th, PTRACE_SINGLESTEP, 0, STOP);

		CHECK(status > 0 && WIFSTOPPED(status));
		th->have_regs = false;
		CHECK_EQ(thread_regs(th), 0);
		CHECK_EQ(target_read(t, (raddr_t)(uintptr_t)&go, &on, sizeof(on)), 0);
		if (steps % LINKER && !is_at(th, level_0, SIZE))
			continue;
		int err = walk(t, th->tid, &passed);

		walks++;
		whole += passed == DEPTH;
		if (err && passed != DEPTH)
			fprintf(stderr, "at %#lx: %d\n", (unsigned long)regs_pc(&th->regs), passed);
		CHECK(!err || passed == DEPTH);
	}
	CHECK(!on);
	CHECK(walks > 20 && whole > 4);
}

int main(void)
{
	struct thread_hold *th;
	struct target t;
	int passed;
	char byte;

	if (pipe(ready)) {
		perror("pipe");
		return 1;
	}
	pid_t child = fork();
	if (!child)
		_exit(level_3(0));
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_EQ(target_open(child, &t), 0);
	CHECK_EQ(target_stop_one(&t, child, STOP, &th), 0);
	if (!failures) {
		CHECK_EQ(walk(&t, child, &passed), 1);
		CHECK_EQ(passed, DEPTH);
		step_call(&t, th);
	}
	target_release(&t);
	target_close(&t);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return failures != 0;
}
