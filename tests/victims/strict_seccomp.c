/* SPDX-License-Identifier: MIT */
/*
 * strict_seccomp [filter]: a process that may do nothing but read, write and
 * exit: any other system call on its behalf kills it. With "filter": one that
 * has a filter, which a tracer cannot see through; this one allows everything.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "tests/victims/victim.h"

PROBED uint64_t strict_work(uint64_t x)
{
	return x * 7 + 1;
}

static int confine(bool by_filter)
{
	struct sock_filter allow = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
	struct sock_fprog program = { 1, &allow };

	if (!by_filter)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	char c;

	victim_say("ready");
	if (confine(argc > 1))
		return 1;
	victim_say("confined");
	for (uint64_t x = 1; read(STDIN_FILENO, &c, 1) == 1; x++)
		if (strict_work(x) != x * 7 + 1)
			victim_wrong("strict_work");
	return 0;
}
