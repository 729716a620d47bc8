#!/bin/bash
# SPDX-License-Identifier: MIT
# stacks_told: callers, as --stack tells them, are those that programs print themselves: of gcc and
# clang, at each level, without frame pointers, static, stripped; through qsort, exceptions, signal
# handlers and their own stacks, in threads. And a recording has the same, and each export.
# timeout: 600
# long: 30
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 g++
export PYTHONDONTWRITEBYTECODE=1
STACKS=$ROOT/tests/tools/stacks.py

# follow NAME COMMAND...: compiled so, it says what is told of it.
follow()
{
	local name=$1

	shift
	"$@" -w -pthread -rdynamic -o "$name" "$ROOT/tests/victims/callers.cc" || return 0
	status 0 "$INJECT" -q -f probed --stack=128 --json -o "$name.json" -- "./$name" >"$name.said" ||
		die "$name: $(cat trace.err)"
	mv trace.out "$name.said"
	python3 "$STACKS" "$name.said" "$name.json" || die "$name differs"
}

follow O2 g++ -O2 -fomit-frame-pointer
follow O0 g++ -O0
follow framed g++ -O1 -fno-omit-frame-pointer
follow stripped g++ -O3 -s
follow static g++ -O2 -static
if command -v clang++ >/dev/null; then
	follow clang_O2 clang++ -O2
	follow clang_O0 clang++ -O0 -fomit-frame-pointer
fi

# No more than so many.
status 0 "$INJECT" -q -f probed --stack=3 --json -o three.json -- ./O2
python3 "$STACKS" trace.out three.json 3 || die "more, or fewer, than three"

# What is read again is what was recorded, and names need nothing but the directory.
status 0 "$INJECT" record -q -f probed -f sort --stack=128 -o recorded -- ./O2
mv trace.out recorded.said
rm O2
status 0 "$INJECT" replay --json -o recorded.json recorded
python3 "$STACKS" recorded.said recorded.json || die "a recording tells something else"
status 0 "$INJECT" replay recorded
sed -n 's/^ *| *//p' trace.out >lines
for line in 'at deep+0x[0-9a-f]* (O2)' 'at main+0x[0-9a-f]* (O2)' 'at qsort_r+0x[0-9a-f]* (libc'; do
	grep -q "^$line" lines || die "no $line: $(head -40 trace.out)"
done
grep -q '^ *| *?? ' trace.out && die "a stack was cut: $(grep -B9 '?? ' trace.out)"

# Callers stand in front of calls, and between them.
status 0 "$INJECT" export --to folded recorded
grep -q '^_start;.*;main;.*;sort;qsort_r;.*;probed [0-9]' trace.out || die "$(cat trace.out)"
grep -q ';sort;.*;sort;' trace.out && die "a caller stands there twice: $(cat trace.out)"
status 0 "$INJECT" graph recorded
grep -q ' 0  *_start$' trace.out || die "$(head -20 trace.out)"
for format in svg speedscope pprof dot chrome perfetto; do
	status 0 "$INJECT" export --to "$format" -o "out.$format" recorded
	grep -qa qsort_r "out.$format" || die "no caller in $format"
done
status 0 "$INJECT" export --to ctf -o ctf.data recorded
status 0 "$INJECT" replay --json -o ctf.json ctf.data
python3 "$STACKS" recorded.said ctf.json || die "CTF tells something else"
if command -v babeltrace2 >/dev/null; then
	babeltrace2 recorded >ctf.out || die "babeltrace2 does not read it"
	grep -q ' callers: .*func = ( "probed"' ctf.out || die "no callers for babeltrace2"
fi

# Of calls that are sifted in the process those that pass have theirs, taken as they end.
cat >slow.c <<'END'
#include <unistd.h>
volatile int kept;
__attribute__((noinline)) void work(int us) { if (us) usleep(us); kept++; }
__attribute__((noinline)) void fast(void) { work(0); kept++; }
__attribute__((noinline)) void slowly(void) { work(20000); kept++; }
int main(void) { for (int i = 0; i < 200; i++) { fast(); if (i % 20 == 0) slowly(); } return 0; }
END
gcc -O1 -o slow slow.c
status 0 "$INJECT" -q -f work -t 10ms --stack --json -o slow.json -- ./slow
grep -c '"stack":\[{"addr":"0x[0-9a-f]*","func":"slowly".*"func":"main"' slow.json >slowly
[ "$(cat slowly)" = 10 ] || die "not all slow calls have callers: $(cat slow.json)"
grep '"type":"call"' slow.json | grep -v '"stack":\[{' && die "a call has none"
true
