#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_shadow: a process each of whose returns the processor checks by a stack of its own,
# the shadow stack. A function that a stub calls returns to an address which that does not hold.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "its system calls are x86-64 code"
cat >shadowed.c <<'C'
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int shadowed_work(volatile int *x)
{
	for (int i = 0; i < 10; i++)
		*x += i;
	return *x;
}

int main(void)
{
	enum { ARCH_SHSTK_ENABLE_ = 0x5001, SHSTK = 1 };
	volatile int x = 0;
	long ret = SYS_arch_prctl;

	/* No call is left to be returned from then that was made before. */
	__asm__ volatile("syscall" : "+a"(ret)
			 : "D"((long)ARCH_SHSTK_ENABLE_), "S"((long)SHSTK)
			 : "rcx", "r11", "memory");
	if (ret)
		_exit(77);
	puts("ready");
	fflush(stdout);
	/* Its parent's end is its own. */
	while (getppid() > 1 && shadowed_work(&x))
		usleep(1000);
	_exit(0);
}
C
need "${CC:-cc}"
"${CC:-cc}" -O1 -o shadowed shadowed.c
./shadowed >victim.out 2>&1 &
started "$!"
status=0
begun_or_ended() { has_line ready victim.out || ! kill -0 "$1" 2>/dev/null; }
wait_until 10 begun_or_ended "$!" || die "it does not begin"
has_line ready victim.out || wait "$!" || status=$?
[ $status != 77 ] || skip "this kernel, or the processor, has no shadow stacks"
has_line ready victim.out || die "it has ended with status $status"
for _ in 1 2; do
	status 1 "$INJECT" -p $! -f shadowed_work -d 1
	refused 'the processor checks each return'
	kill -0 $! || die "it has died"
	clean $!
done
