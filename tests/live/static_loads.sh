#!/bin/bash
# SPDX-License-Identifier: MIT
# static_loads: a program without a dynamic loader loads libraries by the one in its C
# library, and with them a second C library, which no thread of it belongs to. It is
# traced as any other static program, in what it has loaded, too.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# traces GLOB...: all of these are traced.
traces()
{
	local glob

	status 0 "$INJECT" -p "$VICTIM" "${@/#/-f}" -d 0.3
	has_line "^inject: .* $# of $# functions\? probed" trace.err || die "$(cat trace.err)"
	for glob; do
		traced "${glob%@*}"
	done
	removed
	! grep -q inject-payload "/proc/$VICTIM/maps" || die "the second C library was called"
}

victim static_loader
traces lone_work
tell load '^loaded$' >/dev/null
for _ in 1 2; do
	traces lone_work cos@libm.so.6
done
victim_quit

victim static_loader
tell load '^loaded$' >/dev/null
for _ in 1 2; do
	traces lone_work cos@libm.so.6
done
