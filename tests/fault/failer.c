/* SPDX-License-Identifier: MIT */
/*
 * failer [-a TEXT] [-o NUMBER [-r FIRST]] [-n N (-e ERRNO | -k | -x PID | -w SHELL)]
 * -- COMMAND...: what if the N-th system call of this program failed (-e), or the program
 * died right before it (-k), or that process did (-x), or a command of the shell ran and
 * ended before it (-w)? For one N, by hand; sweep takes every one.
 *
 * With -o, only calls of that number count, and with -r those of them that have this first
 * argument. With -a, counting begins with the
 * first call whose path contains TEXT. Prints on standard error `failer: COUNT
 * system calls, N was NUMBER` and exits as COMMAND did, with 128 + signal if one
 * killed it.
 */
#include <fcntl.h>

#include "tests/fault/failing.h"

static int parse(int argc, char **argv, struct failing_want *ret)
{
	int opt;

	while ((opt = getopt(argc, argv, "+a:n:o:r:e:kx:w:")) != -1) {
		switch (opt) {
		case 'a': ret->text = optarg; break;
		case 'n': ret->n = atol(optarg); break;
		case 'o': ret->only = atol(optarg); break;
		case 'r': ret->first = strtol(optarg, NULL, 0); break;
		case 'w': ret->meanwhile = optarg; break;
		case 'e': ret->err = atoi(optarg); break;
		case 'k': ret->do_kill = true; break;
		case 'x': ret->other = atoi(optarg); break;
		default: return -1;
		}
	}
	ret->from_text = ret->text != NULL;
	if (ret->n && !ret->do_kill && ret->other <= 0 && ret->err <= 0 && !ret->meanwhile)
		return -1;
	return optind < argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct failing_want want = { .out = -1, .errors = -1 };
	struct failing_run run;

	if (parse(argc, argv, &want)) {
		fprintf(stderr, "usage: failer [-a TEXT] [-o NUMBER [-r FIRST]] "
				"[-n N (-e ERRNO | -k | -x PID | -w SHELL)] -- COMMAND...\n");
		return 2;
	}
	if (failing_run(&want, argv + optind, &run)) {
		perror("failer");
		return 125;
	}
	fprintf(stderr, "failer: %ld system calls, %ld was %ld\n", run.count,
		want.n, run.number);
	return WIFEXITED(run.status) ? WEXITSTATUS(run.status) :
		128 + WTERMSIG(run.status);
}
