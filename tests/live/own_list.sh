#!/bin/bash
# SPDX-License-Identifier: MIT
# own_list: a program's only thread has a robust list of its own, and so it is not known where
# threads have their ids: that thread loads the payload, and asks the kernel for its id, which
# the banner says. With others it is refused: one of them might hold a lock that loading takes.
# And so is a program with a thread that has another one's control block. A thread that was in
# the C library when it was looked at, and sleeps when it is looked at again, is tried again.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gcc
cat >own_list.c <<'C'
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct robust_list_head main_list, thread_list;

__attribute__((noipa)) long own_work(long x) { return x * x + 1; }

static void take(struct robust_list_head *list)
{
	list->list.next = &list->list;
	syscall(SYS_set_robust_list, list, sizeof(*list));
}

static int work(void *unused)
{
	for (;;) {
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		own_work(3);
	}
	return unused != NULL;
}

static char bytes[512 << 10];

static void rest(void)
{
	for (;;) {
		memset(bytes, (int)own_work(1), sizeof(bytes));
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
}

static void *run(void *list)
{
	take(list);
	work(list);
	return list;
}

int main(int argc, char **argv)
{
	static char stack[65536] __attribute__((aligned(16)));
	const int thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
	pthread_t t;

	if (argc > 1 && argv[1][0] == 'c') {
		clone(work, stack + sizeof(stack), thread, NULL);
	} else {
		take(&main_list);
		if (argc > 1 && argv[1][0] == 'r')
			write(1, "ready\n", 6), rest();
		if (argc > 1)
			pthread_create(&t, NULL, run, &thread_list);
	}
	write(1, "ready\n", 6);
	return work(NULL);
}
C
gcc -O2 -g -pthread -D_GNU_SOURCE -o own_list own_list.c

# begun_with [ARG]: the program runs; its PID is pid.
begun_with()
{
	: >out
	./own_list "$@" >out &
	pid=$!
	started "$pid"
	wait_until 30 has_line ready out || die "does not run"
}

begun_with
for _ in 1 2; do
	inject_until own_work -v -p "$pid" -f 'own_*'
	has_line gettid trace.err || die "the banner does not speak of gettid"
	has_line 'all probes removed, text verified' trace.err || die "not removed"
	clean "$pid"
done
grep -q inject-payload "/proc/$pid/maps" || die "the payload was not loaded"
kill "$pid"
wait "$pid" || true

for _ in $(seq "$(fewer 30 5)"); do
	begun_with rests
	status 0 "$INJECT" -p "$pid" -f 'own_*' -d 0.01
	kill "$pid"
	wait "$pid" || true
done

for others in threads clones; do
	begun_with $others
	before=$(cat "/proc/$pid/maps")
	status 1 "$INJECT" -p "$pid" -f 'own_*'
	refused 'it has several threads, .*not kept as glibc, musl or Go do'
	[ "$before" = "$(cat "/proc/$pid/maps")" ] || die "something was mapped"
	clean "$pid"
	kill "$pid"
	wait "$pid" || true
done
