#!/bin/bash
# SPDX-License-Identifier: MIT
# real_suites: the test suites of python3, lua and sqlite find the same
# with every function of the program probed, with those of the C library, and
# while inject comes and goes all the time. With SOAK much more of them. What
# Debian does not install of them comes from tools/suites.sh, in BUILD/suites.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/suite_lib.sh
. "$ROOT/tests/suite_lib.sh"

SUITES=$BUILD/suites
python=$(readlink -f /usr/bin/python3 || true)
tests=test_generators
[ -z "${SOAK:-}" ] || tests+=" test_ctypes test_json test_re test_pickle test_dict test_list test_exceptions
	test_threading test_decimal test_zlib test_coroutines test_signal test_subprocess test_ssl
	test_asyncio test_faulthandler test_mmap test_posix test_wait4 test_fork1"
if [ -x "$python" ] && "$python" -c 'import test.test_json' 2>/dev/null; then
	for t in $tests; do suite "$t" "$python" -m test -w "$t"; done
else
	echo "no test suite of python3 here"
fi

if [ -d "$SUITES/lua" ] && command -v lua5.4 >/dev/null; then
	cp -R "$SUITES/lua/." .
	suite lua lua5.4 -e '_U = true' all.lua
else
	echo "no tests of lua here"
fi

size=5
[ -z "${SOAK:-}" ] || size=50
if [ -d "$SUITES/sqlite" ] &&
	gcc -O2 -o speedtest "$SUITES/sqlite/test/speedtest1.c" -lsqlite3 2>gcc.err; then
	suite sqlite ./speedtest --verify --size $size --memdb
else
	echo "no sources of sqlite here"
fi
[ $ran -gt 0 ] || skip "none of the suites is here"
