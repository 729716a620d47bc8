#!/bin/bash
# SPDX-License-Identifier: MIT
# fresh_inside: in the fresh root that tools/fresh.sh has made: README's commands, `make
# check`, and a look at what is installed then, and what of it was used. Ends with the
# status of the checks; the last line is theirs. Until /srv/checking is there, what fails
# is the root's fault, and /srv/why says what.
set -uo pipefail

cd /srv || exit 1
export LC_ALL=C
failed=0
info=/var/lib/dpkg/info

say() { echo "fresh: $*"; }
why() { echo "$*" >why; exit 1; }

# limited SECONDS LOG COMMAND...
limited() { timeout -k 10 "$1" "${@:3}" >"$2" 2>&1 </dev/null; }

# README's two commands, without what only a user needs who is not root.
commands() { sed -n '/^## Try it/,/^## Use it/s/^sudo //p' README.md | sed 's/sudo //g; s,URL,/srv/inject.git,'; }

installed() { dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' | sed -n 's/^ii *//p' | sort -u; }

readme()
{
	local begin=$SECONDS
	local -a lines

	mapfile -t lines < <(commands)
	[ ${#lines[@]} = 2 ] || why "README has ${#lines[@]} commands, not two"
	limited 400 log bash -c "${lines[0]}" || why "${lines[0]%% &&*}...: $(tail -n 1 log)"
	say "README's first command: $((SECONDS - begin)) s"
	begin=$SECONDS
	if limited 600 log bash -c "${lines[1]}"; then
		say "README's second command: $((SECONDS - begin)) s"
		return
	fi
	# Packages that do not come are not its fault.
	limited 300 deps.log inject/tools/deps.sh build || why "$(tail -n 1 deps.log)"
	echo "FAIL README's second command, ${lines[1]}"
	tail -n 60 log | sed 's/^/    /'
	failed=1
}

packages()
{
	local begin=$SECONDS

	limited 1200 log inject/tools/deps.sh build test || why "$(tail -n 1 log)"
	say "packages of tests: $((SECONDS - begin)) s"
}

# A file that is read from now on tells so: this long before, a read is noted with any
# mount option but noatime.
forget_reads()
{
	find / -xdev -path /srv -prune -o \( -type f -o -type l \) -print0 |
		xargs -0 touch -h -a -d '3 days ago'
	stamp=$(date +%s)
}

# Paths as packages have them, be they below /usr or not.
plain() { sed -E 's,^/usr/(bin|sbin|lib|lib64)/,/\1/,'; }

# used: the packages a file of which was read since, but for what is no use.
used()
{
	find / -xdev \( -path /srv -o -path /usr/share/doc -o -path /var/lib/dpkg \) -prune -o \
		\( -type f -o -type l \) -newerat "@$stamp" -print | plain >touched
	(cd $info && for list in *.list; do
		package=${list%.list}
		grep -v ^/usr/share/doc "$list" | plain | sed "s,^,${package%:*} ,"
	done) | awk 'NR == FNR { read[$0]; next } substr($0, length($1) + 2) in read { print $1 }' \
		touched - | sort -u
}

# not_needed: what nothing would keep here but the names that are marked. What packages say is
# never to be removed (postgresql's say it of the server, which the one that is named only
# depends on) apt is not told.
not_needed()
{
	echo 'Dir::Etc::Parts "/dev/null";' >no-parts
	APT_CONFIG=no-parts apt-get -s -o APT::AutoRemove::RecommendsImportant=0 -o APT::AutoRemove::SuggestsImportant=0 \
		autoremove | sed -n 's/^Remv \([^ ]*\).*/\1/p' | sort | comm -23 - before
}

# idle NAME: nothing of it was used, nor of what is here for its sake only. (Certificates are
# read when the site answers that a suite comes from, which is the network's affair.)
idle()
{
	local own

	[ "$1" != ca-certificates ] || return 1
	! grep -qx "$1" used.packages || return 1
	apt-mark auto "$1" >/dev/null
	own=$(not_needed | comm -23 - extra)
	apt-mark manual "$1" >/dev/null
	[ -n "$own" ] && [ -z "$(comm -12 - used.packages <<<"$own")" ]
}

# What is installed, and was used, against the list in the tree.
compare()
{
	local package

	inject/tools/deps.sh --list build test | sort -u >named
	installed >now
	apt-mark showmanual | sed 's/:.*//' | sort -u >asked
	sort -u before named >expected
	comm -23 asked expected | sed 's/^/fault: installed, and not named in tools\/deps.sh: /'
	comm -13 now named | sed 's/^/fault: named in tools\/deps.sh, and not there: /'
	used >used.packages
	[ -s used.packages ] || { say "files here do not tell when they were read"; return; }
	mapfile -t names <named
	{ apt-mark auto '.*' && apt-mark manual git make "${names[@]}"; } >/dev/null
	not_needed >extra
	comm -12 extra used.packages | sed 's/^/fault: used by tests, and not named in tools\/deps.sh: /'
	while read -r package; do
		! idle "$package" || echo "fault: named in tools/deps.sh, and not used by tests: $package"
	done <named
}

# The line that sums up is the last.
all_but_last()
{
	local line

	: >last
	while IFS= read -r line; do
		if [[ $line =~ ^[0-9]+\ passed,\ [0-9]+\ failed$ ]]; then
			echo "$line" >last
		else
			printf '%s\n' "$line"
		fi
	done
}

check()
{
	local begin=$SECONDS

	make -C inject --no-print-directory check 2>&1 </dev/null | all_but_last
	[ "${PIPESTATUS[0]}" = 0 ] || failed=1
	say "make check: $((SECONDS - begin)) s"
}

: >why
{ installed; echo git; echo make; } | sort -u >before
readme
packages
forget_reads
: >checking
check
compare
say "whole: $SECONDS s, $(du -sxm --exclude=/var/cache / | cut -f1) MiB"
cat last
exit $failed
