#!/bin/bash
# SPDX-License-Identifier: MIT
# glibcs DIR: get versions of the GNU C library that are older and newer than this
# machine's, from other releases of Debian, and make compilers for them: DIR/2.31/cc
# builds programs that run with glibc 2.31. Those that are there are left as they are.
# Says of each that cannot be had why, and ends with status 1 then.
set -euo pipefail

[ $# = 1 ] || { echo "usage: tools/glibcs.sh DIR" >&2; exit 2; }
# shellcheck source=tools/apt_lib.sh
. "$(dirname "$0")/apt_lib.sh"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
lib=$(uname -m)-linux-gnu
missing=0

lacking() { echo "glibcs: $*" >&2; missing=1; }

# unpack DIR TO: all packages in it, of what is compiled and linked with; links lead where
# they would in a root of their own, once it is at TO.
unpack()
{
	local deb link to

	for deb in "$1"/*.deb; do
		dpkg-deb -x "$deb" "$1/root"
	done
	rm -rf "$1/root/etc" "$1/root/usr/share"
	for to in lib lib64; do
		[ -e "$1/root/$to" ] || ln -s "usr/$to" "$1/root/$to"
	done
	find "$1/root" -type l -lname '/*' | while read -r link; do
		ln -sfn "$2/root$(readlink "$link")" "$link"
	done
}

# compiler ROOT: what was in libraries of its own before 2.34 is linked, too.
compiler()
{
	cat <<-EOF
	#!/bin/sh
	exec gcc --sysroot='$1' -B'$1/usr/lib/$lib' -isystem '$1/usr/include/$lib' "\$@" \\
		-Wl,--no-as-needed -lpthread -ldl \\
		-Wl,--dynamic-linker='$1/lib64/ld-linux-x86-64.so.2' \\
		-Wl,--disable-new-dtags,-rpath,'$1/lib/$lib:$1/usr/lib/$lib'
	EOF
}

# glibc RELEASE VERSION
glibc()
{
	local to=$dir/$2 new=$dir/$2.new

	[ ! -d "$to" ] || return 0
	rm -rf "$new"
	mkdir "$new"
	printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
		"$mirror" "$1" "$debian_keys" >"$new/debian.sources"
	apt_alone "$new" update &&
		apt_alone "$new" download libc6 libc6-dev linux-libc-dev libgcc-s1 ||
		{ lacking "no glibc $2: $(tail -n 1 "$new/log")"; return 0; }
	unpack "$new" "$to"
	compiler "$to/root" >"$new/cc"
	chmod +x "$new/cc"
	mv "$new" "$to"
}

mirror=$(debian_mirror) || { lacking "apt knows no mirror of Debian"; exit 1; }
glibc bullseye 2.31
glibc trixie 2.41
exit $missing
