/* SPDX-License-Identifier: MIT */
#include "injector/remote/alarms.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "injector/proc/procfs.h"
#include "injector/remote/remote.h"

enum {
	BATCH = 16,
	MOST_WAITING = 64,	/* signals; of more than that nothing is known */
	STANDARD = 32,		/* of those below, one waits at most */
	BELOW = 256,		/* bytes, where these lie below the way back */
	KERNEL = 0x80,		/* SI_KERNEL */
};

/* What the thread's calls take and give. */
struct words {
	int64_t value[4];	/* interval and rest: seconds, and micro- or nanoseconds */
	uint64_t signals;
	int64_t at_once[2];
};

static bool read_alarm(const siginfo_t *info, struct alarm *ret)
{
	bool processor = info->si_signo == SIGPROF || info->si_signo == SIGVTALRM;

	*ret = (struct alarm){ info->si_signo, -1 };
	if (info->si_code == SI_TIMER && info->si_signo < STANDARD)
		ret->timer = info->si_timerid;
	return ret->timer >= 0 || (processor && info->si_code == KERNEL);
}

/* Those of one queue. False: there are too many, or it cannot be read. */
static bool list_queue(pid_t tid, uint32_t flags, struct alarms *a)
{
	struct __ptrace_peeksiginfo_args from = { .flags = flags, .nr = BATCH };
	siginfo_t waiting[BATCH];
	long n;

	while ((n = ptrace(PTRACE_PEEKSIGINFO, tid, &from, waiting)) > 0) {
		for (int i = 0; i < n; i++) {
			if (a->n == ARRAY_SIZE(a->v))
				return false;
			a->n += read_alarm(&waiting[i], &a->v[a->n]);
		}
		from.off += (uint64_t)n;
		if (from.off >= MOST_WAITING)
			return false;
	}
	return n == 0;
}

static bool alarms_list(pid_t tid, struct alarms *ret)
{
	*ret = (struct alarms){ 0 };
	return list_queue(tid, 0, ret) && list_queue(tid, PTRACE_PEEKSIGINFO_SHARED, ret);
}

static bool has(const struct alarms *a, const struct alarm *one)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].signal == one->signal && a->v[i].timer == one->timer)
			return true;
	return false;
}

/* Asked while it is held, so no list of what may be thousands. */
static bool is_alone(const struct remote *r)
{
	return procfs_status(r->target->pid, 0, "Threads", 10, 0) == 1;
}

void alarms_note(struct remote *r)
{
	struct alarms before = { 0 };
	bool sleeps = regs_interrupted(&r->saved) != INTERRUPTED_NONE;

	before.watched = sleeps && is_alone(r) && alarms_list(r->thread->tid, &before);
	/* A sleep ends for one that is not blocked: that has come as the thread woke up for us. */
	for (size_t i = before.n; i-- > 0;)
		if (!(r->sigmask >> (before.v[i].signal - 1) & 1))
			before.v[i] = before.v[--before.n];
	r->alarms = before;
}

/* The next that has come since. */
static bool alarms_next(const struct remote *r, struct alarm *ret)
{
	struct alarms now;

	if (!r->alarms.watched || !alarms_list(r->thread->tid, &now))
		return false;
	for (size_t i = 0; i < now.n; i++) {
		*ret = now.v[i];
		if (!has(&r->alarms, ret))
			return true;
	}
	return false;
}

bool alarms_came(const struct remote *r)
{
	struct alarm unused;

	return alarms_next(r, &unused) && is_alone(r);
}

/* Does the clock of that number count the time of the process, or of its thread? */
static bool is_of_processor(pid_t pid, int clock)
{
	enum { KIND = 3, OTHER = 3 };	/* of CPUCLOCK_...; OTHER is of no processor */
	int owner = ~(clock >> 3);

	return clock < 0 && (clock & KIND) != OTHER && (!owner || owner == pid);
}

/* At `at`: it is to go off with the next tick, and then as before. `over`: only if it neither runs
 * nor has left a signal that waits. */
static int set_off_soon(struct remote *r, const struct alarm *a, raddr_t at, bool over)
{
	uint64_t which = a->timer >= 0 ? (uint64_t)a->timer :
		a->signal == SIGPROF ? ITIMER_PROF : ITIMER_VIRTUAL;
	bool itimer = a->timer < 0;
	struct alarms waiting;
	int64_t value[4], unused;
	int err = remote_try(r, "ask a timer", &unused, itimer ? SYS_getitimer : SYS_timer_gettime,
			     which, at, 0, 0, 0, 0);

	err = err ? err : target_read(r->target, at, value, sizeof(value));
	/* In this order: what went off before it was asked has its signal by now. */
	if (err || (over && (value[0] || value[1] || value[2] || value[3] ||
			     !alarms_list(r->thread->tid, &waiting) || has(&waiting, a))))
		return err;
	value[2] = 0;
	value[3] = 1;
	err = target_write(r->target, at, value, sizeof(value));
	if (err)
		return err;
	return remote_try(r, "set a timer", &unused, itimer ? SYS_setitimer : SYS_timer_settime,
			  which, itimer ? at : 0, itimer ? 0 : at, 0, 0, 0);
}

/*
 * 1. The timer is set off soon: if we die now, a signal comes that would not have come, but none
 *    is lost.
 * 2. The signal is taken away. The kernel may have taken it back with the timer.
 * 3. One that goes off once may have done so between the two, and its signal is the one that was
 *    taken: it is set again.
 */
static int take_away(struct remote *r, const struct alarm *a)
{
	struct words w = { .signals = 1ull << (a->signal - 1) };
	raddr_t at = ALIGN_DOWN(r->way - BELOW, 16), value = at + offsetof(struct words, value);
	int64_t unused;

	if (a->timer >= 0 &&
	    !is_of_processor(r->target->pid, procfs_timer_clock(r->target->pid, a->timer)))
		return 0;
	int err = target_write(r->target, at, &w, sizeof(w));

	err = err ? err : set_off_soon(r, a, value, false);			/* 1 */
	err = err ? err : remote_try(r, "take a signal away", &unused, SYS_rt_sigtimedwait,
				     at + offsetof(struct words, signals), 0,
				     at + offsetof(struct words, at_once), sizeof(w.signals),
				     0, 0);					/* 2 */
	if (err == -EAGAIN)
		return 0;
	return err ? err : set_off_soon(r, a, value, true);			/* 3 */
}

void alarms_take_away(struct remote *r)
{
	struct alarm a;
	int err = 0;

	while (!err && alarms_next(r, &a)) {
		/* Once, whatever comes of it. */
		err = r->alarms.n < ARRAY_SIZE(r->alarms.v) ? take_away(r, &a) : -ENOSPC;
		if (!err)
			r->alarms.v[r->alarms.n++] = a;
	}
	fail_clear();
}
