#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_crowd: a program of many more libraries than a session has regions for stubs,
# none of which could take in what two of the libraries need.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gcc
readonly LIBRARIES=60 FUNCTIONS=1200

case $(uname -m) in
x86_64) plus_two=("lea 1(%rdi), %rax" "lea 1(%rax), %rax") ;;
*) plus_two=("add x0, x0, 1" "add x0, x0, 1") ;;
esac
cat >many.S <<-END
	.macro function
	.type f\\@, %function
	f\\@:
	${plus_two[0]}
	${plus_two[1]}
	ret
	.size f\\@, . - f\\@
	.balign 16
	.endm
	.rept $FUNCTIONS
	function
	.endr
	.section .note.GNU-stack,"",%progbits
END
gcc -shared -nostdlib -o many0.so many.S
for i in $(seq $((LIBRARIES - 1))); do
	cp many0.so "many$i.so"
done
LD_PRELOAD=$(printf "$PWD/many%d.so " $(seq 0 $((LIBRARIES - 1)))) victim sleeper
status 0 "$INJECT" -p "$VICTIM" -f '*@many*' -d 0.1 -o /dev/null --max-pause 5s
[ "$(closing functions)" = $((LIBRARIES * FUNCTIONS)) ] || die "not all were probed"
removed
