#!/bin/bash
# SPDX-License-Identifier: MIT
# run BUILD SECONDS READER...: let libFuzzer look for inputs that a reader does not
# survive, in the directory BUILD/found: beside what it finds new of a reader, in a
# directory of its name, an input that fails is crash-*, oom-* or timeout-*.
set -eu
cd "$(dirname "$0")/../../.."
build=$(realpath "$1") seconds=$2 corpus=$PWD/tests/fuzz/read/corpus
shift 2
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
bad=0
for reader; do
	mkdir -p "$build/found/$reader"
	cd "$build/found"
	echo "$reader: $seconds s"
	"$build/tests/fuzz/read/${reader}_libfuzzer" -max_total_time="$seconds" -timeout=10 \
		-rss_limit_mb=1500 -max_len=65536 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$reader-" "$reader" "$corpus/$reader" || bad=1
done
exit $bad
