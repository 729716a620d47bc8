/* SPDX-License-Identifier: MIT */
/* strict_seccomp: a process that may do nothing but read, write and exit: any
 * other system call on its behalf kills it. */
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "tests/victims/victim.h"

PROBED uint64_t strict_work(uint64_t x)
{
	return x * 7 + 1;
}

int main(void)
{
	char c;

	victim_say("ready");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 1;
	for (uint64_t x = 1; read(STDIN_FILENO, &c, 1) == 1; x++)
		if (strict_work(x) != x * 7 + 1)
			victim_wrong("strict_work");
	return 0;
}
