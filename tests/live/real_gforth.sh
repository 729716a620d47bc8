#!/bin/bash
# SPDX-License-Identifier: MIT
# real_gforth: an interpreter of direct threaded code: its programs are lists of addresses in the
# middle of one function, made at run time, also while all of its functions are probed.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gforth-fast

# It defines words of other words, and says what they make of a number.
cat >define.fs <<'END'
: mix ( n -- n ) 12345 + dup 7 rshift xor dup 3 mod if 1103515245 * else negate then ;
: many ( n -- n ) 200 0 do mix i + loop ;
variable line# 0 line# !
create buffer 256 allot
: round ( -- ) s" : word" buffer place line# @ 0 <# #s #> buffer +place
	s"  many mix " buffer +place line# @ 0 <# #s #> buffer +place
	s"  xor ; 42 word" buffer +place line# @ 0 <# #s #> buffer +place
	buffer count evaluate . 1 line# +! ;
: rounds ( n -- ) 0 do round loop cr ;
END
run() { "$@" define.fs -e "$many rounds bye" 2>err.out; }

many=300
run gforth-fast >want.out
[ "$(wc -w <want.out)" = $many ] || { cat err.out; die "gforth computes something else"; }
for what in '*@exe' '*'; do
	run "$INJECT" -f "$what" -o record -- gforth-fast >got.out
	cmp want.out got.out || die "$what: not the same from the start"
	rm -rf record
done

# Attached to, in its midst.
mkfifo server.in
gforth-fast define.fs <server.in >server.out 2>&1 9>&- &
SERVER=$!
started $SERVER
exec 8>server.in
for i in 1 2 3 4 5 6; do
	[ $((i % 2)) = 1 ] || inject_bg -p $SERVER -f '*@exe' -o record
	echo "0 line# ! 40 rounds .\" round$i \" cr" >&8
	wait_until 60 has_line "^round$i " server.out || { tail -n 3 server.out; die "no round $i"; }
	[ $((i % 2)) = 1 ] || { inject_end; clean $SERVER; rm -rf record; }
done
grep -aoE '(-?[0-9]+ ){40}' server.out | sort -u >rounds.out
[ "$(wc -l <rounds.out)" = 1 ] || { cat rounds.out; die "rounds differ"; }
cut -d' ' -f1-40 want.out | diff - <(sed 's/ $//' rounds.out) || die "not as from the start"
kill $SERVER
