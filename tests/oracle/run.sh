#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2015,SC2012 # programs in quotes; names of versions
#
# Where do real programs arrive, and is any of that inside of what the plan changes?
# run.sh BUILD [quick | NAME...]: all programs, or these; in the current directory.
#
# Each program runs under qemu-user, whose plugin (plugin.c) logs every place that is
# entered otherwise than by falling into it. No analysis of the project's has a part in
# that. check.c then makes the plan of all functions of each file that was run, and looks
# for these places in it. Status 1: one is inside. 77: there is no emulator.
#
# JOBS=1: so many at a time. LIMIT=200: seconds that each program may take; one that takes
# longer is ended, and what was seen by then counts. ORACLE_LOGS=DIR: programs whose log is
# there are not run again, so another build can be asked the same; new logs go there.
set -u
export LC_ALL=C.UTF-8
[ $# -ge 1 ] || { echo "usage: run.sh BUILD [quick | NAME...]" >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
shift
tools=$build/tests/oracle
loads=$here/loads
limit=${LIMIT:-200}
logs=${ORACLE_LOGS:-$PWD/logs}
cpu=max
mkdir -p "$logs" && logs=$(cd "$logs" && pwd) || exit 2

qemu=$(command -v qemu-x86_64) || { echo "skipped: no qemu-x86_64 (package qemu-user)"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "skipped: the emulator's plugin is for x86-64"; exit 77; }
"$qemu" -plugin "$tools/plugin.so,out=$PWD/probe.log" /bin/true 2>/dev/null && [ -s probe.log ] ||
	{ echo "skipped: this qemu-x86_64 takes no plugins of API 1"; exit 77; }

# What is not here is said.
need()
{
	local c

	for c; do
		command -v "$c" >/dev/null || [ -e "$c" ] || { echo "no $c here"; return 1; }
	done
}

# emulate COMMAND...: into the log of the program that is on.
emulate()
{
	local path

	path=$(type -P "$1") || return
	timeout -k 5 "$limit" nice "$qemu" -cpu "$cpu" -plugin "$tools/plugin.so,out=$log" \
		"$path" "${@:2}" </dev/null >>out 2>&1
	[ $? != 124 ] || echo "ended after $limit s" >>out
}

do_bash()
{
	emulate /bin/bash -c 'declare -A a; f() { local x=$1; [ "$x" -le 0 ] || f $((x - 1)); }
		for ((i = 0; i < 300; i++)); do a[k$i]=$((i * i % 7)); s+=${i/1/x}${s:2:3}; f 5; done
		case $s in *x*) echo "${s^^}" | while read -r l; do echo "${#l}"; done;; esac
		[[ $s =~ ([0-9]+)x ]] && printf "%q %05d %s\n" "${BASH_REMATCH[1]}" 42 "${!a[*]}"
		trap "echo t" EXIT; x=$(echo {a..z}{1..3}); set -- $x; shift 3; echo "$@" "${x//a?/b}"
		eval "g() { echo \$FUNCNAME; }"; g; echo $(< /etc/passwd) | read -a w; wait; (exit 3) || echo $?'
}

do_tools()
{
	head -c 400000 "$tools/check" >data
	emulate /bin/gzip -9k data; emulate /bin/gzip -1c data; emulate /bin/gzip -dc data.gz
	if need xz bzip2; then emulate xz -k -T2 -6 data; emulate xz -dc data.xz; emulate bzip2 -kf data; emulate bzip2 -dc data.bz2; fi
	emulate /bin/sort -k2 -n "$here/check.c"; emulate /bin/sed -E 's/(\w+) (.*)/\2 \1/g;y/abc/xyz/' "$here/check.c"
	emulate /bin/grep -rnE '\b(foo|[a-z]+_t)\b.*;' "$here"; emulate /bin/grep -P '(?<=x)\w+?(?!z)' "$here/check.c"
	emulate /usr/bin/awk '{ n[$1]++; gsub(/[a-z]+/, "<&>"); s = s sprintf("%d %s", NR, toupper($0)) } END { for (k in n) print k, n[k]; print length(s), sin(1) }' "$here/check.c"
	emulate /bin/tar czf data.tgz "$here"; emulate /usr/bin/find "$here" -name '*.c' -size +1k -newer /etc/passwd
	emulate /usr/bin/diff -u "$here/check.c" "$here/plugin.c"; emulate /bin/ls -laR --color=always "$here"; emulate /bin/date '+%c %j'
	emulate /usr/bin/sha512sum data; emulate git -C "$here" log --stat -5; emulate rg -n 'a+b|\w{5,}' "$here"; emulate jq -n '[range(50)] | map(. * 2) | add'
}

do_perl() { emulate /usr/bin/perl "$loads/all.pl" "${1:-20}"; }
do_sqlite() { need sqlite3 && emulate sqlite3 -cmd ".read $loads/all.sql" :memory: .quit; }
do_ruby() { need /usr/bin/ruby && emulate /usr/bin/ruby -W0 "$loads/all.rb" && emulate /usr/bin/ruby --yjit -W0 "$loads/all.rb" 3; }
do_luajit() { need luajit && emulate luajit -joff "$loads/all.lua" && emulate luajit "$loads/all.lua" 20; }

do_python_quick()
{
	emulate /usr/bin/python3 -Ic 'import json, re, struct, decimal, collections, random
class A:
	def __getattr__(self, n): return n
	def __add__(self, o): return 1
def g(n):
	try:
		yield from range(n)
	finally: pass
for t in range(30):
	d = {str(i): i * 1.5 for i in range(200)}; json.loads(json.dumps([d, None, True, "\u00fc\n"]))
	re.sub(r"(\w+)-(?P<x>\d+)(?!z)", r"\g<x>\1", "abc-123 d-4" * 20); struct.pack("<iqdhs", 1, 2, 3.5, 4, b"x")
	sorted(d, key=lambda k: -d[k]); "%5.2f %r %x" % (1.5, d, 255); f"{t:>10,d} {t!r:^9}"; (2**300 // 7**50) % 97; str(decimal.Decimal(1) / 7)
	set(g(50)) | {1} - frozenset((2, 3)); A().q; A() + 1; collections.Counter("abcab").most_common(); bytes(d.keys().__len__()).hex(); [*zip(*[iter("abcdef")] * 2)]
	try: {}["x"]
	except KeyError as e: str(e)
	try: exec("1 +")
	except SyntaxError: pass
	match [1, {"a": t}]:
		case [1, {"a": int(x)}] if x > 3: pass
'
}

# Tests of python's own, where they are: many short runs rather than one that is ended.
do_python()
{
	local t

	do_python_quick
	/usr/bin/python3 -c 'import test.support' 2>/dev/null || { echo "no libpython3-testsuite here"; return; }
	for t in test_re test_json test_struct test_dict test_set test_bytes test_unicode test_float \
		test_long test_format test_generators test_itertools test_collections test_descr \
		test_exceptions test_zlib test_bz2 test_hashlib test_pickle test_datetime test_math \
		test_ctypes test_grammar test_array test_asyncio.test_tasks test_sqlite3 test_syntax \
		test_decimal test_traceback test_coroutines test_patma test_memoryview test_codecs; do
		limit=${PYTHON_LIMIT:-25} emulate /usr/bin/python3 -m unittest -q "test.$t"
	done
}

do_ocaml()
{
	need ocamlopt ocamlc || return
	cp "$loads/all.ml" .
	emulate ocamlopt.opt -w -a -o ml.opt all.ml || return
	[ -x ml.opt ] || ocamlopt -w -a -o ml.opt all.ml >>out 2>&1
	ocamlc -w -a -o ml.byte all.ml >>out 2>&1
	emulate ./ml.opt
	emulate ocamlrun ml.byte
}

# A second of a moving picture and of a tone: encoded and decoded, each codec by itself.
do_ffmpeg()
{
	local c kind codec options
	local -a ff=(ffmpeg -y -hide_banner -loglevel error)
	local -a in=(-f lavfi -i testsrc2=s=176x144:r=10:d=0.7 -f lavfi -i 'sine=r=48000:d=0.4')

	need ffmpeg || return
	while read -r kind codec options; do
		ffmpeg -hide_banner -h "encoder=$codec" 2>/dev/null | grep -q '^Encoder' || continue
		rm -f coded.mkv coded.nut
		# shellcheck disable=SC2086
		limit=${CODEC_LIMIT:-15} emulate "${ff[@]}" "${in[@]}" -map "$kind" -strict -2 \
			-c "$codec" $options -f nut coded.nut
		# shellcheck disable=SC2086 # a slow one may have been ended
		[ -s coded.nut ] && ffmpeg -v quiet -i coded.nut -f null - </dev/null ||
			"${ff[@]}" "${in[@]}" -map "$kind" -strict -2 -c "$codec" $options \
				-f nut coded.nut </dev/null >>out 2>&1 || continue
		limit=${CODEC_LIMIT:-15} emulate "${ff[@]}" -i coded.nut -f null -
	done <<-END
		0:v mpeg4 -flags +mv4+aic -bf 2
		0:v mpeg2video -bf 2 -flags +ildct+ilme
		0:v mpeg1video
		0:v h263p
		0:v msmpeg4
		0:v wmv2
		0:v flv
		0:v svq1
		0:v mjpeg
		0:v ffv1 -level 3 -coder 1
		0:v ffvhuff
		0:v utvideo -pred median
		0:v magicyuv
		0:v snow
		0:v jpeg2000
		0:v prores_ks
		0:v dnxhd -b:v 36M -s 1280x720 -pix_fmt yuv422p -r 25
		0:v libx264 -preset slow
		0:v libx265 -preset fast
		0:v libvpx -cpu-used 4
		0:v libvpx-vp9 -cpu-used 5
		0:v libsvtav1 -preset 10
		0:v libtheora
		0:v libwebp
		0:v libxvid
		0:v cfhd -pix_fmt yuv422p10le
		0:v vc2
		0:v cinepak -s 64x64
		0:v png
		0:v gif
		0:v tiff
		1:a aac
		1:a ac3
		1:a eac3
		1:a dca
		1:a mp2
		1:a libmp3lame
		1:a flac
		1:a alac
		1:a libvorbis
		1:a vorbis -ac 2
		1:a libopus
		1:a opus
		1:a adpcm_ima_wav
		1:a adpcm_ms
		1:a wmav2
		1:a tta
		1:a wavpack
		1:a libspeex -ar 16000
		1:a sbc -ar 44100
		1:a truehd
		1:a aptx -ac 2
		1:a libtwolame
	END
	for options in scale=320:240:flags=lanczos,format=yuv420p10 hqdn3d,unsharp,eq=contrast=1.2 \
		yadif,gblur,format=rgb24,hue=h=30 split[a][b]\;[a][b]blend=multiply,boxblur minterpolate=fps=20; do
		emulate "${ff[@]}" "${in[@]}" -map 0:v -vf "$options" -f null -
	done
	emulate "${ff[@]}" "${in[@]}" -map 1:a -af aresample=44100,volume=0.5,atempo=1.2,equalizer=f=999:w=100:g=3,afftdn -f null -
}

do_openssl()
{
	local a cap

	need openssl || return
	# What its assembly is chosen by; the emulator has no AVX-512.
	for cap in '' ':~0x20' '~0x200000200000000' '~0x1a00000000000000:~0x128' 0:0; do
		export OPENSSL_ia32cap=$cap
		[ -n "$cap" ] || unset OPENSSL_ia32cap
		for a in sha1 sha256 sha512 md5 sha3-256 blake2b512 sm3 ripemd160; do
			emulate openssl dgst "-$a" "$tools/check"
		done
		for a in aes-128-cbc aes-256-ctr aes-256-ecb aes-128-ofb chacha20 camellia-256-cbc des-ede3-cbc; do
			emulate openssl enc "-$a" -pbkdf2 -iter 10 -pass pass:x -in "$tools/check" -out enc.out
			emulate openssl enc -d "-$a" -pbkdf2 -iter 10 -pass pass:x -in enc.out -out /dev/null
		done
		for a in aes-128-gcm aes-256-ccm aes-128-ocb chacha20-poly1305 aes-128-xts aes-128-cbc-hmac-sha1 aes-256-cbc-hmac-sha256; do
			limit=20 emulate openssl speed -seconds 1 -evp "$a"
		done
		limit=40 emulate openssl speed -seconds 1 rsa2048 ecdsap256 ecdhx25519 dsa1024 ed25519 ecdhp384 ghash
		emulate openssl genpkey -algorithm rsa -pkeyopt rsa_keygen_bits:1024 -out rsa.key
		emulate openssl req -x509 -key rsa.key -subj /CN=x -out x.pem
		emulate openssl verify -CAfile x.pem x.pem
	done
	unset OPENSSL_ia32cap
	emulate openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:secp521r1
	emulate openssl dhparam 256
	emulate openssl pkcs12 -export -inkey rsa.key -in x.pem -passout pass:x -out x.p12
	emulate openssl x509 -in x.pem -text
	emulate openssl cms -sign -signer x.pem -inkey rsa.key -in x.pem -out x.cms
	emulate openssl prime 123456789012345678901234567891
}

do_go()
{
	local p go
	local -x GOCACHE=$PWD/go-cache CGO_ENABLED=0 GOFLAGS=-p=2

	go=$(command -v go || ls -1 /usr/lib/go-*/bin/go 2>/dev/null | tail -n 1)
	[ -n "$go" ] || { echo "no go here"; return; }
	for p in strings sort regexp encoding/json fmt math/big compress/bzip2 crypto/sha256 strconv \
		bytes bufio text/template container/list go/parser sync hash/crc32 reflect time; do
		timeout 300 nice "$go" test -c -o "test.${p//\//_}" "$p" >>out 2>&1 || continue
		limit=${GO_LIMIT:-30} emulate "./test.${p//\//_}" -test.short -test.run '^Test[A-R]' -test.timeout 60s
	done
	emulate "$("$go" env GOTOOLDIR)/compile" -p main -o go.o "$here/../victims/go_http/main.go"
	limit=60 emulate "$go" vet fmt
}

do_node() { need node && emulate node "$loads/all.js" 4 && emulate node --jitless "$loads/all.js" 2; }

do_cc()
{
	need gcc g++ || return
	gcc -E -D_GNU_SOURCE -I"$here/../.." -o c.i "$here/plugin.c" >>out 2>&1
	g++ -E -o cc.ii "$loads/all.cc" >>out 2>&1
	emulate "$(gcc -print-prog-name=cc1)" -quiet -fpreprocessed -O2 -o cc.s c.i
	emulate "$(gcc -print-prog-name=cc1plus)" -quiet -fpreprocessed -O1 -w -o cc2.s cc.ii
	g++ -O1 -w -pthread -o all_cc "$loads/all.cc" >>out 2>&1
	emulate ./all_cc
	emulate "$(gcc -print-prog-name=as)" -o cc.o cc.s
	emulate /usr/bin/ld -r -o cc2.o cc.o
}

# All variants of the string functions that the emulator's processor can be told to have:
# which is what names them, not how the program gets at them.
do_strings()
{
	local t

	for t in '' -ERMS,-FSRM -BMI2 -AVX2,-AVX_Fast_Unaligned_Load \
		-AVX2,-AVX_Fast_Unaligned_Load,-ERMS -AVX2,-AVX_Fast_Unaligned_Load,-SSE4_2,-SSE4_1 \
		-AVX2,-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Copy,Fast_Copy_Backward \
		-AVX2,-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Copy,-SSE4_2,Prefer_ERMS \
		-AVX2,-AVX_Fast_Unaligned_Load,-SSSE3,-SSE4_1,-SSE4_2,Fast_Unaligned_Load \
		-AVX2,-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Load,-Fast_Unaligned_Copy,-SSSE3,-SSE4_1,-SSE4_2 \
		-AVX2,-AVX_Fast_Unaligned_Load,Slow_BSF,Slow_SSE4_2,Prefer_PMINUB_for_stringop; do
		for cpu in max qemu64; do
			GLIBC_TUNABLES=glibc.cpu.hwcaps=$t emulate "$tools/strings" "${1:-1}"
		done
	done
	cpu=max
	GLIBC_TUNABLES=glibc.cpu.x86_non_temporal_threshold=0x4040:glibc.cpu.x86_rep_movsb_threshold=0x1000 emulate "$tools/strings" "${1:-1}"
}

do_strings_quick() { emulate "$tools/strings" 4; GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX_Fast_Unaligned_Load emulate "$tools/strings" 4; }

# What no emulator can do, and this processor can.
do_strings_stepped()
{
	local t

	grep -qw avx512vl /proc/cpuinfo || { echo "no AVX-512 here"; return; }
	for t in '' Prefer_No_AVX512_Probing,memory Prefer_No_AVX512_Probing,-ERMS,memory \
		-AVX512VL,memory -ERMS,memory; do
		# shellcheck disable=SC2046 # a word or none
		GLIBC_TUNABLES=glibc.cpu.hwcaps=${t%memory} timeout -k 5 "$limit" nice "$tools/step" \
			"$log" "$tools/strings" 16 $([ "${t%memory}" = "$t" ] || echo memory) >>out 2>&1
	done
}

run_program()
{
	log=$logs/$1.log
	[ -s "$log" ] && return
	rm -rf "run.$1" && mkdir "run.$1" && cd "run.$1" || return
	local start=$SECONDS

	"do_$1" | sed "s/^/$1: /"
	# Files that are gone when the plan is made are not asked.
	touch "$log"
	LC_ALL=C sort -u -o "$log" "$log"
	LC_ALL=C awk -F'\t' -v name="$1" -v s=$((SECONDS - start)) 'NF == 4 && $4 != "k" && last != $1 $2 { n++; last = $1 $2 }
		!($1 in f) { f[$1]; files++ } END { printf "%-15s %7d places in %3d files, %d s\n", name, n, files, s }' "$log"
}

# Lines of one log whose files are as they were then. (A package that is installed anew keeps the
# time at which its files were made.)
current()
{
	local f

	while read -r f; do
		[ -e "$f" ] || continue
		if [ "$(stat -c %Z "$f")" -gt "$(stat -c %Y "$1")" ]; then echo "$f: has changed since" >&2; else echo "$f"; fi
	done < <(cut -f1 "$1" | LC_ALL=C sort -u) >files
	awk -F'\t' 'NR == FNR { are[$0]; next } NF == 4 && $1 in are' files "$1"
}

check()
{
	local f got=0 all=$PWD/all.log

	for f in "$logs"/*.log; do current "$f"; done | LC_ALL=C sort -u >"$all"
	: >results
	while read -r f; do
		grep -aF "$f	" "$all" >one.log
		nice "$tools/check" "$f" one.log >>results 2>&1
		case $? in
		0) ;;
		1) got=1 ;;
		*) echo "$f: not judged" >>results ;;
		esac
	done < <(cut -f1 "$all" | uniq)
	grep -E '^(BAD|past)' results
	grep -vE '^(BAD|past)' results | awk -F'[:;,] ' -v few="$quick" '
		/ places, / { files++; split($0, w, " "); for (i in w) { k = w[i + 1]; sub(/[,;]$/, "", k); n[k] += w[i] }
			if (!few) print; next }
		{ print }
		END { printf "%d files: %d places, %d arrivals; %d functions, %d windows; %d led, %d past, %d resumed, %d bad\n",
			files, n["places"], n["arrivals"], n["functions"], n["windows"], n["led"], n["past"], n["resumed"], n["bad"]
			exit !n["places"] || !n["windows"] }' || got=1
	return $got
}

quick=
programs=(bash tools perl sqlite python ruby luajit ocaml ffmpeg openssl go node cc strings strings_stepped)
if [ "${1:-}" = quick ]; then
	quick=1
	do_perl_quick() { do_perl 2; }
	do_gzip() { emulate /bin/gzip -9c "$tools/check"; }
	programs=(bash gzip perl_quick sqlite python_quick strings_quick)
elif [ $# -gt 0 ]; then
	programs=("$@")
fi
for p in "${programs[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do wait -n; done
	(run_program "$p") &
done
wait
check
