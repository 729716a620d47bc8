/* SPDX-License-Identifier: MIT */
/* longjmper: do longjmp and siglongjmp out of probed frames work, and are the
 * frames that they leave closed as unwound? */
#include <pthread.h>
#include <setjmp.h>

#include "tests/victims/victim.h"

static __thread jmp_buf env;
/* Always 1, which the compiler does not know: so jump_deep has an exit. */
static volatile int leap = 1;

PROBED int jump_deep(int depth)
{
	int below;

	if (depth == 0 && leap)
		longjmp(env, 42);
	if (depth == 0)
		return 0;
	below = jump_deep(depth - 1);
	return below + 1;
}

PROBED int jump_catch(int depth)
{
	int got = setjmp(env);

	if (got == 0)
		jump_deep(depth);
	return got;
}

static void *jump_run(void *arg)
{
	for (int i = 0;; i++) {
		if (jump_catch(i % 9) != 42)
			victim_wrong("longjmp");
		victim_count();
		victim_sleep_us(200);
	}
	return arg;
}

int main(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, jump_run, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}
