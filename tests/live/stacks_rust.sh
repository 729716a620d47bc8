#!/bin/bash
# SPDX-License-Identifier: MIT
# stacks_rust: callers of functions of Rust's, as --stack tells them, and what is inlined in them, are
# those that the program prints by std::backtrace: at each level of optimisation, through closures,
# traits, sort, and while a panic unwinds. A stripped one has the same addresses.
# timeout: 600
# long: 20
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 objcopy
[ -x /usr/bin/rustc ] || command -v rustc >/dev/null || skip "no rustc here"
export PYTHONDONTWRITEBYTECODE=1
export RUSTC_BOOTSTRAP=1	# of Debian's the backtrace is not stable yet

# Debian's, and perhaps another.
tried=0
for rustc in $(printf '%s\n' /usr/bin/rustc "$(command -v rustc)" | sort -u); do
	for level in 0 1 2 3; do
		# (There may be one without a standard library.)
		"$rustc" -g -C opt-level=$level -o callers "$ROOT/tests/victims/callers.rs" \
			2>rustc.err || continue
		tried=$((tried + 1))
		status 0 "$INJECT" -q -f callers::probed --stack=128 --json -o told.json -- ./callers
		"$ROOT/tests/tools/named_stacks.py" trace.out told.json ||
			die "$rustc, level $level differs"
	done
done
[ $tried -gt 0 ] || skip "no rustc with a standard library here"

# Of a stripped one the same frames are there, without their names.
status 0 "$INJECT" -q -f callers::probed --stack=128 --json -o told.json -- ./callers
place=$(nm callers | sed -n 's/^0*\([0-9a-f]*\) . _ZN7callers6probed.*/\1/p')
strip -s callers
status 0 "$INJECT" -q -f "fn_$place" --stack=128 --json -o stripped.json -- ./callers
whole=$(grep -o '"addr":"0x[0-9a-f]*[0-9a-f]\{3\}","func":[^,]*,"offset"' told.json | wc -l)
[ "$(grep -o '"addr":"0x[0-9a-f]*[0-9a-f]\{3\}","func":[^,]*,"offset"' stripped.json | wc -l)" = "$whole" ] ||
	die "a stripped program has other stacks"
grep -c '"stack_cut":"no"' stripped.json >cuts
[ "$(cat cuts)" = "$(grep -c '"type":"call"' told.json)" ] || die "a stack is cut"
