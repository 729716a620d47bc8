/* SPDX-License-Identifier: MIT */
#include "injector/verbs/family.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "injector/log/say.h"
#include "injector/proc/children.h"
#include "injector/proc/procfs.h"
#include "injector/proc/signals.h"
#include "injector/session/lease.h"
#include "injector/session/session.h"
#include "injector/verbs/verbs.h"

enum {
	BETWEEN = 10,		/* ms between two looks */
	TRIES = 100,
};

enum stage {
	STAGE_ON = 0,
	STAGE_ALONE = 1,	/* the process that was named is gone: the others go on */
	STAGE_OVER = 2,
};

struct family_words {
	uint32_t stage;		/* enum stage */
	uint32_t programs;
	pid_t root;
	uint64_t since;		/* an older process is not ours, in clock ticks since boot */
	uint64_t began;
};

/* A descendant of the process that was named. */
struct kin {
	pid_t pid;
	uint64_t start;		/* so that a number that comes again is not believed */
	uint64_t image;		/* the program in which it needs no worker: it shares its
				 * parent's session, or nothing matches there */
	bool done;		/* it was there before us, or its worker has ended */
	pid_t worker;		/* 0: none */
	unsigned int tries;	/* of workers that have found its program gone */
};

struct watching {
	struct family *family;
	pid_t inject;		/* no kin of these */
	struct kin *v;
	size_t n, cap;
	int status;
};

/* As procfs_start_time counts. */
static uint64_t ticks_now(void)
{
	const uint64_t each = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * each + (uint64_t)now.tv_nsec * each / 1000000000;
}

static uint32_t stage_of(const struct family *f)
{
	return __atomic_load_n(&f->words->stage, __ATOMIC_ACQUIRE);
}

/* ---- which processes are there? ------------------------------------------ */

static int is_session(void *ctx, const struct mapping *m)
{
	return strncmp(m->path, "/memfd:inject", 13) == 0 ||
		session_is_mapping(*(const pid_t *)ctx, m);
}

static bool shares_session(pid_t pid)
{
	bool shares = procfs_maps(pid, is_session, &pid) == 1;

	fail_clear();
	return shares;
}

/* Is it another program than the one that needs no worker? */
static bool needs_worker(const struct kin *k)
{
	return !k->done && !k->worker && procfs_image(k->pid) != k->image &&
		procfs_live_thread(k->pid);
}

static void begin_worker(struct watching *w, struct kin *k)
{
	const struct family *f = w->family;
	pid_t watcher = getpid();

	k->image = procfs_image(k->pid);
	k->worker = fork();
	if (k->worker > 0)
		return;
	if (k->worker < 0) {
		say("cannot trace %d: start a process: %s", k->pid, strerror(errno));
		k->done = true;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	_exit(getppid() != watcher || lease_begin() ? STATUS_FAILED : f->trace(f->ctx, k->pid));
}

static void meet(void *ctx, pid_t pid)
{
	struct watching *w = ctx;
	uint64_t start = procfs_start_time(pid);

	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].pid == pid && w->v[i].start == start)
			return;
	if (!start || pid == w->inject)
		return;
	struct kin *k = vec_push(w->v, w->n, w->cap);
	if (!k)
		return;
	/* In this order: what it executes in between is another program than that. */
	*k = (struct kin){ .pid = pid, .start = start, .image = procfs_image(pid) };
	if (shares_session(pid))
		return;
	k->image = 0;
	k->done = start + 1 < w->family->words->since;
}

/* Those that have ended are forgotten, but for how their workers end. */
static void forget_ended(struct watching *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].worker || procfs_start_time(w->v[i].pid) == w->v[i].start)
			w->v[kept++] = w->v[i];
	w->n = kept;
}

/* Also of those that have lost their parents meanwhile: the list grows as it is gone
 * through. */
static void look_around(struct watching *w)
{
	pid_t root = __atomic_load_n(&w->family->words->root, __ATOMIC_ACQUIRE);

	if (!root)
		return;
	forget_ended(w);
	children_each(root, meet, w);
	for (size_t i = 0; i < w->n; i++) {
		if (!w->v[i].done)
			children_each(w->v[i].pid, meet, w);
		if (needs_worker(&w->v[i]))
			begin_worker(w, &w->v[i]);
	}
}

/* ---- workers ------------------------------------------------------------- */

static bool has_status(int status, int want)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == want;
}

static void bury(struct watching *w, pid_t worker, int status)
{
	for (size_t i = 0; i < w->n; i++) {
		struct kin *k = &w->v[i];

		if (k->worker != worker)
			continue;
		k->worker = 0;
		/* Where nothing matches the next program is looked at; where it was just
		 * executed, the process is looked at again. */
		if (has_status(status, STATUS_GONE) && k->tries++ < TRIES)
			k->image = 0;
		else
			k->done = !has_status(status, STATUS_NOTHING);
	}
	if (has_status(status, STATUS_REMAINS))
		w->status = STATUS_REMAINS;
}

static bool bury_all(struct watching *w, int flags)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, flags)) > 0)
		bury(w, pid, status);
	return pid < 0 && errno == ECHILD;
}

static bool has_kin(const struct watching *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (!w->v[i].done)
			return true;
	return false;
}

static bool is_over(const struct watching *w)
{
	uint32_t stage = stage_of(w->family);

	return signals_stop_wanted() || stage == STAGE_OVER ||
		(stage == STAGE_ALONE && !has_kin(w));
}

static int family_watch(struct family *f, pid_t inject)
{
	struct watching w = { .family = f, .inject = inject };
	struct pollfd p = { .fd = signals_fd(), .events = POLLIN };

	while (!is_over(&w)) {
		look_around(&w);
		bury_all(&w, WNOHANG);
		signals_pause();
		poll(&p, 1, BETWEEN);
	}
	for (size_t i = 0; i < w.n; i++)
		if (w.v[i].worker)
			kill(w.v[i].worker, SIGTERM);
	while (!bury_all(&w, 0))
		;
	free(w.v);
	return w.status;
}

/* ---- inject itself ------------------------------------------------------- */

int family_begin(struct family *f)
{
	pid_t inject = getpid();

	if (access("/proc/thread-self/children", R_OK) < 0)
		return fail(errno, "--follow-exec and --follow-fork together want a kernel "
			    "that names children (CONFIG_PROC_CHILDREN)");
	void *shared = mmap(NULL, sizeof(*f->words), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return fail(errno, "share a page");
	f->words = shared;
	f->words->programs = 1;
	f->words->since = ticks_now();
	f->watcher = fork();
	if (f->watcher < 0)
		return fail(errno, "start a process");
	if (f->watcher > 0)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	_exit(getppid() == inject ? family_watch(f, inject) : STATUS_FAILED);
}

void family_root(struct family *f, pid_t pid, uint64_t began)
{
	if (f->words->root)
		return;
	f->words->began = began;
	__atomic_store_n(&f->words->root, pid, __ATOMIC_RELEASE);
}

uint64_t family_began(const struct family *f)
{
	return f->words->began;
}

unsigned int family_number(struct family *f)
{
	return __atomic_add_fetch(&f->words->programs, 1, __ATOMIC_RELAXED);
}

int family_end(struct family *f, bool gone)
{
	struct pollfd p = { .fd = signals_fd(), .events = POLLIN };
	int status;
	pid_t pid;

	__atomic_store_n(&f->words->stage, gone ? STAGE_ALONE : STAGE_OVER, __ATOMIC_RELEASE);
	while ((pid = waitpid(f->watcher, &status, WNOHANG)) == 0) {
		if (signals_stop_wanted())
			__atomic_store_n(&f->words->stage, STAGE_OVER, __ATOMIC_RELEASE);
		poll(&p, 1, BETWEEN);
	}
	munmap(f->words, sizeof(*f->words));
	f->words = NULL;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_DONE;
}
