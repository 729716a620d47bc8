#!/bin/bash
# SPDX-License-Identifier: MIT
# balance_go_http: a server in Go answers as without probes, with every function probed,
# with C and without: from its start to its end, and under load when probes come and go.
# Goroutines come by the hundred, their stacks grow, they are preempted, and garbage is
# collected; each call that does not return was left by a panic, or with its goroutine,
# which the server has counted. With SOAK there are more requests.
# timeout: 1800
# long: 40
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/balance_lib.sh
. "$ROOT/tests/balance_lib.sh"
# shellcheck source=tests/balance_go_lib.sh
. "$ROOT/tests/balance_go_lib.sh"

[ -x "$VICTIMS/go_http" ] || skip "no Go compiler here"
# shellcheck disable=SC2034 # used by `program`
buffer=${SOAK:+4}256M
requests=${SOAK:+1}18
export GOMAXPROCS=4

# left_by FILE: what the server has said it made, and why, is what may be left.
left_by()
{
	awk '
	$1 == "made" { print $2, $4, $3; made[$2] = $3 }
	$1 == "cause" { n[$2] = $3 }
	END {
		all = n["panics"] + n["aborts"] + n["chans"] + n["mutes"]
		print "runtime.gopanic", all, all
		print "runtime.sigpanic", n["faults"], n["faults"]
		print "runtime.panicdivide", n["divides"], n["divides"]
		print "runtime.goPanicIndex", n["indexes"], n["indexes"]
		print "runtime.Goexit", n["exits"], n["exits"]
		print "signals", n["faults"]
		# A panic on the way of another leaves what has called its maker.
		print "runtime.runOpenDeferFrame", n["anew"]
		print "runtime.deferCallSave", n["anew"]
		print "main.again.func*", made["main.again"] + 0
		print "main.instead.func*", made["main.instead"] + 0
		# What Go makes of a method, or of go with a function.
		print "main.(*mute).*", n["mutes"]
		print "main.end.func*", n["exits"]
		# Its libraries recover from these.
		print "net/http.*", n["aborts"]
		print "encoding/json.*", n["chans"]
		# A goroutine that wants it while another makes it calls this instead.
		print "encoding/json.typeEncoder.func1 any"
	}' "$1" >left
}

# From its start to its end.
whole()
{
	program "$1" '*' "$VICTIMS/$1" "$requests"
	left_by probed.out
	balanced_go "$1" '^runtime[.]minit$' 0 "$2"
}

# said: as it has counted by now.
said()
{
	local before

	before=$(wc -l <victim.out)
	tell made '^counted$' >/dev/null
	tail -n +"$((before + 1))" victim.out | grep -E '^(made|cause) ' | sort -k 2,2
}

answers() { [ "$(progress)" -gt "$1" ]; }

# While no requests are made probes come; then so many are answered.
in_between()
{
	victim "$1"
	wait_until 60 answers 20 || die "no requests are answered"
	tell hold '^held$' >/dev/null
	said >before
	rm -rf recorded
	# (In one stop: see balance.sh.)
	inject_bg record -m "$buffer" -o recorded -p "$VICTIM" -f '*' --max-pause 10s
	tell go '^going$' >/dev/null
	wait_until 120 answers $(($(progress) + ${SOAK:+2}40)) || die "no requests are answered"
	tell hold '^held$' >/dev/null
	said >after
	inject_end
	tell go '^going$' >/dev/null
	removed
	join -j 2 before after | awk '{
		if ($2 == "made") print "made", $1, $6 - $3, $7 - $4
		else print "cause", $1, $5 - $3
	}' >between
	left_by between
	balanced_go "$1, visited" '^$' 1 "$2"
	victim_quit
}

with_c='^runtime[.](mstart0|mstart[.]abi0|mexit)$'
whole go_http_static '^$'
whole go_http "$with_c"
in_between go_http_static '^$'
in_between go_http "$with_c"
