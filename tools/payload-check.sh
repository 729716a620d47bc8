#!/bin/sh
# SPDX-License-Identifier: MIT
# payload-check: is what will run inside the target free of what would harm it?
#	payload-check.sh payload.so loader.elf [build directory of the .po files]
# The payload needs no library and no symbol, has no constructor, but one
# relocation, little thread-local storage and one exported function, uses no
# vector or x87 register, breaks no chain of frame pointers, makes no system call where
# calls are recorded, and takes little of the application's stack. The
# loader is text alone, without relocations, and begins with its entry point.
set -eu
export LC_ALL=C
# Of the instruction set that these are of: OBJDUMP, if it is not the host's.
: "${OBJDUMP:=objdump}"

bad=0
fail()
{
	echo "payload-check: $*" >&2
	bad=1
}

so=${1:?usage: payload-check.sh payload.so loader.elf}
loader=${2:?usage: payload-check.sh payload.so loader.elf}

dynamic=$(readelf -dW "$so")
for tag in NEEDED TEXTREL INIT FINI INIT_ARRAY FINI_ARRAY PREINIT_ARRAY RPATH RUNPATH; do
	if echo "$dynamic" | grep -q "($tag)"; then
		fail "$so: has a dynamic entry $tag"
	fi
done

undefined=$(nm -D --undefined-only "$so")
[ -z "$undefined" ] || fail "$so: undefined symbols: $undefined"

exported=$(nm -D --defined-only "$so" | awk '$2 != "A" { print $3 }')
[ "$exported" = payload_hello ] || fail "$so: exports $exported"

# The offset of the thread-local block is all that may be relocated: where no
# loader does that, it stays 0, and says so.
odd=$(readelf -rW "$so" | awk '$3 ~ /^R_/ && $3 !~ /_(TPOFF64|TLS_TPREL64)$/ { print $3 }')
[ -z "$odd" ] || fail "$so: relocations $odd"

tls=$(readelf -lW "$so" | awk '$1 == "TLS" { print $6 }')
# As much as the threads of Go's runtime have room for (injector/ptrace/threads_go.c).
if [ $((${tls:-0})) -eq 0 ] || [ $((${tls:-0})) -gt 32 ]; then
	fail "$so: thread-local storage of $tls bytes, not 1 to 32"
fi

readelf -lW "$so" | awk '$1 == "GNU_STACK" { print $(NF - 1) }' | grep -q E &&
	fail "$so: wants an executable stack"

case $(readelf -hW "$so" | sed -n 's/^ *Machine: *//p') in
AArch64)
	vectors='[[:space:]{](v|q|d|s|h|b)[0-9]+(\.|,|\}|\]|$)'
	base=x29 bases='x29, x30, \[sp|x29, x30, \[sp\]|mov[[:space:]]+x29, sp|\[x29'
	# Of the id of a thread; and what the stub pushes.
	gettid='#0xb2' readv='#0x10e' pushed=48
	# Behind Go's question for room are 864 bytes and more, and more where it makes a stack
	# for signals, as no other has (5 KiB at least).
	most=840 captured=1240
	;;
*)
	vectors='%([xyz]mm|st|mm[0-7]|k[0-7])|[[:space:]](f(ld|st|xsave|xrstor)|emms)'
	base='%[er]?bpl?' bases='(push|pop) +%rbp|mov +%rsp,%rbp|\(%rbp'
	# shellcheck disable=SC2016 # an operand
	gettid='$0xba,%eax' readv='$0x136,%eax' pushed=24 most=700
	captured=1100
	;;
esac

# What touches such registers stores them, and loads what it has stored (arch/*/vectors.S).
for f in "$so" "$loader"; do
	vector=$("$OBJDUMP" -d --no-show-raw-insn "$f" | awk '
		/^[0-9a-f]+ <.*>:$/ { f = $2 }
		f ~ /^<values_(vectors(_all)?|x87)>:/ && /movups +%xmm[0-9]+,|fxsave64|stp\tq/ { next }
		{ print }' | grep -E "$vectors" || true)
	[ -z "$vector" ] || fail "$f: uses vector or x87 state:
$vector"
done

"$OBJDUMP" -d --no-show-raw-insn "$so" | grep -w popf &&
	fail "$so: restores a debugger's trap flag"

# A process may have confined itself since it said hello, and be killed for what it does
# not do by itself. Only the id of a thread is asked for, where nothing else tells it;
# with breakpoints a handler needs the kernel anyway; and where values are captured, memory is read
# by the kernel if no filter is against it.
calls=$("$OBJDUMP" -d --no-show-raw-insn "$so" | awk -v gettid="$gettid" -v readv="$readv" '
	/^[0-9a-f]+ <.*>:$/ { f = $2; nr = "?"; next }
	$2 == "mov" && $3 ~ /,%[er]ax$/ { nr = $3 }
	$2 == "mov" && $3 == "x8," { nr = $4 }
	($2 == "syscall" || $2 == "svc") && nr != gettid && f !~ /^<payload_(hello|trap)>:/ &&
			!(nr == readv && f ~ /^<values_ask/) {
		print f, nr }')
[ -z "$calls" ] || fail "$so: makes system calls: $calls"

frames=$("$OBJDUMP" -d --no-show-raw-insn "$so" | grep -E "$base\>" | grep -vE "$bases" || true)
[ -z "$frames" ] || fail "$so: uses the frame pointer for something else:
$frames"

# docs/order.md: a record, and a frame's offset, are seen behind what was stored before; on arm64
# only if they are stored so. In routines that record x0 is the record, and x30 the offset's place.
if [ "$base" = x29 ]; then
	unordered=$("$OBJDUMP" -D -j .rodata --no-show-raw-insn "$so" | awk '
		/^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f)
			is = f ~ /^(hot|seek)_((go|tight)_)?(entry|exit|mark)$/
			if (is) left[f] = f ~ /^(hot|seek)_entry$/ ? 2 : 1
			next }
		is && $2 == "stlr" && /\[x0\]|\[x30\]/ { left[f]-- }
		is && $2 ~ /^st[rpu]/ && /\[x0\]/ { print f ":", $0 }
		END { for (f in left) { n++; if (left[f] > 0) print f ": no stlr" }
			if (n != 18) print n + 0, "routines" }')
	[ -z "$unordered" ] || fail "$so: records without order: $unordered"
fi

# What C may change is stored before it is called, and loaded from there again: hardly a function of
# C changes all of these, so that no test finds each of them missing. Stored are also the registers
# that values are read from; and the frame pointer is set.
if [ "$base" = x29 ]; then
	unkept=$("$OBJDUMP" -d --no-show-raw-insn "$so" | awk '
		/^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f)
			is = f ~ /^slow_(entry|exit|mark|goroutine|count|tight|first)$/ ||
				f ~ /^slow_(guard|(watch|values)_(entry|exit))$/
			n += is; called = 0
			for (i = 0; is && i < 16; i += 2)
				want[f, "x" i ", x" i + 1 ", [sp, #" 16 + 8 * i "]"] = 2
			if (is) want[f, "x18, [sp, #144]"] = 2
			if (is) want[f, "x29, sp"] = 1
			for (i = 19; f ~ /_(guard|values_.*)$/ && is && i < 29; i += 2)
				want[f, "x" i ", x" i + 1 ", [sp" (i > 19 ? ", #" 8 * (i - 19) : "") "]"] = 1
			next }
		!is { next }
		$2 == "bl" { called = 1 }
		{ what = $0; sub(/^[^\t]*\t[a-z]+\t/, "", what); key = f SUBSEP what }
		!(key in want) { next }
		!called && $2 ~ /^(st|mov$)/ || called && $2 ~ /^ld/ { want[key]-- }
		END { for (key in want) if (want[key]) { split(key, part, SUBSEP)
				print part[1] ":", part[2] }
			if (n != 12) print n + 0, "functions" }')
	[ -z "$unkept" ] || fail "$so: registers that are not kept: $unkept"
fi

start=$(nm "$loader" | awk '$3 == "loader_start" { print $1 }')
[ "$start" = 0000000000000000 ] || fail "$loader: loader_start at $start, not at 0"
sections=$(readelf -SW "$loader" | sed 's/^ *\[ *[0-9]*\]//' |
	awk '$7 ~ /A/ && $1 != ".text" { print $1 }')
[ -z "$sections" ] || fail "$loader: needs sections $sections"

# Direct calls only, but of values_load, so the deepest chain is the sum down the call graph. Where
# values are captured it may be longer: docs/limits.md.
deepest=$("$OBJDUMP" -d --no-show-raw-insn "$so" | awk '
	/^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f); next }
	f == "" { next }
	$2 == "push" || $2 == "pushf" { own[f] += 8 }
	$2 == "sub" && $3 ~ /^\$0x[0-9a-f]+,%rsp$/ {
		split($3, part, ","); own[f] += hex(substr(part[1], 4)) }
	$2 == "sub" && $3 == "sp," && $4 == "sp," { own[f] += hex(substr($5, 4)) }
	/\[sp, #-[0-9]+\]!/ { n = $0; sub(/.*\[sp, #-/, "", n); own[f] += n + 0 }
	$2 == "call" || $2 == "bl" || (($2 == "jmp" || $2 == "b") && $4 !~ /\+/) {
		g = $4; gsub(/[<>]/, "", g); sub(/\+.*/, "", g)
		if (g != "" && g != f && !((f, g) in seen)) {
			seen[f, g] = 1; calls[f] = calls[f] " " g
			if ($2 == "call") ret[f, g] = 8 } }
	$2 == "call" && $3 ~ /^\*/ || $2 == "blr" {
		seen[f, "values_load"] = 1; calls[f] = calls[f] " values_load"
		if ($2 == "call") ret[f, "values_load"] = 8 }
	function hex(s,  i, n) {
		for (i = 1; i <= length(s); i++)
			n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return n }
	function depth(f, level,  list, n, i, d, most) {
		if (level > 30) return 100000
		if (f ~ /^(values|callers)_take/ && !values) return 0
		n = split(calls[f], list, " "); most = 0
		for (i = 1; i <= n; i++) {
			d = depth(list[i], level + 1) + ret[f, list[i]]
			if (d > most) most = d }
		return own[f] + most }
	END {
		most = depth("slow_entry", 0)
		if ((d = depth("slow_exit", 0)) > most) most = d
		if ((d = depth("slow_mark", 0)) > most) most = d
		if ((d = depth("slow_goroutine", 0)) > most) most = d
		if ((d = depth("slow_count", 0)) > most) most = d
		if ((d = depth("slow_watch_entry", 0)) > most) most = d
		if ((d = depth("slow_watch_exit", 0)) > most) most = d
		if ((d = depth("slow_tight", 0)) > most) most = d
		if ((d = depth("slow_first", 0)) > most) most = d
		values = 1
		if ((d = depth("slow_values_entry", 0)) < depth("slow_values_exit", 0))
			d = depth("slow_values_exit", 0)
		if (d < depth("slow_guard", 0)) d = depth("slow_guard", 0)
		# On a goroutine: an exit takes no callers.
		g = depth("values_goroutine", 0) + 8
		exits = g + own["payload_values_exit"]
		more = depth("callers_take_moved", 0) - depth("values_take", 0)
		if (more > 0) exits -= more
		g += own["payload_values_entry"]
		if (g < exits) g = exits
		print most + 15, d + 15, own["slow_values_exit"] + 8 + g + 15 }')
goroutines=${deepest##* } deepest=${deepest% *}
captures=${deepest#* } deepest=${deepest% *}
# What slow.S may lose to alignment is in it.
[ $((deepest + pushed)) -lt $most ] || fail "$so: takes $deepest bytes of stack"
[ $((captures + pushed)) -lt $captured ] ||
	fail "$so: takes $captures bytes of stack where values are captured"

# Functions of Go have 928 behind their question for room, on x86-64: there values are captured,
# too.
if [ "$base" != x29 ] && [ $((goroutines + pushed)) -gt 912 ]; then
	fail "$so: takes $goroutines bytes of a goroutine's stack where values are captured"
fi

[ $bad = 0 ] && echo "payload-check: ok, at most $((deepest + pushed)) bytes of stack;" \
	"$((captures + pushed)) where values are captured"
exit $bad
