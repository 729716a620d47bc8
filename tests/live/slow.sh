#!/bin/bash
# SPDX-License-Identifier: MIT
# slow: only calls that take long are shown, with arguments, result and callers; and spans from a call
# to another, in whichever threads these are. Recipes are found, read and refused; those for locks,
# memory and TLS show what happens.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq
victim spanned

# run: calls, of which the victim tells how many took long only for want of a processor.
run() { read -r _ _ LATE < <(tell run '^run '); }

# not_late: the calls that are shown, without more of those than the victim has had; as if they had
# been meant to take long.
not_late()
{
	[ "$(grep -c '| request_whole(ms=0)' trace.out)" -le "$LATE" ] || die "not so late: $(cat trace.out)"
	sed 's/request_whole(ms=0)/request_whole(ms=40)/; s/request_logged(what="fast")/request_logged(what="slow")/' \
		trace.out
}

# Calls, and their callers.
inject_bg slow -p "$VICTIM" -f request_whole -t 30ms
run
inject_end
removed
[ "$(grep -c 'request_whole(ms=40);' trace.out)" = 6 ] || { cat trace.out; die "not the slow calls"; }
[ "$(grep -c 'at main+0x.* (spanned)' trace.out)" -ge 6 ] || { cat trace.out; die "no callers"; }

# A call that takes long enough to be taken for one that hangs is told with all that is known of it.
inject_bg slow -p "$VICTIM" -f request_whole -t 100ms
for _ in 1 2 3; do tell long '^long' >/dev/null; done
inject_end
removed
[ "$(grep -c 'request_whole(ms=400);' trace.out)" = 3 ] &&
	[ "$(grep -c 'at main+0x.* (spanned)' trace.out)" = 3 ] || { cat trace.out; die "not all of a long call"; }

# Slow calls with all that they have made, as short as that may be; and none of the others'.
inject_bg slow -p "$VICTIM" -f request_whole --within request_logged -t 30ms -n 5
run
WANT=0 inject_wait
removed
not_late | sed -n 's/^[^|]*| //p' >got
for _ in 1 2 3 4 5; do
	printf '%s\n' 'request_whole(ms=40) {' '  request_logged(what="slow");' '} /* request_whole */'
done >want
cmp got want || { cat trace.out; die "not the slow calls with what they have made"; }
inject_bg slow -p "$VICTIM" -f request_whole --within 'request_*' -t 1ns --json
run
inject_end
removed
[ "$(jq -s '[.[] | select(.func == "request_whole")] | length' trace.out)" = 120 ] &&
	[ "$(jq -s '[.[] | select(.func == "request_logged" and .depth == 1)] | length' trace.out)" = 120 ] ||
	die "not all calls with what they have made"

# Spans that begin in one thread, and end in another: by the values that both have.
inject_bg slow -p "$VICTIM" --from request_begins --to request_ends:return --by id -t 20ms --json
before=$(wc -l <victim.out)
run
inject_end
removed
tail -n +$((before + 1)) victim.out | grep '^lasted ' >lasted
python3 - lasted trace.out <<'EOF' || die "others than the victim has measured"
import json, sys
spans = {}
for line in open(sys.argv[2]):
    o = json.loads(line)
    if o['type'] == 'call':
        i = int(o['args']['id'])
        assert i not in spans and o['func'] == 'request_begins' and o['tid'] != 0, o
        assert o['args']['what'] == '"GET /%d"' % i and o['until']['args']['id'] == str(i), o
        assert o['until']['func'] == 'request_ends' and o['until']['ret'] == '0', o
        spans[i] = o['dur_ns']
n = 0
for line in open(sys.argv[1]):
    _, i, least, most = line.split()
    i, least, most = int(i), int(least), int(most)
    n += least >= 20e6
    if i in spans:
        assert most >= 20e6 and least * .999 <= spans[i] <= most * 1.001 + 1000, (i, least, most, spans[i])
    else:
        assert least < 20.1e6, (i, least)
print(n, 'slow', len(spans), 'shown')
assert n >= 12
EOF

# In one thread: what ends lies in the call that has begun.
inject_bg slow -p "$VICTIM" --from request_whole --to request_logged -t 30ms -n 4
run
WANT=0 inject_wait
removed
[ "$(not_late | grep -c '^ *[0-9.]* ms \[.*| request_whole(ms=40) \.\. request_logged(what="slow");$')" = 4 ] ||
	{ cat trace.out; die "not the spans within calls"; }

# A condition is for what begins; and what goes on is shown at the end.
inject_bg slow -p "$VICTIM" --from request_begins --to no_such_call --to request_logged -t 1ns \
	-w 'id == 7'
run
inject_end
removed
[ "$(grep -c 'request_begins(id=7, what="GET /7") = 7 \.\. request_logged\|request_begins(id=7, what="GET /7") \.\. request_logged' trace.out)" = 1 ] ||
	{ cat trace.out; die "not what the condition holds for"; }
! grep -q 'id=[^7]' trace.out || { cat trace.out; die "spans that it does not hold for"; }
inject_bg slow -p "$VICTIM" --from request_begins --to takes_memory -t 1ns
run
inject_end
removed
[ "$(grep -c 'request_begins: still open' trace.out)" = 1 ] ||
	{ cat trace.out; die "what has not ended is not shown"; }
status 1 "$INJECT" slow -p "$VICTIM" --from request_begins --to request_logged --by id -t 1ms
has_line "inject: --by id: request_logged has no such value" trace.err || die "$(cat trace.err)"
unharmed

# Recipes: of the user, by a path, and what is wrong in them.
mkdir -p .config/inject/recipes
printf '# mine, of whole requests\nfunction request_wh*\nmin-duration 30ms\nstack 0\n' \
	>.config/inject/recipes/mine
HOME=$PWD "$INJECT" help slow >listed
has_line '^  mine  *mine, of whole requests$' listed || { cat listed; die "mine is not listed"; }
has_line '^  locks ' listed || { cat listed; die "ours are not listed"; }
HOME=$PWD inject_bg slow -p "$VICTIM" --recipe mine
run
inject_end
[ "$(grep -c 'request_whole(ms=40);' trace.out)" = 6 ] || { cat trace.out; die "not as mine says"; }
! grep -q ' at ' trace.out || die "mine wants no callers"
inject_bg slow -t 1m -p "$VICTIM" --recipe ./.config/inject/recipes/mine
run
inject_end
! grep -q 'request' trace.out || die "the line's -t does not hold"
status 2 "$INJECT" slow -p "$VICTIM" --recipe none
has_line "^inject: no recipe 'none'; there are:" trace.err || die "$(cat trace.err)"
printf '# x\n\nfunction a\noutput /etc/passwd\n' >wrong
status 2 "$INJECT" slow -p "$VICTIM" --recipe ./wrong
has_line '^inject: recipe ./wrong, line 4: output is no option of a recipe' trace.err || die "$(cat trace.err)"
status 2 "$INJECT" slow -p "$VICTIM" --recipe /dev/zero
has_line 'the recipe /dev/zero is no file' trace.err || die "$(cat trace.err)"
# Each of ours is one.
for recipe in "$ROOT"/share/recipes/*; do
	"$INJECT" slow --recipe "$recipe" 2>trace.err && die "no process"
	grep -q 'no process named' trace.err || { cat trace.err; die "$recipe is wrong"; }
done

# What waits for a lock, and whose that is.
inject_bg slow -p "$VICTIM" --recipe locks -t 30ms
read -r _ holder waiter < <(tell locks '^locks ')
inject_end
removed
grep -q "\[ *$waiter\] | pthread_mutex_lock(lock=0x[0-9a-f]*{holder=$holder}) = 0;" trace.out &&
	grep -q "\[ *$waiter\] | pthread_rwlock_rdlock(lock=0x[0-9a-f]*{holder=$holder}) = 0;" trace.out ||
	{ cat trace.out; die "locks: holder $holder, waiter $waiter"; }
grep -q 'at waits+0x.* (spanned)' trace.out || { cat trace.out; die "locks: no callers"; }

# Memory.
inject_bg slow -p "$VICTIM" --recipe malloc -t 1ns
tell memory '^memory$' >/dev/null
inject_end
removed
for call in 'malloc(size=12345) = 0x' 'calloc(n=3, size=777)' 'realloc(from=0x[0-9a-f]*, size=54321) = 0x' \
	'free(from=0x' 'malloc_trim(pad=99) = '; do
	grep -q "| $call" trace.out || { cat trace.out; die "malloc: no $call"; }
done
unharmed
victim_quit

# TLS: a handshake, and a read that waits.
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	>openssl.out 2>&1 || skip "no openssl here"
cat >client.py <<'EOF'
import socket, ssl, sys, threading, time
server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain('cert.pem', 'key.pem')
listening = socket.create_server(('127.0.0.1', 0))
def serve():
    while True:
        raw = listening.accept()[0]
        time.sleep(0.08)
        s = server.wrap_socket(raw, server_side=True)
        time.sleep(0.1)
        s.sendall(b'x' * int(s.recv(9)))
        s.close()
threading.Thread(target=serve, daemon=True).start()
client = ssl.create_default_context(cafile='cert.pem')
print('ready', flush=True)
for line in sys.stdin:
    with client.wrap_socket(socket.create_connection(listening.getsockname()),
                            server_hostname='localhost') as s:
        s.sendall(b'321')
        print('got', len(s.recv(999)), flush=True)
EOF
mkfifo python.in
python3 client.py <python.in >python.out 2>python.err 9>&- &
python=$!
started $python
exec 8>python.in
wait_until 30 has_line '^ready$' python.out || { cat python.err; skip "python has no ssl here"; }
echo >&8
wait_until 30 has_line '^got 321$' python.out || die "no TLS"
inject_bg slow -p "$python" --recipe tls -t 50ms
echo >&8
got_twice() { [ "$(grep -c '^got 321$' python.out)" = 2 ]; }
wait_until 30 got_twice || die "TLS stands still"
inject_end
has_line 'all probes removed, text verified' trace.err || die "not removed"
clean "$python"
grep -q '| SSL_do_handshake(ssl=\(0x[0-9a-f]*\)) \.\. SSL_write\(_ex\)\?(ssl=\1, ' trace.out || { cat trace.out; die "no slow handshake"; }
grep -q '| SSL_read\(_ex\)\?(ssl=[^)]*size=999[^)]*) = ' trace.out || { cat trace.out; die "no slow read"; }
exec 8>&-
