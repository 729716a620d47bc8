#!/bin/bash
# SPDX-License-Identifier: MIT
# slow_mariadb: the recipe for MariaDB shows the statements that its own slow log has with such a
# time: as texts and as prepared statements of the protocol (with their values, as the server logs
# them), of connections that come and go.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

mariadbd=/usr/sbin/mariadbd
[ -x $mariadbd ] || skip "no MariaDB here"
home=$(mktemp -d /tmp/inject-my-XXXXXX)
tidy() { rm -rf "$home"; }
as=()
if [ "$(id -u)" = 0 ]; then
	# It refuses to run as root, but for what it is told.
	chown 65534:65534 "$home"
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
"${as[@]}" mariadb-install-db --no-defaults --force --datadir="$home/data" \
	--auth-root-authentication-method=normal --skip-test-db >install.log 2>&1 ||
	{ tail install.log; die "no database"; }
(cd "$home" && exec "${as[@]}" $mariadbd --no-defaults --datadir="$home/data" --socket="$home/socket" \
	--pid-file="$home/pid" --skip-networking --innodb-flush-log-at-trx-commit=0 \
	--innodb-buffer-pool-size=16M --slow-query-log --slow-query-log-file="$home/slow.log" \
	--long-query-time=0 --log-slow-disabled-statements= --log-output=FILE) >mariadb.err 2>&1 &
server=$!
started $server
sql() { mariadb --no-defaults -u root -S "$home/socket" -BN "$@"; }
up() { sql -e 'select 1' >/dev/null 2>&1; }
wait_until 60 up || { tail mariadb.err; die "MariaDB does not answer"; }

# A client of the protocol's own prepared statements: prepare.py SOCKET SQL MILLISECONDS...
cat >prepare.py <<'EOF'
import socket, struct, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
def packet():
    n = int.from_bytes(f.read(3), 'little')
    f.read(1)
    return f.read(n)
def send(data, seq=0):
    s.sendall(len(data).to_bytes(3, 'little') + bytes([seq]) + data)
f = s.makefile('rb')
packet()
# CLIENT_PROTOCOL_41 | CLIENT_SECURE_CONNECTION | CLIENT_PLUGIN_AUTH
send(struct.pack('<IIB23x', 0x88200, 1 << 24, 45) + b'root\0\0mysql_native_password\0', 1)
answer = packet()
if answer[0] == 0xfe:
    send(b'', 3)
    answer = packet()
assert answer[0] == 0, answer
send(b'\x16' + sys.argv[2].encode())
answer = packet()
assert answer[0] == 0, answer
statement, columns, parameters = struct.unpack('<IHH', answer[1:9])
for n in parameters, columns:
    while n and packet()[0] != 0xfe:
        pass
for i, ms in enumerate(sys.argv[3:]):
    # One parameter, a double.
    send(struct.pack('<BIBIBBHd', 0x17, statement, 0, 1, 0, 1, 5, int(ms) / 1000))
    answer = packet()
    assert answer[0] != 0xff, answer
    for end in range(2):
        while packet()[0] != 0xfe:
            pass
send(b'\x01')
EOF

inject_bg slow -p "$server" --recipe mariadb-query -t 50ms --json
sql -e 'create table test.a (n int, t text)' 2>/dev/null || sql -e 'create database test; create table test.a (n int, t text)'
for i in $(seq 8); do
	sql -e "select sleep($((i % 4)) * 0.03), 'text \"$i\"'; insert into test.a values ($i, repeat('x', $i));
		update test.a set n = n + sleep(0.02) where n < 5 /* $i */" >/dev/null
	python3 prepare.py "$home/socket" "select sleep(?), 'prepared $i'" 1 60 1 80 >/dev/null
done
inject_end
has_line 'all probes removed, text verified' trace.err || die "not removed"
clean "$server"

cp "$home/slow.log" slow.log
python3 - slow.log trace.out <<'EOF' || die "others than in the slow log"
import collections, json, re, sys

logged, time, text = [], None, ''
for line in open(sys.argv[1]).read().split('\n') + ['# end']:
    m = re.match(r'# Query_time: ([0-9.]+)', line)
    if line.startswith('# '):
        if text and time is not None:
            logged.append((text.strip().removesuffix(';'), time))
        text = ''
    elif not re.match(r'SET timestamp|use ', line):
        text += line + '\n'
    if m:
        time = float(m[1])
shown = collections.Counter()
for line in open(sys.argv[2]):
    o = json.loads(line)
    if o['type'] == 'call' and o['end'] == 'return':
        shown[json.loads(o['args']['query'].removesuffix('...').replace(r'\t', r'\u0009'))] += 1
sure = collections.Counter(t for t, s in logged if s >= 0.052)
may = collections.Counter(t for t, s in logged if s >= 0.049)
print(len(logged), 'logged,', sum(sure.values()), 'slow,', sum(shown.values()), 'shown')
print('missed', sure - shown, 'not slow', shown - may, file=sys.stderr)
sys.exit(bool(sure - shown or shown - may) or sum(sure.values()) < 20 or
         not any('prepared' in t for t in sure) or len(may) == len(logged))
EOF
kill "$server"
wait "$server" || die "MariaDB ended with status $?"
