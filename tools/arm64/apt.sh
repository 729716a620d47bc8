# SPDX-License-Identifier: MIT
# apt.sh, to be read by others: packages of arm64, or of $packages_of, from where apt gets those of
# this machine. All that apt keeps lies in $dir/apt, and no root is needed.
# shellcheck shell=bash

# Where nothing is known yet.
begin_apt()
{
	mkdir -p "$dir"/apt/{lists,cache/archives}/partial
	: >"$dir/apt/status"
	apt64 apt-get update
}

apt64()
{
	local tool=$1
	shift
	"$tool" -qq -o APT::Architecture="${packages_of:-arm64}" \
		-o APT::Architectures="${packages_of:-arm64}" \
		-o Dir::State="$dir/apt" -o Dir::State::status="$dir/apt/status" \
		-o Dir::Cache="$dir/apt/cache" -o APT::Install-Recommends=false \
		-o APT::Sandbox::User= -o Debug::NoLocking=true "$@"
}

# unpack FOLDER PACKAGE...: these, and what they depend on, without a line of their scripts.
unpack()
{
	local folder=$1 deb
	shift
	apt64 apt-get clean
	apt64 apt-get install -y --download-only "$@" </dev/null
	for deb in "$dir"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$folder"
	done
}
