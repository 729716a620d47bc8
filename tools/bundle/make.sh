#!/bin/bash
# SPDX-License-Identifier: MIT
# make.sh BUILD ARCH TEST...: BUILD/inject-check-ARCH.tar.gz, by which these tests run on a machine
# of that instruction set that has nothing but a kernel and a shell (tools/bundle/run). What BUILD
# has goes with it, the program as `make static` has made it, and from Debian's packages, as apt
# is set up here, what tests call: each skips what is not among that.
set -euo pipefail

[ $# -gt 2 ] || { sed -n '3,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(realpath "$1") arch=$2
shift 2
here=$(dirname "$(realpath "$0")")
top=$(realpath "$here/../..")
dir=$build/bundle
# shellcheck disable=SC2034 # for apt.sh
packages_of=${arch/x86_64/amd64}

packages="busybox-static bash mount coreutils grep sed mawk findutils diffutils procps util-linux
	strace gdb-minimal jq libc6 libgcc-s1 libstdc++6 libdw1 libelf1 libcapstone4 libunwind8
	libzstd1 liblzma5 musl"

# shellcheck source=tools/arm64/apt.sh
. "$top/tools/arm64/apt.sh"

# What the packages depend on, or have, and no test calls.
remove_needless()
{
	rm -rf usr/share/{doc,man,locale,perl,perl5,bash-completion} usr/lib/*/{gconv,perl,perl-base}
}

# What is unpacked once serves until this script changes.
make_root()
{
	local stamp

	stamp=$(cat "$0" "$top/tools/arm64/apt.sh" | sha256sum)
	[ "$(cat "$dir/stamp" 2>/dev/null)" != "$stamp" ] || return 0
	rm -rf "$dir"
	mkdir -p "$dir/inject-check/root"
	begin_apt
	# The list is words.
	# shellcheck disable=SC2086
	unpack "$dir/inject-check/root" $packages
	rm -rf "$dir/apt"
	(cd "$dir/inject-check/root" && remove_needless)
	echo "$stamp" >"$dir/stamp"
}

# As packages are installed: /lib is /usr/lib.
merge_usr()
{
	local folder

	for folder in bin sbin lib lib64; do
		[ -d "$folder" ] || continue
		[ ! -L "$folder" ] || continue
		mkdir -p "usr/$folder"
		cp -a "$folder/." "usr/$folder/"
		rm -rf "$folder"
		ln -s "usr/$folder" "$folder"
	done
}

# Folders to mount, and users that tests become.
furnish()
{
	mkdir -p proc sys dev tmp run root etc
	printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/bin/sh\n' >etc/passwd
	printf 'root:x:0:\nnogroup:x:65534:\n' >etc/group
	[ -e bin/sh ] || ln -s bash bin/sh
	ln -sf mawk usr/bin/awk		# which else a package's script does
}

# The project as it is known to git, and what was built of it.
add_project()
{
	rm -rf inject
	mkdir -p inject/build/tests inject/build/run
	(cd "$top" && git ls-files -z | tar -c --null -T - -f -) | tar -x -C inject
	cp "$build/inject-static" inject/build/inject
	(cd "$build" && find tests -type f ! -name '*.[od]' -perm -100 -print0 |
		tar -c --null -T - -f -) | tar -x -C inject/build
	find inject/build/tests/unit inject/build/tests/patch -type f -exec "${STRIP:-strip}" -g {} +
	printf '%s\n' "$@" >inject/build/tests.list
}

make_root
cd "$dir/inject-check/root"
merge_usr
furnish
add_project "$@"
cp bin/busybox ../busybox
cp "$here/run" ..
tar -C "$dir" -czf "$build/inject-check-$arch.tar.gz" --owner=0 --group=0 inject-check
echo "$build/inject-check-$arch.tar.gz: $(du -h "$build/inject-check-$arch.tar.gz" | cut -f 1)," \
	"$# tests; there, as root: tar xf it, inject-check/run"
