/* SPDX-License-Identifier: MIT */
/*
 * regs_met: where a stop hides which call it has ended early, that call is made again: it is the
 * one that the thread slept in when it was looked at, if it has not woken up since; otherwise the
 * kernel is asked. One that sleeps goes on with what remains only if it has not woken up.
 */
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/regs.h"
#include "injector/ptrace/target.h"
#include "tests/unit/check.h"

/* One that a stop ends with EINTR: the kernel does not restart what has a timeout. */
static void receive(int fd)
{
	struct timeval long_time = { .tv_sec = 100 };
	char byte;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof(long_time));
	recv(fd, &byte, 1, 0);
}

static void wait_for_events(int fd)
{
	struct epoll_event event;

	syscall(SYS_epoll_pwait, fd, &event, 1, 100000, NULL, 0);
}

static void doze(int seconds)
{
	sleep((unsigned int)seconds);
}

static pid_t begin(void (*call)(int), int fd)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		call(fd);
		_exit(0);
	}
	return pid;
}

static struct asleep asleep_in(pid_t pid, long nr)
{
	struct asleep ret;

	do {
		usleep(1000);
		ret = thread_asleep(pid, pid);
	} while (!ret.sp || ret.nr != nr);
	return ret;
}

static enum interrupted met(const struct regs *r, const struct asleep *before, bool still,
			    struct regs *ret)
{
	*ret = *r;
	regs_met(ret, before, still);
	return regs_interrupted(ret);
}

static void get_stopped(pid_t pid, struct regs *ret)
{
	int status;

	MUST(!ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	MUST(!ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
	MUST_EQ(waitpid(pid, &status, __WALL), pid);
	MUST(!regs_get(pid, ret));
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
}

static void check_repaired(struct regs *r, const struct asleep *before, int fd)
{
	CHECK_EQ(regs_interrupted(r), INTERRUPTED_EINTR);
	regs_repair(r);
	CHECK_EQ(regs_pc(r), before->pc - 4);
	CHECK_EQ(regs_result(r), fd);
}

static void check_early(void (*call)(int), long nr, int fd)
{
	pid_t pid = begin(call, fd);
	struct asleep before = asleep_in(pid, nr), other = before, none = { 0 };
	siginfo_t stop, still;
	struct regs r, then;

	get_stopped(pid, &r);
	MUST(regs_hides_call(&r));
	other.sp += 16;
	CHECK_EQ(met(&r, &none, true, &then), INTERRUPTED_NONE);
	CHECK_EQ(met(&r, &other, true, &then), INTERRUPTED_NONE);
	CHECK_EQ(met(&r, &before, false, &then), INTERRUPTED_NONE);
	MUST(!ptrace(PTRACE_GETSIGINFO, pid, NULL, &stop));
	regs_ask_call(pid, &then);
	check_repaired(&then, &before, fd);
	MUST(!ptrace(PTRACE_GETSIGINFO, pid, NULL, &still));
	CHECK_EQ(still.si_code, stop.si_code);
	met(&r, &before, true, &then);
	check_repaired(&then, &before, fd);
	end(pid);
}

static void handle(int sig)
{
	(void)sig;
}

static void handled(int fd)
{
	struct sigaction act = { .sa_handler = handle };

	sigaction(SIGUSR1, &act, NULL);
	for (;;)
		wait_for_events(fd);
}

/* From stop to stop, at calls and signals, to behind the call of this number. */
static void run_behind(pid_t pid, long nr)
{
	struct __ptrace_syscall_info info;
	bool inside = false;
	int status, sig = 0;

	do {
		MUST(!ptrace(PTRACE_SYSCALL, pid, NULL, (long)sig));
		MUST_EQ(waitpid(pid, &status, __WALL), pid);
		MUST(WIFSTOPPED(status));
		sig = status >> 8 == SIGUSR1 ? SIGUSR1 : 0;
		MUST(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0);
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
			inside = (long)info.entry.nr == nr;
	} while (!inside || info.op != PTRACE_SYSCALL_INFO_EXIT);
}

/* EINTR is the program's own where a handler has returned to right then. */
static void check_handled(void)
{
	pid_t pid = begin(handled, epoll_create1(0));
	struct regs r;
	int status;

	asleep_in(pid, SYS_epoll_pwait);
	get_stopped(pid, &r);
	MUST(!ptrace(PTRACE_SETOPTIONS, pid, NULL, (long)PTRACE_O_TRACESYSGOOD));
	MUST(!kill(pid, SIGUSR1));
	run_behind(pid, SYS_rt_sigreturn);
	MUST(!ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
	MUST(!ptrace(PTRACE_CONT, pid, NULL, NULL));
	MUST_EQ(waitpid(pid, &status, __WALL), pid);
	MUST(!regs_get(pid, &r));
	CHECK(regs_hides_call(&r) && (int64_t)regs_result(&r) == -EINTR);
	regs_ask_call(pid, &r);
	CHECK_EQ(regs_interrupted(&r), INTERRUPTED_NONE);
	end(pid);
}

/* A thread that has made no such call is not asked about. */
static void check_unasked(void)
{
	pid_t pid = begin(doze, 100);
	struct regs r;

	asleep_in(pid, SYS_clock_nanosleep);
	get_stopped(pid, &r);
	regs_ask_call(pid, &r);
	CHECK_EQ(regs_interrupted(&r), INTERRUPTED_BLOCK);
	CHECK(!regs_goes_on(&r));
	end(pid);
}

static void check_sleep(void)
{
	pid_t pid = begin(doze, 100);
	struct asleep before = asleep_in(pid, SYS_clock_nanosleep);
	struct regs r, then;

	get_stopped(pid, &r);
	CHECK_EQ(met(&r, &before, false, &then), INTERRUPTED_BLOCK);
	CHECK(!regs_goes_on(&then));
	CHECK(!regs_is_restarted(&then));
	CHECK_EQ(met(&r, &before, true, &then), INTERRUPTED_BLOCK);
	CHECK(regs_goes_on(&then));
	CHECK(regs_is_restarted(&then));
	end(pid);
}

/* A thread that has come by a register's branch, and not yet past the landing pad: wherever it is
 * led it has not come by one. */
static void check_landing(void)
{
	enum { PSTATE = 33, BTYPE = 3 << 10 };	/* struct user_pt_regs */
	struct regs r = { .raw[PSTATE] = BTYPE };

	regs_set_pc(&r, 0x1000);
	CHECK_EQ(r.raw[PSTATE], 0);
	r.raw[PSTATE] = BTYPE;
	regs_call(&r, 0x1000, NULL, 0, 0, 0);
	CHECK_EQ(r.raw[PSTATE], 0);
}

int main(void)
{
	int pair[2];

	if (!regs_hide_call) {
		printf("skipped: no stop hides a call here (those that do are arm64 code's)\n");
		return 77;
	}
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	check_early(receive, SYS_recvfrom, pair[0]);
	check_early(wait_for_events, SYS_epoll_pwait, epoll_create1(0));
	check_handled();
	check_unasked();
	check_sleep();
	check_landing();
	return failures != 0;
}
