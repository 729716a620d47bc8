#!/bin/bash
# SPDX-License-Identifier: MIT
# export_browser: a flame graph in a browser: one can zoom, go back, search and point.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

browser=$(command -v chromium || command -v google-chrome) ||
	skip "no chromium here; make soak installs it"
victim spin_threads 2
inject_bg record -p "$VICTIM" -f 'count_*'
tell pace '^ok pace' >/dev/null
made() { [ -s inject.data/stream_0 ]; }
wait_until 20 made || die "nothing is recorded"
tell end '^counted' >/dev/null
inject_end
removed
status 0 "$INJECT" export --to svg -o flames.svg

# The same document, and behind its script ours.
sed '$d' flames.svg >driven.svg
{
	echo '<script><![CDATA['
	cat "$ROOT/tests/formats/flames.js"
	echo ']]></script></svg>'
} >>driven.svg
[ "$(tail -n 1 flames.svg)" = '</svg>' ] || die "it does not end as an svg does"
HOME=$PWD timeout 120 "$browser" --headless --disable-breakpad --no-sandbox \
	--disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/profile" --dump-dom \
	"file://$PWD/driven.svg" >dom.out 2>browser.log ||
	die "the browser fails: $(tail -n 1 browser.log)"
wrong=$(sed -n '1,3s/.*data-wrong="\([^"]*\)".*/\1/p' dom.out)
[ "$wrong" = nothing ] || die "in the browser: ${wrong:-the script came to no end}"
