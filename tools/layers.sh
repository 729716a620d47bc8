#!/bin/sh
# SPDX-License-Identifier: MIT
#
# layers: do the includes point one way, floor by floor?
#
#	injector
#	plan  trace
#	arch  symbols  payload
#	values
#	base
#
# The payload has two things of arch: cpu.h, the instructions that C has no words
# for, and stand.h, what stubs push; and of values reads.h, what is read of a call, condition.h,
# whether it passes, and condition_early.h, what one register says of that.
# The injector's rooms are floors, too. Also: only
# arch/ asks which instruction set this is, only symbols/ reads ELF through libraries
# (and knows no ptrace), no file is over 600 lines, and no two files include each other
# in a circle. Prints each violation as file:line: text; exit 1 if there are any.

cd "$(dirname "$0")/.." || exit 2

status=0

# What files of a directory may include of the project; a rule per directory.
allowed() {
	case $1 in
	base) echo 'base/' ;;
	values) echo 'base/|values/' ;;
	arch) echo 'base/|arch/|payload/(abi|page|stub)\.h' ;;
	symbols) echo 'base/|values/|symbols/' ;;
	payload) echo 'payload/|values/(reads|condition(_early)?)\.h|arch/(cpu|stand)\.h' ;;
	plan) echo 'base/|arch/arch\.h|symbols/symbols\.h|payload/(abi|page|stub)\.h|plan/' ;;
	trace) echo 'base/|values/|payload/(abi|callers)\.h|symbols/(symbols|names/shorten)\.h|trace/' ;;
	injector) echo 'base/|values/|arch/|symbols/|payload/(abi|page|stub)\.h|plan/(plan|placement)\.h|trace/|injector/' ;;
	esac
}

# The rooms of a folder, from the bottom up: each includes itself and those before it. `.` is what
# lies in the folder itself; its headers that all rooms share are named behind.
rooms_of() {
	case $1 in
	symbols) echo 'elf unwind names funcs . lines types' ;;
	plan) echo 'text flow arrive choose .' ;;
	trace) echo 'format output write read show export' ;;
	injector) echo 'log proc switches modules ptrace session remote islands infect patch launch reader' \
		'options show verbs' ;;
	esac
}

shared_of() {
	case $1 in
	symbols) echo 'symbols/symbols\.h' ;;
	plan) echo 'plan/(plan|placement|impl|runtime|arrivals)\.h' ;;
	esac
}

# Print violations of one rule, if there are any, under its name.
report() {
	found=$(cat)
	[ -z "$found" ] && return
	printf 'layers: %s\n%s\n' "$1" "$found"
	status=1
}

sources() {
	find "$@" -type f \( -name '*.c' -o -name '*.h' -o -name '*.S' \) 2>/dev/null | sort
}

check_arrows() {
	for dir in base values arch symbols payload plan trace injector; do
		[ -d "$dir" ] || continue
		report "$dir includes what is not below it" <<-END
		$(sources "$dir" | xargs -r grep -nH '^[ \t]*#[ \t]*include[ \t]*"' |
			grep -vE "include[ \t]*\"($(allowed "$dir"))")
		END
	done
	# Every file says where what it includes is, from the top.
	report 'an include that is no path from the top' <<-END
	$(sources base values arch symbols payload plan trace injector 2>/dev/null |
		xargs -r grep -nH '^[ \t]*#[ \t]*include[ \t]*"[^/"]*"')
	END
}

check_rooms() {
	for top in symbols plan trace injector; do
		below=$(shared_of $top)
		for room in $(rooms_of $top); do
			dir=$top/$room depth=
			[ "$room" = . ] && dir=$top depth='[a-z_]*\.[ch]"' room=
			below="$below|$top/${room:+$room/}$depth"
			report "$dir includes what is not below it" <<-END
			$(sources "$dir" | { [ "$room" ] && cat || grep -E "^$top/[^/]*$"; } |
				xargs -r grep -nH "^[ \t]*#[ \t]*include[ \t]*\"$top/" |
				grep -vE "include[ \t]*\"(${below#|})")
			END
		done
		report "a file of $top/ that is in none of its rooms" <<-END
		$(sources $top | sed 's/$/"/' | grep -vE "^(${below#|})")
		END
	done
}

check_libraries() {
	report 'symbols knows no process' <<-END
	$(sources symbols base values plan trace | xargs -r grep -nHE \
		'#[ \t]*include[ \t]*<(sys/ptrace|sys/user|libunwind[^>]*)\.h>')
	END
	report 'only symbols reads ELF and DWARF through libraries' <<-END
	$(sources base values arch payload plan trace injector | xargs -r grep -nHE \
		'#[ \t]*include[ \t]*<(libelf|gelf|dwarf|elfutils/[^>]*)\.h>')
	END
	report 'only arch disassembles' <<-END
	$(sources base values symbols payload plan trace injector | xargs -r grep -nHE \
		'#[ \t]*include[ \t]*<capstone')
	END
	report 'the payload includes nothing but itself and freestanding headers' <<-END
	$(sources payload | xargs -r grep -nHE '#[ \t]*include[ \t]*<' |
		grep -vE '<(stdint|stddef|stdbool|stdarg|limits|stdatomic|asm/[^>]*|linux/[^>]*)\.h>')
	END
}

check_instruction_sets() {
	report 'only arch asks for the instruction set' <<-END
	$(sources base values symbols payload plan trace injector | xargs -r grep -nHE \
		'^[ \t]*#[ \t]*(if|ifdef|ifndef|elif).*(__x86_64__|__amd64__|__i386__|__aarch64__|__arm__|__ARM_)')
	END
}

check_sizes() {
	report 'over 600 lines' <<-END
	$(sources base values arch symbols payload plan trace injector tests tools demo bench \
		2>/dev/null | while read -r f; do
		lines=$(wc -l < "$f")
		[ "$lines" -gt 600 ] && echo "$f:$lines: $lines lines"
	done)
	END
}

# tsort names the files of every circle on standard error.
check_circles() {
	report 'files include each other in a circle' <<-END
	$(sources base values arch symbols payload plan trace injector |
		xargs -r grep -H '^[ \t]*#[ \t]*include[ \t]*"' |
		sed 's/^\([^:]*\):[^"]*"\([^"]*\)".*/\1 \2/' | tsort 2>&1 >/dev/null)
	END
}

check_arrows
check_rooms
check_libraries
check_instruction_sets
check_sizes
check_circles
exit $status
