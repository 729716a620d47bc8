# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# lib: what live tests share. Sourced first by each of them; the runner has
# made the current directory (new, private) and set BUILD (absolute).
#
# A test passes when it reaches its end. Any command that fails ends it, with
# the line that failed; `skip WHY` ends it as skipped.

set -eEuo pipefail

INJECT=$BUILD/inject
[ "${PATIENCE:-1}" = 1 ] || INJECT=$ROOT/tests/tools/patient.sh
VICTIMS=$BUILD/tests/victims${KIND:+/kinds/$KIND}
TEXTCHECK=$BUILD/tests/tools/textcheck
declare -A STARTED=()	# by PID: when the processes that this test started have begun
VICTIM=			# the one that commands go to
# The numbers of system calls, as this instruction set has them; and as hexadecimal bytes, for
# tests/tools/poke, a breakpoint, what does nothing, and a jump, or as much of it as tells.
# shellcheck disable=SC2034 # tests use them
case $(uname -m) in
x86_64)
	TRAP=cc NOP=90 JUMP=e9
	declare -A CALL=([read]=0 [mmap]=9 [munmap]=11 [ioctl]=16 [pread64]=17 [pwrite64]=18
		[fcntl]=72 [flock]=73 [ptrace]=101 [getdents64]=217 [clock_nanosleep]=230
		[openat]=257 [newfstatat]=262 [renameat]=264 [perf_event_open]=298)
	;;
*)
	TRAP=000020d4 NOP=1f2003d5 JUMP=02000014
	declare -A CALL=([read]=63 [mmap]=222 [munmap]=215 [ioctl]=29 [pread64]=67 [pwrite64]=68
		[fcntl]=25 [flock]=32 [ptrace]=117 [getdents64]=61 [clock_nanosleep]=115
		[openat]=56 [newfstatat]=79 [renameat]=38 [perf_event_open]=241)
	;;
esac
AS=()			# the user that it is started as: a command
OPEN=			# what is removed at the end

on_error()
{
	local status=$?

	echo "failed (status $status) at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $BASH_COMMAND" >&2
	return $status
}

on_exit()
{
	local status=$? pid

	trap - EXIT ERR
	set +e
	if [ "$status" != 0 ] && [ "$status" != 77 ]; then
		show_logs >&2
	fi
	farewell
	for pid in "${!STARTED[@]}"; do
		[ "$(begun "$pid")" = "${STARTED[$pid]}" ] || continue
		kill -KILL "$pid" 2>/dev/null
		kill -CONT "$pid" 2>/dev/null
	done
	rm -rf "$OPEN"
	declare -F tidy >/dev/null && tidy
	wait 2>/dev/null
	exit "$status"
}

# started PID: it is to be killed at the end of the test, if it is there by then, and
# not another process, to which the number has come in a long run.
started() { STARTED[$1]=$(begun "$1"); }

# When it began, in ticks since the machine did; or nothing.
begun() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20 || true; }

# A victim ends when no process can send it commands any more, and leaves nothing
# behind; but it gets a second only.
farewell()
{
	[ -n "$VICTIM" ] || return 0
	exec 9>&-
	for _ in $(seq 50); do
		kill -0 "$VICTIM" 2>/dev/null || return 0
		sleep 0.02
	done
}

show_logs()
{
	local f

	for f in *.err victim.out progress; do
		[ -s "$f" ] && echo "--- $f" && tail -n 20 "$f"
	done
}

trap on_error ERR
trap on_exit EXIT
trap 'exit 143' TERM INT

skip()
{
	echo "skipped: $*"
	exit 77
}

# To standard error, as all that tells of a failure: its caller may want no output.
die()
{
	echo "failed: $*" >&2
	echo "  at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}" >&2
	exit 1
}

need()
{
	local tool

	for tool; do
		command -v "$tool" >/dev/null || skip "no $tool here"
	done
}

# need_room MIB DIRECTORY: containers have a small /dev/shm.
need_room()
{
	[ -w "$2" ] && [ "$(df --output=avail -B1M "$2" | tail -n 1)" -ge "$1" ] ||
		skip "$2 has no room for $1 MiB"
}

need_root()
{
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# By /proc/PID/map_files: takes CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
opens_mappings()
{
	local links=("/proc/$$/map_files"/*)

	{ : <"${links[0]}"; } 2>/dev/null
}

# wait_until SECONDS COMMAND...: true as soon as the command is. PATIENCE times as many,
# where all is slow.
wait_until()
{
	local end=$((SECONDS + $1 * ${PATIENCE:-1} + 1))

	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}

# fewer N LEAST: of what a test takes many: N, or where all is slow so many fewer, but LEAST.
fewer() { echo $(($1 / ${PATIENCE:-1} > $2 ? $1 / ${PATIENCE:-1} : $2)); }

has_line() { grep -q -- "$1" "$2" 2>/dev/null; }

# executes PID FILE: the process that the shell began is FILE by now, and no more the shell itself.
executes() { [ "$(readlink "/proc/$1/exe")" = "$(realpath "$2")" ]; }

# --- victims ---

# victim NAME [ARG...]: start it, wait until it is ready. Its PID is VICTIM.
victim()
{
	# A bundle has not all of them (tools/bundle).
	[ -z "${BUNDLED:-}" ] || [ -e "$VICTIMS/$1" ] || skip "no $1 in the bundle"
	mkfifo victim.in
	: >victim.out
	# Descriptor 9 is ours alone: a process that held it would keep a victim alive whose
	# test has died. Threads that spin take what the tests leave, not more.
	nice -n 5 "${AS[@]}" "$VICTIMS/$1" "${@:2}" <victim.in >victim.out 2>victim.err 9>&- &
	VICTIM=$!
	started "$VICTIM"
	exec 9>victim.in
	wait_until 120 has_line '^ready$' victim.out || die "$1 is not ready"
}

# as_nobody [NAME]: the victim NAME, started after this, belongs to a user other than root. What
# else that user is to run begins with "${AS[@]}"; an inject that this user may run is
# "$VICTIMS/inject", in a directory that is open to all.
as_nobody()
{
	need_root
	need setpriv
	OPEN=$(mktemp -d)
	cp "$BUILD/inject" ${1:+"$VICTIMS/$1"} "$OPEN/"
	chmod -R a+rX "$OPEN"
	VICTIMS=$OPEN
	AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
}

# tell COMMAND PATTERN: send it, wait for the line that answers; prints it.
tell()
{
	local before

	before=$(wc -l <victim.out)
	echo "$1" >&9
	wait_until "${3:-60}" answered "$before" "$2" ||
		die "victim does not answer $1: $(tail -n 1 victim.out)"
	tail -n +"$((before + 1))" victim.out | grep -- "$2" | head -n 1
}

answered() { tail -n +"$(($1 + 1))" victim.out | grep -q -- "$2"; }

# Fails when there is no answer.
progress()
{
	local alive

	alive=$(tell ping '^alive ') || return 1
	cut -d' ' -f2 <<<"$alive"
}

# gets_on N: wait until the victim has got on by so many.
gets_on()
{
	local from

	from=$(progress)
	wait_until 60 has_come $((from + $1)) || die "the victim does not get on"
}

has_come() { [ "$(progress)" -gt "$1" ]; }

# The victim is alive, nothing it computed was wrong, and it gets on.
victim_works()
{
	local a b pause

	if has_line ^WRONG victim.out; then
		grep ^WRONG victim.out | head -n 3
		die "the victim computed something wrong"
	fi
	a=$(progress) || die "the victim does not answer"
	for pause in 0.01 0.02 0.05 0.1 0.2 0.4; do
		sleep $pause
		b=$(progress) || die "the victim does not answer any more"
		[ "$b" -gt "$a" ] && return 0
	done
	die "the victim stands still ($a)"
}

# It ends, and another may be started: only now, for both write victim.out.
victim_quit()
{
	tell quit '^bye$' >/dev/null
	rm victim.in
}

# idle_python: a python3 with some megabytes of code, which waits. Its PID is SERVER.
idle_python()
{
	python3 -c 'import select, ssl, sqlite3
print("ready", flush=True)
select.select([], [], [])' >server.out 9>&- &
	SERVER=$!
	started $SERVER
	wait_until 30 has_line ready server.out
}

# other_thread PID: one that is not the main one. (Names of another length sort otherwise.)
other_thread()
{
	local t

	for t in "/proc/$1/task"/*; do
		[ "${t##*/}" = "$1" ] || { echo "${t##*/}"; return 0; }
	done
	return 1
}

# is_jump BYTES: as poke prints them.
is_jump() { [[ $1 = e9 || $1 = ??????1[4567] ]]; }

threads() { local t=("/proc/$1/task"/*); echo ${#t[@]}; }

# clean [PID]: text equal to its file, no tracer, nothing stopped.
clean() { "$TEXTCHECK" "${1:-$VICTIM}" >textcheck.out || { cat textcheck.out; die "not as it was"; }; }

# Everything that must hold after inject has left, whatever it did.
unharmed()
{
	clean
	victim_works
}

# --- inject ---

# inject_bg [ARG...]: in the background; PID in TRACER, output in trace.out
# and trace.err. Returns when the probes are in.
inject_bg()
{
	: >trace.err
	"$INJECT" "$@" >trace.out 2>trace.err 9>&- &
	TRACER=$!
	started "$TRACER"
	wait_until 60 attached || { cat trace.err; die "inject did not attach"; }
}

attached()
{
	has_line '^inject: paused ' trace.err && return 0
	kill -0 "$TRACER" 2>/dev/null || return 0
	return 1
}

# inject_until PATTERN [ARG...]: until a line of the output says so.
inject_until()
{
	local pattern=$1

	shift
	inject_bg "$@"
	wait_until 60 has_line "$pattern" trace.out || die "nothing like $pattern in the output"
	inject_end
}

# inject_end [SIGNAL]: end it; its status must be $WANT (0).
inject_end()
{
	kill -"${1:-INT}" "$TRACER" 2>/dev/null || true
	inject_wait
}

inject_wait()
{
	local status=0

	wait "$TRACER" || status=$?
	[ "$status" = "${WANT:-0}" ] || die "inject ended with status $status, not ${WANT:-0}"
}

# status WANT COMMAND...: run it, with output in trace.out and trace.err, for
# LIMIT (120) seconds at most.
status()
{
	local want=$1 got=0

	shift
	timeout $((${LIMIT:-120} * ${PATIENCE:-1})) "$@" >trace.out 2>trace.err 9>&- || got=$?
	[ "$got" = "$want" ] || die "$(basename "$1") ended with status $got, not $want"
}

# refused PATTERN: the one line of a refusal says why, and is one line.
refused()
{
	grep -q -- "$1" trace.err || die "the message does not say '$1'"
	# What is said of patterns is another matter.
	[ "$(grep '^inject: ' trace.err | grep -cv '^inject: no function matches')" = "${2:-1}" ] ||
		die "not one line"
}

# The closing line claims what clean() then proves.
removed()
{
	has_line 'all probes removed, text verified' trace.err ||
		die "no closing line that says removed"
	# (Of several processes each line has its own.)
	awk '/: paused/ { p = $3; np++ }
		/ longest pause / { sub(/.* longest pause /, ""); most = $1; n++ }
		END { exit np == 1 && n == 1 && most + 0 < p + 0 }' trace.err ||
		die "the longest pause is shorter than the first"
	unharmed
}

# closing FIELD: a number of the closing line: functions, calls, events, lost.
closing()
{
	local line

	line=$(grep ' functions\? probed.* calls\?; ' trace.err | tail -n 1)
	[ -n "$line" ] || die "no closing line"
	case $1 in
	functions) sed -E 's/^inject: ([0-9]+) .*/\1/' <<<"$line" ;;
	calls) sed -E 's/.* ([0-9]+) calls?;.*/\1/' <<<"$line" ;;
	events) sed -E 's/.* ([0-9]+) events? recorded.*/\1/' <<<"$line" ;;
	lost) sed -E 's/.* ([0-9]+) lost.*/\1/' <<<"$line" ;;
	esac
}

# places_of PROGRAM FUNCTION...: where the instructions of a victim's functions begin, as patterns.
places_of()
{
	local size i f patterns=()

	for f in "${@:2}"; do
		size=$("$INJECT" list -q "$VICTIMS/$1" -f "$f" 2>/dev/null | cut -f2)
		for ((i = 0; i < size; i++)); do
			patterns+=(-f "$f+$i")
		done
	done
	"$INJECT" list -q "$VICTIMS/$1" "${patterns[@]}" 2>/dev/null | cut -f4
}

# every N FIRST WORD...: in PLACES, as options, from the FIRST on each N-th.
every()
{
	local i

	PLACES=()
	for ((i = $2 + 2; i < $# + 1; i += $1)); do
		PLACES+=(-f "${!i}")
	done
}

# traced NAME: a call of it is in the output.
traced() { grep -q -- "$1" trace.out || die "no call of $1 in the output"; }
