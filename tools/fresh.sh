#!/bin/bash
# SPDX-License-Identifier: MIT
# fresh BUILD: make a minimal Debian 12 in BUILD/fresh, run README's commands and `make
# check` in it (tools/fresh_inside.sh), and remove it, also when this is killed. In that root
# nothing is installed but what the project's own scripts install.
#
# Ends with the status of the checks; or with 75, and one line that says why, where no such
# root can be made. Mounts and processes are in namespaces of their own, and go with them.
set -euo pipefail
cd "$(dirname "$0")/.."

# Whatever ends the caller ends this, too.
if [ -z "${FRESH_TIED:-}" ] && setpriv --pdeathsig TERM true 2>/dev/null; then
	FRESH_TIED=1 exec setpriv --pdeathsig TERM tools/fresh.sh "$@"
fi
unset FRESH_TIED

# shellcheck source=tools/apt_lib.sh
. tools/apt_lib.sh
SUITE=bookworm	# that README names
ROOM=6000	# MiB, of which the root takes some 3300, and what apt has kept the rest if copied
mkdir -p "${1:-build}"
build=$(cd "${1:-build}" && pwd)
dir=$build/fresh
root=$dir/root
checking=$root/srv/checking	# is there once the root has turned out to be of use
inside=		# the PID of what runs in namespaces
checked=	# yes when the checks have ended
guard=		# ... and of what removes the root

say() { echo "fresh: $*"; }

cannot()
{
	say "no fresh root, make check runs without: $*"
	exit 75
}

# A process in a session of its own waits for the end of this shell, whatever ends that, and
# removes the root then.
guarded()
{
	mkfifo "$dir/alive"
	# shellcheck disable=SC2016 # it is the other shell's $0
	setsid bash -c 'trap "" HUP INT QUIT TERM
		cat
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			rm -rf --one-file-system "$0" && rm -f "$0.lock" && break
			sleep 1
		done' "$dir" <"$dir/alive" >/dev/null 2>&1 &
	guard=$!
	exec {alive}>"$dir/alive"
}

finish()
{
	local status=$?

	trap - EXIT
	if [ -n "$inside" ]; then
		kill -KILL "$inside" 2>/dev/null || true
		wait "$inside" 2>/dev/null || true
	fi
	if [ -n "$guard" ]; then
		exec {alive}>&-
		wait "$guard" || true
	fi
	# A fault of this script's own is no fault of the project's.
	case $checked$status in
	75 | 130 | 143 | yes*) ;;
	*) (cannot "tools/fresh.sh ended with status $status") || status=75 ;;
	esac
	exit "$status"
}

# in_namespaces SECONDS COMMAND...: it, and all that it starts, end when this shell does.
in_namespaces()
{
	local status=0

	setpriv --pdeathsig KILL timeout -k 10 "$1" setpriv --pdeathsig KILL unshare --mount --pid \
		--ipc --uts --fork --kill-child --mount-proc "${@:2}" </dev/null {alive}>&- {lock}>&- &
	inside=$!
	wait "$inside" || status=$?
	inside=
	return $status
}

possible()
{
	local tool

	[ "$(id -u)" = 0 ] || cannot "this is not root"
	for tool in apt-get git unshare setpriv pivot_root setsid flock; do
		command -v $tool >/dev/null || cannot "no $tool here"
	done
	[ "$(df --output=avail -B1M "$build" | tail -n 1)" -ge $ROOM ] ||
		cannot "$build has no room for $ROOM MiB"
	timeout 20 unshare --mount --pid --ipc --uts --fork --mount-proc true 2>/dev/null ||
		cannot "namespaces are not permitted"
	exec {lock}>"$dir.lock"
	flock -n "$lock" || cannot "another one is at work in $dir"
}

# The host's apt: where it gets packages, whom it trusts, and how it gets through.
host_apt()
{
	local mirror security option=

	mirror=$(debian_mirror) || cannot "apt knows no mirror of Debian"
	! grep -rqsiE '^[^#]*trusted(=|: *)yes' /etc/apt/sources.list* || option='[trusted=yes] '
	printf "deb $option%s main\n" "$mirror $SUITE" "$mirror $SUITE-updates" >"$dir/sources.list"
	! security=$(debian_mirror security) ||
		echo "deb $option$security $SUITE-security main" >>"$dir/sources.list"
	apt-config dump | grep -E '^(Acquire|APT::(Authentication|Sandbox))\b' |
		grep -vE '^Acquire(::(IndexTargets|Changelogs)\b| )' >"$dir/apt.conf" || true
	mkdir "$dir/keys"
	for key in /etc/apt/trusted.gpg /etc/apt/trusted.gpg.d/* /etc/apt/keyrings/* \
			/usr/share/keyrings/debian-archive-*; do
		case $key in *.gpg | *.asc) [ ! -f "$key" ] || cp "$key" "$dir/keys" ;; esac
	done
}

# copied FILE...: to the same place in the root, where it has none.
copied()
{
	local file

	for file; do
		[ -f "$file" ] || continue
		[ -e "$root$file" ] || install -D -m "$(stat -Lc %a "$file")" "$file" "$root$file"
	done
}

# What the root's apt needs of the host beside sources.
take_over()
{
	local certificate file

	cp -n "$dir/keys"/* "$root/etc/apt/trusted.gpg.d/"
	cp -aL /etc/apt/auth.conf /etc/apt/auth.conf.d "$root/etc/apt/" 2>/dev/null || true
	for file in /etc/resolv.conf /etc/hosts; do
		cp -L --remove-destination $file "$root$file" 2>/dev/null || true
	done
	grep -qs localhost "$root/etc/hosts" || echo '127.0.0.1 localhost' >>"$root/etc/hosts"
	for certificate in /usr/local/share/ca-certificates/*; do copied "$certificate"; done
	! grep -q https: "$dir/sources.list" || copied /etc/ssl/certs/ca-certificates.crt
	while read -r file; do
		copied "$file"
	done < <(sed -n 's/^Acquire[^ ]* "\(\/.*\)";$/\1/p' "$dir/apt.conf")
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fresh"
}

# What the host's apt has kept need not come again; and if it keeps, it keeps this, too.
from_cache()
{
	archives=$(apt-config shell a Dir::Cache::archives/d | sed "s/^a='\(.*\)'$/\1/")
	ls "$archives"/*.deb >/dev/null 2>&1 || archives=
	[ -z "$archives" ] || cp -ln "$archives"/*.deb "$root/var/cache/apt/archives/" 2>/dev/null ||
		cp -n "$archives"/*.deb "$root/var/cache/apt/archives/" || true
}

to_cache()
{
	[ -z "$archives" ] ||
		cp -ln "$root/var/cache/apt/archives"/*.deb "$archives/" 2>/dev/null || true
}

# The tree as it is committed, and what runs in there.
give_tree()
{
	echo '[safe] directory = *' >"$dir/gitconfig"
	GIT_CONFIG_GLOBAL=$dir/gitconfig timeout 120 git clone -q --bare "file://$PWD" \
		"$root/srv/inject.git" >"$dir/log" 2>&1 ||
		cannot "git cannot clone this tree: $(tail -n 1 "$dir/log")"
	cp README.md tools/fresh_inside.sh "$root/srv/"
	[ -z "$(GIT_CONFIG_GLOBAL=$dir/gitconfig git status --porcelain 2>/dev/null)" ] ||
		say "what is not committed is not checked"
}

make_root()
{
	timeout -k 10 300 tools/deps.sh fresh {alive}>&- {lock}>&- >"$dir/log" 2>&1 ||
		cannot "mmdebstrap cannot be installed"
	host_apt
	in_namespaces 400 mmdebstrap --mode=root --variant=minbase --keyring="$dir/keys" \
		--aptopt="$dir/apt.conf" --skip=output/mknod --format=directory \
		$SUITE "$root" "$dir/sources.list" >"$dir/log" 2>&1 ||
		cannot "mmdebstrap: $(grep -m 1 '^E: ' "$dir/log")"
	take_over
	from_cache
	give_tree
}

trap finish EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT
possible
rm -rf --one-file-system "$dir"
mkdir "$dir"
guarded
begin=$SECONDS
make_root
say "a Debian root ($SUITE) made in $((SECONDS - begin)) s"
status=0
in_namespaces 4500 bash "$PWD/tools/fresh_enter.sh" "$root" || status=$?
to_cache
[ -e "$checking" ] || cannot "$(tail -n 1 "$root/srv/why" 2>/dev/null || echo "it cannot be entered")"
checked=yes
exit $status
