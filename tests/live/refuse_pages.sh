#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_pages: a kernel whose pages are larger than those that inject knows. inject is told so
# by a library that answers for the C library.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

cat >pages.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

long sysconf(int name)
{
	long (*real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");

	return name == _SC_PAGESIZE ? PAGES : real(name);
}
C
victim spin_threads
for kib in 16 64; do
	"${CC:-cc}" -shared -fPIC -DPAGES=$((kib * 1024)) -o pages.so pages.c
	status 1 env LD_PRELOAD="$PWD/pages.so" "$INJECT" -p "$VICTIM" -f spin_work -d 1
	refused "pages of $kib KiB"
	status 125 env LD_PRELOAD="$PWD/pages.so" "$INJECT" -f main -- /bin/true
	refused "pages of $kib KiB"
	clean "$VICTIM"
done
# By a library that answers as the kernel does, the process is traced.
"${CC:-cc}" -shared -fPIC -DPAGES=4096 -o pages.so pages.c
status 0 env LD_PRELOAD="$PWD/pages.so" "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.2
clean "$VICTIM"
