#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_unrandomized: where addresses are not random, as in what a debugger has started, libraries
# lie right below the stack. The session's place lies below them, and stubs between the two: at the
# first visit as at later ones.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need setarch gcc
setarch -R true 2>/dev/null || skip "this kernel, or what confines us, forbids setarch -R"

cat >plain.c <<'C'
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	write(1, "ready\n", 6);
	for (;;) {
		free(malloc(100));
		usleep(1000);
	}
}
C
gcc -O2 -fno-builtin -o plain plain.c

for args in "-f *@libc.so*" "-f malloc@libc.so*" "-f *@libc.so* -f *@ld-linux*"; do
	: >out
	setarch -R ./plain >out &
	pid=$!
	started "$pid"
	wait_until 30 has_line ready out || die "does not run"
	for _ in 1 2; do
		# shellcheck disable=SC2086 # words
		status 0 "$INJECT" -p "$pid" $args -d 0.2 -o /dev/null
		grep -qE 'functions? probed, [0-9]+ refused; [1-9][0-9]* calls.*text verified' trace.err ||
			die "not probed, or no calls: $(cat trace.err)"
	done
	clean "$pid"
	kill "$pid"
	wait "$pid" || true
done
