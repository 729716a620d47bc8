# SPDX-License-Identifier: MIT
# Completion of inject(1) for bash: verbs, options, and PIDs of processes.
# shellcheck shell=bash

_inject_pids() {
	local pid
	for pid in /proc/[0-9]*; do
		# Kernel threads execute no file; of others we may not know.
		[ -e "$pid/exe" ] && printf '%s\n' "${pid#/proc/}"
	done
}

# What all verbs take that show calls of a directory.
_inject_reading() {
	echo -f --function -N --exclude -t --min-duration -D --depth -n --calls \
		--tid --since --until -o --output --short-names -q --quiet -v --verbose \
		--no-color -h --help -V --version
}

# What all verbs take that have the process count.
_inject_counting() {
	echo -p --pid -f --function -N --exclude --usdt --around --at --inlined -n --calls -d --duration --tid \
		-o --output --trap --max-pause --max-overhead --log --follow-exec --follow-fork \
		--json --short-names -q --quiet -v --verbose --no-color -h --help -V --version
}

_inject_options() {
	case $1 in
	list)
		echo -p --pid -f --function -N --exclude --usdt --around --at --inlined -o --output \
			-s --string --deep --entry-only --trap --stubs --short-names -q --quiet -v --verbose \
			--no-color -h --help -V --version
		;;
	stop)
		echo -p --pid --force --log --max-pause -q --quiet -v --verbose \
			--no-color -h --help -V --version
		;;
	record)
		echo -p --pid -f --function -N --exclude --usdt --around --at --inlined -t --min-duration \
			-w --when -D --depth -n --calls -d --duration \
			--tid -o --output -m --buffer -a --args -A --arg -s --string --deep --unguarded \
			--stack --entry-only --trap --off-cpu --max-pause \
			--max-overhead --log --max-size --min-free --rotate --compress --follow-exec --follow-fork \
			-q --quiet -v --verbose \
			--no-color \
			-h --help -V --version
		;;
	slow)
		echo -p --pid -f --function -N --exclude --around --recipe --from --to --by --within -t --min-duration \
			-w --when -D --depth -n --calls -d --duration --tid -o --output -m --buffer \
			-A --arg -s --string --deep --unguarded --stack --trap --time --off-cpu --max-pause \
			--follow-exec --follow-fork --log --json --short-names \
			-q --quiet -v --verbose --no-color -h --help -V --version
		;;
	count)
		_inject_counting
		;;
	hist)
		echo "$(_inject_counting)" -m --buffer -A --arg -s --string --deep --since --until --top \
			--off-cpu
		;;
	top)
		echo "$(_inject_counting)" --sort --off-cpu
		;;
	start)
		echo -p --pid -f --function -N --exclude --usdt --around --at --inlined -t --min-duration -w --when \
			-D --depth -m --buffer --keep --snapshot-on -o --output \
			-a --args -A --arg -s --string --deep --unguarded --stack \
			--entry-only --max-pause --max-overhead --log -q --quiet -v \
			--verbose --no-color -h --help -V --version
		;;
	add)
		echo -p --pid -f --function -N --exclude --usdt -t --min-duration -w --when -D --depth \
			-a --args -A --arg -s --string --deep --unguarded --stack \
			--entry-only --max-pause --log -q --quiet -v --verbose --no-color -h --help -V --version
		;;
	filter)
		echo -p --pid -t --min-duration -w --when -D --depth --log -q --quiet -v --verbose --no-color \
			-h --help -V --version
		;;
	remove)
		echo -p --pid -f --function -N --exclude --max-pause --log -q --quiet \
			-v --verbose --no-color -h --help -V --version
		;;
	status)
		echo -p --pid --json -q --quiet -v --verbose --no-color -h --help -V --version
		;;
	snapshot)
		echo -p --pid -o --output --wait --log -q --quiet -v --verbose --no-color \
			-h --help -V --version
		;;
	replay)
		echo "$(_inject_reading)" --time --json
		;;
	report)
		echo "$(_inject_reading)" --sort --diff --by --top --json --subtract-overhead
		;;
	graph)
		echo "$(_inject_reading)" --by --subtract-overhead
		;;
	export)
		echo "$(_inject_reading)" --to --by --subtract-overhead
		;;
	info)
		echo -o --output -q --quiet -v --verbose --no-color -h --help \
			-V --version
		;;
	*)
		echo -p --pid -f --function -N --exclude --usdt --around --at --inlined -t --min-duration -w --when \
			-D --depth -n --calls -d --duration --tid -o --output \
			-m --buffer -a --args -A --arg -s --string --deep --unguarded \
			--stack --entry-only --trap --time --off-cpu --max-pause \
			--max-overhead --follow-exec --follow-fork --log --json --short-names \
			-q --quiet -v --verbose --no-color -h --help -V --version
		;;
	esac
}

_inject_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_inject() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local verb=trace

	case ${COMP_WORDS[1]} in
	trace | slow | list | stop | record | count | hist | top | start | status | add | remove | filter | snapshot | replay | \
		report | graph | info | export) verb=${COMP_WORDS[1]} ;;
	esac
	COMPREPLY=()
	# Behind "--" stands a command, with a completion of its own.
	local i
	for ((i = 1; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" = -- ] && \
			[[ " trace slow record count hist top " == *" $verb "* ]] || continue
		if declare -F _command_offset >/dev/null; then
			_command_offset $((i + 1))
		else
			mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
		fi
		return
	done
	case $prev in
	-p | --pid)
		_inject_words "$(_inject_pids)" "$cur"
		return
		;;
	-o | --output | --log)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--diff)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	--recipe)
		_inject_words "$(inject help slow 2>/dev/null | sed -n 's/^  \([^ -][^ ]*\)  .*/\1/p')" "$cur"
		return
		;;
	--to)
		[ "$verb" != slow ] || return
		_inject_words "chrome ctf dot folded perfetto pprof speedscope svg uftrace" "$cur"
		return
		;;
	--keep)
		_inject_words "first last" "$cur"
		return
		;;
	--sort)
		if [ "$verb" = top ]; then
			_inject_words "rate wall calls total self cpu wait avg p99 max" "$cur"
		else
			_inject_words "total self cpu wait calls avg min max p50 p99" "$cur"
		fi
		return
		;;
	-f | --function | -N | --exclude | --usdt | --around | --at | --from | --within | -t | --min-duration | -w | --when | -D | --depth | \
		-n | --calls | -d | --duration | --tid | -m | --buffer | --max-pause | \
		--max-overhead | --max-size | --min-free | --since | --until | --snapshot-on | --by | --top)
		return
		;;
	esac
	case $cur in
	-*)
		_inject_words "$(_inject_options "$verb")" "$cur"
		;;
	*)
		if [ "$COMP_CWORD" -eq 1 ]; then
			_inject_words "trace slow list stop record count hist top start status add remove filter \
				snapshot replay report graph info export" "$cur"
		elif [ "$verb" = list ]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		elif [[ $verb == rep* || $verb == snapshot || $verb == graph || $verb == info || $verb == export ]]; then
			mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		fi
		;;
	esac
}

complete -o filenames -F _inject inject
