/* SPDX-License-Identifier: MIT */
/* Does the walk of a stopped thread's stack pass every function that waits there, also where
 * functions sign their return addresses, and know when it has come to the end? */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector/ptrace/unwind.h"
#include "tests/unit/check.h"

#if defined(__aarch64__)
#define SIGNS __attribute__((noinline, noclone, target("branch-protection=pac-ret+leaf")))
#else
#define SIGNS __attribute__((noinline, noclone))
#endif

enum { DEPTH = 4, SIZE = 256, STOP = 1000 * 1000 * 1000 };

static int ready[2];

/* The child waits in the innermost. What stands behind each call keeps it from being a jump. */
SIGNS static int level_0(int x)
{
	char byte;

	x += (int)write(ready[1], "", 1);
	for (;;)
		x += (int)read(ready[0], &byte, 0) + pause();
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

int main(void)
{
	struct thread_hold *th;
	struct target t;
	int next = 0;
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
		CHECK_EQ(unwind_walk(&t, child, note, &next), 1);
		CHECK_EQ(next, DEPTH);
	}
	target_release(&t);
	target_close(&t);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return failures != 0;
}
