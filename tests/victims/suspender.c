/* SPDX-License-Identifier: MIT */
/*
 * suspender: a handler that has interrupted a tracer's code on its thread's own stack goes on to
 * another stack, as a scheduler in user space does that preempts its tasks. What it has interrupted
 * goes on when it is told to.
 *
 *	suspend	-> ok suspend	the thread is on the other stack, and the call waits
 *	go	-> ok go	the call has gone on, and others after it
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <ucontext.h>

#include "tests/victims/victim.h"

#ifdef __aarch64__
#define PC(context) ((uint64_t)(context)->uc_mcontext.pc)
#else
#define PC(context) ((uint64_t)(context)->uc_mcontext.gregs[REG_RIP])
#endif

enum { STACK = 64 << 10 };

extern char __executable_start[], etext[];

static ucontext_t task, other;
static sem_t suspended, go;
static bool wanted;
static pthread_t thread;
static uint64_t turns;
static char stack[STACK] __attribute__((aligned(16)));

PROBED int suspend_step(int x)
{
	return x + 1;
}

/* On the other stack, on which no call is made that a tracer sees. */
static void wait_here(void)
{
	for (;;) {
		sem_post(&suspended);
		while (sem_wait(&go))
			;
		swapcontext(&other, &task);
	}
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	uint64_t pc = PC((ucontext_t *)context);
	bool own = pc >= (uint64_t)__executable_start && pc < (uint64_t)etext;

	if (own || !__atomic_exchange_n(&wanted, false, __ATOMIC_ACQ_REL))
		return;
	swapcontext(&task, &other);
}

static void *run(void *arg)
{
	for (int i = 0;; i++) {
		if (suspend_step(i & 0xffff) != (i & 0xffff) + 1)
			victim_wrong("a step");
		__atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

static bool suspend(void)
{
	__atomic_store_n(&wanted, true, __ATOMIC_RELEASE);
	for (int i = 0; i < 200000 && sem_trywait(&suspended); i++) {
		pthread_kill(thread, SIGUSR1);
		victim_sleep_us(50);
	}
	return !__atomic_load_n(&wanted, __ATOMIC_ACQUIRE);
}

static void on_command(const char *command)
{
	uint64_t before;

	if (strcmp(command, "suspend") == 0) {
		victim_say("%s", suspend() ? "ok suspend" : "not in other code");
		return;
	}
	before = __atomic_load_n(&turns, __ATOMIC_RELAXED);
	sem_post(&go);
	while (__atomic_load_n(&turns, __ATOMIC_RELAXED) < before + 1000)
		victim_sleep_us(100);
	victim_say("ok go");
}

int main(void)
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	makecontext(&other, wait_here, 0);
	if (sigaction(SIGUSR1, &act, NULL) || pthread_create(&thread, NULL, run, NULL))
		return 1;
	victim_say("ready");
	while (victim_poll(100, on_command))
		victim_count();
	return victim_errors != 0;
}
