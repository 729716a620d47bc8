// SPDX-License-Identifier: MIT
/*
 * unwinders: threads that are unwound from wherever they stand: are the destructors of
 * all callers run, and does an exception come to its handler?
 *
 * Command "rounds N" -> rounds N undestroyed N uncaught N: so many times two threads
 * are cancelled asynchronously, and one is thrown out of by a signal's handler, each
 * in the middle of calls; then so many destructors were missed, and exceptions.
 * Command "hold" -> held: a thread was interrupted in no code of the program's. When
 * un_leaf has no jump any more, its handler throws. Command "held" -> uncaught N
 * Command "steps" -> steps N lost M: behind each of N instructions of a call a
 * handler walks up; so often it did not come to the caller, or to another frame.
 */
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include "tests/machine.h"
#include "tests/victims/victim.h"

/* What callers have to tell of: a frame that is aligned anew, and one whose size is
 * known when it runs only. */
#define OPAQUE(x) asm volatile("" : "+r"(x) : : "memory")

extern "C" {

PROBED int un_leaf(int a)
{
	OPAQUE(a);
	return a * 3 + 1;
}

PROBED int un_tail(int a)
{
	OPAQUE(a);
	return a & 1 ? un_leaf(a + 1) : a;
}

PROBED int un_aligned(int a)
{
	alignas(64) volatile int v[16];

	v[a & 15] = un_tail(a);
	OPAQUE(a);
	return v[a & 15];
}

PROBED int un_sized(int a)
{
	volatile char *p = (volatile char *)__builtin_alloca(16 + (a & 31));

	p[a & 15] = (char)un_aligned(a);
	return p[a & 15];
}

/* An exit that is jumped to, two bytes long: a short jump leads to the padding behind
 * another function, where none of this one's unwind information holds. */
#ifdef __x86_64__
int un_short(int a);

asm(".pushsection .text\n"
    ".globl un_short\n"
    ".type un_short, @function\n"
    ".balign 16\n"
    "un_short:\n"
    ".cfi_startproc\n"
    "push %rbx\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset rbx, -16\n"
    "lea 3(%rdi), %eax\n"
    "test $1, %al\n"
    "pop %rbx\n"
    ".cfi_def_cfa_offset 8\n"
    "je 1f\n"
    "lea 2(%rax, %rax), %eax\n"
    "nop\n"
    "1: rep ret\n"
    ".cfi_endproc\n"
    ".size un_short, . - un_short\n"
    ".globl un_behind\n"
    ".type un_behind, @function\n"
    "un_behind:\n"
    "mov %edi, %eax\n"
    "ret\n"
    ".size un_behind, . - un_behind\n"
    ".balign 64\n"
    ".popsection\n");
#else
PROBED int un_short(int a)
{
	return (a + 3) & 1 ? 2 * (a + 3) + 2 : a + 3;
}
#endif

PROBED int un_chain(int a, int depth)
{
	int (*volatile by)(int) = un_leaf;
	int sum = depth ? un_chain(a, depth - 1) : un_sized(a);

	OPAQUE(sum);
	for (int i = 0; i < 2; i++)
		sum += by(un_short(i));
	return sum;
}

}

/* How far a thread is. */
struct progress {
	bool cancelled;		/* asynchronously, that is */
	int begun;		/* it calls */
};

static int destroyed, caught, caught_late;

struct owned {
	~owned() { __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED); }
};

static __attribute__((noinline)) void call(progress *p)
{
	volatile int sum = 0;

	if (p->cancelled)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	__atomic_store_n(&p->begun, 1, __ATOMIC_RELEASE);
	for (;;)
		sum = sum + un_chain(sum, 5);
}

static void *be_cancelled(void *p)
{
	owned outer;
	[](progress *mine) __attribute__((noinline)) {
		owned inner;
		call(mine);
		asm volatile("");
	}((progress *)p);
	return NULL;
}

static void thrown(int sig)
{
	throw sig;
}

static void *be_thrown(void *p)
{
	try {
		owned one;
		call((progress *)p);
	} catch (int sig) {
		__atomic_fetch_add(sig == SIGUSR2 ? &caught_late : &caught, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int held;
static pthread_t holder;

static void thrown_late(int sig, siginfo_t *, void *context)
{
	extern char __executable_start[], etext[];
	uintptr_t pc = (uintptr_t)CONTEXT_PC((ucontext_t *)context);

	if (pc >= (uintptr_t)__executable_start && pc < (uintptr_t)etext)
		return;
	__atomic_store_n(&held, 1, __ATOMIC_RELEASE);
	while (machine_is_jump((const void *)un_leaf))
		;
	throw sig;
}

/* Some time later, at most that of a few hundred calls. */
static void wait_for(progress *p, unsigned int spins)
{
	while (!__atomic_load_n(&p->begun, __ATOMIC_ACQUIRE))
		victim_sleep_us(20);
	for (volatile unsigned int i = 0; i < spins; i = i + 1)
		;
}

static void round_trip(unsigned int n)
{
	progress p[3] = { { true, 0 }, { true, 0 }, { false, 0 } };
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, i < 2 ? be_cancelled : be_thrown, &p[i]))
			_exit(3);
	for (int i = 0; i < 3; i++) {
		wait_for(&p[i], n * 7919 % 4001);
		if (i < 2)
			pthread_cancel(t[i]);
		else
			pthread_kill(t[i], SIGUSR1);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	/* It may be asked of what is no memory. */
	victim_errors += _Unwind_FindEnclosingFunction((void *)(uintptr_t)(n + 1)) != NULL;
	victim_count();
}

static void hold(void)
{
	static progress p;

	p.begun = held = 0;
	if (pthread_create(&holder, NULL, be_thrown, &p))
		_exit(3);
	wait_for(&p, 0);
	while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE)) {
		pthread_kill(holder, SIGUSR2);
		victim_sleep_us(50);
	}
	victim_say("held");
}

/* A walk that comes to `stepped` tells where that has its frame, which stays. */
struct walk {
	int frames;
	uintptr_t frame;
};

#ifdef __x86_64__
enum { STEPS = 8000 };		/* a ring that is full may take a million */
#else
enum { STEPS = 500 };
#endif
static int nsteps, nlost;
static uintptr_t stepped_frame;

#ifdef __x86_64__

static __attribute__((noinline)) void stepped(void)
{
	volatile int sum = 0;

	asm volatile("pushf; orl $0x100, (%%rsp); popf" : : : "memory", "cc");
	sum = sum + un_chain(1, 0);
	asm volatile("pushf; andl $~0x100, (%%rsp); popf" : : : "memory", "cc");
}

static void end_steps(ucontext_t *u)
{
	u->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}

#else

/* A program cannot step itself: another thread interrupts it wherever it stands. */
static volatile int stepping;

static void *interrupt(void *thread)
{
	while (stepping)
		pthread_kill((pthread_t)thread, SIGTRAP);
	return NULL;
}

static __attribute__((noinline)) void stepped(void)
{
	volatile int sum = 0;
	pthread_t t;

	stepping = 1;
	if (pthread_create(&t, NULL, interrupt, (void *)pthread_self()))
		_exit(3);
	while (stepping)
		sum = sum + un_chain(1, 0);
	stepping = 0;
	pthread_join(t, NULL);
}

static void end_steps(ucontext_t *)
{
	stepping = 0;
}

#endif

static _Unwind_Reason_Code see(struct _Unwind_Context *c, void *arg)
{
	walk *w = (walk *)arg;
	bool found = _Unwind_GetRegionStart(c) == (uintptr_t)stepped;

	if (found)
		w->frame = _Unwind_GetCFA(c);
	return found || ++w->frames == 64 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* The tables of `stepped` do not tell of what it has pushed to step. */
static void step(int, siginfo_t *, void *context)
{
	ucontext_t *u = (ucontext_t *)context;
	walk w = {};

	if ((uintptr_t)CONTEXT_PC(u) - (uintptr_t)stepped < 256)
		return;
	if (nsteps == STEPS)
		end_steps(u);
	_Unwind_Backtrace(see, &w);
	if (!nsteps++)
		stepped_frame = w.frame;
	nlost += !w.frame || w.frame != stepped_frame;
}

static void command(const char *line)
{
	unsigned int n;

	if (strcmp(line, "steps") == 0) {
		nsteps = nlost = 0;
		stepped();
		victim_say("steps %d lost %d", nsteps, nlost);
		return;
	}

	if (strcmp(line, "hold") == 0) {
		hold();
		return;
	}
	if (strcmp(line, "held") == 0) {
		pthread_join(holder, NULL);
		victim_say("uncaught %d", 1 - caught_late);
		return;
	}
	if (sscanf(line, "rounds %u", &n) != 1) {
		victim_say("what is %s?", line);
		return;
	}
	destroyed = caught = 0;
	for (unsigned int i = 0; i < n; i++)
		round_trip(i);
	victim_say("rounds %u undestroyed %d uncaught %d", n, (int)(n * 5) - destroyed,
		   (int)n - caught);
}

int main(void)
{
	struct sigaction a = {};

	/* An unwinder of its own has tables that it fills when it throws, but not
	 * when it is led on by another one, as by that of the C library. */
	try {
		thrown(0);
	} catch (int) {
	}
	a.sa_handler = thrown;
	sigaction(SIGUSR1, &a, NULL);
	a.sa_sigaction = thrown_late;
	a.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR2, &a, NULL);
	a.sa_sigaction = step;
	sigaction(SIGTRAP, &a, NULL);
	victim_say("ready");
	do
		round_trip(victim_progress);
	while (victim_poll(1, command));
	return victim_errors != 0;
}
