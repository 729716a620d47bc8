#!/bin/bash
# SPDX-License-Identifier: MIT
# list_values: list -v has a function's declaration behind its line, of debug information in the
# file, beside it, or in none of them for well-known functions; without -v nothing of it is said.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gcc objcopy strip

cat >v.c <<'END'
#include <stdbool.h>
struct point { int x, y; };
__attribute__((noinline)) long net_read(int fd, char *buf, unsigned long len, bool wait)
{ return buf[0] + fd + (long)len + wait; }
__attribute__((noinline)) struct point move_by(struct point p, const struct point *by)
{ return (struct point){ p.x + by->x, p.y + by->y }; }
int main(int argc, char **argv)
{ struct point p = move_by((struct point){ argc, 1 }, &(struct point){ 2, 3 });
  return (int)net_read(argc, argv[0], (unsigned long)p.x, true); }
END
want='  long net_read(int fd, char *buf, unsigned long len, bool wait)  # buf: text
  struct point move_by(struct point p, const struct point *by)  # by: 8 bytes'

# values FILE: the lines that are no columns
values() { "$INJECT" list -v "$1" -f net_read -f move_by 2>list.err | grep '^  ' | sort; }
is() { [ "$(values "$1" | sort)" = "$(echo "$want" | sort)" ] || die "$1: $(values "$1")"; }

for flags in '-O0 -gdwarf-4' '-O0 -gdwarf-5' '-O2 -gdwarf-5' '-Og -gdwarf-4 -gz'; do
	# shellcheck disable=SC2086
	gcc $flags -o v v.c || die "gcc $flags"
	is v
done
# Columns are as they were, and nothing is added without -v.
"$INJECT" list v -f net_read -f move_by 2>/dev/null >plain.out
"$INJECT" list -v v -f net_read -f move_by 2>/dev/null | grep -v '^  ' >columns.out
cmp plain.out columns.out || die "other columns"
grep -q '^  ' plain.out && die "not asked for"
# In a file beside it
objcopy --only-keep-debug v v.debug
objcopy --strip-all --keep-symbol=net_read --keep-symbol=move_by --add-gnu-debuglink=v.debug v split
is split
rm v.debug
[ -z "$(values split)" ] || die "of which debug information?"
# Well-known functions of a library without any
libc=$(ldd v | sed -n 's/.* => \(.*libc.so[^ ]*\) .*/\1/p')
mkdir bare
objcopy --strip-debug --remove-section=.note.gnu.build-id --remove-section=.gnu_debuglink \
	"$libc" bare/libc.so.6
"$INJECT" list -v bare/libc.so.6 -f write >bare.out 2>bare.err
grep -qxF '  long write(int fd, void *buf, u64 n)  # buf: 64 bytes' bare.out ||
	die "write is not known: $(cat bare.out)"
