#!/bin/bash
# SPDX-License-Identifier: MIT
# real_node: an HTTP server in node and its clients, whose threads compile, collect
# and compress. libuv's, zlib's and V8's functions are probed; every answer is right.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/runtime_lib.sh
. "$ROOT/tests/runtime_lib.sh"

need node
runtime node "$ROOT/tests/victims/node/serve.js"
visit 5000 -f 'uv_*' -f 'deflate*' -f 'inflate*' -f 'm*@libc.so*' -f 'pthread_*@libc.so*'
for ((i = 0; i < ${SOAK:+100} + 0; i++)); do
	visit 50000 -f 'v8::internal::*' -N 'v8::internal::compiler::*'
	visit 50000 -f '*@libc.so*' -f 'uv_*'
done
runtime_ends
