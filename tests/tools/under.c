/* SPDX-License-Identifier: MIT */
/*
 * under CONDITION[,CONDITION...] COMMAND [ARG...]: run it as something on production
 * machines would that few programs expect. Exit status 77: this kernel has no such.
 *
 *	mdwe		no memory is both written to and executed (PR_SET_MDWE), as by
 *			systemd's MemoryDenyWriteExecute=
 *	landlock	no file can be opened but for reading, and to be executed only
 *			from /usr, /lib*, and where the command is
 *	blocked		all signals are blocked
 *	ignored		all signals are ignored that can be
 *	filter		a seccomp filter that allows everything
 *	refusing	one that kills for memfd_create
 *	noperf		one that forbids perf_event_open, as those of containers do
 *	paranoid	the same with the error of kernel.perf_event_paranoid
 *	ptracer		any process may trace it, as far as Yama is concerned
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

static bool allow(int rules, const char *dir, uint64_t what)
{
	struct landlock_path_beneath_attr a = {
		.allowed_access = what, .parent_fd = open(dir, O_PATH | O_CLOEXEC),
	};
	bool ok = a.parent_fd < 0 ||
		syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &a, 0) == 0;

	close(a.parent_fd);
	return ok;
}

static bool landlock(char *command)
{
	struct landlock_ruleset_attr all = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE |
			LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
			LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_MAKE_REG,
	};
	const uint64_t reads = LANDLOCK_ACCESS_FS_READ_FILE, runs = LANDLOCK_ACCESS_FS_EXECUTE;
	int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);

	return rules >= 0 && allow(rules, "/usr", reads | runs) &&
	       allow(rules, "/lib", reads | runs) && allow(rules, "/lib64", reads | runs) &&
	       allow(rules, dirname(strdupa(command)), reads | runs) &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}

static bool block(void)
{
	sigset_t all;

	sigfillset(&all);
	return sigprocmask(SIG_SETMASK, &all, NULL) == 0;
}

static bool ignore(void)
{
	for (int s = 1; s < SIGRTMAX; s++)
		signal(s, SIG_IGN);
	return true;
}

static bool filter(uint32_t call, uint32_t result)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, result),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool set(const char *what, char *command)
{
	if (strcmp(what, "mdwe") == 0)
		return prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0;
	if (strcmp(what, "landlock") == 0)
		return landlock(command);
	if (strcmp(what, "blocked") == 0)
		return block();
	if (strcmp(what, "ignored") == 0)
		return ignore();
	if (strcmp(what, "filter") == 0)
		return filter(SYS_memfd_create, SECCOMP_RET_ALLOW);
	if (strcmp(what, "refusing") == 0)
		return filter(SYS_memfd_create, SECCOMP_RET_KILL_PROCESS);
	if (strcmp(what, "noperf") == 0)
		return filter(SYS_perf_event_open, SECCOMP_RET_ERRNO | EPERM);
	if (strcmp(what, "paranoid") == 0)
		return filter(SYS_perf_event_open, SECCOMP_RET_ERRNO | EACCES);
	if (strcmp(what, "ptracer") == 0)
		return prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0;
	errno = ENOTSUP;
	return false;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	for (char *w = strtok(argv[1], ","); w; w = strtok(NULL, ",")) {
		if (set(w, argv[2]))
			continue;
		fprintf(stderr, "under: %s: %s\n", w, strerror(errno));
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
