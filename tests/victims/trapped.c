/* SPDX-License-Identifier: MIT */
/*
 * trapped: functions where only a breakpoint has room, called by threads, by a
 * handler of a timer, on a signal stack, and by forked children. Does each do
 * what it did, and does SIGTRAP come where the program wants it?
 *
 * trapped [handles | blocks | suspends | answers | masks | ignores]
 *	handles: it has breakpoints of its own, and a handler for them
 *	blocks: one thread blocks SIGTRAP
 *	suspends: one thread does, but while it waits for signals
 *	answers: and so it does, but nearly all its time goes by in a handler that has
 *		interrupted the waiting, and blocks nothing
 *	masks: a handler blocks SIGTRAP while it runs
 *	ignores: it ignores SIGTRAP
 *
 *	trap_action	-> action default|ignored|own|other
 *	trap_fork	-> child STATUS
 *	trap_child	-> forked PID, which goes on until its parent ends
 *	trap_die	runs into a breakpoint of its own
 *	trap_idle	-> idle RESULT, of a function that is called for nothing else
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "tests/victims/victim.h"

enum { THREADS = 3 };

/*
 * Behind the first byte a jump may arrive that cannot be foreseen, for the address is taken;
 * and as the distance of a jump the bytes there lead into trap_room. So it is with trap_exit's
 * last byte.
 */
__attribute__((used)) char trap_room[16 << 20];
uint64_t trap_step(uint64_t x);
uint64_t trap_exit(uint64_t x);
uint64_t trap_idle(uint64_t x);
extern const char trap_step_inside[], trap_exit_return[], trap_idle_return[];

__asm__(
"	.text\n"
"	.balign 16\n"
"	.globl trap_step, trap_exit, trap_step_inside, trap_exit_return\n"
"	.globl trap_idle, trap_idle_return\n"
"	.type trap_step, @function\n"
"	.type trap_exit, @function\n"
"trap_step:\n"
"	.cfi_startproc\n"
"	clc\n"
"trap_step_inside:\n"
"	.byte 0x0f, 0x1f, 0x40, 0x00\n"
"	lea 1(%rdi), %rax\n"
"	adc $0, %rax\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size trap_step, . - trap_step\n"
"	.balign 16\n"
"trap_exit:\n"
"	.cfi_startproc\n"
"	lea 7(%rdi), %rax\n"
"	add %rdi, %rax\n"
"	.byte 0x0f, 0x1f, 0x40, 0x00\n"
"trap_exit_return:\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size trap_exit, . - trap_exit\n"
"trap_behind:\n"
"	.byte 0x0f, 0x1f, 0x40, 0x00\n"
"	ret\n"
"	.type trap_behind, @function\n"
"	.size trap_behind, . - trap_behind\n"
"	.balign 16\n"
"	.type trap_idle, @function\n"
"trap_idle:\n"
"	.cfi_startproc\n"
"	lea 7(%rdi), %rax\n"
"	add %rdi, %rax\n"
"	.byte 0x0f, 0x1f, 0x40, 0x00\n"
"trap_idle_return:\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size trap_idle, . - trap_idle\n"
"trap_behind_idle:\n"
"	.byte 0x0f, 0x1f, 0x40, 0x00\n"
"	ret\n"
"	.type trap_behind_idle, @function\n"
"	.size trap_behind_idle, . - trap_behind_idle\n");

const char *const volatile trap_taken[] = { trap_step_inside, trap_exit_return, trap_idle_return };

static volatile bool handles, answers;
static volatile pthread_t suspended;
static __thread volatile uint64_t own;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	own++;
}

PROBED uint64_t trap_own(uint64_t x)
{
	uint64_t y = x * 11 + 2;

	__asm__ volatile("int3" : "+r"(y));
	return y;
}

static void check(uint64_t x)
{
	if (trap_step(x) != x + 1 || trap_exit(x) != 2 * x + 7)
		victim_wrong("a value");
	victim_count();
}

/* Not in a handler that may have interrupted that of SIGTRAP, which blocks it. */
static void check_own(uint64_t x)
{
	uint64_t before = own;

	if (handles && (trap_own(x) != x * 11 + 2 || own != before + 1))
		victim_wrong("%d breakpoints of its own", (int)(own - before));
}

static void on_timer(int sig)
{
	check((uint64_t)sig);
}

static void on_question(int sig)
{
	for (int i = 0; i < 20; i++) {
		check(6);
		victim_sleep_us(100);
	}
}

/* A thread with SIGTRAP blocked, all the time or all but. */
static void block_trap(bool waits)
{
	sigset_t set, none;

	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	suspended = pthread_self();
	for (;;) {
		if (waits)
			sigsuspend(&none);
		else
			pause();
		check(5);
	}
}

static void *work(void *arg)
{
	static __thread char stack[32 << 10];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };

	if (sigaltstack(&ss, NULL))
		victim_wrong("no signal stack");
	if (arg)
		block_trap(strcmp(arg, "blocks") != 0);
	for (uint64_t x = 1;; x++) {
		check(x);
		if (x % 64)
			continue;
		check_own(x);
		if (answers && suspended)
			pthread_kill(suspended, SIGUSR1);
		victim_sleep_us(200);
	}
	return arg;
}

static void install(void)
{
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	/* The timer's signal frame would say that SIGTRAP is blocked, and lie on its stack for
	 * long after: nothing tells then that it is no more in use. */
	sigaddset(&act.sa_mask, SIGALRM);
	if (sigaction(SIGTRAP, &act, NULL))
		victim_wrong("no handler");
	handles = true;
}

static void say_action(void)
{
	struct sigaction act;

	sigaction(SIGTRAP, NULL, &act);
	victim_say("action %s", act.sa_handler == SIG_DFL ? "default" :
		   act.sa_handler == SIG_IGN ? "ignored" :
		   act.sa_sigaction == on_trap ? "own" : "other");
}

/* The child says nothing: its output is ours. */
static void say_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		bool ok = true;

		for (uint64_t x = 0; x < 1000; x++)
			ok &= trap_step(x) == x + 1 && trap_exit(x) == 2 * x + 7;
		_exit(ok ? 7 : 8);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	victim_say("child %d", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

static void make_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		for (uint64_t x = 0; getppid() == parent; x++) {
			if (trap_step(x) != x + 1 || trap_exit(x) != 2 * x + 7)
				_exit(8);
			victim_sleep_us(1000);
		}
		_exit(7);
	}
	victim_say("forked %d", pid);
}

static void obey(const char *command)
{
	if (strcmp(command, "trap_action") == 0)
		say_action();
	else if (strcmp(command, "trap_fork") == 0)
		say_child();
	else if (strcmp(command, "trap_child") == 0)
		make_child();
	else if (strcmp(command, "trap_die") == 0)
		trap_own(1);
	else if (strcmp(command, "trap_idle") == 0)
		victim_say("idle %d", (int)trap_idle(5));
	else
		victim_say("what is %s?", command);
}

static void start_timer(bool masks)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction act = { .sa_handler = on_timer, .sa_flags = SA_ONSTACK | SA_RESTART };

	if (masks)
		sigaddset(&act.sa_mask, SIGTRAP);
	if (sigaction(SIGALRM, &act, NULL) || setitimer(ITIMER_REAL, &every, NULL))
		victim_wrong("no timer");
}

int main(int argc, char **argv)
{
	char none[] = "", *how = argc > 1 ? argv[1] : none;
	pthread_t t;

	answers = strcmp(how, "answers") == 0;
	bool blocks = answers || strcmp(how, "blocks") == 0 || strcmp(how, "suspends") == 0;

	if (strcmp(how, "handles") == 0)
		install();
	if (strcmp(how, "ignores") == 0)
		signal(SIGTRAP, SIG_IGN);
	if (answers)
		signal(SIGUSR1, on_question);
	start_timer(strcmp(how, "masks") == 0);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, work, blocks && i == 0 ? how : NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, obey))
		;
	return victim_errors != 0;
}
