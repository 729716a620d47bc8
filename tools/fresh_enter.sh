#!/bin/bash
# SPDX-License-Identifier: MIT
# fresh_enter ROOT: as process 1 of new namespaces: make ROOT the root, with the file systems
# that a machine has, and run tools/fresh_inside.sh in it. For tools/fresh.sh. By pivot_root:
# after chroot the kernel grants no user namespaces.
set -euo pipefail

root=$1
device=(null zero full random urandom tty)

devices()
{
	local name

	mount -t tmpfs -o mode=755,nosuid fresh "$root/dev"
	for name in "${device[@]}"; do
		: >"$root/dev/$name"
		mount --bind "/dev/$name" "$root/dev/$name"
	done
	ln -s /proc/self/fd "$root/dev/fd"
	ln -s /proc/self/fd/0 "$root/dev/stdin"
	ln -s /proc/self/fd/1 "$root/dev/stdout"
	ln -s /proc/self/fd/2 "$root/dev/stderr"
	mkdir "$root/dev/pts" "$root/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 fresh "$root/dev/pts"
	ln -s pts/ptmx "$root/dev/ptmx"
	mount -t tmpfs -o mode=1777,nosuid,nodev fresh "$root/dev/shm"
}

# What the environment says of the way out, and of the checks.
environment()
{
	local name

	for name in http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY \
			ALL_PROXY NO_PROXY JOBS PATIENCE WIDER; do
		[ -z "${!name:-}" ] || echo "$name=${!name}"
	done
}

umask 022
mapfile -t variables < <(environment)
mount --bind "$root" "$root"
# Files are to tell when they were last read.
mount -o remount,bind,relatime "$root" || true
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
devices
mkdir "$root/.host"
cd "$root"
pivot_root . .host
cd /
umount -l /.host
rmdir /.host
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
	USER=root LOGNAME=root "${variables[@]}" bash /srv/fresh_inside.sh
