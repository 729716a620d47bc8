#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_libraries: in a session that goes on by itself, a library is unloaded and loaded again: what
# was probed in it is not told as probed any more, can be added again, and be taken out; and what is
# held stays.
# timeout: 180
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

put() { cp "$VICTIMS/$1.so" new.so && mv new.so plugin.so; }
load() { tell "load $1" '^loaded' >/dev/null; }

probed()
{
	status 0 "$INJECT" status -p "$VICTIM"
	sed '1,/^# FUNCTION/d' trace.out | cut -f1 | sort | xargs
}

calls()
{
	rm -rf shot
	status 0 "$INJECT" snapshot -p "$VICTIM" -o shot
	status 0 "$INJECT" replay shot
	grep -c 'plugin_answer()' trace.out
}

more_calls() { [ "$(calls)" -gt "${1:-0}" ]; }

# again: it is probed once more, and its calls are recorded.
again()
{
	local n

	n=$(calls) || true
	status 0 "$INJECT" add -p "$VICTIM" -f 'plugin_*'
	[ "$(probed)" = "plugin_answer replug_around" ] || die "probed: $(probed)"
	wait_until 20 more_calls "$n" || die "no calls are recorded"
	status 3 "$INJECT" add -p "$VICTIM" -f 'plugin_*'
	refused 'probed already'
}

put plugin
victim replugger
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f replug_around -f plugin_answer
[ "$(probed)" = "plugin_answer replug_around" ] || die "probed: $(probed)"
wait_until 20 more_calls 0 || die "no calls are recorded"

load plugin			# the same file, at the same place
[ "$(probed)" = replug_around ] || die "probed, though it was unloaded: $(probed)"
again
put plugin_other		# another file there
load other
[ "$(probed)" = replug_around ] || die "probed, though it was unloaded: $(probed)"
status 3 "$INJECT" remove -p "$VICTIM" -f plugin_answer
has_line '1 function is not probed any more, for what it was in was unloaded' trace.err ||
	die "it is not said that it was unloaded"
again
status 0 "$INJECT" remove -p "$VICTIM" -f plugin_answer
[ "$(probed)" = replug_around ] || die "probed: $(probed)"
again
load other
status 0 "$INJECT" stop -p "$VICTIM"

# Where all that was probed is unloaded, the session and what it holds stay, whatever is asked.
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f plugin_answer
wait_until 20 more_calls 0 || die "no calls are recorded"
load other
status 3 "$INJECT" add -p "$VICTIM" -f 'none_*'
status 3 "$INJECT" remove -p "$VICTIM" -f 'none_*'
[ -z "$(probed)" ] || die "probed, though it was unloaded: $(probed)"
n=$(calls)
[ "$n" -gt 0 ] || die "what was held is gone"
status 0 "$INJECT" add -p "$VICTIM" -f plugin_answer
wait_until 20 more_calls "$n" || die "no calls are recorded"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
victim_quit
