#!/bin/bash
# SPDX-License-Identifier: MIT
# deps [--list] SET...: install the Debian packages that are missing, by name. Sets: build,
# test, soak, bench, census, oracle, analyze, lint, fresh, arm64, pages, kernels. Quiet when
# nothing is missing; as a user who is not root, print the line to paste and fail. --list prints
# the names, and does nothing.
#
# Debian starts a service as its package is installed. Tests start servers of
# their own, so that is forbidden meanwhile (policy-rc.d), and put back.
set -euo pipefail

build="gcc make binutils libc6-dev libelf-dev libdw-dev libcapstone-dev
	libunwind-dev libiberty-dev liblzma-dev zlib1g-dev libzstd-dev"
test="g++ clang libclang-rt-dev gdb strace nginx-light redis-server redis-tools postgresql
	mariadb-server mariadb-client openssl
	wrk python3 util-linux procps musl-tools libpython3.11-testsuite
	lua5.4 sqlite3 libsqlite3-dev tcl tcl-dev perl jq golang-go rustc babeltrace2 zstd
	python3-jsonschema uftrace protobuf-compiler graphviz linux-perf libboost-context-dev
	libgtest-dev curl ca-certificates xz-utils systemtap-sdt-dev gforth"
lint="mandoc codespell shellcheck cppcheck python3"
soak="chromium"
oracle="qemu-user ruby luajit ocaml-nox ffmpeg ripgrep jq sqlite3 perl golang-go
	libpython3.11-testsuite nodejs openssl g++"
analyze="gcc clang-tidy"
fresh="mmdebstrap"
kernels="qemu-system-x86 busybox-static cpio kmod xz-utils"
arm64="gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross golang-go
	qemu-system-arm cpio kmod"
pages="flex bison bc xz-utils"
bench="bpftrace uftrace linux-perf ltrace lttng-tools liblttng-ust-dev
	redis-server redis-tools postgresql postgresql-contrib python3 nginx-light memcached
	nodejs default-jdk-headless"
census="nginx-light redis-server postgresql memcached python3 nodejs ripgrep libstd-rust-1.63
	golang-go musl libsqlite3-0 libssl3 libstdc++6 cpp"

policy=/usr/sbin/policy-rc.d

usage()
{
	echo "usage: tools/deps.sh [--list] [build] [test] [soak] [bench] [census] [oracle] [analyze]
		[lint] [fresh] [arm64] [pages] [kernels]" >&2
	exit 2
}

# Installed, or provided by something that is (nginx-light by nginx-full).
present()
{
	case $1 in
	# Nobody else's: its standard library is where no loader looks, and has other names.
	rustc) [ -x /usr/bin/rustc ] ;;
	golang-go) ls /usr/lib/go-*/bin/go >/dev/null 2>&1 || command -v go >/dev/null ;;
	nginx-light) [ -x /usr/sbin/nginx ] ;;
	postgresql) ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 ;;
	postgresql-contrib) command -v pgbench >/dev/null ||
		ls /usr/lib/postgresql/*/bin/pgbench >/dev/null 2>&1 ;;
	default-jdk-headless) command -v javac >/dev/null ;;
	nodejs) command -v node >/dev/null ;;
	linux-perf) command -v perf >/dev/null ;;
	curl | wrk | strace | gdb | clang-tidy | bpftrace | uftrace | clang | gcc | g++ | make | mandoc | codespell | shellcheck | cppcheck | python3)
		command -v "$1" >/dev/null ;;
	*) dpkg-query -W -f='${Status}' "$1" 2>/dev/null |
		grep -q '^install ok installed' ;;
	esac
}

no_services()
{
	if [ -e $policy ] || [ -L $policy ]; then
		mv $policy $policy.before-inject
	fi
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
	trap services_again EXIT
}

services_again()
{
	rm -f $policy
	if [ -e $policy.before-inject ] || [ -L $policy.before-inject ]; then
		mv $policy.before-inject $policy
	fi
}

missing=()
list=
[ "${1:-}" != --list ] || { list=1; shift; }
[ $# -gt 0 ] || usage
for set; do
	case $set in
	build) packages=$build ;;
	test) packages=$test ;;
	soak) packages=$soak ;;
	oracle) packages=$oracle ;;
	analyze) packages=$analyze ;;
	lint) packages=$lint ;;
	bench) packages=$bench ;;
	census) packages=$census ;;
	fresh) packages=$fresh ;;
	arm64) packages=$arm64 ;;
	pages) packages=$pages ;;
	kernels) packages=$kernels ;;
	*) usage ;;
	esac
	for p in $packages; do
		[ -z "$list" ] || { echo "$p"; continue; }
		present "$p" || missing+=("$p")
	done
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "deps: needed, under the names of Debian: ${missing[*]}" >&2
	exit 1
fi
if [ "$(id -u)" != 0 ]; then
	line="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
	echo "deps: packages are missing; please run, as root:" >&2
	if command -v sudo >/dev/null; then
		echo "  sudo sh -c '$line'" >&2
	else
		echo "  su - -c '$line'" >&2
	fi
	exit 1
fi
echo "deps: installing ${missing[*]}"
no_services
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# A source that cannot be reached need not be the one that is needed.
if ! { apt-get update || true
	apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "deps: apt-get failed, see $log" >&2
	exit 1
fi
rm -f "$log"
