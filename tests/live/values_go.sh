#!/bin/bash
# SPDX-License-Identifier: MIT
# values_go: values of Go are shown as Go has them, of a program that is optimised and of one that
# is not.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need go python3
[ "$(uname -m)" = x86_64 ] || skip "reads registers of x86-64"
export PYTHONDONTWRITEBYTECODE=1

cat >want.out <<'END'
main.f1(s="hello", n=3, b=[97, 98, 99], v=[1, 2]) = (13, nil)
main.f1(s="", n=7, b=[], v=[]) = (7, ADDRESS)
main.f2(p={X: 1, Y: 2}, b={A: [1, 2, 3], S: "in"}, q=&{X: 5, Y: 6}, f=1.5, g=2.5) = ("res", true)
main.f3(s=ADDRESS, e=ADDRESS, m=ADDRESS, c=ADDRESS, a=ADDRESS) = {X: 3, Y: 4}
main.f3(s=nil, e=nil, m=nil, c=nil, a=nil) = {X: 3, Y: 4}
main.f4(a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8, i=9, j=10, k=11, s="last", u=3, w=-0.5) = [1]
main.f5(a=[1, 2], s=["a", "b", "c"], r=120, u=7, ok=true, c=1+2i, x=["one"]) = ["b", "c"]
main.f6(n={}, v=[{A: [4, 5, 6], S: "s"}], p=ADDRESS, z=[])
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
	# (Of what is optimised the compiler may tell more bytes than the type has.)
	[ -z "$flags" ] || ! grep -q 'unknown' got.out || die "'$flags': not all is known"
done
