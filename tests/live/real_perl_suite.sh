#!/bin/bash
# SPDX-License-Identifier: MIT
# real_perl_suite: perl's own tests find the same with every function of it probed,
# with those of the C library, and while inject comes and goes. With SOAK all of
# t/, but for what tests perl's sources (porting), another system (win32), the
# tests' own tools (test_pl), or wants eight gigabytes (bigmem); benchmark and japh
# are none. Its sources are brought by tools/suites.sh.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/suite_lib.sh
. "$ROOT/tests/suite_lib.sh"

need perl
SUITE=$BUILD/suites/perl
[ -d "$SUITE" ] || skip "no sources of perl here: tools/suites.sh brings them"
perl=$(readlink -f "$(command -v perl)")

# As after a build: tests run in t, with ./perl, and find the library in ../lib.
mkdir -p tree/lib
mapfile -t dirs < <("$perl" -le "print for reverse grep { -d } @INC")
for d in "${dirs[@]}"; do cp -Rsf "$d/." tree/lib; done
cp "$SUITE"/lib/*.pl "$SUITE"/lib/*.t tree/lib
cp -R "$SUITE/t" tree/t
for f in "$SUITE"/*; do
	[ -e "tree/${f##*/}" ] || ln -s "$f" tree/
done
ln -s "$perl" tree/perl
ln -s "$perl" tree/t/perl
cd tree/t

tests=(op/closure.t re/subst.t)
[ -z "${SOAK:-}" ] ||
	tests=({base,cmd,comp,io,lib,mro,op,opbasic,perf,re,run,uni}/*.t)
for t in "${tests[@]}"; do
	# The first line has the switches that it wants.
	read -ra switches < <(sed -n '1s/^#!.*perl//p' "$t") || true
	suite "perl.${t//\//.}" ./perl "${switches[@]}" "$t"
done
