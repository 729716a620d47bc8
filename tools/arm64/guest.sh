#!/bin/bash
# SPDX-License-Identifier: MIT
# guest.sh DIR [PACKAGE...]: an arm64 machine under QEMU, and what to link with for it, from Debian's
# packages, as apt is set up here; more of them are on the machine. Nothing outside of DIR changes,
# and no root is needed.
#
# Leaves DIR/vmlinuz and DIR/root.cpio, which in-guest.sh boots, and DIR/sysroot, for
# make ARCH=arm64 SYSROOT=DIR/sysroot. Made anew when this script has changed.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

[ $# -ge 1 ] || { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dir=$(realpath -m "$1")
here=$(dirname "$(realpath "$0")")
shift
more=$*
stamp=$(cat "$here/guest.sh" "$here/apt.sh" "$here/init" "$here/leave.c" - <<<"$more" | sha256sum)
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$stamp" ] || exit 0

# What inject needs there, what the tests need, and what they trace.
libraries="libc6 libgcc-s1 libstdc++6 libdw1 libelf1 libcapstone4 libunwind8 libzstd1 liblzma5
	libiberty-dev libboost-context1.74.0 musl"
tools="busybox-static bash dash coreutils grep sed mawk gawk findutils diffutils procps util-linux
	bsdutils libc-bin mount strace gdb python3 jq babeltrace2 zstd binutils perl-base"
programs="redis-server redis-tools nginx-light"
headers="libc6-dev libelf-dev libdw-dev libcapstone-dev libunwind-dev libiberty-dev zlib1g-dev
	liblzma-dev libzstd-dev libboost-context-dev musl-dev"
kernel=linux-image-arm64
# Drivers that are modules in Debian's kernel: the folder that is shared; and what containers have.
modules="virtio_pci 9pnet_virtio 9p overlay"

# shellcheck source=tools/arm64/apt.sh
. "$here/apt.sh"

# The lists are words.
# shellcheck disable=SC2086
fetch()
{
	begin_apt
	unpack "$dir/root" $libraries $tools $programs $more
	unpack "$dir/sysroot" $libraries $headers
	# That package only depends on the one of a version.
	package=$(apt64 apt-cache depends $kernel | sed -n 's/^ *Depends: *//p' | head -n 1)
	(cd "$dir/kernel" && apt64 apt-get download "$package" && dpkg-deb -x ./*.deb .)
	cp "$dir"/kernel/boot/vmlinuz-* "$dir/vmlinuz"
}

# In the sysroot absolute links would lead out of it.
relative_links()
{
	find "$dir/sysroot" -type l -lname '/*' | while read -r link; do
		to=$(realpath -ms --relative-to="$(dirname "$link")" \
			"$dir/sysroot$(readlink "$link")")
		ln -snf "$to" "$link"
	done
}

# The compiler for the other C library, with what gcc's own library does not ask of it.
add_musl()
{
	sed 's,/usr/,%R/usr/,g' "$dir/sysroot/usr/lib/aarch64-linux-musl/musl-gcc.specs" \
		>"$dir/sysroot/musl-gcc.specs"
	cat >"$dir/sysroot/musl-gcc" <<-'END'
		#!/bin/sh
		here=$(dirname "$(realpath "$0")")
		exec aarch64-linux-gnu-gcc -mno-outline-atomics "$@" --sysroot="$here" \
			-specs="$here/musl-gcc.specs"
	END
	chmod +x "$dir/sysroot/musl-gcc"
}

# The modules by number, in the order in which they load.
# shellcheck disable=SC2086
add_modules()
{
	version=$(ls "$dir/kernel/lib/modules")
	depmod -b "$dir/kernel" "$version"
	modprobe -d "$dir/kernel" -S "$version" -a --show-depends $modules |
		sed -n 's/^insmod //p' | awk '!seen[$1]++ { printf "%02d %s\n", NR, $1 }' |
		while read -r n file; do
			cp "$file" "$dir/root/modules/$n-$(basename "$file")"
		done
}

rm -rf "$dir"
mkdir -p "$dir"/{sysroot,kernel,root/modules}
fetch
relative_links
add_musl
add_modules
rm -rf "$dir"/root/usr/share/{doc,man,locale} "$dir"/root/usr/lib/*/gconv
mkdir -p "$dir"/root/{proc,sys,dev,tmp,mnt,run,root,etc}
printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/bin/sh\n' >"$dir/root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$dir/root/etc/group"
# What installing would have chosen.
ln -s mawk "$dir/root/usr/bin/awk"
cp "$here/init" "$dir/root/init"
aarch64-linux-gnu-gcc -O2 -static -s -o "$dir/root/bin/leave" "$here/leave.c"
(cd "$dir/root" && find . -print0 | cpio --quiet -0 -o -H newc -R 0:0) >"$dir/root.cpio"
rm -rf "$dir/kernel" "$dir/root" "$dir/apt"
echo "$stamp" >"$dir/stamp"
