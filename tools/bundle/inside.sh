#!/bin/bash
# SPDX-License-Identifier: MIT
# inside.sh [TEST...]: in the bundle's root folder and a mount namespace of its own: run the tests,
# and count how they end.
set -eu
cd /inject
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup 2>/dev/null || true
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t devpts pts /dev/pts
for folder in /dev/shm /tmp /run build/run; do
	mount -t tmpfs -o mode=1777 tmp "$folder"
done
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd

if [ $# = 0 ]; then
	mapfile -t tests <build/tests.list
	set -- "${tests[@]}"
fi
export BUNDLED=1
echo "$(uname -srm), $(nproc) processors; $# tests"
tests/run build "$@" | tee /tmp/log | grep -v '^[0-9]* \(skipped\|passed\),\? ' || true
awk '/^PASS / { passed++ } /^FAIL / { failed++ } /^SKIP / { skipped++ }
	END {
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		exit failed || !passed
	}' /tmp/log
