/* SPDX-License-Identifier: MIT */
/*
 * overflower: does a program live on whose stack comes to its end, as OCaml's do?
 *
 * OCaml's runtime tells a stack that has ended from other faults by where it was: in
 * code between symbols like those below. Here the handler does the same, and the
 * functions are what ocamlopt makes of such recursions. How deep they come is checked.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/victims/victim.h"

enum { STACK = 1 << 16, STARTS = 4096 / 16, NEAR = 256 };

/* A unit without code, one that has some, and what assembly is to OCaml. */
__asm__(".text\n"
	".globl caml_startup__code_begin, caml_startup__code_end\n"
	"caml_startup__code_begin:\n"
	"caml_startup__code_end:\n"
	".globl camlOver.code_begin, camlOver.code_end\n"
	"camlOver.code_begin:\n"
	/* let rec so n = 1 + so (n + 1) */
	".globl camlOver__so_1\n"
	".type camlOver__so_1, @function\n"
	"camlOver__so_1:\n"
	".cfi_startproc\n"
	"sub $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"add $1, %rbx\n"
	"call camlOver__so_1\n"
	"add $2, %rax\n"
	"add $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n"
	".size camlOver__so_1, . - camlOver__so_1\n"
	".balign 16\n"
	/* let rec walk n = ignore (leaf n); 1 + walk (n + 1) */
	".globl camlOver__walk_2\n"
	".type camlOver__walk_2, @function\n"
	"camlOver__walk_2:\n"
	".cfi_startproc\n"
	"sub $24, %rsp\n"
	".cfi_adjust_cfa_offset 24\n"
	"mov %rbx, (%rsp)\n"
	"call camlOver__leaf_3\n"
	"mov (%rsp), %rbx\n"
	"add $1, %rbx\n"
	"call camlOver__walk_2\n"
	"mov (%rsp), %rbx\n"
	"add $24, %rsp\n"
	".cfi_adjust_cfa_offset -24\n"
	"ret\n"
	".cfi_endproc\n"
	".size camlOver__walk_2, . - camlOver__walk_2\n"
	".balign 16\n"
	".globl camlOver__leaf_3\n"
	".type camlOver__leaf_3, @function\n"
	"camlOver__leaf_3:\n"
	".cfi_startproc\n"
	"sub $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"lea 1(%rbx), %rax\n"
	"add $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n"
	".size camlOver__leaf_3, . - camlOver__leaf_3\n"
	"camlOver.code_end:\n"
	".balign 16\n"
	".globl caml_hot__code_begin, caml_hot__code_end\n"
	"caml_hot__code_begin:\n"
	"caml_hot__code_end:\n"
	".globl caml_system__code_begin, caml_system__code_end\n"
	"caml_system__code_begin:\n"
	/* What calls C asks for room, by a touch. */
	".globl caml_call_far\n"
	".type caml_call_far, @function\n"
	"caml_call_far:\n"
	".cfi_startproc\n"
	"sub $4096, %rsp\n"
	".cfi_adjust_cfa_offset 4096\n"
	"mov %rax, (%rsp)\n"
	"add $4096, %rsp\n"
	".cfi_adjust_cfa_offset -4096\n"
	"add $1, %rbx\n"
	"sub $40, %rsp\n"
	".cfi_adjust_cfa_offset 40\n"
	"call caml_call_far\n"
	"add $40, %rsp\n"
	".cfi_adjust_cfa_offset -40\n"
	"ret\n"
	".cfi_endproc\n"
	".size caml_call_far, . - caml_call_far\n"
	"caml_system__code_end:\n");

/* (As since OCaml 5.1; the others as before.) */
extern const char over_begin[] __asm__("camlOver.code_begin");
extern const char over_end[] __asm__("camlOver.code_end");
extern const char caml_system__code_begin[], caml_system__code_end[];
void camlOver__so_1(void);
void camlOver__walk_2(void);
void caml_call_far(void);

/*
 * Call `f` on a stack of `top` bytes' end, and come back here once that has ended: the
 * handler goes on at over_back, with what is in over_sp for a stack pointer.
 */
uint64_t over_call(void (*f)(void), uint64_t top);
extern uint64_t over_sp;
extern const char over_back[];

__asm__(".text\n"
	".globl over_call, over_back\n"
	".type over_call, @function\n"
	"over_call:\n"
	"push %rbx\n"
	"push %rbp\n"
	"mov %rsp, over_sp(%rip)\n"
	"mov %rsi, %rsp\n"
	"xor %ebx, %ebx\n"
	"call *%rdi\n"
	"over_back:\n"
	"mov %rbx, %rax\n"
	"pop %rbp\n"
	"pop %rbx\n"
	"ret\n"
	".size over_call, . - over_call\n"
	".bss\n"
	".balign 8\n"
	".globl over_sp\n"
	"over_sp: .skip 8\n"
	".text\n");

static bool is_ocaml(uint64_t pc)
{
	return (pc >= (uint64_t)over_begin && pc < (uint64_t)over_end) ||
		(pc >= (uint64_t)caml_system__code_begin &&
		 pc < (uint64_t)caml_system__code_end);
}

static void over_fault(int sig, siginfo_t *si, void *context)
{
	ucontext_t *u = context;
	greg_t *r = u->uc_mcontext.gregs;
	uint64_t at = (uint64_t)si->si_addr;

	if (at + NEAR < (uint64_t)r[REG_RSP] || !is_ocaml((uint64_t)r[REG_RIP])) {
		victim_wrong("a fault at %#llx that is no stack's end",
			     (unsigned long long)r[REG_RIP]);
		_exit(3);
	}
	r[REG_RSP] = (greg_t)over_sp;
	r[REG_RIP] = (greg_t)over_back;
}

/* From every place where a stack pointer may be in a page, as deep as ever. */
static void over_round(char *stack, void (*f)(void), uint64_t (*deep)[STARTS])
{
	for (int i = 0; i < STARTS; i++) {
		uint64_t n = over_call(f, (uint64_t)stack + STACK - (uint64_t)i * 16);

		if (!(*deep)[i])
			(*deep)[i] = n;
		if ((*deep)[i] != n || !n)
			victim_wrong("%llu calls deep, not %llu", (unsigned long long)n,
				     (unsigned long long)(*deep)[i]);
	}
	victim_count();
}

static void *over_run(void *arg)
{
	static void (*const all[])(void) = { camlOver__so_1, camlOver__walk_2, caml_call_far };
	static uint64_t deep[3][STARTS];
	static char signals[1 << 16];
	stack_t ss = { .ss_sp = signals, .ss_size = sizeof(signals) };
	char *stack = mmap(NULL, STACK + 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED || mprotect(stack, 8192, PROT_NONE) || sigaltstack(&ss, NULL))
		_exit(2);
	for (size_t i = 0;; i++) {
		over_round(stack + 8192, all[i % 3], &deep[i % 3]);
		if (i == 2)
			victim_say("ready");
	}
	return arg;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = over_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	pthread_t t;

	sigemptyset(&sa.sa_mask);
	if (sigaction(SIGSEGV, &sa, NULL) || pthread_create(&t, NULL, over_run, NULL))
		return 1;
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}
