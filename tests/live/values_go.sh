#!/bin/bash
# SPDX-License-Identifier: MIT
# values_go: values of Go are shown as Go has them, of a program that is optimised and of one that
# is not.
# timeout: 1200
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need go python3
[ "$(uname -m)" = x86_64 ] || skip "reads registers of x86-64"
export PYTHONDONTWRITEBYTECODE=1

cat >want.out <<'END'
main.f1(s="hello", n=3, b=[97, 98, 99], v=[1, 2]) = (13, nil)
main.f1(s="", n=7, b=[], v=[]) = (7, *errors.errorString("bad"))
main.f2(p={X: 1, Y: 2}, b={A: [1, 2, 3], S: "in"}, q=&{X: 5, Y: 6}, f=1.5, g=2.5) = ("res", true)
main.f3(s=main.square(ADDRESS), e=*errors.errorString("x"), m=ADDRESS, c=ADDRESS, a=int(5)) = {X: 3, Y: 4}
main.f3(s=nil, e=nil, m=nil, c=nil, a=nil) = {X: 3, Y: 4}
main.f4(a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8, i=9, j=10, k=11, s="last", u=3, w=-0.5) = [1]
main.f5(a=[1, 2], s=["a", "b", "c"], r=120, u=7, ok=true, c=1+2i, x=["one"]) = ["b", "c"]
main.f6(n={}, v=[{A: [4, 5, 6], S: "s"}], p=ADDRESS, z=[])
main.f7(p={X: -5, Y: 6, N: "behind"}, k=7) = {X: -5, Y: 6, N: "behind"}
END

cp -r "$ROOT/tests/values/golang" program
cat >program/go.mod <<'END'
module values

go 1.17
END
export GOCACHE=$PWD/cache GOFLAGS=-mod=mod GO111MODULE=on CGO_ENABLED=0
for flags in '' '-N -l'; do
	(cd program && go build -gcflags="$flags" -o ../go) >go.log 2>&1 || die "$(cat go.log)"
	"$BUILD/tests/values/driver" go main.f printed.out >got.out ||
		die "'$flags': the driver fails"
	sed -i 's/&\?0x[0-9a-f]\+/ADDRESS/g' got.out
	python3 "$ROOT/tests/values/told.py" want.out got.out || die "'$flags'"
	! grep -q 'unknown' got.out || die "'$flags': not all is known"

	# The same by the payload, on the goroutine's own stack.
	"$INJECT" -f 'main.f*' -a --unguarded -o trace.out -- ./go >/dev/null 2>trace.err ||
		{ cat trace.err; die "'$flags': not traced"; }
	sed -n 's/^.*| \(main.*\);$/\1/p' trace.out | sed 's/&\?0x[0-9a-f]\+/ADDRESS/g' >got.out
	python3 "$ROOT/tests/values/told.py" want.out got.out ||
		{ cat got.out; die "'$flags': traced"; }
done

# What interfaces hold is what the program says: where it is linked, and elsewhere.
cp -r "$ROOT/tests/values/gotypes" types
sed 's/1\.17/1.18/' program/go.mod >types/go.mod
for mode in exe pie; do
	(cd types && go build -buildmode=$mode -o ../held) >go.log 2>&1 || die "$(cat go.log)"
	"$INJECT" record -f 'main.takes*' -a --unguarded -o recorded -- ./held >said.out \
		2>trace.err || { cat trace.err; die "$mode: not recorded"; }
	"$INJECT" replay -o trace.out recorded
	sed -n 's/^.*| \(main.*\);$/\1/p' trace.out | sed 's/&\?0x[0-9a-f]\+/ADDRESS/g' >got.out
	[ "$(wc -l <said.out)" -gt 50 ] || die "$mode: the program says nothing"
	diff said.out got.out >differs || { cat differs; die "$mode: interfaces hold something else"; }
	rm -r recorded
done

# Without --unguarded nothing is read that a filter could be against.
"$INJECT" -f main.f1 -a -o trace.out -- ./go >/dev/null 2>trace.err
grep -q 'main.f1(s=0x[0-9a-f]* (unreadable), n=3' trace.out || die "read without a guard"
grep -q 'what arguments point to is not read: .*--unguarded' trace.err || die "it is not said"

# Stacks that grow and threads that change: each call has its own arguments and results.
cp -r "$ROOT/tests/values/goroutines" deep
cp program/go.mod deep/
(cd deep && go build -o ../goroutines) >go.log 2>&1 || die "$(cat go.log)"
for procs in 1 4; do
	GOMAXPROCS=$procs "$INJECT" -f main.deep -a --unguarded -m 4M -o trace.out -- ./goroutines \
		>done.out 2>trace.err || { cat trace.err; die "it has failed"; }
	has_line '^done$' done.out || die "it is not done"
	[ "$(closing lost)" = 0 ] || die "calls are lost"
	mv trace.out all.out

	# Of those that a condition asks for each is there, with its own result, and no other.
	GOMAXPROCS=$procs "$INJECT" -f main.deep -a -w 'args.depth == 7 && f > 3.4' --unguarded -m 4M \
		-o trace.out -- ./goroutines >done.out 2>trace.err || { cat trace.err; die "it has failed"; }
	[ "$(closing lost) $(closing calls) $(closing events)" = "0 100 200" ] ||
		{ cat trace.err; die "other calls pass"; }
	sed -n 's/^.*| main.deep(id=\([0-9]*\), depth=7, name="\1-7", .*) = ("\1-0", [0-9]*, nil);$/\1/p' \
		trace.out | sort -un >ids
	seq 100 | cmp - ids || die "others pass, or have other results"
	"$INJECT" -f main.deep -w 'name == "50-3" || id == 51 && args.depth < 2' --unguarded -m 4M \
		-o trace.out -- ./goroutines >done.out 2>trace.err || { cat trace.err; die "it has failed"; }
	[ "$(closing calls)" = 3 ] || { cat trace.err; die "not three calls pass"; }
	mv all.out trace.out
	python3 - trace.out <<'EOF' || die "others with $procs"
import collections, re, sys

entry = re.compile(r'main\.deep\(id=(\d+), depth=(\d+), name="(\d+)-(\d+)", '
                   r'p=\{ID: (\d+), Depth: (\d+)\}, f=([0-9.]+)\)')
leave = re.compile(r'\} = \("(\d+)-0", (\d+), (nil|0x[0-9a-f]+|&?\S+)\);')
seen = collections.Counter()
results = 0
for line in open(sys.argv[1]):
    m = entry.search(line)
    if m:
        if not (m[1] == m[3] == m[5] and m[2] == m[4] == m[6] and float(m[7]) == int(m[2]) / 2):
            sys.exit(line)
        seen[m[1], m[2]] += 1
    m = leave.search(line)
    if m:
        results += 1
        if not int(m[1]) <= int(m[2]) <= int(m[1]) + 60:
            sys.exit(line)
if len(seen) != 100 * 61 or set(seen.values()) != {1} or results < 100 * 55:
    sys.exit(f'{len(seen)} calls, {results} results')
EOF
done
