/* SPDX-License-Identifier: MIT */
#include "injector/proc/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>

static void close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define auto_file __attribute__((cleanup(close_file)))

static bool parse_mapping(const char *line, struct mapping *ret)
{
	unsigned int major, minor;
	uint64_t ino;
	char perms[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &ret->range.start, &ret->range.end, perms, &ret->offset,
		   &major, &minor, &ino, &at) != 7 || !at)
		return false;
	ret->dev = makedev(major, minor);
	ret->ino = ino;
	ret->read = perms[0] == 'r';
	ret->write = perms[1] == 'w';
	ret->exec = perms[2] == 'x';
	ret->shared = perms[3] == 's';
	snprintf(ret->path, sizeof(ret->path), "%s", line + at);
	ret->path[strcspn(ret->path, "\n")] = '\0';
	return true;
}

bool procfs_has_ended(pid_t pid, pid_t tid)
{
	char state = procfs_state(pid, tid);

	return !state || state == 'Z' || state == 'X';
}

pid_t procfs_live_thread(pid_t pid)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_tasks(pid, &tids);

	for (int i = 0; tids && i < n; i++)
		if (!procfs_has_ended(pid, tids[i]))
			return tids[i];
	return 0;
}

pid_t procfs_front(pid_t pid)
{
	pid_t other = procfs_state(pid, 0) == 'Z' ? procfs_live_thread(pid) : 0;

	return other ? other : pid;
}

void procfs_dir(pid_t pid, char *ret, size_t size)
{
	pid_t tid = procfs_front(pid);

	if (tid != pid)
		snprintf(ret, size, "/proc/%d/task/%d", pid, tid);
	else
		snprintf(ret, size, "/proc/%d", pid);
}

/* Only a process's own directory has them, but each thread has one, though unlisted. */
void procfs_map_file(pid_t pid, struct range r, char *ret, size_t size)
{
	snprintf(ret, size, "/proc/%d/map_files/%lx-%lx", procfs_front(pid),
		 (unsigned long)r.start, (unsigned long)r.end);
}

int procfs_pidfd(pid_t pid)
{
	pid_t tid = procfs_front(pid);

	return (int)syscall(SYS_pidfd_open, tid, tid == pid ? 0 : O_EXCL);
}

/* The thread in front may have ended since, as where another one executes a program. */
static FILE *open_maps(pid_t pid, char *path, size_t size)
{
	enum { TRIES = 3 };
	char dir[64];
	FILE *f = NULL;

	for (int i = 0; i < TRIES && !f; i++) {
		procfs_dir(pid, dir, sizeof(dir));
		snprintf(path, size, "%s/maps", dir);
		f = fopen(path, "re");
	}
	return f;
}

int procfs_maps(pid_t pid, int (*each)(void *ctx, const struct mapping *), void *ctx)
{
	auto_free char *line = NULL;
	struct mapping m;
	size_t cap = 0;
	char path[80];

	auto_file FILE *f = open_maps(pid, path, sizeof(path));
	if (!f)
		return fail(errno, "read %s", path);
	while (getline(&line, &cap, f) > 0) {
		if (!parse_mapping(line, &m))
			continue;
		int err = each(ctx, &m);
		if (err)
			return err;
	}
	/* Without memory for a line getline fails, and marks no error: what is missing then
	 * would be taken for unmapped, and a jump that stands there for gone. */
	return feof(f) ? 0 : fail(errno, "read %s", path);
}

static void task_path(char *buf, size_t size, pid_t pid, pid_t tid, const char *name)
{
	if (tid)
		snprintf(buf, size, "/proc/%d/task/%d/%s", pid, tid, name);
	else
		snprintf(buf, size, "/proc/%d/%s", pid, name);
}

static bool is_final(int err)
{
	return err >= 0 || err == -ENOENT || err == -ESRCH;
}

static int slurp_once(const char *path, char *buf, size_t size)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	ssize_t n = read(fd, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return (int)n;
}

/* The whole of a small file, terminated; its length, or -errno. Read again if
 * it cannot be read: no process is to be taken for dead for want of memory. */
static int slurp(const char *path, char *buf, size_t size)
{
	int n = slurp_once(path, buf, size);

	return is_final(n) ? n : slurp_once(path, buf, size);
}

/* What follows "Name:" in status; NULL if there is none. */
static char *status_line(pid_t pid, pid_t tid, const char *name, char *buf, size_t size)
{
	size_t len = strlen(name);
	char path[64];

	task_path(path, sizeof(path), pid, tid, "status");
	if (slurp(path, buf, size) < 0)
		return NULL;
	for (char *p = buf; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, name, len) == 0 && p[len] == ':')
			return p + len + 1;
	}
	return NULL;
}

int64_t procfs_status(pid_t pid, pid_t tid, const char *name, int base, int64_t otherwise)
{
	char buf[8192], *p = status_line(pid, tid, name, buf, sizeof(buf));

	/* A set of signals has all 64 bits. */
	return p ? (int64_t)strtoull(p, NULL, base) : otherwise;
}

bool procfs_limit(pid_t pid, const char *name, uint64_t *ret)
{
	char path[64], buf[8192], *line, *end;

	snprintf(path, sizeof(path), "/proc/%d/limits", pid);
	if (slurp(path, buf, sizeof(buf)) < 0)
		return false;
	line = strstr(buf, name);
	if (!line)
		return false;
	*ret = strtoull(line + strlen(name), &end, 10);
	return end != line + strlen(name);
}

bool procfs_has_cap(pid_t pid, int cap)
{
	return (uint64_t)procfs_status(pid, 0, "CapEff", 16, 0) >> cap & 1;
}

uint64_t procfs_caught(pid_t pid)
{
	return (uint64_t)procfs_status(pid, 0, "SigCgt", 16, -1);
}

bool procfs_filtered(pid_t pid, pid_t tid)
{
	return procfs_status(pid, tid, "Seccomp", 10, 0) > 0;
}

bool procfs_all_filtered(pid_t pid)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(pid, &tids), filtered = 0;

	for (int i = 0; i < n; i++) {
		/* One that has ended has no word in this. */
		int64_t mode = procfs_status(pid, tids[i], "Seccomp", 10, -1);

		if (mode == 0 && !procfs_has_ended(pid, tids[i]))
			return false;
		filtered += mode > 0;
	}
	return filtered;
}

int procfs_ids(pid_t pid, pid_t tid, pid_t *outer, pid_t *inner)
{
	char buf[8192], *p = status_line(pid, tid, "NSpid", buf, sizeof(buf));
	int n = 0;

	for (; p && *p && *p != '\n'; n++) {
		*inner = (pid_t)strtol(p, &p, 10);
		if (n == 0)
			*outer = *inner;
	}
	return n;
}

pid_t procfs_own_id(pid_t pid)
{
	pid_t outer, inner;

	return procfs_ids(pid, 0, &outer, &inner) > 0 ? inner : 0;
}

/* Fields of stat behind the command name, which may hold anything; "" if there
 * is no such thread, "?" if it cannot be looked at. */
static const char *stat_fields(pid_t pid, pid_t tid, char *buf, size_t size)
{
	char path[64];

	task_path(path, sizeof(path), pid, tid, "stat");
	int n = slurp(path, buf, size);
	if (n < 0)
		return is_final(n) ? "" : "?";
	char *p = strrchr(buf, ')');
	return p && p[1] ? p + 2 : "";
}

char procfs_state(pid_t pid, pid_t tid)
{
	char buf[1024];

	return *stat_fields(pid, tid, buf, sizeof(buf));
}

uint64_t procfs_time_run(pid_t pid, pid_t tid)
{
	char path[64], buf[128];

	task_path(path, sizeof(path), pid, tid, "schedstat");
	return slurp(path, buf, sizeof(buf)) < 0 ? 0 : strtoull(buf, NULL, 10);
}

/* A number of what stat_fields has found, counted from 1; 0: unknown. */
static uint64_t field_number(const char *p, int field)
{
	enum { STATE_FIELD = 3 };

	for (int i = STATE_FIELD; p && i < field; i++) {
		p = strchr(p, ' ');
		p += p ? 1 : 0;
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

static uint64_t stat_number(pid_t pid, int field)
{
	char buf[1024];

	return field_number(stat_fields(pid, 0, buf, sizeof(buf)), field);
}

uint64_t procfs_thread_start(pid_t pid, pid_t tid)
{
	char buf[1024];

	return field_number(stat_fields(pid, tid, buf, sizeof(buf)), 22);
}

uint64_t procfs_start_time(pid_t pid)
{
	return procfs_thread_start(pid, 0);
}

/* Where its code and its stack begin. */
uint64_t procfs_image(pid_t pid)
{
	return stat_number(pid, 26) ^ stat_number(pid, 28) << 1;
}

uint64_t procfs_aux(pid_t pid, uint64_t kind)
{
	uint64_t pairs[64][2];
	char path[80], dir[64];

	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/auxv", dir);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, pairs, sizeof(pairs));
	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*pairs); i++)
		if (pairs[i][0] == kind)
			return pairs[i][1];
	return 0;
}

int procfs_timer_clock(pid_t pid, int timer)
{
	char path[80], dir[64], line[128];
	int id = -1, clock;

	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/timers", dir);
	auto_file FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "ID: %d", &id) != 1 && id == timer &&
		    sscanf(line, "ClockID: %d", &clock) == 1)
			return clock;
	return 0;
}

enum { FLAGS_FIELD = 9, PF_EXITING = 0x00000004 };

/* The kernel's flags of a process: PF_... */
static uint64_t stat_flags(pid_t pid)
{
	return stat_number(pid, FLAGS_FIELD);
}

/* A thread that the kernel has made for itself in the process, for io_uring or vhost, by its
 * flags. Older kernels, which have no such threads, gave these flags other meanings: so the
 * name must be one that the kernel gives, too; or, for it has none before it first runs,
 * and the program may give it another, all signals blocked as the kernel makes it. */
static bool is_worker(pid_t pid, pid_t tid, const char *stat, uint64_t flags)
{
	enum { PF_IO_WORKER = 0x00000010, PF_USER_WORKER = 0x00004000 };

	if (!(flags & (PF_IO_WORKER | PF_USER_WORKER)))
		return false;
	const uint64_t all = ~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1));
	const char *name = strchr(stat, '(');

	return (name && (strncmp(name, "(iou-", 5) == 0 || strncmp(name, "(vhost-", 7) == 0)) ||
		(uint64_t)procfs_status(pid, tid, "SigBlk", 16, 0) == all;
}

bool procfs_runs_code(pid_t pid, pid_t tid)
{
	char buf[1024];
	const char *fields = stat_fields(pid, tid, buf, sizeof(buf));
	uint64_t flags = field_number(fields, FLAGS_FIELD);

	return *fields && !(flags & PF_EXITING) && !is_worker(pid, tid, buf, flags);
}

bool procfs_is_ending(pid_t pid)
{
	const int64_t killed = 1 << (SIGKILL - 1);

	return procfs_has_ended(pid, 0) || stat_flags(pid) & PF_EXITING ||
		(procfs_status(pid, 0, "ShdPnd", 16, 0) & killed) ||
		(procfs_status(pid, 0, "SigPnd", 16, 0) & killed);
}

bool procfs_await_end(pid_t pid)
{
	enum { LOOKS = 500 };
	const struct timespec between = { .tv_nsec = 10 * 1000 * 1000 };

	for (int i = 0; procfs_live_thread(pid); i++) {
		if (i == LOOKS || !procfs_is_ending(pid))
			return false;
		nanosleep(&between, NULL);
	}
	return true;
}

bool procfs_is_kernel(pid_t pid)
{
	enum { PF_KTHREAD = 0x00200000 };

	return stat_flags(pid) & PF_KTHREAD;
}

raddr_t procfs_heap(pid_t pid)
{
	return stat_number(pid, 47);
}

void procfs_comm(pid_t pid, char *ret, size_t size)
{
	char path[64];

	task_path(path, sizeof(path), pid, 0, "comm");
	if (slurp(path, ret, size) <= 0)
		snprintf(ret, size, "?");
	for (char *p = ret; *p; p++)
		*p = *p == '\n' ? '\0' : iscntrl((unsigned char)*p) ? '?' : *p;
}

/* The numbers in a directory. */
static int list_once(const char *path, pid_t **ret)
{
	size_t n = 0, cap = 0;
	pid_t *v = NULL;
	struct dirent *e;

	DIR *d = opendir(path);
	if (!d)
		return errno == ENOENT ? -ESRCH : -errno;
	int err = 0;
	while ((errno = 0, e = readdir(d))) {
		pid_t id = atoi(e->d_name);
		pid_t *slot = id > 0 ? vec_push(v, n, cap) : NULL;
		if (slot)
			*slot = id;
		else if (id > 0)
			break;
	}
	err = e ? ENOMEM : errno;
	closedir(d);
	if (err) {
		free(v);
		return -err;
	}
	*ret = v;
	return n ? (int)n : (free(v), -ESRCH);
}

static int procfs_list(const char *path, pid_t **ret)
{
	*ret = NULL;
	int n = list_once(path, ret);
	n = is_final(n) ? n : list_once(path, ret);
	/* (Static analysis does not know that errno is more than 0.) */
	if (!*ret)
		return n < 0 ? n : -ESRCH;
	return n;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

bool procfs_is_listed(const pid_t *tids, int n, pid_t tid)
{
	return n > 0 && bsearch(&tid, tids, (size_t)n, sizeof(*tids), by_number);
}

int procfs_tasks(pid_t pid, pid_t **ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	int n = procfs_list(path, ret);
	if (n > 0)
		vec_sort(*ret, n, by_number);
	return n;
}

int procfs_threads(pid_t pid, pid_t **ret)
{
	int n = procfs_tasks(pid, ret), own = 0;

	for (int i = 0; i < n; i++)
		if (procfs_runs_code(pid, (*ret)[i]))
			(*ret)[own++] = (*ret)[i];
	return n < 0 ? n : own ? own : -ESRCH;
}

int procfs_processes(pid_t **ret)
{
	return procfs_list("/proc", ret);
}

int procfs_count_threads(pid_t pid)
{
	auto_free pid_t *tids = NULL;

	return procfs_threads(pid, &tids);
}

bool procfs_serves_faults(pid_t pid)
{
	static const char is[] = "anon_inode:[userfaultfd]";
	auto_free pid_t *fds = NULL;
	char path[80], dir[64], name[sizeof(is)];

	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/fd", dir);
	int n = procfs_list(path, &fds);
	bool ret = n < 0 && n != -ESRCH;

	/* The list is without 0. */
	for (int i = -1; i < n && !ret; i++) {
		snprintf(path, sizeof(path), "%s/fd/%d", dir, i < 0 ? 0 : fds[i]);
		ret = readlink(path, name, sizeof(name)) == sizeof(is) - 1 &&
			memcmp(name, is, sizeof(is) - 1) == 0;
	}
	return ret;
}

pid_t procfs_outer(pid_t pid, pid_t inner)
{
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(pid, &tids);
	pid_t none = n < 0 ? n : 0;

	for (int i = 0; tids && i < n; i++) {
		pid_t ours, its;
		int depth = procfs_ids(pid, tids[i], &ours, &its);

		if (depth > 0 && its == inner)
			return ours;
		if (depth == 0 && !procfs_has_ended(pid, tids[i]))
			none = -EAGAIN;
	}
	return none;
}

bool procfs_number(const char *path, uint64_t *ret)
{
	char buf[64];

	if (slurp(path, buf, sizeof(buf)) <= 0)
		return false;
	*ret = strncmp(buf, "max", 3) ? strtoull(buf, NULL, 10) : UINT64_MAX;
	return true;
}

bool procfs_syscall(pid_t pid, pid_t tid, long *nr, uint64_t *arg, raddr_t *sp,
		    raddr_t *pc)
{
	char path[64], buf[256];
	uint64_t a[6];

	task_path(path, sizeof(path), pid, tid, "syscall");
	if (slurp(path, buf, sizeof(buf)) <= 0)
		return false;
	if (sscanf(buf, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64 " %" SCNx64, nr, &a[0], &a[1], &a[2], &a[3],
		   &a[4], &a[5], sp, pc) != 9)
		return false;
	*arg = a[0];
	return true;
}
