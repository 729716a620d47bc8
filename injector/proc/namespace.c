/* SPDX-License-Identifier: MIT */
#include "injector/proc/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "injector/proc/procfs.h"

enum { LISTS = 3 };

/* Our id of the thread that the namespace knows by this one, and of its process. */
#ifndef NS_GET_PID_FROM_PIDNS
#define NS_GET_PID_FROM_PIDNS _IOR(0xb7, 0x6, int)
#define NS_GET_TGID_FROM_PIDNS _IOR(0xb7, 0x7, int)
#endif

/* 0: it has ended; or -errno. */
static int number_of(pid_t pid, ino_t *ret)
{
	char path[64];
	struct stat st;

	*ret = 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	if (stat(path, &st) < 0)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	*ret = st.st_ino;
	return 0;
}

void namespace_open(pid_t pid, struct namespace *ret)
{
	pid_t outer, inner;
	int depth = pid > 0 ? procfs_ids(pid, pid, &outer, &inner) : 0;
	char path[64];

	/* Where it could not be read all are asked, which is right in any case. */
	*ret = (struct namespace){ .fd = -1, .other = pid > 0 && depth != 1 };
	ret->certain = !ret->other;
	if (!ret->other)
		return;
	number_of(pid, &ret->number);
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	ret->fd = open(path, O_RDONLY | O_CLOEXEC);
	/* Not where /proc shows the ids of yet another namespace. */
	if (ret->fd >= 0 && (depth == 0 || ioctl(ret->fd, NS_GET_PID_FROM_PIDNS, inner) != pid))
		namespace_close(ret);
	ret->certain = ret->fd >= 0;
}

void namespace_close(struct namespace *ns)
{
	if (ns->fd >= 0)
		close(ns->fd);
	ns->fd = -1;
}

static pid_t translate(const struct namespace *ns, unsigned long what, pid_t inner)
{
	int id = ioctl(ns->fd, what, inner);

	return id >= 0 ? id : errno == ESRCH ? 0 : -errno;
}

/* Of those that cannot be asked one may be it. */
static pid_t namespace_ask(pid_t pid, pid_t inner)
{
	pid_t found = 0;

	for (int i = 0; i < LISTS && !found; i++)
		found = procfs_outer(pid, inner);
	return found == -ESRCH ? 0 : found;
}

pid_t namespace_outer(const struct namespace *ns, pid_t pid, pid_t inner)
{
	if (!ns->other)
		return inner;
	return ns->fd < 0 ? namespace_ask(pid, inner) : translate(ns, NS_GET_PID_FROM_PIDNS, inner);
}

/* What others' processes are is not told to an ordinary user. */
static pid_t ask_one(const struct namespace *ns, pid_t pid, pid_t inner)
{
	ino_t number;
	int err = number_of(pid, &number);

	if (err)
		return err == -EACCES || err == -EPERM ? 0 : err;
	return number && number == ns->number ? namespace_ask(pid, inner) : 0;
}

static pid_t ask_everybody(const struct namespace *ns, pid_t inner, pid_t *pid)
{
	auto_free pid_t *pids = NULL;
	int n = procfs_processes(&pids);
	pid_t found = 0, err = n < 0 ? n : 0;

	for (int i = 0; i < n && found <= 0; i++) {
		*pid = pids[i];
		found = ask_one(ns, *pid, inner);
		err = found < 0 ? found : err;
	}
	return found > 0 ? found : err;
}

pid_t namespace_anybody(const struct namespace *ns, pid_t inner, pid_t *pid)
{
	pid_t tid;

	if (ns->fd < 0)
		return ask_everybody(ns, inner, pid);
	tid = translate(ns, NS_GET_PID_FROM_PIDNS, inner);
	*pid = tid > 0 ? translate(ns, NS_GET_TGID_FROM_PIDNS, inner) : 0;
	return *pid > 0 ? tid : MIN(tid, *pid);
}
