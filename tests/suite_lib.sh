# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# suite_lib: runs of a test suite that are to find what it finds without us.
# Sourced after lib.sh. `ran` counts the suites. Another user (AS) has an inject to run, OWN.

OWN=$INJECT
SETS=("*" "*@libc.so* *@libstdc++* *@libm.so* *@libgcc*" "* *@*")
export LC_ALL=C PYTHONHASHSEED=0
ran=0

# Lines that say what was found, not how long it took.
FINDINGS='^OK|OK$|OK !!!|Verification Hash|^Tests result|^Result:'
FINDINGS+='|^\[ +(OK|FAILED|PASSED) +\]'	# googletest
FINDINGS+='|\.\.\. Ok$|^! |^[0-9]+ errors out of'	# sqlite
FINDINGS+='|^(not )?ok [0-9]|^1\.\.'		# perl

# patterns SET: the words of -f in WORDS.
patterns()
{
	local p
	local -a set

	read -ra set <<<"$1"
	WORDS=()
	for p in "${set[@]}"; do WORDS+=(-f "$p"); done
}

# What a suite found, without times and addresses.
findings()
{
	grep -aE "$FINDINGS" "$1" | sed -E 's/ \([0-9]+ ms.*\)//; s/^((not )?ok [0-9]+).*/\1/' || true
}

# verdict NAME STATUS HOW: of run.out, against what it found without us.
verdict()
{
	[ "$2" = "$(cat "$1.status")" ] ||
		{ tail -n 30 run.out run.errors; die "$1 with $3: status $2"; }
	findings run.out | cmp -s - "$1.findings" ||
		{ findings run.out | diff "$1.findings" -; die "$1 with $3: finds something else"; }
}

# By itself, so that what fails on this machine anyway is known.
alone()
{
	local got=0

	timeout 3000 "${AS[@]}" "${@:2}" >run.out 2>run.errors </dev/null || got=$?
	echo $got >"$1.status"
	findings run.out >"$1.findings"
	[ $got != 124 ] || die "$1 does not end by itself"
}

# From its very start to its end.
probed()
{
	local got=0

	patterns "$2"
	timeout 10000 "${AS[@]}" "$OWN" -q "${WORDS[@]}" -o /dev/null -- "${@:3}" \
		>run.out 2>run.errors </dev/null || got=$?
	# Lua's tests show their progress on the same line.
	grep -o 'inject: .* functions\? probed, .*' run.errors >trace.err ||
		die "$1: was not traced"
	verdict "$1" $got "$2"
	echo "$1, $2: $(closing functions) functions, $(closing calls) calls"
}

# An inject comes and goes all the time.
visited()
{
	local pid got=0 visits=0 whole=0

	# Without job control the shell lets children ignore SIGINT.
	env --default-signal=INT,QUIT "${AS[@]}" "${@:2}" >run.out 2>run.errors </dev/null &
	pid=$!
	started "$pid"
	while kill -0 $pid 2>/dev/null; do
		got=0
		patterns "${SETS[visits % ${#SETS[@]}]}"
		timeout 1000 "$INJECT" -q -p $pid "${WORDS[@]}" -d 20ms -o /dev/null \
			2>trace.err || got=$?
		# It may end at any time, and for once stand in no safe place, or not in time.
		case $got in
		0) has_line 'text verified' trace.err || die "not removed"; whole=$((whole + 1)) ;;
		1) has_line 'safe place\|does not stop\|max-pause' trace.err || { cat trace.err; die "visit of $1"; } ;;
		4) ;;
		*) die "visit of $1: status $got" ;;
		esac
		visits=$((visits + 1))
	done
	got=0
	wait $pid || got=$?
	verdict "$1" $got "$visits visits"
	echo "$1: $visits visits, $whole of them whole"
}

# suite NAME COMMAND...
suite()
{
	local set

	ran=$((ran + 1))
	alone "$@"
	for set in "${SETS[@]}"; do probed "$1" "$set" "${@:2}"; done
	visited "$@"
}
