#!/bin/bash
# SPDX-License-Identifier: MIT
# suites DIR: get the sources of test suites that Debian does not install, into
# DIR/redis, DIR/sqlite, DIR/perl and DIR/lua; those that are there are left as they are.
# Says of each that cannot be had why, and ends with status 1 then.
#
# Sources of the very packages that are installed, by apt's own keys and checks,
# without a change to what this machine's apt is configured for.
set -euo pipefail

[ $# = 1 ] || { echo "usage: tools/suites.sh DIR" >&2; exit 2; }
# shellcheck source=tools/apt_lib.sh
. "$(dirname "$0")/apt_lib.sh"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
missing=0

lacking() { echo "suites: $*" >&2; missing=1; }

# apt_source ARG...: of this release of Debian.
apt_source()
{
	local mirror

	mkdir -p "$dir/apt"
	for suite in "" security; do
		# shellcheck disable=SC2086 # a word or none
		mirror=$(debian_mirror $suite) || continue
		printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n\n' \
			"$mirror" "$release${suite:+-$suite}" "$debian_keys"
	done >"$dir/apt/debian.sources"
	apt_alone "$dir/apt" "$@"
}

# debian PACKAGE NAME: its original archive, unpacked to DIR/NAME. A security update's
# is not on every mirror; what we want of it, the authors', is the release's, too.
debian()
{
	local archive

	[ ! -d "$dir/$2" ] || return 0
	[ -d "$dir/apt" ] || apt_source update || true
	apt_source source --download-only "$1" ||
		apt_source source --download-only "$1/$release" ||
		{ lacking "no source of $1: $(tail -n 1 "$dir/apt/log")"; return 0; }
	archive=$(find "$dir/apt" -name "$1_*.orig.tar.*" ! -name '*.asc' | head -n 1)
	mkdir "$dir/$2.new"
	tar xf "$archive" -C "$dir/$2.new" --strip-components=1
	mv "$dir/$2.new" "$dir/$2"
}

# The tests of the Lua that is installed are its authors', and in no package.
lua()
{
	local version url

	[ ! -d "$dir/lua" ] || return 0
	version=$(lua5.4 -v 2>/dev/null | sed -n 's/^Lua \([0-9.]*\).*/\1/p')
	[ -n "$version" ] || { lacking "no lua5.4 here"; return 0; }
	url=https://www.lua.org/tests/lua-$version-tests.tar.gz
	mkdir -p "$dir/lua.new"
	curl -fsSL --connect-timeout 10 -m 60 -o "$dir/lua.tar.gz" "$url" &&
		tar xzf "$dir/lua.tar.gz" -C "$dir/lua.new" --strip-components=1 ||
		{ lacking "nothing at $url"; return 0; }
	mv "$dir/lua.new" "$dir/lua"
}

debian redis redis
debian sqlite3 sqlite
debian perl perl
lua
exit $missing
