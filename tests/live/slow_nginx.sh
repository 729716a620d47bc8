#!/bin/bash
# SPDX-License-Identifier: MIT
# slow_nginx: the recipe for nginx shows the requests, with their URI and status, that its own log has,
# and that take so long: over connections that stay, that come and go, and that are passed on. So does
# the recipe for any server of HTTP, of what answers late.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"

nginx=/usr/sbin/nginx
[ -x $nginx ] || skip "no nginx here"
port=$(free_port)
# A server behind it that takes its time: as many milliseconds as the URI says.
cat >behind.py <<'EOF'
import http.server, re, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        time.sleep(int(re.search(r'ms=(\d+)', self.path)[1]) / 1000)
        self.send_response(200 if 'good' in self.path else 404)
        self.send_header('Content-Length', '3')
        self.end_headers()
        self.wfile.write(b'ok\n')
    do_POST = do_GET
    def log_message(self, *a):
        print(self.path, flush=True)
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
EOF
behind=$(free_port)
python3 behind.py "$behind" >behind.out 2>behind.err &
started $!
cat >nginx.conf <<EOF
daemon off;
worker_processes 1;
pid $PWD/nginx.pid;
error_log $PWD/error.log;
events { worker_connections 64; }
http {
	log_format timed '\$status \$request_time \$request';
	access_log $PWD/access.log timed;
	client_body_temp_path $PWD/body;
	proxy_temp_path $PWD/proxy;
	fastcgi_temp_path $PWD/fastcgi;
	uwsgi_temp_path $PWD/uwsgi;
	scgi_temp_path $PWD/scgi;
	server {
		listen 127.0.0.1:$port;
		location /fast { return 200 "fast"; }
		location / { proxy_pass http://127.0.0.1:$behind; }
	}
}
EOF
$nginx -c "$PWD/nginx.conf" -p "$PWD" 2>nginx.err &
server=$!
started $server
wait_until 20 listens "$port" || die "nginx does not listen"
wait_until 20 listens "$behind" || die "nothing behind nginx"
worker=$(pgrep -P "$server" | head -n 1)
: >access.log

inject_bg slow -p "$worker" --recipe nginx-request -t 50ms --json
url=http://127.0.0.1:$port
ask() { curl -s -w '%{stderr}%{time_total} %{url_effective}\n' "$@" >/dev/null 2>>"$OUT"; }
for i in $(seq 5); do
	# One connection for all of these; then one for each.
	OUT=client.main ask "$url/fast?$i" "$url/good/$i?ms=80" "$url/fast?$i" "$url/bad/$i?ms=60" \
		"$url/good/short/$i?ms=1" "$url/good/\"$i?ms=70"
	OUT=client.beside ask -d "some=text" "$url/good/post/$i?ms=90" &
	OUT=client.main ask "$url/good/beside/$i?ms=75"
	wait $!
done
inject_end
has_line 'all probes removed, text verified' trace.err || die "not removed"
clean "$worker"

python3 - access.log trace.out <<'EOF' || die "others than in the log"
import collections, json, re, sys

logged = []
for line in open(sys.argv[1]):
    status, time, request = line.rstrip('\n').split(' ', 2)
    logged.append(((request.replace(r'\x22', '"'), status), float(time)))
shown = collections.Counter()
for line in open(sys.argv[2]):
    o = json.loads(line)
    if o['type'] == 'call' and o['end'] == 'return':
        text = re.match(r'"((?:[^"\\]|\\.)*?)(\\r|"$|"\.\.\.$)', o['args']['buffer'])[1]
        text = text.replace('\\"', '"')
        shown[text, '200' if 'good' in text else '404'] += 1
# nginx counts by a clock that it reads once in a while: it may call 0 what takes 80 ms, where the
# machine is slow. But no request is shorter than what is behind takes, and what the client has waited
# for so long may be shown, too, as far as one request of that text was.
def behind(text):
    ms = re.search(r'ms=(\d+)', text)
    return int(ms[1]) if ms else 0
waited = collections.Counter()
for name in 'client.main', 'client.beside':
    for line in open(name):
        time, url = line.rstrip('\n').split(' ', 1)
        waited['/' + url.split('/', 3)[3]] += float(time) >= 0.045
sure = collections.Counter(t for t, s in logged if behind(t[0]) >= 50)
may = collections.Counter(t for t, s in logged if s >= 0.045)
for text, status in {t for t, s in logged}:
    may[text, status] = max(may[text, status], waited[text.split(' ')[1]])
print(len(logged), 'logged,', sum(sure.values()), 'slow,', sum(shown.values()), 'shown')
print('missed', sure - shown, 'not slow', shown - may, file=sys.stderr)
sys.exit(bool(sure - shown or shown - may) or len(sure) < 25 or len(may) == len(logged))
EOF

# The same by the recipe for all servers: of nginx, and of what is behind it.
inject_bg slow -p "$worker" --recipe http -t 50ms
curl -s "$url/fast?x" "$url/good/one?ms=80" "$url/good/two?ms=1" >/dev/null
inject_end
clean "$worker"
grep -c 'recv(.*"GET /good/one?ms=80 HTTP/1.1.* \.\. writev\?(fd=' trace.out | grep -qx 1 ||
	{ cat trace.out; die "http: not nginx's request"; }
! grep -E 'fast|two' trace.out || die "http: a fast request is shown"
python=$(pgrep -f "behind.py $behind")
inject_bg slow -p "$python" --recipe http -t 50ms
curl -s "$url/fast?x" "$url/good/one?ms=80" "$url/good/two?ms=1" -d x=y "$url/good/posted?ms=60" >/dev/null
inject_end
clean "$python"
[ "$(grep -c 'recv(.*good/\(one\|posted\)?ms=.* \.\. send(fd=' trace.out)" -ge 1 ] ||
	{ cat trace.out; die "http: not python's requests"; }
! grep -E 'two' trace.out || die "http: a fast request is shown"
kill -QUIT "$server"
wait "$server" || die "nginx ended with status $?"
