/* SPDX-License-Identifier: MIT */
/*
 * own_code: keeps code that it has made itself in a file's private mapping, as the Lisps
 * do with the heap that they begin with, and writes it anew all the time.
 */
#include <sys/mman.h>

#include "tests/victims/victim.h"

enum { SIZE = 1 << 16 };

PROBED uint64_t own_work(uint64_t x)
{
	return x * 1103515245 + 12345;
}

static unsigned char *map_file(void)
{
	int fd = memfd_create("own_code", MFD_CLOEXEC);
	unsigned char *at;

	for (int i = 0; i < SIZE; i++)
		if (write(fd, &(char){ i * 7 }, 1) != 1)
			return MAP_FAILED;
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return at;
}

/* What returns x, at another place each time. */
static uint32_t run(unsigned char *code, uint32_t x)
{
#ifdef __x86_64__
	unsigned char *at = code + x % (SIZE - 8);

	at[0] = 0xb8;			/* mov $x, %eax; ret */
	memcpy(at + 1, &x, sizeof(x));
	at[5] = 0xc3;
#else
	/* mov w0, #x; movk w0, #x >> 16, lsl #16; ret */
	uint32_t words[] = { 0x52800000 | (x & 0xffff) << 5, 0x72a00000 | x >> 16 << 5,
			     0xd65f03c0 };
	unsigned char *at = code + x * 4 % (SIZE - 16);

	memcpy(at, words, sizeof(words));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(words));
#endif
	return ((uint32_t (*)(void))at)();
}

/* Code of no file that calls own_work, in a frame of its own. */
static uint64_t (*make_caller(void))(uint64_t x, uint64_t (*work)(uint64_t))
{
#ifdef __x86_64__
	/* push %rbp; mov %rsp, %rbp; call *%rsi; pop %rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };
#else
	/* stp x29, x30, [sp, #-16]!; mov x29, sp; blr x1; ldp x29, x30, [sp], #16; ret */
	static const uint32_t code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0020, 0xa8c17bfd,
					 0xd65f03c0 };
#endif
	unsigned char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
	return mprotect(at, SIZE, PROT_READ | PROT_EXEC) ? NULL :
		(uint64_t (*)(uint64_t, uint64_t (*)(uint64_t)))at;
}

int main(void)
{
	uint64_t (*call)(uint64_t, uint64_t (*)(uint64_t)) = make_caller();
	unsigned char *code = map_file();

	if (code == MAP_FAILED || !call)
		return 2;
	victim_say("ready");
	for (uint32_t x = 1; victim_poll(1, NULL); x++) {
		if (own_work(x) != x * (uint64_t)1103515245 + 12345 || run(code, x) != x ||
		    call(x, own_work) != x * (uint64_t)1103515245 + 12345)
			victim_wrong("own_work");
		victim_count();
	}
	return victim_errors != 0;
}
