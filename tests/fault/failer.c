/* SPDX-License-Identifier: MIT */
/*
 * failer [-a TEXT] [-n N (-e ERRNO | -k)] -- COMMAND...: what if the N-th
 * system call of this program failed, or the program died right before it?
 *
 * Runs COMMAND under ptrace with all its threads and children. System calls
 * are counted over all of them in the order in which they begin, from 1;
 * with -a, from the first one on whose path argument contains TEXT, so that
 * the start of the dynamic loader does not count. The N-th does not happen and
 * returns -ERRNO (-e), or its process is killed with SIGKILL before it (-k).
 *
 * Prints on standard error `failer: COUNT system calls, N was NUMBER, ...`
 * and exits as COMMAND did, with 128 + signal if one killed it. A process that
 * COMMAND itself traces stays its tracee: none of that is followed here.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	const char *after;	/* count from a path that contains this */
	long n;			/* which one; 0: none, count only */
	int err;
	bool do_kill;
	char **command;
} want;

static struct {
	bool counting;
	long count;
	long number;		/* of the n-th call */
	pid_t failing;		/* the thread whose exit stop sets the result */
	pid_t main;
	int status;		/* of the main process, as wait gave it */
} run;

/* Which threads are inside of a system call: entry and exit stops look the
 * same but for PTRACE_GET_SYSCALL_INFO. */
static bool is_entry(pid_t tid, struct __ptrace_syscall_info *info)
{
	return ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(*info), info) > 0 &&
		info->op == PTRACE_SYSCALL_INFO_ENTRY;
}

/* A string of the tracee; false if it cannot be read. */
static bool read_string(pid_t tid, uint64_t at, char *out, size_t size)
{
	struct iovec to = { out, size - 1 };
	struct iovec from = { (void *)(uintptr_t)at, size - 1 };
	ssize_t got;

	/* Not across the page's end, behind which nothing may be. */
	if (from.iov_len > 4096 - at % 4096)
		from.iov_len = 4096 - at % 4096;
	got = process_vm_readv(tid, &to, 1, &from, 1, 0);
	out[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static bool names_it(pid_t tid, const struct __ptrace_syscall_info *info)
{
	uint64_t path;
	char text[512];

	switch (info->entry.nr) {
	case SYS_open: case SYS_stat: case SYS_lstat: case SYS_readlink:
	case SYS_access:
		path = info->entry.args[0];
		break;
	case SYS_openat: case SYS_newfstatat: case SYS_readlinkat:
	case SYS_faccessat: case SYS_faccessat2: case SYS_statx:
		path = info->entry.args[1];
		break;
	default:
		return false;
	}
	return read_string(tid, path, text, sizeof(text)) &&
		strstr(text, want.after);
}

/* These cannot fail: a program that ends, or returns from a handler. */
static bool cannot_fail(uint64_t nr)
{
	return nr == SYS_exit || nr == SYS_exit_group || nr == SYS_rt_sigreturn;
}

static pid_t process_of(pid_t tid)
{
	char path[64], line[128];
	pid_t pid = tid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (f)
		fclose(f);
	return pid;
}

static void skip_call(pid_t tid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0) {
		regs.orig_rax = -1;
		ptrace(PTRACE_SETREGS, tid, 0, &regs);
		run.failing = tid;
	}
}

static void on_entry(pid_t tid, const struct __ptrace_syscall_info *info)
{
	if (!run.counting && names_it(tid, info))
		run.counting = true;
	if (!run.counting || cannot_fail(info->entry.nr))
		return;
	if (++run.count != want.n)
		return;
	run.number = info->entry.nr;
	if (want.do_kill)
		kill(process_of(tid), SIGKILL);
	else
		skip_call(tid);
}

static void on_exit_stop(pid_t tid)
{
	struct user_regs_struct regs;

	if (tid != run.failing)
		return;
	run.failing = 0;
	if (ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0) {
		regs.rax = -(long)want.err;
		ptrace(PTRACE_SETREGS, tid, 0, &regs);
	}
}

/* One stop of one thread; returns the signal to go on with. */
static int on_stop(pid_t tid, int status)
{
	struct __ptrace_syscall_info info;
	int sig = WSTOPSIG(status);

	if (sig == (SIGTRAP | 0x80)) {
		if (is_entry(tid, &info))
			on_entry(tid, &info);
		else
			on_exit_stop(tid);
		return 0;
	}
	/* Events: clone, fork, exec, and a new thread's or group's stop. */
	return status >> 16 ? 0 : sig;
}

static void follow(void)
{
	for (;;) {
		int status, sig, request = PTRACE_SYSCALL;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return;
		if (!WIFSTOPPED(status)) {
			if (tid == run.main)
				run.status = status;
			continue;
		}
		sig = on_stop(tid, status);
		/* A group stop: stay stopped, but listen. */
		if (status >> 16 == PTRACE_EVENT_STOP &&
		    WSTOPSIG(status) != SIGTRAP)
			request = PTRACE_LISTEN;
		ptrace(request, tid, 0, sig);
	}
}

static int start(void)
{
	int status, go[2];
	char c = 0;

	if (pipe2(go, O_CLOEXEC))
		return -1;
	run.main = fork();
	if (run.main == 0) {
		if (read(go[0], &c, 1) == 1)
			execvp(want.command[0], want.command);
		_exit(127);
	}
	status = ptrace(PTRACE_SEIZE, run.main, 0, PTRACE_O_TRACESYSGOOD |
			PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
			PTRACE_O_EXITKILL);
	/* From a stop on, system calls are reported. */
	if (status || ptrace(PTRACE_INTERRUPT, run.main, 0, 0))
		return -1;
	return write(go[1], &c, 1) == 1 ? 0 : -1;
}

static int parse(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "+a:n:e:k")) != -1) {
		switch (opt) {
		case 'a': want.after = optarg; break;
		case 'n': want.n = atol(optarg); break;
		case 'e': want.err = atoi(optarg); break;
		case 'k': want.do_kill = true; break;
		default: return -1;
		}
	}
	want.command = argv + optind;
	run.counting = !want.after;
	if (want.n && !want.do_kill && want.err <= 0)
		return -1;
	return optind < argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	if (parse(argc, argv)) {
		fprintf(stderr, "usage: failer [-a TEXT] [-n N (-e ERRNO | -k)] "
				"-- COMMAND...\n");
		return 2;
	}
	if (start()) {
		perror("failer");
		if (run.main > 0)
			kill(run.main, SIGKILL);
		return 125;
	}
	follow();
	fprintf(stderr, "failer: %ld system calls, %ld was %ld\n", run.count,
		want.n, run.number);
	return WIFEXITED(run.status) ? WEXITSTATUS(run.status) :
		128 + WTERMSIG(run.status);
}
