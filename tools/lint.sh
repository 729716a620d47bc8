#!/bin/bash
# SPDX-License-Identifier: MIT
# lint: what can be judged without running the program. Every check runs, then
# the status says whether one complained. A tool that is missing is named.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0

# check NAME COMMAND...
check()
{
	local out

	if ! command -v "$2" >/dev/null; then
		echo "SKIP $1: no $2 here"
		return
	fi
	if out=$("${@:2}" 2>&1); then
		echo "PASS $1"
	else
		echo "FAIL $1"
		printf '%s\n' "$out" | sed 's/^/    /'
		bad=1
	fi
}

mapfile -t files < <(git ls-files 2>/dev/null || find . -type f -not -path './build*')
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep -E '\.(c|h|S|cc)$')
mapfile -t c_files < <(printf '%s\n' "${files[@]}" | grep -E '^(base|values|arch|symbols|plan|payload|injector|trace)/.*\.c$')
mapfile -t scripts < <(for f in "${files[@]}"; do
	[ -f "$f" ] && head -n 2 "$f" | grep -qE '^#!.*\b(ba)?sh|shellcheck shell=' && echo "$f"
done)

# The second line of a file says its licence, or the first.
licensed()
{
	local f got=0

	for f in "$@"; do
		head -n 2 "$f" | grep -q 'SPDX-License-Identifier: MIT' && continue
		echo "$f: no SPDX line"
		got=1
	done
	return "$got"
}

# 100 columns is the limit of code; tabs count as eight. A message is not
# broken in two for it: it could not be searched for.
narrow()
{
	local f got=0

	for f in "$@"; do
		# grep, not awk: mawk has no {30,}.
		expand "$f" | grep -nE '^.{101,}' | sed "s|^|$f:|" |
			grep -vE '".{30,}"' && got=1
	done
	return "$got"
}

short_files()
{
	wc -l "$@" | awk '$2 != "total" && $1 > 600 {
		print $2 ": " $1 " lines"; bad = 1
	} END { exit bad }'
}

no_debts()
{
	! grep -nE '\b(TO''DO|FIX''ME|X''XX)\b' "$@"
}

no_trailing_space()
{
	! grep -nE '[ 	]+$' "$@"
}

# inject(1) explains every reason for a refusal, under the word that list prints.
refusals_explained()
{
	local word got=0

	while read -r word; do
		grep -qx "\.It $word" man/inject.1 && continue
		echo "man/inject.1: does not explain $word"
		got=1
	done < <(sed -n 's/^	X(\([A-Z_]*\), "\([a-z-]*\)".*/\2/p' plan/plan.h | grep -vx none)
	return "$got"
}

# Threads, code and bytes are no persons: sentences name what acts. These places do so; a
# user may be a "who" (audit.*), and a license is not ours to change.
named=(README.md HACKING.md docs arch base payload plan symbols trace tests values
	injector/{infect,islands,launch,log,modules,options,patch,proc,ptrace,reader,remote}
	injector/{session,show,verbs})
names_what_acts()
{
	! grep -rnwiE 'who|whoever|whom|nobody|somebody|anybody|everybody|he|him|his|himself' \
		--exclude='audit.*' --exclude='LICENSE.*' "$@"
}

# What varies with a runtime is a field of its table: its name stands in files of its own, and
# where the tables list all. (modules.c has names of files.)
runtimes_in_their_files()
{
	! grep -nE '\b(Go|OCaml|musl|glibc|goroutines?)\b' "$@"
}
mapfile -t generic < <(printf '%s\n' "${sources[@]}" | grep -E '^(plan|injector)/' |
	grep -vE '/(runtime_[a-z]*|threads_[a-z]*|threads|runtime|modules)\.[ch]$')

check 'layers' tools/layers.sh
check 'runtimes' runtimes_in_their_files "${generic[@]}"
check 'words' names_what_acts "${named[@]}"
check 'circles' python3 tools/circles.py "${BUILD:-build}"
check 'licence lines' licensed "${sources[@]}" "${scripts[@]}"
check 'columns' narrow "${sources[@]}"
check 'file lengths' short_files "${sources[@]}"
check 'no debts' no_debts "${sources[@]}" "${scripts[@]}"
check 'no trailing space' no_trailing_space "${sources[@]}" "${scripts[@]}"
check 'shellcheck' shellcheck -x -e SC1090,SC1091,SC2317,SC2119,SC2120,SC2015,SC2012 "${scripts[@]}"
check 'codespell' codespell -L failer,daa,ot,fo,te,nd,ba,ans,hist,inout,tha,rela "${files[@]}"
# What it cannot know: symbols of the linker belong to one object, prototypes
# leave names out, an out parameter is written by whoever is given it, and a
# block in a list is not leaked.
check 'cppcheck' cppcheck --quiet --error-exitcode=1 --inline-suppr \
	--enable=warning,portability --std=c11 --suppress=missingInclude \
	--suppress=comparePointers --suppress=funcArgOrderDifferent \
	--suppress=ctuuninitvar --suppress=memleak:symbols/names/demangle.c \
	-I. -D_GNU_SOURCE -D__x86_64__ -D__CPPCHECK__ "${c_files[@]}"
check 'refusals in the man page' refusals_explained
check 'man page' mandoc -T lint -W warning man/inject.1
exit $bad
