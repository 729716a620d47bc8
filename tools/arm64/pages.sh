#!/bin/bash
# SPDX-License-Identifier: MIT
# pages.sh GUEST DIR KIB: the machine that guest.sh has made in GUEST, with a kernel whose pages
# have 16 KiB (Debian 13's) or 64 KiB, of which Debian has no package: it is built of the sources
# of Debian 13's, with what the tests need (pages.config), in ten minutes. Nothing outside of DIR
# changes, and no root is needed. Made anew when this script has changed.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

[ $# = 3 ] || { sed -n '3,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
guest=$(realpath "$1") dir=$(realpath -m "$2") kib=$3
here=$(dirname "$(realpath "$0")")
stamp=$(cat "$guest/stamp" "$here/pages.sh" "$here/pages.config" | sha256sum)
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$stamp" ] || exit 0

# shellcheck source=tools/apt_lib.sh
. "$here/../apt_lib.sh"

# What a kernel that was built has in itself is no module.
modules="9pnet_virtio 9p overlay"

apt13()
{
	local tool=$1
	shift
	"$tool" -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
		-o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State="$dir/apt" -o Dir::State::status="$dir/apt/status" \
		-o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User= -o Debug::NoLocking=true "$@"
}

begin()
{
	local mirror
	mirror=$(debian_mirror) || { echo "pages.sh: apt has no source of Debian's" >&2; exit 1; }
	rm -rf "$dir"
	mkdir -p "$dir"/{root,kernel} "$dir"/apt/{lists,cache/archives}/partial
	: >"$dir/apt/status"
	echo "deb [signed-by=$debian_keys] $mirror trixie main" >"$dir/apt/sources.list"
	apt13 apt-get update
	(cd "$dir/root" && cpio --quiet -id <"$guest/root.cpio")
	rm -f "$dir"/root/modules/*
}

# That package only depends on the one of a version, whose name is left in $package.
fetch()
{
	package=$(apt13 apt-cache depends "$1" | sed -n 's/^ *Depends: *//p' | head -n 1)
	(cd "$dir/kernel" && apt13 apt-get download "$package" && dpkg-deb -x ./*.deb .)
}

packaged()
{
	fetch linux-image-arm64-16k
	cp "$dir"/kernel/boot/vmlinuz-* "$dir/vmlinuz"
	ln -s usr/lib "$dir/kernel/lib"
	add_modules
}

built()
{
	fetch linux-source
	tar -C "$dir/kernel" -xf "$dir/kernel/usr/src/$package.tar.xz"
	make64 KCONFIG_ALLCONFIG="$here/pages.config" allnoconfig
	make64 -j"$(nproc)" Image
	cp "$dir/kernel/$package/arch/arm64/boot/Image" "$dir/vmlinuz"
}

make64()
{
	make -s -C "$dir/kernel/$package" ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- "$@"
}

# By number, in the order in which they load; they are packed.
add_modules()
{
	local file n module version
	version=$(ls "$dir/kernel/lib/modules")
	depmod -b "$dir/kernel" "$version"
	for module in $modules; do
		modprobe -d "$dir/kernel" -S "$version" --show-depends "$module"
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' |
		awk '!seen[$1]++ { printf "%02d %s\n", NR, $1 }' |
		while read -r n file; do
			xz -dc "$file" >"$dir/root/modules/$n-$(basename "$file" .xz)"
		done
}

begin
case $kib in
16) packaged ;;
64) built ;;
esac
(cd "$dir/root" && find . -print0 | cpio --quiet -0 -o -H newc -R 0:0) >"$dir/root.cpio"
rm -rf "$dir/kernel" "$dir/root" "$dir/apt"
echo "$stamp" >"$dir/stamp"
