#!/bin/bash
# SPDX-License-Identifier: MIT
# static_build: what `make static` makes is one file: in a directory that holds
# nothing else, and with a /proc, it traces programs of every kind, from outside
# of the directory or started in it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need unshare chroot
if ldd "$INJECT" | grep -qE 'lib(a|ub|t)san'; then
	skip "sanitizers do not link statically"
fi
make -s -C "$ROOT" BUILD="$BUILD" static 2>make.err || {
	grep -q 'make static lacks' make.err && skip "$(cat make.err)"
	cat make.err
	die "make static"
}
readelf -lW "$BUILD/inject-static" | grep -q INTERP && die "it wants a loader"

mkdir -p empty/proc
cp "$BUILD/inject-static" empty/inject
cat >inside.sh <<'SH'
mount -t proc proc empty/proc && exec chroot empty /inject "$@"
SH
unshare --mount sh -c 'mount -t proc proc empty/proc' 2>mount.err || skip "$(cat mount.err)"
inside=(unshare --mount sh "$PWD/inside.sh")

kinds=("" kinds/static kinds/static_pie kinds/musl kinds/musl_static)
for kind in "${kinds[@]}"; do
	[ -x "$VICTIMS/$kind/spin_threads" ] || continue
	victim "$kind/spin_threads" 2
	status 0 "${inside[@]}" -p "$VICTIM" -f 'spin_*' -d 0.3
	traced spin_leaf
	removed
	victim_quit
done

"${inside[@]}" --version | grep -q '^inject ' || die "no version"
if [ -x "$VICTIMS/kinds/static/command" ]; then
	cp "$VICTIMS/kinds/static/command" empty/
	status 5 "${inside[@]}" -f 'command_*' -- /command exit 5
	[ "$(closing calls)" = 1010 ] || die "$(closing calls) calls, not 1010"
	"${inside[@]}" list /command -f 'command_*' >listed
	has_line command_early listed || die "no list"
fi
