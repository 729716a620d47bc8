#!/bin/bash
# SPDX-License-Identifier: MIT
# balance: of every function of a program and of its libraries, each call that was
# entered has an exit, or there is a cause for it that the program has counted: a
# throw, a longjmp, a thread that ends, the end of the process. The rest of the
# differences has a cause that the trace shows. With SOAK the programs do more.
# timeout: 480
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"
# shellcheck source=tests/balance_lib.sh
. "$ROOT/tests/balance_lib.sh"

# On arm64 what never returns calls others with the stack pointer that it has itself, and is taken
# for left then: _start, and what a thread begins with. And in a program that is linked to one
# address the C library calls main by a jump that stands behind _start and has no name of its own:
# an exit that nothing has entered by.
[ "$(uname -m)" = x86_64 ] && begins=0 wraps='' || begins=1 wraps='|^_start@'

big=${SOAK:+200}
[ -z "$big" ] || buffer=1G

# Throws, leaps, threads that end, forks, and handlers that do not return.
program balance '* *@*' "$VICTIMS/balance" "${big:-10}0"
awk '$1 == "made" { print $2, $4, $3 }' probed.out >left
throws=$(cause throws) leaps=$(cause leaps) quits=$(cause quits)
handlers=$(cause handlers_left) threads=$(cause threads)
# In libc: longjmp; raise and what it calls; start_thread; and pthread_exit, by three
# functions down to a longjmp, with one of libgcc.
cat >>left <<EOF
_start $begins
__cxa_throw $throws
__cxa_rethrow $(cause rethrows)
libc.so.6? $((leaps + handlers + 2 * handlers + (1 + begins) * threads + 4 * quits))
libgcc_s.so.1? $quits
EOF
balanced balance '@ld-linux'

# A library alone, with the program that uses it.
if command -v sqlite3 >/dev/null; then
	cat >work.sql <<EOF
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < ${big:-30}0)
	insert into t select i, hex(i * 7919 % 10007), i * 1.5 from n;
create index tb on t(b);
select count(*), sum(c) from t where b like '3%';
select length(group_concat(b)) from t order by c;
update t set c = c + 1 where a % 3 = 0;
delete from t where a % 7 = 0;
select count(*) from t x join t y on x.a = y.a + 1;
insert into t select a + 100000, b, c from t;
pragma integrity_check;
vacuum;
EOF
	echo "_start $begins" >left
	program sqlite3 '* *@libsqlite3*' sqlite3 :memory: '.read work.sql'
	balanced sqlite3
else
	echo "no sqlite3 here"
fi

# An interpreter, whose exceptions are no C++ ones, with all of its libraries.
python=$(readlink -f /usr/bin/python3 || true)
if [ -x "$python" ]; then
	cat >work.py <<'EOF'
import sys, threading

rounds = int(sys.argv[1])
if rounds > 2:
    import json

def down(n):
    if n == 0:
        raise ValueError
    return down(n - 1) + 1

def numbers(n):
    for i in range(n):
        yield i

def work():
    for i in range(rounds):
        try:
            down(9)
        except ValueError:
            pass
        for x in numbers(9):
            if x == 5:
                break
        if rounds > 2:
            json.loads(json.dumps({'a': [1, 2, {'b': i}]}))

threads = [threading.Thread(target=work) for i in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("cause threads", len(threads))
EOF
	program python3 "*${big:+ *@*}" "$python" -S work.py "${big:-2}"
	: >left
	[ -z "$big" ] || echo "libc.so.6? $(((1 + begins) * $(cause threads)))" >left
	balanced python3 "@ld-linux$(late)$wraps"
else
	echo "no python3 here"
fi

# Rust, with threads.
if command -v rg >/dev/null; then
	echo "_start $begins" >left
	program ripgrep '*' rg -j 2 --sort path -c include "$ROOT/base" "$ROOT/trace"
	balanced ripgrep
else
	echo "no ripgrep here"
fi

# A server that is busy when the probes come, and when they go.
if command -v redis-server >/dev/null; then
	need redis-cli python3
	redis_begin
	# Not as fast as it can be: inject may get a processor late.
	load redis-cli -p "$port" -r 500 -i 0.001 lpush list x
	rm -rf recorded
	: >left
	# In one stop, however slow: a call that returns between two of a removal may find its
	# exit removed, and its caller's not, and seems to have been unwound.
	LIMIT=150 status 0 "$INJECT" record -q -m "$buffer" -o recorded -p "$server" -f '*' -f '*@*' \
		-n "${big:-5}0000" --max-pause 10s
	load_ended 'error|refused'
	balanced redis-server '' 1
else
	echo "no redis-server here"
fi
