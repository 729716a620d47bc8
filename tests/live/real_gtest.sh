#!/bin/bash
# SPDX-License-Identifier: MIT
# real_gtest: googletest's own tests find the same with every function of theirs
# probed, with those of the C and C++ libraries, and while inject comes and goes:
# exceptions from everywhere, children that are forked to die, and with SOAK all
# the others, and googlemock's.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/suite_lib.sh
. "$ROOT/tests/suite_lib.sh"

GTEST=/usr/src/googletest

[ -d $GTEST/googletest/test ] || skip "no sources of googletest"
command -v g++ >/dev/null || skip "no C++ compiler"

# build PART NAME LIBRARY...
build()
{
	local lib libs=()

	for lib in "${@:3}"; do libs+=("-l$lib"); done
	g++ -I$GTEST/googletest -I$GTEST/googlemock -o "$2" "$GTEST/$1/test/$2.cc" \
		"${libs[@]}" -lpthread 2>g++.err || { tail -n 5 g++.err; die "no $2"; }
}

# gtest NAME ARG..., gmock NAME ARG...: in all ways.
gtest()
{
	build googletest "$1" gtest_main gtest
	suite "$1" "./$1" "${@:2}"
}

gmock()
{
	build googlemock "$1" gmock_main gmock gtest
	suite "$1" "./$1" "${@:2}"
}

repeat=3
[ -z "${SOAK:-}" ] || repeat=100	# so that many visits find it running
gtest googletest-catch-exceptions-test_
gtest googletest-death-test-test --gtest_repeat=$repeat
[ -n "${SOAK:-}" ] || exit 0
for t in gtest_stress_test gtest_unittest gtest_repeat_test gtest_environment_test \
	gtest_assert_by_exception_test googletest-{port,printers,listener,filepath}-test; do
	gtest "$t"
done
for t in gmock_{stress,ex}_test gmock-{nice-strict,spec-builders,actions}_test \
	gmock-matchers-containers_test; do
	gmock "$t"
done
