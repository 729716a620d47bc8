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
