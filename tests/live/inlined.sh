#!/bin/bash
# SPDX-License-Identifier: MIT
# inlined: of a function that exists only inlined it says so, and into which others.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gcc jq
cat >srv.c <<'EOF'
#include <stdio.h>
#include <unistd.h>

static inline __attribute__((always_inline)) int clamp_it(int x)
{
	volatile int y = x; return y > 9 ? 9 : y;
}
#define USER(n) __attribute__((noinline)) int user_##n(int x) { return clamp_it(x) + n; }
USER(1)
USER(2)
USER(3)
USER(4)
USER(5)
static inline __attribute__((always_inline)) int lone(int x) { volatile int y = x; return y; }
__attribute__((noinline)) int only_user(int x)
{
	return lone(x) * 3;
}
int main(void)
{
	char line[16];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		printf("alive %d\n", user_1(1) + user_2(2) + user_3(3) + user_4(4) + user_5(5) +
		       only_user(6)), fflush(stdout);
	return 0;
}
EOF
gcc -g -O2 -o srv srv.c

status 3 "$INJECT" list ./srv -f lone
has_line '^inject: no function matches lone in srv$' trace.err || die "$(cat trace.err)"
has_line '^inject: lone exists only inlined, into only_user (srv.c:17): probe that, or mark where it begins there by --inlined$' trace.err ||
	die "not told: $(cat trace.err)"
status 3 "$INJECT" list ./srv -f 'clamp*'
grep -Eq '^inject: clamp_it exists only inlined, into (user_[1-5] \(srv.c:(9|1[0-3])\)(, | and )){3}2 more: probe these, or mark where it begins there by --inlined$' \
	trace.err || die "not told: $(cat trace.err)"
status 0 "$INJECT" list ./srv -f lone -f user_1
has_line '^inject: lone exists only inlined' trace.err || die "not told of one of several"
status 3 "$INJECT" list ./srv -f usr_1
! has_line 'only inlined' trace.err || die "told of what is not: $(cat trace.err)"
has_line 'names that are near: .*user_1' trace.err || die "nearest names are gone"

# Two that begin together have one mark, which tells of both; where nothing does, it is said.
cat >both.c <<'EOT'
volatile int to;
static inline __attribute__((always_inline)) void inner(int x) { to = x; to = x + 1; }
static inline __attribute__((always_inline)) void outer(int x) { inner(x); to = x * 3; }
__attribute__((noinline)) void host(int x) { to = 7; to = 8; outer(x); to = 9; to = 10; }
int main(int argc, char **argv) { (void)argv; host(argc); return 0; }
EOT
gcc -g -O2 -o both both.c
status 0 "$INJECT" list ./both -f inner -f outer --inlined
grep -Eq '	inner \[inlined]	jump	mark	inlined into host\+0x[0-9a-f]+, 1 end$' trace.out || die "$(cat trace.out)"
grep -Eq '	outer \[inlined]	jump	mark	inlined into host\+0x[0-9a-f]+, 1 end, marked with inner \[inlined]$' trace.out ||
	die "$(cat trace.out)"
! has_line 'not seen' trace.err || die "told of none: $(cat trace.err)"
status 0 "$INJECT" -f inner -f outer -f host --inlined -o both.out --no-color -- ./both
[ "$(grep -o '|.*' both.out)" = "| host() {
|   outer [inlined]() {
|     inner [inlined]();
|   } /* outer [inlined] */
| } /* host */" ] || die "$(cat both.out)"
status 0 "$INJECT" record -f inner -f outer -f host --inlined -o both.data -- ./both
status 0 "$INJECT" replay --json both.data
[ "$(jq -r 'select(.type == "call") | "\(.func) \(.inlined)"' trace.out)" = "inner true
outer true
host null" ] || die "$(cat trace.out)"
status 0 "$INJECT" report -f outer both.data
grep -q ' outer \[inlined\]$' trace.out || die "$(cat trace.out)"
for format in chrome perfetto svg folded pprof uftrace ctf; do
	status 0 "$INJECT" export --to $format -o both.$format both.data
done
grep -q '^host;outer \[inlined\];inner \[inlined\] ' both.folded || die "$(cat both.folded)"
status 0 "$INJECT" list ./both -f inner -f outer --inlined --entry-only
has_line '^inject: both: copies that are not seen, for others begin with the same instruction: 1 of outer, such as outer; select them alone$' trace.err ||
	die "not told: $(cat trace.err)"
status 0 "$INJECT" list ./both -f outer --inlined --entry-only
grep -q '	outer \[inlined]	.*inlined into host' trace.out || die "$(cat trace.out)"
! has_line 'not seen' trace.err || die "told of none: $(cat trace.err)"

# Those that take long, in a trace and in a recording, with the calls around them and within them.
cat >long.c <<'EOT'
#include <unistd.h>
volatile int to;
__attribute__((noinline)) void work(int x) { to = x; if (x & 1) usleep(20000); to = x + 1; }
static inline __attribute__((always_inline)) void inner(int x) { to = x; work(x); to = x + 1; }
__attribute__((noinline)) void host(int x) { to = 7; to = 8; inner(x); to = 9; to = 10; }
int main(void) { for (int i = 0; i < 6; i++) host(i); return 0; }
EOT
gcc -g -O2 -fno-optimize-sibling-calls -o long long.c
for how in trace record; do
	rm -rf long.out
	json=(--json)
	[ $how = trace ] || json=()
	status 0 "$INJECT" $how -f inner -f work -f host --inlined -t 10ms -o long.out "${json[@]}" -- ./long
	[ $how = trace ] || status 0 "$INJECT" replay --json long.out
	[ $how = record ] || cp long.out trace.out
	jq -es '[.[] | select(.type == "call")] | length >= 9 and all(.end == "return" and
		.dur_ns >= 1e7 and .depth == { host: 0, inner: 1, work: 2 }[.func])' trace.out >/dev/null || die "$how -t: $(cat trace.out)"
done

# From a separate file, in a process.
objcopy --only-keep-debug srv srv.debug
strip --strip-debug srv
objcopy --add-gnu-debuglink=srv.debug srv
mkfifo in
./srv <in >out &
SERVER=$!
started $SERVER
exec 8>in
wait_until 30 has_line ready out
status 3 "$INJECT" -p $SERVER -f lone
has_line '^inject: lone exists only inlined, into only_user (srv.c:17): probe that, or mark where it begins there by --inlined$' trace.err ||
	die "not told: $(cat trace.err)"
clean $SERVER
echo >&8
wait_until 30 has_line 'alive' out
exec 8>&-
wait $SERVER
