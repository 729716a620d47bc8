#!/bin/bash
# SPDX-License-Identifier: MIT
# top: `inject top` is a table of the functions that are called: once, at the end, in a
# pipe; on a terminal again and again, by its keys, and the terminal is as it was then,
# also after Ctrl-C and while it is stopped.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq python3 script

victim spin_threads 2
# What it shows is asked here, not how soon threads stop on a busy machine.
top=("$INJECT" top -p "$VICTIM" --max-pause 2s)
for key in rate wall calls total self avg p99 max; do
	status 0 "${top[@]}" -f 'spin_*' -d 0.3 --sort $key
	removed
	[ "$(grep -c '^#' trace.out)" = 1 ] || die "not one table: $(cat trace.out)"
	grep -q '  spin_leaf$' trace.out || die "spin_leaf is not in the table: $(cat trace.out)"
done
# The outermost function has the most time, and calls the others.
status 0 "${top[@]}" -f 'spin_*' -d 0.5 --sort total
awk 'NR == 2 && $NF == "spin_loop" { ok = 1 } END { exit !ok }' trace.out ||
	die "spin_loop is not the first: $(cat trace.out)"
status 0 "${top[@]}" -f 'spin_*' -d 1 --json
jq -es 'map(select(.type == "top")) | length >= 4 and all(.[]; .calls > 0 and .calls_per_s > 0 and
	.wall_percent >= 0 and .load_percent == .wall_percent and .timed <= .calls)' trace.out >/dev/null || die "JSON: $(cat trace.out)"
status 2 "${top[@]}" -f x --sort name
refused 'sort by rate, wall'

# A terminal: keys, Ctrl-Z and back, q.
python3 - "$INJECT" "$VICTIM" >terminal.out <<'PY' || die "$(tail -n 5 terminal.out)"
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

inject, victim = sys.argv[1:]

def run(steps, columns=200):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "vt100"
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(inject, [inject, "top", "-p", victim, "-f", "spin_*",
                          "--max-pause", "2s"])
    seen, before = b"", None

    def until(what):
        nonlocal seen
        end = time.monotonic() + 60
        while not re.search(what, seen):
            assert time.monotonic() < end, (what, seen[-400:])
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    more = os.read(fd, 65536)
                except OSError:
                    more = b""
                if not more:
                    assert re.search(what, seen), (what, seen[-400:])
                seen += more

    def quiet():
        return not termios.tcgetattr(fd)[3] & termios.ICANON

    def wait(want):
        end = time.monotonic() + 60
        while quiet() != want:
            assert time.monotonic() < end, "terminal"
            time.sleep(0.02)

    until(rb"by wall;")
    wait(True)
    for step, what in steps:
        seen = b""
        if callable(step):
            step(pid, wait)
        else:
            os.write(fd, step)
        if what:
            until(what)
    seen += b"" if b"text verified" in seen else b""
    until(rb"all probes removed, text verified")
    assert not quiet(), "the terminal is not as it was"
    end = time.monotonic() + 60
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        assert time.monotonic() < end, "no end"
        time.sleep(0.02)
    os.close(fd)
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, status

def stop(pid, wait):
    os.kill(pid, signal.SIGTSTP)
    os.waitpid(pid, os.WUNTRACED)
    wait(False)
    os.kill(pid, signal.SIGCONT)
    wait(True)

run([(b"c", rb"by calls;"), (b"m", rb"by max;"), (b" ", rb"by max, held"), (b" ", rb"by max;"),
     (stop, rb"(?s)CALLS/S.*spin_leaf"), (b"q", None)])
run([(b"s", rb"by self;"), (b"\x03", None)])
# A narrow one has room for the names, and for the column that sorts.
run([(b"c", rb"by calls; keys:[^\n]*\n#[^\n]{,60}CALLS  [^\n]*FUNCTION[^\n]*\n[^\n]{,54}  spin_"),
     (b"q", None)], 80)
run([(b"w", rb"by wall;[^\n]*\n# +WALL  FUNCTION[^\n]*\n[^\n]{,12}%  spin_"), (b"q", None)], 20)
PY
# One that knows nothing but lines has the table at the end.
TERM=dumb script -qefc "${top[*]} -f 'spin_*' -d 0.3" dumb.out >/dev/null ||
	die "in a dumb terminal: $(cat dumb.out)"
grep -q '  spin_leaf' dumb.out || die "no table: $(cat dumb.out)"
! grep -q $'\033' dumb.out || die "it draws: $(cat -v dumb.out)"
unharmed
