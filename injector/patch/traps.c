/* SPDX-License-Identifier: MIT */
#include "injector/patch/traps.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/log/say.h"
#include "injector/proc/procfs.h"
#include "injector/remote/remote.h"
#include "injector/remote/loan.h"
#include "injector/session/blobs.h"

enum {
	MASK_SIZE = 8,
	MOST_USED = TRAPS_MOST / 4 * 3,
	LOOKS = 40,
	PATIENCE = 1000,			/* looks */
	LOOK_REST = 2 * 1000 * 1000,		/* ns */
	PENDING_TRIES = 400,
	PENDING_REST = 5 * 1000 * 1000,		/* ns */
};

#define TRAP_BIT (1ull << (SIGTRAP - 1))
#define RESTORER_FLAG 0x04000000ull	/* of the kernel's struct sigaction */

#define FIELD(s, name) ((s)->traps + offsetof(struct traps, name))

static uint64_t signal_mask(pid_t pid, pid_t tid, const char *name)
{
	return (uint64_t)procfs_status(pid, tid, name, 16, 0);
}

/* Not only for a moment: in a handler, or while a thread is made. A thread that wants to
 * run and gets no processor is waited for. */
static bool keeps_blocking(pid_t pid, pid_t tid)
{
	for (int i = 0, looks = 0; i < LOOKS && looks < PATIENCE; looks++) {
		i += procfs_state(pid, tid) != 'R';
		if (!(signal_mask(pid, tid, "SigBlk") & TRAP_BIT))
			return false;
		nanosleep(&(struct timespec){ 0, LOOK_REST }, NULL);
	}
	return true;
}

bool traps_allowed(pid_t pid)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(pid, &tids);

	if (signal_mask(pid, 0, "SigIgn") & TRAP_BIT) {
		say("%d ignores SIGTRAP, so nothing traps", pid);
		return false;
	}
	for (int i = 0; i < n; i++) {
		bool filtered = procfs_filtered(pid, tids[i]);

		if (!filtered && !keeps_blocking(pid, tids[i]))
			continue;
		say("thread %d %s, so nothing traps", tids[i],
		    filtered ? "is confined by seccomp" : "blocks SIGTRAP");
		return false;
	}
	return true;
}

int traps_forget(const struct target *t, const struct session *s)
{
	static const struct trap none[TRAPS_MOST];
	uint64_t hooked;
	int err = target_read(t, FIELD(s, hooked), &hooked, sizeof(hooked));

	return err || hooked ? err : target_write(t, FIELD(s, table), none, sizeof(none));
}

int traps_add(const struct target *t, const struct session *s, raddr_t addr, raddr_t stub)
{
	struct trap table[TRAPS_MOST], new_ = { addr, stub };
	size_t used = 0, at = trap_hash(addr);
	int err = target_read(t, FIELD(s, table), table, sizeof(table));

	if (err)
		return err;
	for (size_t i = 0; i < TRAPS_MOST; i++)
		used += table[i].addr != 0;
	while (table[at].addr && table[at].addr != addr && used < MOST_USED)
		at = (at + 1) % TRAPS_MOST;
	if (used >= MOST_USED)
		return -ERANGE;
	/* The address last: a thread that looks meanwhile finds all of it, or nothing. */
	raddr_t to = FIELD(s, table) + at * sizeof(new_);
	err = target_write(t, to + offsetof(struct trap, stub), &new_.stub, sizeof(new_.stub));
	return err ? err : target_write(t, to, &new_.addr, sizeof(new_.addr));
}

/* The signals that a thread blocks: not what /proc says, for within sigsuspend that is
 * another mask. */
static bool blocks_now(const struct thread_hold *th)
{
	uint64_t mask;

	return regs_request(PTRACE_GETSIGMASK, th->tid, sizeof(mask), &mask) < 0 ||
	       mask & TRAP_BIT;
}

struct handling {
	struct target *target;
	const struct thread_hold *thread;
};

/* A handler that interrupted sigsuspend runs with sigsuspend's mask: the thread's own one
 * is in the signal frame (kernel/signal.c, sigmask_to_save()). */
static int blocks_after(void *ctx, const struct sigframe *f)
{
	const struct handling *h = ctx;

	return f->mask & TRAP_BIT && sigframe_is_live(h->target, h->thread, f) != 0;
}

pid_t traps_blocker(struct target *t, const struct sigframes *frames)
{
	for (size_t i = 0; i < t->nthreads; i++) {
		struct thread_hold *th = &t->threads[i];
		struct handling h = { t, th };

		if (th->hold == HOLD_STOPPED &&
		    (blocks_now(th) || sigframes_search(t, frames, th, blocks_after, &h)))
			return th->tid;
	}
	return 0;
}

/* A borrowed thread that asks and tells the kernel of signals. */
struct hooking {
	struct target *target;
	const struct session *session;
	struct remote remote;
};

static int traps_begin(struct hooking *h, struct modules *mods)
{
	struct gadgets g;
	int err = remote_gadgets(h->target, payload_range(h->session->payload), &g);

	return err ? err : loan_borrow(h->target, mods, LOAN_SYSCALLS, LOAN_TRIES, &g,
					 &h->remote);
}

/* `new_` (an address there, 0: none) becomes the action; *ret: what it was. */
static int traps_exchange(struct hooking *h, int signal, raddr_t new_, struct trap_action *ret)
{
	raddr_t now = FIELD(h->session, now);
	int64_t unused;
	int err = remote_try(&h->remote, "look at its signal handlers", &unused, SYS_rt_sigaction,
			     (uint64_t)signal, new_, now, MASK_SIZE, 0, 0);

	return err ? err : target_read(h->target, now, ret, sizeof(*ret));
}

static int traps_put(struct hooking *h, raddr_t at, const void *what, size_t size)
{
	return target_write(h->target, at, what, size);
}

/* A handler that blocks SIGTRAP while it runs would end the process at the
 * first breakpoint that it comes to. */
static int check_handlers(struct hooking *h)
{
	uint64_t caught = procfs_caught(h->target->pid);
	struct trap_action a;

	for (int signal = 1; signal <= 64; signal++) {
		if (!(caught >> (signal - 1) & 1) || signal == SIGTRAP)
			continue;
		int err = traps_exchange(h, signal, 0, &a);

		if (err)
			return err;
		if (a.mask & TRAP_BIT)
			return fail(0, "the handler of signal %d of %d (%s) blocks SIGTRAP",
				    signal, h->target->pid, h->target->comm), -EPERM;
	}
	return 0;
}

/* Where it runs and what its signal restarts is the application's choice; if
 * that has none, a signal stack is used, for some threads have no other room. */
static struct trap_action our_action(const struct hooking *h, uint64_t handler,
				     const struct trap_action *chain)
{
	uint64_t like = chain->handler ? chain->flags & (SA_ONSTACK | SA_RESTART) :
		SA_ONSTACK | SA_RESTART;

	return (struct trap_action){
		.handler = handler, .restorer = h->remote.gadgets.sigreturn,
		.flags = SA_SIGINFO | SA_NODEFER | RESTORER_FLAG | like,
	};
}

/* The chain is known before the handler is there that needs it. */
static int traps_install(struct hooking *h, uint64_t handler, const struct trap_action *chain)
{
	const struct session *s = h->session;
	struct trap_action ours = our_action(h, handler, chain), was;
	uint64_t hooked = 1;
	int err = traps_put(h, FIELD(s, chain), chain, sizeof(*chain));

	err = err ? err : traps_put(h, FIELD(s, ours), &ours, sizeof(ours));
	err = err ? err : traps_put(h, FIELD(s, hooked), &hooked, sizeof(hooked));
	err = err ? err : traps_exchange(h, SIGTRAP, FIELD(s, ours), &was);
	/* It has changed in between. */
	if (!err && memcmp(&was, chain, sizeof(was)) != 0)
		err = traps_put(h, FIELD(s, chain), &was, sizeof(was));
	return err;
}

static int hooking_set(struct hooking *h, bool *hooked)
{
	struct trap_action now;
	uint64_t handler;
	int err = check_handlers(h);

	err = err ? err : target_read(h->target, FIELD(h->session, handler), &handler,
				      sizeof(handler));
	err = err ? err : traps_exchange(h, SIGTRAP, 0, &now);
	if (err || now.handler == handler)
		return err;
	if (now.handler == (uintptr_t)SIG_IGN)
		return fail(0, "%d (%s) ignores SIGTRAP", h->target->pid,
			    h->target->comm), -EPERM;
	*hooked = true;
	return traps_install(h, handler, &now);
}

int traps_hook(struct target *t, struct modules *mods, const struct session *s, bool *hooked)
{
	struct hooking h = { .target = t, .session = s };
	int err = traps_begin(&h, mods);

	*hooked = false;
	return err ? err : loan_give_back(&h.remote, hooking_set(&h, hooked));
}

/* What the application has installed since then stays, also if it does so in
 * this very moment. */
static int hooking_undo(struct hooking *h)
{
	const struct session *s = h->session;
	struct trap_action now;
	uint64_t handler, hooked = 0;
	int err = target_read(h->target, FIELD(s, handler), &handler, sizeof(handler));

	err = err ? err : traps_exchange(h, SIGTRAP, 0, &now);
	if (!err && now.handler == handler) {
		err = traps_exchange(h, SIGTRAP, FIELD(s, chain), &now);
		if (!err && now.handler != handler)
			err = traps_exchange(h, SIGTRAP, FIELD(s, now), &now);
	}
	return err ? err : traps_put(h, FIELD(s, hooked), &hooked, sizeof(hooked));
}

static pid_t pending(const struct target *t)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(t->pid, &tids);

	for (int i = 0; i < n; i++)
		if (signal_mask(t->pid, tids[i], "SigPnd") & TRAP_BIT)
			return tids[i];
	return 0;
}

bool traps_hooked(const struct target *t, const struct session *s)
{
	uint64_t hooked = 0;

	if (s->traps && target_read(t, FIELD(s, hooked), &hooked, sizeof(hooked)))
		fail_clear();
	return hooked;
}

int traps_unhook(struct target *t, struct modules *mods, const struct session *s)
{
	struct hooking h = { .target = t, .session = s };
	pid_t tid = 0;

	if (!traps_hooked(t, s))
		return 0;
	/* Nothing traps any more, so there will only be less of them. */
	for (int i = 0; i < PENDING_TRIES && (tid = pending(t)); i++)
		nanosleep(&(struct timespec){ 0, PENDING_REST }, NULL);
	if (tid)
		return fail(0, "thread %d of %d (%s) was not told of a breakpoint yet, so the "
			    "handler of SIGTRAP has to stay", tid, t->pid, t->comm), -EAGAIN;
	int err = traps_begin(&h, mods);
	return err ? err : loan_give_back(&h.remote, hooking_undo(&h));
}
