/* SPDX-License-Identifier: MIT */
/* switches: perf events for all threads of a process, and the threads that they make. */
#include "injector/switches/switches_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/proc/procfs.h"

enum {
	MAX_CPUS = 4096,
	MAX_EVENTS = 1 << 16,	/* each takes the kernel a kilobyte or two */
	ROUNDS = 10,		/* of looking for threads that were made meanwhile */
};

#define ONLINE "/sys/devices/system/cpu/online"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* What the kernel does is not asked for: that may be forbidden. */
static struct perf_event_attr attr_of(bool forks, bool inherit_thread)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .sample_id_all = 1,
		.context_switch = 1, .task = 1, .exclude_kernel = 1, .exclude_hv = 1,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC_RAW,
		.inherit = 1, .inherit_thread = !forks && inherit_thread,
	};
}

static int open_event(bool forks, bool inherit_thread, pid_t tid, int cpu)
{
	struct perf_event_attr attr = attr_of(forks, inherit_thread);

	return (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Why the kernel does not let us. */
static int refused(pid_t pid, int err)
{
	uint64_t level;

	switch (err) {
	case EACCES:
		if (procfs_number(PARANOID, &level))
			return fail(0, "the kernel does not let this user: "
				       "kernel.perf_event_paranoid is %llu (2 or less would do, or "
				       "root, or CAP_PERFMON)", (unsigned long long)level);
		return fail(err, "perf_event_open of %d", pid);
	case EPERM:
		return fail(err, "perf_event_open of %d: a seccomp filter or a security module "
				 "forbids it", pid);
	case ENOSYS:
		return fail(0, "this kernel has no perf events");
	case EMFILE:
	case ENFILE:
		return fail(err, "one file for each thread and processor is needed (ulimit -n)");
	default:
		return fail(err, "perf_event_open of %d", pid);
	}
}

/* -errno, without a message. */
static int try_event(struct switches *s, bool forks, pid_t tid, int cpu)
{
	int fd = open_event(forks, s->inherit_thread, tid, cpu);

	if (fd < 0 && errno == EINVAL && s->inherit_thread) {	/* before Linux 5.13 */
		s->inherit_thread = false;
		fd = open_event(forks, false, tid, cpu);
	}
	return fd < 0 ? -errno : fd;
}

int switches_possible(pid_t pid)
{
	struct switches s = { .inherit_thread = true };
	pid_t tid = procfs_live_thread(pid) ?: pid;
	int fd = try_event(&s, false, tid, -1);

	if (fd < 0)
		return refused(pid, -fd);
	close(fd);
	return 0;
}

/* ---- processors ---------------------------------------------------------- */

static int read_online(int fd, char text[256])
{
	ssize_t n = pread(fd, text, 255, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

/* "0-3,5" */
static int find_rings(struct switches *s)
{
	const char *p = s->online;

	while (*p >= '0' && *p <= '9') {
		char *end;
		unsigned long first = strtoul(p, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < MAX_CPUS; cpu++) {
			struct switch_ring *r = realloc(s->rings, (s->nrings + 1) * sizeof(*r));

			if (!r)
				return fail(ENOMEM, "list the processors");
			s->rings = r;
			s->rings[s->nrings++] = (struct switch_ring){ .cpu = (int)cpu, .fd = -1 };
		}
		p = *end == ',' ? end + 1 : end;
	}
	return s->nrings ? 0 : fail(0, "%s lists no processors", ONLINE);
}

/* ---- threads ------------------------------------------------------------- */

static bool has_tid(const struct switches *s, pid_t tid)
{
	return procfs_is_listed(s->tids, (int)s->ntids, tid);
}

/* One of a thread, on one processor: its ring is the first one's. */
static int open_one(struct switches *s, pid_t pid, pid_t tid, bool forks, struct switch_ring *r)
{
	int *slot, fd = try_event(s, forks, tid, r->cpu);

	if (fd == -ESRCH)
		return fd;
	if (fd < 0)
		return refused(pid, -fd);
	slot = vec_push(s->fds, s->nfds, s->fds_cap);
	if (!slot) {
		close(fd);
		return fail(ENOMEM, "watch %d threads", (int)s->ntids);
	}
	*slot = fd;
	if (r->fd < 0)
		return switch_ring_map(r, r->cpu, fd);
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd) < 0)
		return fail(errno, "direct a perf event of %d", tid);
	return 0;
}

/* One that has ended is none. */
static int open_thread(struct switches *s, pid_t pid, pid_t tid, bool forks)
{
	int err = 0;

	for (size_t i = 0; i < s->nrings && !err; i++)
		err = open_one(s, pid, tid, forks, &s->rings[i]);
	if (err == -ESRCH)
		return 0;
	pid_t *slot = err ? NULL : vec_push(s->tids, s->ntids, s->tids_cap);
	if (!slot)
		return err ? err : fail(ENOMEM, "watch %d threads", (int)s->ntids);
	size_t at = vec_prefix(s->ntids - 1, i, s->tids[i] < tid);
	memmove(&s->tids[at + 1], &s->tids[at], (s->ntids - 1 - at) * sizeof(*slot));
	s->tids[at] = tid;
	return 0;
}

static int check_room(const struct switches *s, size_t nthreads)
{
	struct rlimit limit;
	size_t need = nthreads * s->nrings;

	if (need > MAX_EVENTS)
		return fail(0, "%zu threads on %zu processors would take %zu perf events, and at "
			       "most %d are used", nthreads, s->nrings, need, MAX_EVENTS);
	/* Files of our own: what we may have without asking. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return 0;
}

/* Those that are not watched yet; *more if there were any. */
static int open_new(struct switches *s, pid_t pid, bool forks, bool *more)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(pid, &tids), err;

	*more = false;
	err = n < 0 ? fail(-n, "list the threads of %d", pid) : check_room(s, (size_t)n);
	for (int i = 0; i < n && !err; i++) {
		if (has_tid(s, tids[i]))
			continue;
		*more = true;
		err = open_thread(s, pid, tids[i], forks);
	}
	return err;
}

/* A thread that was made while its maker's events were opened may have inherited some of
 * them only: all that are there at the end are ours. */
static int open_all(struct switches *s, pid_t pid, bool forks)
{
	bool more = true;
	int err = 0;

	for (int i = 0; i < ROUNDS && more && !err; i++)
		err = open_new(s, pid, forks, &more);
	return err ? err : s->ntids ? 0 : fail(ESRCH, "watch the threads of %d", pid);
}

int switches_open(pid_t pid, bool forks, struct switches **ret)
{
	struct switches *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail(ENOMEM, "watch the threads of %d", pid);
	s->inherit_thread = true;
	s->online_fd = open(ONLINE, O_RDONLY | O_CLOEXEC);
	err = s->online_fd < 0 ? -errno : read_online(s->online_fd, s->online);
	err = err ? fail(-err, "read %s", ONLINE) : find_rings(s) ?: open_all(s, pid, forks);
	if (err) {
		switches_close(s);
		return err;
	}
	switches_begin(s);
	*ret = s;
	return 0;
}

void switches_close(struct switches *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nrings; i++)
		switch_ring_unmap(&s->rings[i]);
	for (size_t i = 0; i < s->nfds; i++)
		close(s->fds[i]);
	if (s->online_fd >= 0)
		close(s->online_fd);
	free(s->rings);
	free(s->fds);
	free(s->tids);
	free(s);
}

size_t switches_threads(const struct switches *s, const pid_t **ret)
{
	*ret = s->tids;
	return s->ntids;
}

uint64_t switches_gaps(const struct switches *s)
{
	return s->gaps;
}

bool switches_blind(const struct switches *s)
{
	return s->blind;
}
