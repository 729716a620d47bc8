#!/bin/bash
# SPDX-License-Identifier: MIT
# stacks_loaded: a stack leads through a library that was loaded while a trace goes on, once that was
# seen; and through code that was made at run time, by its frame pointers. What lies in neither, and
# looks like a return address, is none.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gcc python3

cat >lib.c <<'END'
extern volatile long kept;
__attribute__((noinline)) void through(void (*f)(void)) { char b[40]; b[kept & 7] = 1; f(); kept += b[kept & 7]; }
END
cat >main.c <<'END'
#include <dlfcn.h>
#include <string.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
volatile long kept;
__attribute__((noinline)) void probed(void) { kept++; __asm__ volatile("nop;nop;nop;nop;nop"); }
__attribute__((noinline)) void made(void) { probed(); kept++; }
__attribute__((noinline)) void lost(void) { probed(); kept++; }
__attribute__((noinline)) static void early(void) { probed(); kept++; }
#ifdef __aarch64__
/* stp x29, x30, [sp, #-16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], #16; ret */
static const uint32_t framed[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
/* The same, but the frame pointer leads to where no stack is: stp x29, x30, [sp, #-32]!;
 * mov x1, #0x100; mov x2, #0x1234; stp x1, x2, [sp, #16]; add x29, sp, #16; blr x0 ... */
static const uint32_t astray[] = { 0xa9be7bfd, 0xd2802001, 0xd2824682, 0xa9010be1, 0x910043fd,
	0xd63f0000, 0xa8c27bfd, 0xd65f03c0 };
#else
/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const uint8_t framed[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
/* The same, but the frame pointer leads to where no stack is: sub $8, %rsp; push $0x1234; push $0x100;
 * mov %rsp, %rbp; sub $8, %rsp; call *%rdi ... */
static const uint8_t astray[] = { 0x55, 0x68, 0x34, 0x12, 0, 0, 0x68, 0, 1, 0, 0, 0x48, 0x89, 0xe5,
	0xff, 0xd7, 0x58, 0x58, 0x5d, 0xc3 };
#endif
int main(void)
{
	uint8_t *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*through)(void (*)(void)) = 0;
	memcpy(code, framed, sizeof(framed));
	memcpy(code + 64, astray, sizeof(astray));
	__builtin___clear_cache((char *)code, (char *)code + 128);
	for (long i = 0; i < 100000 && access("seen.all", F_OK); i++) {
		early();
		((void (*)(void (*)(void)))(void *)code)(made);
		((void (*)(void (*)(void)))(void *)(code + 64))(lost);
		if (i == 50) {
			void *lib = dlopen("./lib.so", RTLD_NOW);
			*(void **)&through = dlsym(lib, "through");
		}
		if (through)
			through(early);
		usleep(2000);
	}
	return 0;
}
END
gcc -O1 -fomit-frame-pointer -fPIC -shared -o lib.so lib.c
gcc -O1 -fomit-frame-pointer -rdynamic -o main main.c

# Until it was loaded, and that was seen: then the stack has all of it.
cat >wait.py <<'END'
import json
import sys
seen = set()
for line in sys.stdin:
    call = json.loads(line)
    if call['type'] != 'call':
        continue
    names = [c['func'] for c in call['stack']]
    if 'through' in names and 'main' in names and call['stack_cut'] == 'no':
        assert names[:3] == ['early', 'through', 'main'], names
        assert call['stack'][1]['module'] == 'lib.so', call
        seen.add('through')
    if 'made' in names:
        code = call['stack'][1]
        assert code['func'] is None and code['module'] is None, call
        assert names[2] == 'main' and call['stack_cut'] == 'no', call
        seen.add('made')
    if 'lost' in names:
        assert len(names) == 2 and call['stack_cut'] == 'no table', call
        seen.add('lost')
    if len(seen) == 3:
        open('seen.all', 'w', encoding='utf-8').close()
        break
print(*sorted(seen))
END
"$INJECT" -q -f probed --stack --json -d 60 -- ./main 2>inject.err | python3 wait.py >seen || true
[ "$(cat seen)" = 'lost made through' ] || die "seen: $(cat seen inject.err)"
