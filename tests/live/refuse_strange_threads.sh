#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_strange_threads: a program without a loader, and without a C library
# that is known, has no thread-local storage for the payload, and nothing by
# which it would know threads: refused before anything of ours is in it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

cat >strange.c <<'C'
/* A library of its own: threads have no thread pointer (0), one that points to
 * nothing of use (1), or one as it should be, but a loner among them (2). */
static long call(long nr, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return ret;
}

static long block[32];
static struct { void *head; long offset; void *pending; } list = { &list };

__attribute__((noinline)) long strange_work(long x) { return x * x + 1; }

/* What is never run: code with which calls could be made. */
void gadgets(void)
{
	__asm__ volatile("syscall; ret; mov $15, %rax; syscall");
}

__attribute__((force_align_arg_pointer)) void begin(void)
{
	if (KIND) {
		block[0] = KIND == 1 ? 0 : (long)block;
		call(158, 0x1002, (long)block, 0, 0, 0);	/* arch_prctl: ARCH_SET_FS */
	}
	if (KIND == 2)
		call(273, (long)&list, sizeof(list), 0, 0, 0);	/* set_robust_list */
	for (;;) {
		long second[2] = { 0, 1000000 };

		strange_work(3);
		call(35, (long)second, 0, 0, 0, 0);		/* nanosleep */
	}
}
C
for kind in 0 1 2; do
	gcc -O2 -g -fno-stack-protector -nostdlib -static -DKIND=$kind -Wl,-e,begin \
		-o strange strange.c
	./strange &
	pid=$!
	started "$pid"
	runs() { [ "$(readlink "/proc/$pid/exe")" = "$PWD/strange" ]; }
	wait_until 30 runs || die "does not run"
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
