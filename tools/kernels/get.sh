#!/bin/bash
# SPDX-License-Identifier: MIT
# get.sh DIR RELEASE: the kernel of a Debian release (bullseye: Linux 5.10, bookworm: 6.1,
# trixie: 6.12), from where apt gets its packages here, with the release exchanged. Nothing outside
# of DIR changes, and no root is needed.
#
# Leaves DIR/RELEASE/vmlinuz and initrd, which on-kernel.sh boots, and version. Made anew when
# this script has changed.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

[ $# = 2 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dir=$(realpath -m "$1")/$2
release=$2
here=$(dirname "$(realpath "$0")")
stamp=$(cat "$here/get.sh" "$here/init" | sha256sum)
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$stamp" ] || exit 0

modules="virtio_pci virtio_blk 9pnet_virtio 9p overlay"

# The first of the sources here that is Debian's main one, of the other release.
sources()
{
	local from
	from=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed -nE 's/^URIs: *(.*[/]debian[/]?) *$/\1/p' | head -n 1)
	[ -n "$from" ] || from=$(sed -nE 's/^deb (\[[^]]*\] )?([^ ]*[/]debian[/]?) .*/\2/p' \
		/etc/apt/sources.list 2>/dev/null | head -n 1)
	[ -n "$from" ] || { echo "get.sh: apt has no source of Debian's here" >&2; exit 1; }
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $release main"
}

apt1()
{
	local tool=$1
	shift
	"$tool" -qq -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State="$dir/apt" -o Dir::State::status="$dir/apt/status" \
		-o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User= \
		-o Debug::NoLocking=true "$@"
}

# By number, in the order in which they load. A kernel may have some of them built in; newer
# ones are packed.
# shellcheck disable=SC2086
add_modules()
{
	local file n
	depmod -b "$dir/kernel" "$version"
	for file in $modules; do
		modprobe -d "$dir/kernel" -S "$version" --show-depends "$file" 2>/dev/null || true
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$1]++ { printf "%02d %s\n", NR, $1 }' |
		while read -r n file; do
			case $file in
			*.xz) xz -dc "$file" >"$dir/root/modules/$n-$(basename "$file" .xz)" ;;
			*) cp "$file" "$dir/root/modules/$n-$(basename "$file")" ;;
			esac
		done
}

rm -rf "$dir"
mkdir -p "$dir"/{root/{bin,modules},kernel} "$dir"/apt/{lists,cache/archives}/partial
: >"$dir/apt/status"
sources >"$dir/apt/sources.list"
apt1 apt-get update
package=$(apt1 apt-cache depends linux-image-amd64 | sed -n 's/^ *Depends: *//p' | head -n 1)
(cd "$dir/kernel" && apt1 apt-get download "$package" && dpkg-deb -x ./*.deb .)
cp "$dir"/kernel/boot/vmlinuz-* "$dir/vmlinuz"
[ -d "$dir/kernel/lib/modules" ] || ln -s usr/lib "$dir/kernel/lib"
version=$(ls "$dir/kernel/lib/modules")
echo "$version" >"$dir/version"
add_modules
cp "$(command -v busybox)" "$dir/root/bin/busybox"
cp "$here/init" "$dir/root/init"
(cd "$dir/root" && find . -print0 | cpio --quiet -0 -o -H newc -R 0:0) | gzip -1 >"$dir/initrd"
rm -rf "$dir/kernel" "$dir/root" "$dir/apt"
echo "$stamp" >"$dir/stamp"
