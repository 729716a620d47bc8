/* SPDX-License-Identifier: MIT */
/* launch: start a program as a shell would, traced from its first instruction. */
#include "injector/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "injector/launch/launch_impl.h"
#include "injector/log/say.h"
#include "injector/proc/procfs.h"
#include "injector/proc/signals.h"

#define OPTIONS (PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)

enum { LOOK = 50 * 1000 * 1000 };	/* ns between two looks at our signals */

int launch_run(struct launch *l, int request, int signal)
{
	int status = request ? thread_resume(&l->thread, request, signal, LOOK) :
		thread_wait(&l->thread, LOOK);

	while (status == -ETIMEDOUT) {
		/* Asked so that it reaches the command, which may hang. */
		signals_stop_wanted();
		status = thread_wait(&l->thread, LOOK);
	}
	if (status < 0)
		return fail(-status, "%s (%d) ended before its own code ran", l->name, l->pid);
	return status;
}

int launch_signal(int status)
{
	return status >> 16 ? 0 : WSTOPSIG(status);
}

/* The child's side: async-signal-safe calls, but for what execvp does with the
 * words of PATH. Does not return. */
static void become(char **command, char **environment, int go, int report)
{
	char byte;
	int err;

	if (read(go, &byte, 1) != 1)
		_exit(LAUNCH_FAILED);
	signals_restore();
	environ = environment;
	execvp(command[0], command);
	err = errno;
	_exit(write(report, &err, sizeof(err)) == sizeof(err) ? LAUNCH_NOT_FOUND : LAUNCH_FAILED);
}

static int start(struct launch *l, char **command, char **environment, int go[2],
		 int report[2])
{
	/* What is read of `report` is there, or will not come. */
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0)
		return fail(errno, "start %s", l->name);
	pid_t pid = fork();
	if (pid < 0)
		return fail(errno, "start %s", l->name);
	if (pid == 0) {
		close(go[1]);
		become(command, environment, go[0], report[1]);
	}
	close(report[1]);
	report[1] = -1;
	l->pid = pid;
	l->thread = (struct thread_hold){ .tid = pid, .hold = HOLD_SEIZED };
	target_watch(pid);
	l->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return l->pidfd < 0 ? fail(errno, "start %s", l->name) : 0;
}

/* Up to the moment at which the kernel has put the new program in its place. */
static int to_exec(struct launch *l, int go)
{
	int status = 0, request = 0;

	if (ptrace(PTRACE_SEIZE, l->pid, 0, OPTIONS) < 0)
		return fail(errno, "cannot start %s: tracing it is not permitted", l->name);
	if (write(go, "", 1) != 1)
		return fail(errno, "start %s", l->name);
	do {
		status = launch_run(l, request, launch_signal(status));
		request = PTRACE_CONT;
	} while (status >= 0 && status >> 16 != PTRACE_EVENT_EXEC);
	return status < 0 ? status : 0;
}

/* Why the child's execve failed, if it did: with the words and the exit status
 * of a shell. */
static int why_not(struct launch *l, int report, int err)
{
	int cause = 0;

	if (!err || read(report, &cause, sizeof(cause)) != sizeof(cause))
		return err;
	fail_clear();
	l->pid = 0;
	l->status = cause == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
	return fail(cause, "cannot start %s", l->name);
}

static bool may_trace_anything(void)
{
	enum { CAP_SYS_PTRACE_BIT = 19 };

	return (uint64_t)procfs_status(getpid(), 0, "CapEff", 16, 0) >> CAP_SYS_PTRACE_BIT & 1;
}

/*
 * The kernel gives a traced program no privileges that its tracer does not have:
 * it would run, but not as without us. It has not begun yet, so it is refused.
 */
static int lost_privileges(const struct launch *l)
{
	struct statvfs fs;
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", l->pid);
	if (may_trace_anything() || stat(path, &st) < 0 || statvfs(path, &fs) < 0 ||
	    fs.f_flag & ST_NOSUID || procfs_status(l->pid, 0, "NoNewPrivs", 10, 0) == 1)
		return 0;
	bool user = st.st_mode & S_ISUID && st.st_uid != geteuid();
	bool group = st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getegid();
	if (!user && !group && getxattr(path, "security.capability", NULL, 0) <= 0)
		return 0;
	return fail(0, "cannot start %s: it is set-%s, and would not get its privileges while it "
		    "is traced; try sudo inject", l->name, user ? "user-ID" : group ?
		    "group-ID" : "capability"), -EPERM;
}

static void close_both(const int fd[2])
{
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

int launch_begin(char **command, char **environment, struct launch *ret)
{
	int go[2] = { -1, -1 }, report[2] = { -1, -1 };
	struct launch *l = ret;

	*l = (struct launch){ .name = command[0], .pidfd = -1, .status = LAUNCH_FAILED };
	int err = start(l, command, environment, go, report);
	err = err ? err : to_exec(l, go[1]);
	if (l->pid)
		err = why_not(l, report[0], err);
	err = err ? err : lost_privileges(l);
	close_both(go);
	close_both(report);
	if (err)
		launch_cancel(l);
	else
		signals_relay(l->pidfd, l->pid);
	return err;
}

void launch_cancel(struct launch *l)
{
	int status;
	pid_t pid;

	signals_relay(-1, 0);
	if (!l->pid || target_ended(&status))
		return;
	kill(l->pid, SIGKILL);
	do
		pid = waitpid(l->pid, &status, __WALL);
	while (pid < 0 ? errno == EINTR : WIFSTOPPED(status));
	l->pid = 0;
}

static bool has_terminal(void)
{
	auto_close int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	return fd >= 0;
}

void launch_follow_stop(const struct launch *l)
{
	siginfo_t info = { 0 };

	/* Only what the terminal's own keys do: what stops the command by
	 * SIGSTOP will continue the command, and not us. */
	if (waitid(P_PID, (id_t)l->pid, &info, WSTOPPED | WNOHANG) < 0 || !info.si_pid)
		return;
	if (info.si_status != SIGSTOP && getpgid(l->pid) == getpgrp() && has_terminal())
		kill(getpid(), SIGSTOP);
}

static int exit_status(const struct launch *l, int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	int sig = WTERMSIG(status);
	/* The shell that would say so sees only us. */
	if (sig != SIGINT && sig != SIGPIPE)
		say_hint("%s (%d) was ended by signal %d (%s)%s", l->name, l->pid, sig,
			 strsignal(sig), WCOREDUMP(status) ? ", core dumped" : "");
	return LAUNCH_SIGNALLED + sig;
}

/* Its status, as wait has it; -1 while it goes on. */
static int ended_with(const struct launch *l)
{
	int status;

	if (target_ended(&status))
		return status;
	pid_t pid = waitpid(l->pid, &status, WNOHANG);
	/* How it ended is lost: that is our failure. */
	if (pid < 0 && errno == ECHILD)
		return W_EXITCODE(LAUNCH_FAILED, 0);
	return pid == l->pid ? status : -1;
}

int launch_wait(struct launch *l)
{
	int status;

	if (!l->pid)
		return l->status;
	while ((status = ended_with(l)) < 0) {
		struct pollfd p[] = {
			{ .fd = l->pidfd, .events = POLLIN },
			{ .fd = signals_fd(), .events = POLLIN },
		};

		poll(p, ARRAY_SIZE(p), LOOK / 1000000);
		signals_stop_wanted();
		launch_follow_stop(l);
		signals_pause();
	}
	signals_relay(-1, 0);
	return exit_status(l, status);
}

void launch_clear(struct launch *l)
{
	if (l->pidfd >= 0)
		close(l->pidfd);
	l->pidfd = -1;
}
