#!/bin/bash
# SPDX-License-Identifier: MIT
# add_values: functions are added to a process that goes on recording by itself, with what is read of
# their calls, with their callers, and with the condition that these have to pass; what stands is read and
# judged as before. What cannot be is refused, and said.
# timeout: 600
# shellcheck disable=SC2016 # $n is of jq
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq
need gcc

# field N: of the line of status.
field() { sed -n 2p trace.out | cut -f"$1"; }
look() { status 0 "$INJECT" status -p "$VICTIM"; }
shot() { status 0 "$INJECT" snapshot -p "$VICTIM" -o "$1" && "$INJECT" replay --json "$1" >"$1.json"; }
start() { status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 "$@"; }
add() { status 0 "$INJECT" add -p "$VICTIM" "$@"; }
stop() { status 0 "$INJECT" stop -p "$VICTIM" && unharmed; }

# calls FILE FUNC FILTER: all of its calls of that function are so, as jq says it; $n is their number.
calls()
{
	jq -es --arg func "$2" 'map(select(.type == "call" and .func == $func)) | length as $n | '"$3" \
		"$1" >/dev/null ||
		die "$1: not $3: $(jq -c --arg func "$2" 'select(.func == $func)' "$1" | head -n 3)"
}

whole='all(.[]; .args.us != null and .ret == "-" + .args.us)'

victim sifted

# A process that keeps all: what comes has values, and callers, what is there has none; also what is
# taken out, and comes back with them, or is read otherwise then.
start -f outer_round -m 4M
tell run '^run ' >/dev/null
add -f step_sleeps -a
tell run '^run ' >/dev/null
shot values
calls values.json step_sleeps '$n > 0 and '"$whole"
calls values.json outer_round '$n > 0 and all(.[]; .args == null)'
status 0 "$INJECT" remove -p "$VICTIM" -f outer_round
add -f outer_round -a --stack=2
tell run '^run ' >/dev/null
shot stacks
calls stacks.json outer_round 'map(select(.args != null)) | length > 0 and all(.[];
	(.stack | length) == 2 and .stack[0].func == "rounds")'
calls stacks.json outer_round 'any(.[]; .args == null)'
calls stacks.json step_sleeps 'all(.[]; .stack == null) and '"$whole"
status 0 "$INJECT" remove -p "$VICTIM" -f step_sleeps
add -f step_sleeps -A 'step_sleeps(other:x16)'
tell run '^run ' >/dev/null
shot twice
calls twice.json step_sleeps 'any(.[]; .args.us != null and .ret == "-" + .args.us) and
	any(.[]; .args.other != null and .ret == null) and
	all(.[]; (.args.us == null) != (.args.other == null))'
# How long they may take is not asked where all are kept.
status 1 "$INJECT" add -p "$VICTIM" -f step_short -t 5ms
refused 'start with -w true'
status 1 "$INJECT" add -p "$VICTIM" -f step_short -A 'step_shorter(i:i32)'
refused 'no function step_shorter is probed'
stop

# One that leaves calls out: what comes has its own condition, -t and -D, or that of the session.
start -f outer_round -t 10s
add -f step_short -w 'i == 7'
add -f step_sleeps -a -t 6300us -D 2
look
before=$(field 6)
tell run '^run ' >/dev/null
look
[ "$(field 8) $(field 10)" = "0 -t 10s" ] || die "status: $(cat trace.out)"
# The session's -t holds of all.
[ $(($(field 6) - before)) = 0 ] || die "kept: $(cat trace.out)"
status 0 "$INJECT" filter -p "$VICTIM" -t 0 -w 'i == 99999'
add -f step_leaves -w true
before=$(field 6)
tell run '^run ' >/dev/null
look
# It is left, each time: there are no exits.
[ $(($(field 6) - before)) = 1600 ] || die "kept: $(cat trace.out)"
stop
start -f outer_round -w 'i == 400'
add -f step_short -w 'i == 7 && retval == 8' -a
add -f step_sleeps -a -t 6300us -w 'us > 6000 || us == 1' --stack=1
status 1 "$INJECT" add -p "$VICTIM" -f step_leaves
has_line "no argument 'i'" trace.err || die "says: $(cat trace.err)"
has_line 'asks that of all its calls' trace.err || die "says: $(cat trace.err)"
tell run '^run ' >/dev/null
shot own
calls own.json step_short '$n == 1600 and all(.[]; .args.i == "7" and .ret == "8")'
calls own.json step_sleeps '$n >= 8 and $n < 40 and all(.[]; .dur_ns >= 6300000 and .stack[0].func ==
	"outer_round") and '"$whole"
calls own.json outer_round '$n == 0'
status 0 "$INJECT" info own
has_line "^filter	-w 'i == 400'$" trace.out || die "info: $(cat trace.out)"
has_line "^filter of	step_short	-w 'i == 7 && retval == 8'$" trace.out || die "info: $(cat trace.out)"
has_line "^filter of	step_sleeps	-w '(us > 6000 || us == 1) && duration >= 6300000ns'$" trace.out ||
	die "info: $(cat trace.out)"
# Another one is of all.
status 0 "$INJECT" filter -p "$VICTIM" -w 'i == 11'
tell run '^run ' >/dev/null
shot all
calls all.json step_short 'map(select(.args.i == "11")) | length == 1600'
status 0 "$INJECT" info all
! grep -q '^filter of' trace.out || die "info: $(cat trace.out)"
stop
# What the session asks of all it asks of what comes, too.
start -f outer_round -w 'i == 40'
add -f step_short
tell run '^run ' >/dev/null
shot too
calls too.json outer_round '$n == 4'
calls too.json step_short '$n == 1600'
stop

# A file has room for what it was begun with.
start -f outer_round -o kept
status 1 "$INJECT" add -p "$VICTIM" -f step_short -a
refused 'no room for what is read'
stop
start -f outer_round -a -o kept_too
add -f step_sleeps -a
status 1 "$INJECT" add -p "$VICTIM" -f step_short --stack
refused 'no room for callers'
tell run '^run ' >/dev/null
status 0 "$INJECT" snapshot kept_too -o filed
"$INJECT" replay --json filed >filed.json
calls filed.json step_sleeps '$n == 40 and '"$whole"
stop
victim_quit

# Places for tracers, with their arguments; their semaphores are raised once, however often one comes,
# and lowered by stop.
semaphores()
{
	local got

	got=$(tell semaphores '^semaphores')
	[ "$got" = "semaphores $1 $2" ] || die "$got, not $1 $2"
}
victim usdt
start -f us_round
add --usdt us:tick -a
semaphores 1 0
status 3 "$INJECT" add -p "$VICTIM" --usdt us:tick
refused 'probed already'
add --usdt 'us:t[io]*' --usdt us:twice
semaphores 1 1
[ "$(tell 'run 1000' '^ran')" = "ran 1000 tick 1000 tock 1000" ] || die "not asked for"
shot places
calls places.json us:tick '$n == 1000 and all(.[]; .args.arg1 != null)'
calls places.json us:tock '$n == 1000 and all(.[]; .args == null)'
calls places.json us:twice '$n == 1500'
stop
semaphores 0 0
status 2 "$INJECT" add -p "$VICTIM" --usdt us:tick -t 5ms
refused 'places for tracers'
victim_quit

# Memory is read once what tells of seccomp filters stands, too, and no longer than until one comes.
cat >v.c <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile sig_atomic_t confined;
__attribute__((noinline)) int work(const char *text) { return text[0] + text[1]; }
__attribute__((noinline)) int other(const char *text) { return text[0] + confined; }
static void confine(int sig)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 4, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	confined = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
int main(void)
{
	char *text = strdup("some text");

	signal(SIGUSR1, confine);
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (work(text) != 's' + 'o' || other(text) != 's' + confined)
			return 1;
		usleep(1000);
	}
}
END
gcc -O1 -g -o v v.c
./v >v.out 9>&- &
VICTIM=$!
started "$VICTIM"
wait_until 20 has_line ready v.out || die "it does not begin"
start -f other
add -f work -a
! has_line 'are not read' trace.err || die "memory is not read: $(cat trace.err)"
reads() { shot read && grep -q '"text":"\\"some text\\""' read.json; }
wait_until 20 reads || die "no text: $(head -n 3 read.json)"
status 0 "$INJECT" remove -p "$VICTIM" -f other
kill -USR1 "$VICTIM"
confined() { grep -q '^Seccomp:.*2' "/proc/$VICTIM/status"; }
wait_until 20 confined || die "no filter"
add -f other -a
later() { shot later && grep '"func":"other"' later.json | grep -q '"text":"0x[0-9a-f]* (unreadable)"'; }
wait_until 20 later || die "not so under the filter: $(tail -n 3 later.json)"
status 0 "$INJECT" stop -p "$VICTIM"
kill -0 "$VICTIM" || die "it has ended"
