# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# apt_lib: apt-get with lists, archives and an idea of its own of what is installed, so
# that nothing changes for the apt of this machine. Sourced.

# shellcheck disable=SC2034 # for who has sources to write
debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg

# apt_alone DIR ARG...: DIR has the sources in debian.sources, and all else is kept there.
apt_alone()
{
	mkdir -p "$1/lists/partial"
	touch "$1/status"
	(cd "$1" && apt-get -q -o Dir::Etc::sourcelist="$PWD/debian.sources" \
		-o Dir::Etc::sourceparts=- -o Dir::State::lists="$PWD/lists" \
		-o Dir::State::status="$PWD/status" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
		-o Acquire::Retries=1 -o Acquire::http::Timeout=20 "${@:2}") >"$1/log" 2>&1
}

# debian_mirror [security]: where this machine's apt gets Debian from. What has been
# fetched says what is Debian's; before that, releases and paths do.
debian_mirror()
{
	local label=Debian found

	[ $# = 0 ] || label=Debian-Security
	# shellcheck disable=SC2016 # apt-get's names
	found=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)' \
		'Created-By: Packages' 2>/dev/null | sed -n "s,^Debian|$label|main|,,p" | head -n 1)
	[ -n "$found" ] || found=$(unfetched_mirror "$@")
	[ -n "$found" ] && echo "${found%/}"
}

unfetched_mirror()
{
	local release='\(bullseye\|bookworm\|trixie\|forky\|sid\|testing\|\(old\)*stable\)' uris

	uris=$(apt-get update --print-uris 2>/dev/null |
		sed -n "s,^'\(.*\)/dists/$release${1:+-$1}/InRelease'.*,\1,p")
	{ grep "/debian${1:+-$1}/*$" <<<"$uris" || echo "$uris"; } | head -n 1
}
