#!/bin/bash
# SPDX-License-Identifier: MIT
# command_same: what a command inherits is what it would have without us:
# environment, descriptors, signals, limits, group; and nothing traces it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

cat >look.sh <<'S'
env | grep -v '^_=' | sort	# each shell on the way turns some around
ls -l /proc/self/fd >fd.out
sed 's/.* \([0-9]* ->\)/\1/; s/\[[0-9]*\]//; s,/proc/[0-9]*,/proc/N,; s,/[a-z]*\.\(out\|err\)$,,' fd.out
# Signals 32 and 33 are the C library's own: what make starts ignores them, and
# a process that has begun a thread, as the loader of a traced one does, not.
grep -E '^(Sig(Blk|Ign|Cgt)|ShdPnd|NoNew|Seccomp|TracerPid|Cap|Umask|Groups|Uid|Gid)' /proc/self/status |
	while read -r key value; do
		case $key in
		SigIgn: | SigCgt:) value=$(printf %x $((0x$value & ~0x180000000))) ;;
		esac
		echo "$key $value"
	done
ulimit -a
ps -o pgid=,sid=,tty=,ni=,cls= -p $$
cut -d' ' -f 19,40,41 /proc/self/stat
pwd
S

# same LABEL SETUP: with a shell's state as SETUP makes it, by itself and traced.
same()
{
	bash -c "$2; exec bash look.sh" >plain.out 2>plain.err </dev/null || true
	bash -c "$2; exec '$INJECT' -q -f '*' -o calls.txt -- bash look.sh" \
		>traced.out 2>traced.err </dev/null || true
	[ "$(closing calls)" -gt 100 ] || die "$1: was not traced"
	# The group is that of the command's parent: the test's.
	diff plain.out traced.out >diff.out || { cat diff.out; die "$1: not the same"; }
}
closing() { grep -o '[0-9]* calls;' traced.err | cut -d' ' -f1; }

same plain ':'
same environment 'export DEBUGINFOD_URLS=http://a ZED=1 A=2; unset HOME'
same ignored "trap '' INT QUIT HUP TERM PIPE CHLD TSTP TTOU TTIN USR1"
same descriptors 'exec 5>/dev/null 7</dev/null'
same limits 'ulimit -Sn 100; ulimit -c 0; umask 027; cd /'"; cp $PWD/look.sh . 2>/dev/null; cd '$PWD'"
same closed 'exec 0<&-'
