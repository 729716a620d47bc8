#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_strange_threads: a program without a loader, and without a C library
# that is known, has no thread-local storage for the payload, and nothing by
# which it would know threads: refused before anything of ours is in it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gcc
cat >strange.c <<'C'
#include <sys/syscall.h>

/* A library of its own: threads have no thread pointer (0), one that points to
 * nothing of use (1), or one as it should be, but a loner among them (2). */
static long block[32];
static struct { void *head; long offset; void *pending; } list = { &list };

__attribute__((noinline)) long strange_work(long x) { return x * x + 1; }

#ifdef __x86_64__

static long call(long nr, long a, long b)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(nr), "D"(a), "S"(b) : "rcx", "r11", "memory");
	return ret;
}

static void set_thread_pointer(void)
{
	block[0] = KIND == 1 ? 0 : (long)block;
	call(SYS_arch_prctl, 0x1002, (long)block);	/* ARCH_SET_FS */
}

/* What is never run: code with which calls could be made. */
void gadgets(void)
{
	__asm__ volatile("syscall; ret; mov $15, %rax; syscall");
}

__attribute__((force_align_arg_pointer))

#else

static long call(long nr, long a, long b)
{
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
	return x0;
}

/* What it points to is behind a thread's block. */
static void set_thread_pointer(void)
{
	__asm__ volatile("msr tpidr_el0, %0" :: "r"(KIND == 1 ? block : block + 32));
}

void gadgets(void)
{
	__asm__ volatile("svc #0; ret; mov x8, #139; svc #0");
}

#endif

void begin(void)
{
	if (KIND)
		set_thread_pointer();
	if (KIND == 2)
		call(SYS_set_robust_list, (long)&list, sizeof(list));
	for (;;) {
		long second[2] = { 0, 1000000 };

		strange_work(3);
		call(SYS_nanosleep, (long)second, 0);
	}
}
C
for kind in 0 1 2; do
	gcc -O2 -g -fno-stack-protector -nostdlib -static -DKIND=$kind -Wl,-e,begin \
		-o strange strange.c
	./strange &
	pid=$!
	started "$pid"
	wait_until 30 executes "$pid" strange || die "does not run"
	before=$(cat "/proc/$pid/maps")
	status 1 "$INJECT" -p "$pid" -f 'strange_*'
	refused 'not kept as glibc, musl or Go'
	[ "$before" = "$(cat "/proc/$pid/maps")" ] || die "something was mapped"
	clean "$pid"
	kill "$pid"
	wait "$pid" || true
	status 125 "$INJECT" -f 'strange_*' -- ./strange
	refused 'cannot start ./strange.*not kept as glibc, musl or Go'
	rm strange
done
