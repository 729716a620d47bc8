#!/bin/bash
# SPDX-License-Identifier: MIT
# real_sqlite_suite: sqlite's own tests, which are in Tcl, find the same with every
# function of it probed, with those of the C library, and while inject comes and
# goes. With SOAK "veryquick", a quarter of a million. Sources are brought by
# tools/suites.sh; the program that interprets the tests is built of them with SOAK,
# in a minute.
# timeout: 1200
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/suite_lib.sh
. "$ROOT/tests/suite_lib.sh"

SUITE=$BUILD/suites/sqlite
[ -d "$SUITE" ] || skip "no sources of sqlite here: tools/suites.sh brings them"
need tclsh
fixture=$BUILD/suites/testfixture
[ -n "${SOAK:-}" ] || [ -x "$fixture/testfixture" ] || skip "no testfixture here: SOAK=1 builds it"
mkdir -p "$fixture"
(cd "$fixture" && { [ -e Makefile ] || "$SUITE/configure" --disable-readline; } &&
	make testfixture) >make.log 2>&1 || skip "no testfixture: $(tail -n 1 make.log)"

# They refuse to run as root.
here=$PWD
if [ "$(id -u)" = 0 ]; then
	as_nobody
	OWN=$VICTIMS/inject
	here=$OPEN
fi
mkdir "$here/run"
cp "$fixture/testfixture" "$here/"
cp -R "$SUITE/test" "$SUITE/ext" "$here/"
chmod -R a+rwX "$here/run"
cd "$here/run"

tests=(select1 savepoint)
[ -z "${SOAK:-}" ] || tests=(veryquick)
for t in "${tests[@]}"; do
	suite "sqlite.$t" ../testfixture "../test/$t.test"
done
