#!/bin/bash
# SPDX-License-Identifier: MIT
# real_nginx: Debian's nginx under load from wrk or ab: a pattern, then '*'.
# serial: it measures calls per second
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"

need python3
nginx=$(PATH=$PATH:/usr/sbin command -v nginx) || skip "no nginx here"
port=$(free_port)
mkdir -p logs html
head -c 2000 /dev/zero | tr '\0' x >html/index.html
cat >nginx.conf <<CONF
worker_processes 1;
daemon off;
pid $PWD/nginx.pid;
error_log $PWD/logs/error.log;
events { worker_connections 256; }
http {
	access_log $PWD/logs/access.log;
	client_body_temp_path $PWD/t1; proxy_temp_path $PWD/t2;
	fastcgi_temp_path $PWD/t3; uwsgi_temp_path $PWD/t4;
	scgi_temp_path $PWD/t5;
	server { listen 127.0.0.1:$port; root $PWD/html; }
}
CONF
[ "$(id -u)" != 0 ] || sed -i '1i user root;' nginx.conf
"$nginx" -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/logs/error.log" &
master=$!
started "$master"
wait_until 30 listens "$port" || die "nginx does not listen"
has_worker() { worker=$(cat "/proc/$master/task/$master/children") && [ -n "$worker" ]; }
wait_until 20 has_worker || die "nginx has no worker"
worker=${worker%% *}
started "$worker"

request()
{
	if command -v wrk >/dev/null; then
		wrk -t1 -c8 -d"$1s" "http://127.0.0.1:$port/index.html"
	else
		ab -q -k -c 8 -t "$1" "http://127.0.0.1:$port/index.html"
	fi
}

for args in "-f ngx_http_*" "-f *" "-f * -f *@*"; do
	load request 3
	set -f
	# shellcheck disable=SC2086
	trace_real "$worker" 100000 $args -o /dev/null
	set +f
	load_ended 'socket errors|non-2xx|failed requests: *[1-9]'
done
grep -E '\[(alert|emerg|crit)\]' logs/error.log && die "nginx complains"
kill -QUIT "$master"
wait "$master"
