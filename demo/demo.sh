#!/bin/bash
# SPDX-License-Identifier: MIT
# demo: start a server and a client, trace the server by its PID for a few
# seconds, leave, and show that the server is what it was. Run by `make demo`.
set -euo pipefail

build=${1:-build}
seconds=${2:-3}
pattern=${3:-net_*}
dir=$(mktemp -d)
started=()

finish()
{
	local status=$? pid

	trap - EXIT
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null || true
	done
	wait
	rm -r "$dir"
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

say() { printf '\n# %s\n' "$*"; }

# Only root, or who has CAP_SYS_PTRACE, may trace a process that is not its
# child where yama says so.
as=()
scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
if [ "$(id -u)" != 0 ] && [ "$scope" != 0 ]; then
	as=(sudo)
fi

mkfifo "$dir/in"
"$build/demo/server" <"$dir/in" >"$dir/server.out" &
server=$!
started+=("$server")
exec 9>"$dir/in"
for _ in $(seq 100); do
	grep -q listening "$dir/server.out" && break
	sleep 0.05
done
port=$(sed -n 's/^listening on //p' "$dir/server.out")
[ -n "$port" ] || { echo "demo: the server does not listen" >&2; exit 1; }
say "demo/server: PID $server, port $port, $(ls "/proc/$server/task" | wc -l) threads, stripped, -O2"

"$build/demo/client" "$port" $((seconds + 2)) >"$dir/client.out" &
client=$!
started+=("$client")
sleep 0.5

say "sudo inject -p $server -f '$pattern' -d $seconds   (the middle is left out here)"
"${as[@]}" "$build/inject" -p "$server" -f "$pattern" -d "$seconds" \
	2>"$dir/err" >"$dir/graph" || { cat "$dir/err" >&2; exit 1; }
grep -v '^inject: .* all probes removed' "$dir/err" || true
head -n 24 "$dir/graph"
echo "        ... $(wc -l <"$dir/graph") lines ..."
tail -n 6 "$dir/graph"
grep '^inject: .* all probes removed' "$dir/err"

say "the client saw nothing of it"
status=0
wait "$client" || status=$?
cat "$dir/client.out"

say "the code of PID $server, compared with its files by another program"
"$build/tests/tools/textcheck" "$server"
exit "$status"
