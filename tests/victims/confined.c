/* SPDX-License-Identifier: MIT */
/*
 * confined [thread] [odd] [now] [lends [CALL]]: puts itself under a seccomp filter when it is told
 * to ("now": at once), as servers do once they have set themselves up. Any
 * system call that it does not make by itself then kills it; so does
 * restart_syscall, by which the kernel goes on with an interrupted sleep. From then
 * on it leaves functions by longjmp, works in a signal handler with a stack of its own,
 * and on a fiber.
 *
 *	confine	-> confined	on all threads; later_* is called for the first
 *				time by this thread and by new ones only then
 *
 * "thread": besides, one thread is under that filter from the start. "odd": one
 * has a robust list elsewhere than the C library put it. "lends": it may also make the
 * calls that an injector makes with a thread that it borrows, and dies for all others; but for
 * CALL, for which it dies, too, or which fails where it begins with "-".
 */
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "tests/victims/victim.h"

static bool confined, lends;
static const char *forbidden;	/* a call that is not among those that it lends */
static sem_t turn;		/* of the thread that is confined by itself */

PROBED uint64_t early_work(uint64_t x)
{
	return x * 37 + 5;
}

PROBED uint64_t later_work(uint64_t x)
{
	return x * 41 + 3;
}

/* What the C library makes of poll(2) where there is no such call. */
#ifndef SYS_poll
#define SYS_poll SYS_ppoll
#endif

#define ALLOW(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What is done with a call of the name that was given. */
static uint32_t action(const char *name, uint32_t otherwise)
{
	if (forbidden && strcmp(forbidden, name) == 0)
		return SECCOMP_RET_KILL_PROCESS;
	if (forbidden && forbidden[0] == '-' && strcmp(forbidden + 1, name) == 0)
		return SECCOMP_RET_ERRNO | EPERM;
	return otherwise;
}

#define LEND(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, action(#nr, SECCOMP_RET_ALLOW))

/* The outer one of two, as in a service that runs in a container: nothing is both written
 * to and executed. */
static bool confine_outside(int flags)
{
	const uint32_t never = forbidden && strcmp(forbidden, "mmap") == 0 ? PROT_EXEC :
		PROT_WRITE | PROT_EXEC;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, never),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, never, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

/* The rest is judged by two filters: what one allows the other may not. */
static bool confine_lending(int flags)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read), ALLOW(SYS_write),
#if SYS_poll != SYS_ppoll
		ALLOW(SYS_poll),
#endif
		ALLOW(SYS_clock_nanosleep), ALLOW(SYS_exit_group),
		ALLOW(SYS_clone), ALLOW(SYS_clone3), ALLOW(SYS_mprotect),
		ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_madvise),
		ALLOW(SYS_futex), ALLOW(SYS_set_robust_list), ALLOW(SYS_rseq),
		ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_exit),
		LEND(memfd_create), LEND(close), LEND(rt_sigreturn), LEND(rt_sigaction),
		LEND(restart_syscall),
		LEND(prctl), LEND(gettid),
		/* It may be this program's own, which waits for one descriptor. */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ppoll, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, action("ppoll", SECCOMP_RET_ALLOW)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return confine_outside(flags) &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

static bool confine(int flags)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		/* what this program does */
		ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_poll),
		ALLOW(SYS_clock_nanosleep), ALLOW(SYS_exit_group),
		/* what starting and ending a thread does */
		ALLOW(SYS_clone), ALLOW(SYS_clone3), ALLOW(SYS_mmap),
		ALLOW(SYS_munmap), ALLOW(SYS_mprotect), ALLOW(SYS_madvise),
		ALLOW(SYS_futex), ALLOW(SYS_set_robust_list), ALLOW(SYS_rseq),
		ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_exit),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (lends)
		return confine_lending(flags);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

static void *early(void *arg)
{
	for (uint64_t x = 1;; x++) {
		if (early_work(x) != x * 37 + 5)
			victim_wrong("early_work");
		victim_sleep_us(20000);
	}
	return arg;
}

static void later_check(uint64_t x)
{
	if (later_work(x) != x * 41 + 3)
		victim_wrong("later_work");
}

static __thread sigjmp_buf back;
static __thread ucontext_t here, fiber;
static char signal_stack[65536];	/* of the main thread */

PROBED void later_left(uint64_t x)
{
	later_check(x);
	siglongjmp(back, 1);
}

static void later_left_by_fault(int sig)
{
	later_check((uint64_t)sig);
	siglongjmp(back, 1);
}

static void later_on_fiber(void)
{
	later_check(7);
	swapcontext(&fiber, &here);
}

static void run_fiber(void)
{
	char stack[32768];

	if (getcontext(&fiber))
		victim_wrong("getcontext");
	fiber.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) };
	makecontext(&fiber, later_on_fiber, 0);
	if (swapcontext(&here, &fiber))
		victim_wrong("swapcontext");
}

static void *later(void *arg)
{
	static int *volatile nowhere;
	uint64_t x = (uintptr_t)arg;

	for (int i = 0; i < 5; i++)
		later_check(x++);
	if (sigsetjmp(back, 1) == 0)
		later_left(x);
	later_check(x);
	if (sigsetjmp(back, 1) == 0)
		*nowhere = 1;
	later_check(x);
	run_fiber();
	later_check(x);
	return NULL;
}

static void handle_faults(void)
{
	struct sigaction act = { .sa_handler = later_left_by_fault, .sa_flags = SA_ONSTACK };
	stack_t ss = { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) };

	if (sigaltstack(&ss, NULL) || sigaction(SIGSEGV, &act, NULL))
		victim_wrong("handle_faults");
}

/* Sleeps in futex, as the thread that an injector would like best. */
static void *recluse(void *arg)
{
	if (!confine(0))
		victim_wrong("seccomp: %s", strerror(errno));
	for (uint64_t x = 1;; x++) {
		sem_wait(&turn);
		if (early_work(x) != x * 37 + 5)
			victim_wrong("early_work");
	}
	return arg;
}

static void *oddity(void *arg)
{
	static struct robust_list_head head;

	head.list.next = &head.list;
	if (syscall(SYS_set_robust_list, &head, sizeof(head)))
		victim_wrong("set_robust_list: %s", strerror(errno));
	return early(arg);
}

/* In one sleep all the time: it is interrupted by what stops us. */
static void *sleeper(void *arg)
{
	for (;;)
		victim_sleep_us(3600l * 1000000);
	return arg;
}

static void confine_all(void)
{
	if (!confine(SECCOMP_FILTER_FLAG_TSYNC))
		victim_wrong("seccomp: %s", strerror(errno));
	confined = true;
}

static void command(const char *word)
{
	if (strcmp(word, "confine") == 0) {
		confine_all();
		victim_say("confined");
	} else {
		victim_say("what is %s?", word);
	}
}

static char **find_arg(char **argv, const char *word)
{
	while (*argv && strcmp(*argv, word))
		argv++;
	return argv;
}

static bool has_arg(char **argv, const char *word)
{
	return *find_arg(argv, word);
}

int main(int argc, char **argv)
{
	bool odd = has_arg(argv, "odd"), one = has_arg(argv, "thread");
	pthread_t t;

	lends = has_arg(argv, "lends");
	forbidden = lends ? find_arg(argv, "lends")[1] : NULL;
	handle_faults();
	sem_init(&turn, 0, 0);
	if (pthread_create(&t, NULL, odd ? oddity : early, NULL) ||
	    pthread_create(&t, NULL, sleeper, NULL) ||
	    (one && pthread_create(&t, NULL, recluse, NULL)))
		return 1;
	if (has_arg(argv, "now"))
		confine_all();
	victim_say("ready");
	for (uintptr_t i = 1; victim_poll(5, command); i++) {
		victim_count();
		sem_post(&turn);
		if (!confined)
			continue;
		later((void *)i);
		if (pthread_create(&t, NULL, later, (void *)i))
			victim_wrong("pthread_create");
		pthread_join(t, NULL);
	}
	return victim_errors != 0;
}
