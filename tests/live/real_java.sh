#!/bin/bash
# SPDX-License-Identifier: MIT
# real_java: a JVM whose threads allocate, throw, overflow their stacks, and come
# and go, with a heap so small that it is always collected. Its own functions and
# the C library's are probed; it computes what it should, and ends as it should.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/runtime_lib.sh
. "$ROOT/tests/runtime_lib.sh"

need java javac
javac -d . "$ROOT/tests/victims/java/Load.java" 2>javac.err ||
	skip "javac does not work here: $(head -n 1 javac.err)"
runtime java -Xmx48m -Xss512k -XX:-OmitStackTraceInFastThrow -cp . Load
visit 5000 -f '*alloc*@libjvm.so' -f '*Thread*@libjvm.so'
visit 5000 -f 'pthread_*@libc.so*' -f 'm*@libc.so*'
for ((i = 0; i < ${SOAK:+100} + 0; i++)); do
	visit 50000 -f '*@libjvm.so'
	visit 50000 -f '*alloc*@libjvm.so' -f '*@libc.so*'
done
runtime_ends
