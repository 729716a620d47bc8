#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_no_clock: a process that may not read the processor's clock, and would
# be killed by the first call that is recorded.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

cat >clockless.c <<'C'
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int clockless_work(volatile int *x)
{
	for (int i = 0; i < 10; i++)
		*x += i;
	return *x;
}

int main(void)
{
	volatile int x = 0;

	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		return 77;
	puts("ready");
	fflush(stdout);
	/* Its parent's end is its own. */
	while (getppid() > 1 && clockless_work(&x))
		usleep(1000);
	return 0;
}
C
need "${CC:-cc}"
"${CC:-cc}" -O1 -o clockless clockless.c
./clockless >victim.out 2>&1 &
started "$!"
wait_until 10 has_line ready victim.out || skip "no PR_SET_TSC here"
status 1 "$INJECT" -p $! -f clockless_work -d 1
refused 'forbidden itself to read the clock'
kill -0 $! || die "it has died"
clean $!
# Nothing of the attempt is left: as often as one likes.
status 1 "$INJECT" -p $! -f clockless_work -d 1
refused 'forbidden itself to read the clock'
grep -q '/memfd:' "/proc/$!/maps" && die "something was left in it"
clean $!
