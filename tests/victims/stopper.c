/* SPDX-License-Identifier: MIT */
/*
 * stopper: a function that does nothing but end the process, as compilers make
 * of what cannot happen. Does it end it while it is probed, and can a handler
 * that the program installs later go on behind it?
 *
 * stopper [handles]: it has a handler from the beginning, that knows the place
 *
 *	stop_handle	-> handled: install one that does not
 *	stop_call	-> called, unless it is not handled
 */
#include <signal.h>
#include <ucontext.h>

#include "tests/machine.h"
#include "tests/victims/victim.h"

void stop_here(void);

__asm__(
"	.text\n"
"	.balign 16\n"
"	.globl stop_here\n"
"	.type stop_here, @function\n"
"stop_here:\n"
"	.cfi_startproc\n"
"	" MACHINE_STOP "\n"
"	nop\n"
"	nop\n"
"	nop\n"
"	nop\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size stop_here, . - stop_here\n");

static bool knows;

static void on_stop(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	if (knows && (uintptr_t)CONTEXT_PC(u) != (uintptr_t)stop_here)
		victim_wrong("a stop at %llx", (unsigned long long)CONTEXT_PC(u));
	CONTEXT_PC(u) += MACHINE_BEHIND_STOP;
}

static void handle(void)
{
	struct sigaction act = { .sa_sigaction = on_stop, .sa_flags = SA_SIGINFO };

	if (sigaction(MACHINE_STOP_SIGNAL, &act, NULL))
		victim_wrong("no handler");
}

static void obey(const char *command)
{
	if (strcmp(command, "stop_handle") == 0) {
		handle();
		victim_say("handled");
	} else if (strcmp(command, "stop_call") == 0) {
		stop_here();
		victim_say("called");
	} else {
		victim_say("what is %s?", command);
	}
}

int main(int argc, char **argv)
{
	knows = argc > 1 && strcmp(argv[1], "handles") == 0;
	if (knows)
		handle();
	victim_say("ready");
	while (victim_poll(10, obey))
		victim_count();
	return victim_errors != 0;
}
