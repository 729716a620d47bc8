/* SPDX-License-Identifier: MIT */
/*
 * Is what Go's runtime keeps of a thread found, whichever of its stacks the thread
 * runs on; and is such a thread borrowed on the runtime's own stack only, where
 * nothing else begins below?
 */
#include "injector/ptrace/tids.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "injector/infect/infect.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/tracing.h"
#include "injector/remote/remote.h"
#include "tests/unit/check.h"

enum {
	PAUSE = 500 * 1000 * 1000,	/* ns */
	TRIES = 2000,			/* of 1 ms */
	HEAP = 1 << 20,
	STACK = 16 << 10,
	NEAR = 512,			/* bytes of a stack with no room */
};

#ifdef __x86_64__

/* Make a thread with this stack and thread pointer, which spins. Its id. */
__asm__(".text\n"
	"bear: mov %rdx,%r8\n xor %edx,%edx\n xor %r10d,%r10d\n"
	"mov $56,%eax\n syscall\n test %eax,%eax\n jz 1f\n ret\n"
	"1: pause\n jmp 1b\n");
long bear(uint64_t flags, raddr_t sp, raddr_t tp);

/* As runtime.g and runtime.m begin. */
struct g {
	uint64_t lo, hi, guards[2], panics, defers, m;
};

struct m {
	uint64_t g0;
	uint64_t morebuf[7], divmod;
	uint64_t procid, gsignal;
	uint64_t between[6];
	uint64_t tls[6];
	uint64_t mstartfn, curg;
};

/* Where is it, and how is what is kept of it out of order? */
static const struct scene {
	const char *name;
	int on;			/* 0: g0, 1: gsignal, 2: a goroutine */
	raddr_t depth;		/* bytes of that stack that are in use */
	enum { SOUND, UNBORN, NO_M, STRANGER } state;
	bool known, room;
} scenes[] = {
	{ "on its own stack", 0, 256, SOUND, true, true },
	{ "deep on its own stack", 0, STACK - NEAR, SOUND, true, false },
	{ "on a signal stack", 1, 256, SOUND, true, false },
	{ "on a goroutine's stack", 2, 256, SOUND, true, false },
	{ "being born", 0, 256, UNBORN, false, false },
	{ "of another m", 0, 256, NO_M, false, false },
	{ "of no m", 0, 256, STRANGER, false, false },
};

/* What is made of a scene: all in one mapping, as Go's heap is. */
struct world {
	_Alignas(16) uint8_t gap[64 << 10];
	_Alignas(16) uint8_t stacks[4][STACK];	/* the last is no goroutine's */
	struct g g[3];
	struct m m;
};

static struct world *worlds;
static pid_t child;

static raddr_t at(const void *p)
{
	return (uintptr_t)p;
}

static raddr_t tp_of(const struct world *w)
{
	return at(&w->m.tls[1]);
}

/* The thread pointer is above the stacks, as if a C library had made them. */
static void set_up(struct world *w, const struct scene *s)
{
	for (int i = 0; i < 3; i++)
		w->g[i] = (struct g){ .lo = at(w->stacks[i]), .hi = at(w->stacks[i + 1]),
				      .m = at(&w->m) };
	w->m = (struct m){ .g0 = at(&w->g[0]), .gsignal = at(&w->g[1]),
			   .curg = at(&w->g[2]) };
	/* What looks like an id before gsignal, but is none: a PC before a g. */
	w->m.morebuf[1] = 0x401000;
	w->m.morebuf[2] = at(&w->g[2]);
	w->m.tls[0] = at(&w->g[s->on]);
	if (s->state == NO_M)
		w->g[0].m = at(&worlds[0].m) + (w == worlds ? sizeof(*w) : 0);
	if (s->state == STRANGER)
		w->m.tls[0] = 0;
}

static void live(void)
{
	const uint64_t flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		CLONE_SYSVSEM | CLONE_SETTLS;

	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		struct world *w = &worlds[i];
		const struct scene *s = &scenes[i];
		long tid;

		set_up(w, s);
		tid = bear(flags, w->g[s->on].hi - s->depth, tp_of(w));
		w->m.procid = s->state == UNBORN ? 0 : (uint64_t)tid;
	}
	for (;;)
		pause();
}

static void judge(const struct target *t, struct thread_hold *th, const struct world *w,
		  const struct scene *s)
{
	const struct range signal = { w->g[1].lo, w->g[1].hi };
	struct kept_thread g;
	bool known = threads_keeper(t, tp_of(w), &g) == &threads_go, room;

	if (known != s->known)
		printf("%s: known %d\n", s->name, known);
	MUST(known == s->known);
	MUST(tids_note(t, th->tid, tp_of(w)).place ==
	      (known ? at(&w->m.procid) - tp_of(w) : 0));
	room = remote_has_room((struct target *)t, th);
	if (room != s->room)
		printf("%s: room %d\n", s->name, room);
	MUST(room == s->room);
	if (!known)
		return;
	MUST(g.tid == (uint64_t)th->tid);
	MUST(g.signal.start == signal.start && g.signal.end == signal.end);
	MUST(kept_stack(&g, regs_sp(&th->regs)).end == w->g[s->on].hi);
	MUST(!kept_stack(&g, at(w->gap)).end);
}

/* Only a thread that has nothing yet may have no id, and none may have another's. Threads go on
 * with shared memory. */
static void judge_id(const struct target *t, struct thread_hold *th, struct world *w)
{
	struct target one = *t;
	struct session s = { .tid_offset = at(&w->m.procid) - tp_of(w),
			     .keeper = threads_number(&threads_go) };
	struct infection inf = { .map = { .s = &s } };
	uint64_t id = w->m.procid, g = w->m.tls[0];

	one.threads = th;
	one.nthreads = 1;
	w->m.procid = (uint64_t)th->tid;
	MUST(infect_check_threads(&one, &inf) == 0);
	w->m.procid++;
	MUST(infect_check_threads(&one, &inf) == -EBUSY);
	w->m.procid = w->m.tls[0] = 0;
	MUST(infect_check_threads(&one, &inf) == 0);
	w->m.procid = (uint64_t)child;
	MUST(infect_check_threads(&one, &inf) == -EBUSY);
	w->m.procid = 0;
	for (size_t i = 0; i < ARRAY_SIZE(w->m.tls); i++) {
		w->m.tls[i] = 1;
		MUST(infect_check_threads(&one, &inf) == -EBUSY);
		w->m.tls[i] = 0;
	}
	w->m.procid = id;
	w->m.tls[0] = g;
	fail_clear();
}

static bool all_born(void)
{
	auto_free pid_t *tids = NULL;

	return procfs_threads(child, &tids) == (int)ARRAY_SIZE(scenes) + 1 &&
		procfs_state(child, child) == 'S';
}

static int operate(void *unused)
{
	size_t seen = 0;
	struct target t;

	for (int i = 0; i < TRIES && !all_born(); i++)
		usleep(1000);
	MUST(all_born());
	MUST(target_open(child, &t) == 0);
	MUST(target_stop(&t, PAUSE) == 0);
	for (size_t i = 0; i < t.nthreads; i++) {
		struct thread_hold *th = &t.threads[i];

		MUST(thread_regs(th) == 0);
		for (size_t k = 0; k < ARRAY_SIZE(scenes); k++)
			if (regs_tp(&th->regs) == tp_of(&worlds[k])) {
				judge(&t, th, &worlds[k], &scenes[k]);
				judge_id(&t, th, &worlds[k]);
				seen++;
			}
	}
	target_release(&t);
	target_close(&t);
	MUST(seen == ARRAY_SIZE(scenes));
	return 0;
}

int main(void)
{
	worlds = mmap(NULL, ALIGN_UP(sizeof(*worlds) * ARRAY_SIZE(scenes), HEAP),
		      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(worlds != MAP_FAILED);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		live();
	}
	MUST(tracing(operate, NULL) == 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}

#else

int main(void)
{
	printf("skipped: threads of Go's are known on x86-64 only\n");
	return 77;
}

#endif
