#!/bin/bash
# SPDX-License-Identifier: MIT
# on-kernel.sh DIR RELEASE FOLDER COMMAND...: run a command as root on the kernel that get.sh has
# brought, in a virtual machine whose files are this machine's: what is written there is
# forgotten, but for FOLDER, which is shared, and where the command begins. What it prints is
# printed, and its status is this one's; 124 when TIMEOUT seconds (600) have passed, 125 when the
# machine did not come that far. Also CPUS (2), MEMORY (3G), and TURNS=1: emulated processors take
# turns.
set -euo pipefail

[ $# -ge 4 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dir=$(realpath "$1/$2") share=$(realpath "$3")
shift 3
job=$(mktemp -d)
said=$(mktemp "$share/.status.XXXXXX")
trap 'rm -rf "$job" "$said"' EXIT
{
	printf 'SAID=%q\n' "${said##*/}"
	printf '(exec %s)\n' "${*@Q}"
} >"$job/command"
(cd "$job" && echo command | cpio --quiet -o -H newc | gzip -1 | cat "$dir/initrd" - >initrd)
accel=tcg,thread=$([ -n "${TURNS:-}" ] && echo single || echo multi)
[ ! -w /dev/kvm ] || ! grep -qE 'vmx|svm' /proc/cpuinfo || accel=kvm
# (Under QEMU 7.2 Linux 6.12 has died of a double fault, right behind a cmpxchg16b that has no lock
# prefix, with flags that were none. Without that instruction its allocators do without.)
timeout "${TIMEOUT:-600}" qemu-system-x86_64 -accel "$accel" -cpu max,-cx16 -smp "${CPUS:-2}" \
	-m "${MEMORY:-3G}" -display none -monitor none -nic none -serial stdio -no-reboot \
	-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
	-virtfs local,path="$share",mount_tag=share,security_model=none \
	-kernel "$dir/vmlinuz" -initrd "$job/initrd" \
	-append "console=ttyS0 quiet loglevel=1 panic=-1" </dev/null || exit 124
[ -s "$said" ] || exit 125
exit "$(cat "$said")"
