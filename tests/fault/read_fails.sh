#!/bin/bash
# SPDX-License-Identifier: MIT
# read_fails: a trace directory of which a part cannot be read. Every verb reads the
# rest, ends with 0, and says what is missing with its place: never is a failure taken
# for the end of a file.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

FAILER=$BUILD/tests/fault/failer
EIO=5
PREAD64=${CALL[pread64]} GETDENTS64=${CALL[getdents64]} OPENAT=${CALL[openat]}
NEWFSTATAT=${CALL[newfstatat]}

# Some packets in each of two files, plain and compressed.
victim spin_threads 2
enough() { [ "$("$INJECT" info "$1" 2>/dev/null | sed -n 's/^packets	//p')" -ge 6 ]; }
for name in plain squeezed; do
	[ $name = plain ] && options=() || options=(--compress)
	inject_bg record -p "$VICTIM" -f 'count_*' -o $name "${options[@]}"
	tell pace '^ok pace' >/dev/null
	wait_until 20 enough $name || die "too little is recorded"
	tell end '^counted' >/dev/null
	inject_end
done
victim_quit

# What there is to show, each as words of a command without the directory.
READS=(info replay 'replay --json' report graph)
status 2 "$INJECT" export --to nothing plain
read -ra formats < <(sed -n 's/.*the format is //p' trace.err | sed 's/,\| or / /g')
for format in "${formats[@]}"; do
	READS+=("export --to $format -o exported")
done
[ ${#READS[@]} -gt 12 ] || die "not all formats are tried: ${READS[*]}"

# told DIR PATTERN [COMMAND...]: all of them say so. COMMAND runs them.
told()
{
	local read words

	for read in "${READS[@]}"; do
		read -ra words <<<"$read"
		rm -rf exported
		status 0 "${@:3}" "$INJECT" "${words[@]}" "$1"
		grep -q "^inject: $1.*$2" trace.err || die "inject $read does not say '$2'"
	done
}

# damaged OF: a copy of it, to be damaged further, in `bad`.
damaged() { rm -rf bad && cp -r "$1" bad; }

for of in plain squeezed; do
	stream=$(basename "$(ls $of/stream_1*)")
	damaged $of
	rm "bad/$stream"
	told bad "/stream_1: the last [0-9]* of"
	mkdir "bad/$stream"
	told bad "/$stream cannot be read: it is no file"
	rmdir "bad/$stream"
	ln -s "$stream" "bad/$stream"
	told bad "/$stream cannot be read: it is no file"
	rm "bad/$stream"
	mkfifo "bad/$stream"
	told bad "/$stream cannot be read: it is no file"
done
# Root may read everything, but for what it has left to others.
if [ "$(id -u)" != 0 ]; then
	bound=(env)
elif command -v setpriv >/dev/null; then
	bound=(setpriv --bounding-set "-dac_override,-dac_read_search")
fi
if [ -n "${bound[*]:-}" ]; then
	damaged plain
	chmod 000 bad/stream_1
	told bad "/stream_1: [0-9]* bytes from byte 0 on cannot be read: Permission denied" \
		"${bound[@]}"
fi

# failing CALL N COMMAND...: its n-th such call from the first that names a stream
# fails; returns 1 if it makes fewer.
failing()
{
	status 0 "$FAILER" -a stream_ -o "$1" -n "$2" -e $EIO -- "${@:3}"
	[ "$(sed -n 's/^failer: \([0-9]*\) .*/\1/p' trace.err)" -ge "$2" ]
}

# each_fails CALL COMMAND...: each of them in turn, and it is said. Where all is slow some of them.
[ "${PATIENCE:-1}" = 1 ] && step=1 || step=4
each_fails()
{
	local n

	for ((n = 1; ; n += step)); do
		rm -rf exported
		failing "$1" $n "${@:2}" || break
		grep -q "$cannot" trace.err || die "call $1, $n of it: nothing said: ${*:2}"
	done
	[ $n -gt 1 ] || die "no call $1 at all: ${*:2}"
	! grep -q '^inject: ' trace.err || die "a complaint without a cause: ${*:2}"
}

cannot='^inject: .*/stream_.*byte [0-9]* .*cannot be read: Input/output error'
for of in plain squeezed; do
	each_fails "$PREAD64" "$INJECT" report $of
	each_fails "$PREAD64" "$INJECT" export --to ctf -o exported $of
	each_fails "$OPENAT" "$INJECT" report $of
done
# The others have what these have.
for read in "${READS[@]}"; do
	read -ra words <<<"$read"
	rm -rf exported
	failing "$PREAD64" 1 "$INJECT" "${words[@]}" plain || die "inject $read reads nothing"
	grep -q "$cannot" trace.err || die "inject $read does not say what it cannot read"
done
failing "$NEWFSTATAT" 1 "$INJECT" report plain || die "no file is looked at"
grep -q '/stream_[01] cannot be read: Input/output error' trace.err ||
	die "a file that cannot be looked at is not named"
# And the list of files itself.
status 0 "$FAILER" -o "$GETDENTS64" -n 1 -e $EIO -- "$INJECT" report plain
grep -q 'plain cannot be listed to its end.*: Input/output error' trace.err ||
	die "the list of files is taken for whole"
