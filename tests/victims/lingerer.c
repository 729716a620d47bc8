/* SPDX-License-Identifier: MIT */
/*
 * lingerer: a thread is interrupted in a function, or in a stub of it, and its
 * handler returns there when it is told to, which may be long after: by then
 * the stub belongs to an earlier trace.
 *
 *	read	-> ok read	in its third byte, which reads what it may not
 *	nest	-> ok nest	the same, and the handler was interrupted in code
 *				that cannot be unwound
 *	step N	-> ok step	where N bytes of stack are used below its start,
 *				by code that is not the program's; or
 *		-> no step	it has returned: nowhere are so many used
 *	go	-> ok go	the handler has returned, and the function as well
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/victims/victim.h"

#define FUNC(name) \
	".globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"
#define FAR ".rept 50\nadd $1,%eax\n.endr\n"

/* A branch near the entry leads to the return, which has room for a jump only
 * together with what comes before it; and no padding is near. */
__asm__(".text\n.p2align 4\n"
	FUNC("linger_before") FAR "ret\n" END("linger_before")
	FUNC("linger") "test %esi,%esi\nmov (%rdi),%eax\nje 1f\n" FAR
	"add $7,%rax\n1: ret\n" END("linger")
	FUNC("linger_behind") FAR "ret\n" END("linger_behind")
	".globl unknown\n.type unknown, @function\nunknown:\n"
	"push %rbp\nxor %ebp,%ebp\nmov (%rdi),%eax\npop %rbp\nret\n");

int linger(volatile int *p, int on), unknown(volatile int *p);

enum { VALUE = 41, SIZE = 4096 };

static volatile int *page;
static sem_t parked, go;
static volatile bool waits;	/* the thread, to go on */
static pthread_t thread;
static uint64_t below;		/* the stack pointer that the thread is to have */

extern char __executable_start[], etext[];

/* Faults are handled while there is to be one only: of a process that handles them,
 * functions like these are not probed. */
static bool handle_faults(void (*handler)(int))
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_NODEFER };

	return sigaction(SIGSEGV, &act, NULL) == 0;
}

static void park(void)
{
	if (!handle_faults(SIG_DFL))
		_exit(8);
	waits = true;
	sem_post(&parked);
	while (sem_wait(&go))
		;
}

static volatile bool nest;	/* fault once more before the thread waits */

static void on_fault(int sig)
{
	(void)sig;
	if (nest) {
		nest = false;
		unknown(page);
	} else {
		park();
	}
	if (mprotect((void *)page, SIZE, PROT_READ | PROT_WRITE))
		_exit(5);
}

static void *run_read(void *arg)
{
	if (linger(page, 0) != VALUE)
		victim_wrong("a value");
	return arg;
}

enum { TF = 0x100 };

static void on_step(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t pc = (uint64_t)regs[REG_RIP];
	bool own = pc >= (uint64_t)__executable_start && pc < (uint64_t)etext;

	if (own || (uint64_t)regs[REG_RSP] > below)
		return;
	park();
	regs[REG_EFL] &= ~TF;
}

static void *run_steps(void *arg)
{
	int value;

	below = (uint64_t)&value - (uint64_t)arg;
	__asm__ volatile("pushf\norl %0,(%%rsp)\npopf" :: "i"(TF) : "memory", "cc");
	value = linger(page, 0);
	__asm__ volatile("pushf\nandl %0,(%%rsp)\npopf" :: "i"(~TF) : "memory", "cc");
	if (value != VALUE)
		victim_wrong("a value");
	if (!waits)
		sem_post(&parked);
	return NULL;
}

static void begin(void *(*run)(void *), uint64_t arg)
{
	if (pthread_create(&thread, NULL, run, (void *)arg))
		_exit(6);
	while (sem_wait(&parked))
		;
}

static void on_command(const char *command)
{
	if (strcmp(command, "read") == 0 || strcmp(command, "nest") == 0) {
		nest = command[0] == 'n';
		if (!handle_faults(on_fault) || mprotect((void *)page, SIZE, PROT_NONE))
			_exit(7);
		begin(run_read, 0);
	} else if (strncmp(command, "step ", 5) == 0) {
		begin(run_steps, strtoul(command + 5, NULL, 10));
	} else {
		sem_post(&go);
		pthread_join(thread, NULL);
		waits = false;
		victim_say("ok go");
		return;
	}
	if (!waits)
		pthread_join(thread, NULL);
	victim_say("%s %.4s", waits ? "ok" : "no", command);
}

int main(void)
{
	struct sigaction stepped = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

	page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || sigaction(SIGTRAP, &stepped, NULL))
		return 1;
	*page = VALUE;
	victim_say("ready");
	while (victim_poll(1000, on_command))
		victim_count();
	return victim_errors != 0;
}
