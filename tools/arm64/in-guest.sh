#!/bin/bash
# SPDX-License-Identifier: MIT
# in-guest.sh GUEST FOLDER COMMAND...: run a command on the machine that guest.sh has made. FOLDER
# is /mnt there, writable, and where the command begins. What it prints is printed, and its status
# is this one's; 124 when TIMEOUT seconds (300) have passed, as also after a panic, a halt or a
# restart of the guest, so that none of them looks like success. By ARM semihosting programs
# of the guest can reach this machine's files as the user that runs it: only our own are run.
# Also CPU (max,pauth-impdef=on: with BTI, PAC and SVE), CPUS (2), MEMORY (3G).
set -euo pipefail

[ $# -ge 3 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
guest=$(realpath "$1") share=$(realpath "$2")
shift 2
job=$(mktemp -d)
trap 'rm -rf "$job"' EXIT
printf 'exec %s\n' "${*@Q}" >"$job/command"
(cd "$job" && echo command | cpio --quiet -o -H newc | cat "$guest/root.cpio" - >initrd)

status=0
timeout "${TIMEOUT:-300}" qemu-system-aarch64 \
	-M virt -cpu "${CPU:-max,pauth-impdef=on}" -smp "${CPUS:-2}" -m "${MEMORY:-3G}" \
	-display none -monitor none -nic none -serial stdio \
	-action reboot=shutdown,shutdown=pause \
	-semihosting-config enable=on,userspace=on,target=native \
	-virtfs local,path="$share",mount_tag=share,security_model=none \
	-kernel "$guest/vmlinuz" -initrd "$job/initrd" \
	-append "console=ttyAMA0 quiet loglevel=1" </dev/null || status=$?
exit $status
