#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_many_threads: 1000 threads that mostly sleep, and each of their calls; then
# 100 that all run: a thread that wants to run and gets no processor is waited for, and not
# passed over.
# serial: each process gets its share among 100 only
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

many=$(fewer 1000 200)
victim sleeper "$many"
[ "$(threads "$VICTIM")" -gt "$many" ] || die "not $many threads"
status 0 "$INJECT" -p "$VICTIM" -f 'sleeper_*' -d 0.5 --max-pause 5s
traced sleeper_
removed
inject_bg -p "$VICTIM" -f sleeper_counted -o /dev/null --max-pause 5s
made=$(tell call '^called' 60 | cut -d' ' -f2)
inject_end
removed
[ "$made" = $((10 * many)) ] && [ "$(closing calls)" = "$made" ] && [ "$(closing lost)" = 0 ] ||
	die "made $made calls: $(closing calls), and $(closing lost) lost"
victim_quit

victim spin_threads "$(fewer 100 20)"
status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -n 20000 --max-pause 2s
traced spin_leaf
removed
