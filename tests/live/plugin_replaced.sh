#!/bin/bash
# SPDX-License-Identifier: MIT
# plugin_replaced: a library is unloaded, its file replaced, and the new one
# loaded at the same address: while it is traced, after the injector was
# killed, and between two visits. What the journal says of the old one is no
# reason to touch the new one, or to complain of it. A child that was forked before has the
# old one still, which is cleaned, too.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# A new inode, as a package manager makes it.
put() { cp "$VICTIMS/$1.so" new.so && mv new.so plugin.so; }
load() { tell "load $1" '^loaded' | cut -d' ' -f2; }
swap_to() { put "plugin${1#plugin}"; [ "$(load "${1#_}")" = "$at" ] || die "not at the same address"; }

put plugin
victim replugger
at=$(load plugin)
run=(-p "$VICTIM" -f 'plugin_*' -o /dev/null)

inject_bg "${run[@]}"
swap_to _other
inject_end
removed

inject_bg "${run[@]}"
child=$(tell fork '^child' | cut -d' ' -f2)
swap_to plugin
inject_end
removed
status 0 "$INJECT" stop -p "$child"
grep -q "no probes in $child; text verified" trace.err || die "the child has probes"
kill -KILL "$child"
swap_to _other

inject_bg "${run[@]}"		# other's sites now, at the same places
swap_to plugin
kill -KILL "$TRACER"
wait "$TRACER" || true
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

for kind in _other plugin _other plugin; do
	inject_until plugin_answer -p "$VICTIM" -f 'plugin_*'
	removed
	swap_to $kind
	unharmed
done

# The same file again: the loader puts its own bytes there, without jumps.
inject_bg "${run[@]}"
at=$(load plugin)
inject_end
removed
