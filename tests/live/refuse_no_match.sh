#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_no_match: status 3, and the nearest names.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need objcopy
victim spin_threads 2
status 3 "$INJECT" -p "$VICTIM" -f spin_leef
has_line spin_leaf trace.err || die "does not name the nearest"
status 3 "$INJECT" -p "$VICTIM" -f 'nothing_like_this_*'

# Of several, those that match nothing are named, and exclusions, too.
status 0 "$INJECT" -p "$VICTIM" -f spin_leaf -f spin_leef -N nothing_like -d 0.1 -o /dev/null
has_line 'no function matches spin_leef in ' trace.err || die "does not name what matches nothing"
has_line 'near: .*spin_leaf' trace.err || die "does not name the nearest"
has_line '^inject: -N nothing_like excludes nothing' trace.err || die "-N: not named"
status 0 "$INJECT" list "$VICTIMS/spin_threads" -f spin_leaf -f spin_leef
has_line 'no function matches spin_leef in ' trace.err || die "list does not name it"
status 0 "$INJECT" list "$VICTIMS/spin_threads" -f spin_leaf
has_line 'no function matches' trace.err && die "list names what matches"
unharmed

# A file that says nothing of its functions is said to.
objcopy --strip-all -R .eh_frame -R .eh_frame_hdr "$VICTIMS/nameless" mute 2>/dev/null
status 3 "$INJECT" list mute -f "fn_*"
has_line 'in mute (stripped, and without unwind entries)' trace.err || die "does not say why"
status 3 "$INJECT" list mute
has_line 'mute is stripped, and without unwind entries' trace.err || die "does not say why of all"

# What a shell makes of -f *, and a command without -- before it.
mkdir expanded && cd expanded
touch a b c
status 2 "$INJECT" -p "$VICTIM" -f ./*
has_line "'./b' is left over, and './a' is a file, too: .* quote it, as in -f '\*'" trace.err ||
	die "no advice to quote"
status 2 "$INJECT" -f spin_leaf "$VICTIMS/spin_threads" 2
has_line "a command goes behind --: -f 'spin_leaf' -- $VICTIMS/spin_threads" trace.err ||
	die "no advice to write --"
