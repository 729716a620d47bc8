#!/bin/bash
# SPDX-License-Identifier: MIT
# own_words: a program keeps words of its own where glibc leaves room in the control blocks
# of threads. They stay its own, and its threads are known by other means.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gcc
cat >own_words.c <<'C'
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

/* As injector/ptrace/threads_glibc.c has them: 0x90 bytes before the thread's id. */
#ifdef __x86_64__
enum { GLIBC_ROOM_AT = 0x240 };
#else
enum { GLIBC_ROOM_AT = 0x40 };
#endif
enum { GLIBC_ROOM = 32 };

static uint64_t *room(void)
{
	return (uint64_t *)((char *)pthread_self() + GLIBC_ROOM_AT);
}

__attribute__((noipa)) uint64_t own_work(uint64_t x) { return x * x + 1; }

static void *run(void *taken)
{
	for (uint64_t i = 0; taken && i < GLIBC_ROOM / 8; i++)
		room()[i] = i + 1;
	write(1, "ready\n", 6);
	for (;;) {
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		own_work(3);
		for (uint64_t i = 0; taken && i < GLIBC_ROOM / 8; i++)
			if (room()[i] != i + 1)
				write(1, "WRONG\n", 6);
	}
	return taken;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, run, &t);
	run(NULL);
}
C
gcc -O2 -g -pthread -I"$ROOT" -o own_words own_words.c
./own_words >out &
pid=$!
started "$pid"
both() { [ "$(wc -l <out)" -ge 2 ]; }
wait_until 30 both || die "does not run"
for _ in 1 2; do
	inject_until "\[ *$(other_thread "$pid")\].*own_work" -p "$pid" -f 'own_*'
	has_line 'all probes removed, text verified' trace.err || die "not removed"
	clean "$pid"
done
! has_line WRONG out || die "its words are not its own any more"
kill "$pid"
wait "$pid" || true
