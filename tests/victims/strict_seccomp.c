/* SPDX-License-Identifier: MIT */
/*
 * strict_seccomp [filter]: a process that may do nothing but read, write and
 * exit: any other system call on its behalf kills it. With "filter": by a filter that
 * says the same.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

PROBED uint64_t strict_work(uint64_t x)
{
	return x * 7 + 1;
}

static int confine(bool by_filter)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

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
