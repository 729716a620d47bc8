/* SPDX-License-Identifier: MIT */
/*
 * filters_differ N: N threads whose seccomp filters end a thread that maps memory, and a main
 * thread with a filter that lets everything pass.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

#define STATEMENT(code, k) { (code), 0, 0, (k) }

static void set_filter(bool strict)
{
	struct sock_filter lenient[] = { STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_filter kills[] = {
		STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_mmap },
		STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
		STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { strict ? 4 : 1, strict ? kills : lenient };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		victim_wrong("no filter");
}

static pthread_barrier_t set;

static void *sleep_for_ever(void *arg)
{
	(void)arg;
	set_filter(true);
	pthread_barrier_wait(&set);
	for (;;)
		pause();
	return NULL;
}

PROBED uint64_t differ_work(uint64_t x)
{
	return x * 5 + 3;
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 8;
	pthread_t t;

	set_filter(false);
	pthread_barrier_init(&set, NULL, n + 1);
	for (unsigned int i = 0; i < n; i++)
		pthread_create(&t, NULL, sleep_for_ever, NULL);
	pthread_barrier_wait(&set);
	victim_say("ready");
	for (uint64_t x = 1; victim_poll(2, NULL); x++) {
		if (differ_work(x) != x * 5 + 3)
			victim_wrong("differ_work");
		victim_count();
	}
	return victim_errors != 0;
}
