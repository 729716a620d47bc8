#!/bin/bash
# SPDX-License-Identifier: MIT
# stacks_debug: where compilers were told to leave out .eh_frame, stacks are walked by what was made
# for debuggers (.debug_frame), in the file or split from it, compressed or not. What is inlined in a
# caller is marked: as addr2line tells it, also in a recording. Programs of musl, and stripped ones,
# have their callers, too.
# timeout: 600
# long: 20
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 gcc addr2line objcopy
export PYTHONDONTWRITEBYTECODE=1
STACKS=$ROOT/tests/tools/stacks.py
BARE=(-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables)

# build NAME COMMAND...
build()
{
	"${@:2}" -pthread -o "$1" "$ROOT/tests/victims/chain.c" || die "cannot build $1"
}

# follow NAME [ARGUMENT]: its callers are those that it says.
follow()
{
	status 0 "$INJECT" -q -f probed --stack=128 --json -o told.json -- "./$1" ${2:+"$2"}
	mv trace.out said
	python3 "$STACKS" said told.json noted || die "$1 differs"
}

# marked NAME [FILE]: what is inlined there is what addr2line tells, or tells of FILE.
marked()
{
	status 0 "$INJECT" record -q -f probed --stack=128 -o recorded -- "./$1"
	status 0 "$INJECT" replay --json -o told.json recorded
	python3 "$ROOT/tests/tools/inlined_stacks.py" told.json "${2:-$1}" || die "$1: inlined otherwise"
	rm -r recorded
}

mkdir old
compilers=gcc
command -v clang >/dev/null && compilers+=" clang"
for cc in $compilers; do
	build bare "$cc" "${BARE[@]}" -g
	readelf -SW bare >sections
	grep -q ' \.debug_frame ' sections || die "$cc makes no .debug_frame"
	follow bare library
	build packed "$cc" "${BARE[@]}" -g -gz -no-pie
	follow packed library
	# The addr2line of binutils 2.40 does not follow ranges as clang names them in DWARF 5, which
	# there are on arm64: it is asked of the same code with DWARF 4.
	build old/packed "$cc" "${BARE[@]}" -g -gz -gdwarf-4 -no-pie
	marked packed old/packed
	build five "$cc" -O3 -g -gdwarf-5 -no-pie
	build old/five "$cc" -O3 -g -gdwarf-4 -no-pie
	marked five old/five
	build four "$cc" -O2 -g -gdwarf-4 -no-pie
	marked four
done

# Static, with a library that has .eh_frame.
build static gcc "${BARE[@]}" -g -static
follow static library

# Split from it. Where that is gone nothing tells of the callers, which is said. But on arm64
# x29 leads to some frame at any time: a walk by that passes over callers that have none.
build split gcc "${BARE[@]}" -g -no-pie -Wl,--build-id=none
objcopy --only-keep-debug split split.debug
strip --strip-debug split
objcopy --add-gnu-debuglink=split.debug split
follow split library
marked split
rm split.debug
status 0 "$INJECT" -q -f probed --stack=128 -- ./split
if [ "$(uname -m)" = aarch64 ]; then
	grep -q ' at chain_all+0x' trace.out || die "its caller is not told: $(cat trace.out)"
else
	grep -q '?? no unwind information tells what called that' trace.out ||
		die "a stack that no table tells of is whole: $(head -20 trace.out)"
fi
grep -q '\[inlined\]' trace.out && die "what no debug information tells is inlined"

# Without symbols, and so without debug information.
build stripped gcc -O2 -fomit-frame-pointer -s -rdynamic
follow stripped library

# Another C library, whose code has no tables: what it has not called is whole up to main.
if command -v musl-gcc >/dev/null; then
	for how in "" -static "-fno-asynchronous-unwind-tables -g"; do
		# shellcheck disable=SC2086 # words
		build musl musl-gcc -O2 -fomit-frame-pointer $how
		follow musl
	done
fi

# For people, and in exports.
build shown gcc -O2 -g
status 0 "$INJECT" record -q -f probed --stack -o recorded -- ./shown
status 0 "$INJECT" replay recorded
sed -n 's/^ *| *//p' trace.out | tr '\n' ' ' >lines
grep -q 'at inner \[inlined\] (shown) at middle \[inlined\] (shown) at chain_inlined+0x' lines ||
	die "not marked: $(head -60 trace.out)"
status 0 "$INJECT" export --to chrome -o out.json recorded
grep -q '"inner \[inlined\] (shown)","middle \[inlined\] (shown)","chain_inlined+' out.json ||
	die "not marked in Chrome's format"
status 0 "$INJECT" export --to folded recorded
grep -q ';chain_inlined;middle \[inlined\];inner \[inlined\];probed [0-9]' trace.out ||
	die "not marked in folded stacks: $(cat trace.out)"
status 0 "$INJECT" export --to perfetto -o out.perfetto recorded
grep -qa 'inner \[inlined\] (shown)' out.perfetto || die "not marked in Perfetto's format"
if command -v babeltrace2 >/dev/null; then
	babeltrace2 recorded >ctf.out || die "babeltrace2 does not read it"
fi
