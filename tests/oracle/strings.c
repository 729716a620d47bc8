/* SPDX-License-Identifier: MIT */
/*
 * Calls the string functions of the C library at every alignment and length at which
 * their code may take another way: strings STEP [memory]. Which variant of each runs is said by
 * GLIBC_TUNABLES; STEP 1 leaves out nothing, more is for an emulator that steps through it; as
 * is `memory`, for mem* alone.
 *
 * Each string ends at a page behind which there is none, or begins anywhere in a line.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

enum { SIZE = 1 << 16, LENGTHS = 300 };

static unsigned char *a, *b;		/* SIZE bytes each; then a page that is not there */
static volatile uintptr_t sink;		/* no call may be left out */

/* Through memory, so that the compiler makes none of them itself. */
static void *(*volatile p_memcpy)(void *, const void *, size_t) = memcpy;
static void *(*volatile p_mempcpy)(void *, const void *, size_t) = mempcpy;
static void *(*volatile p_memmove)(void *, const void *, size_t) = memmove;
static void *(*volatile p_memset)(void *, int, size_t) = memset;
static int (*volatile p_memcmp)(const void *, const void *, size_t) = memcmp;
static int (*volatile p_bcmp)(const void *, const void *, size_t) = bcmp;
static void *(*volatile p_memchr)(const void *, int, size_t) = (void *)memchr;
static void *(*volatile p_memrchr)(const void *, int, size_t) = (void *)memrchr;
static void *(*volatile p_rawmemchr)(const void *, int) = (void *)rawmemchr;
static void *(*volatile p_memmem)(const void *, size_t, const void *, size_t) = memmem;

/* What the compiler calls by itself, declared nowhere. */
int __memcmpeq(const void *, const void *, size_t);
void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__mempcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__memset_chk(void *, int, size_t, size_t);
wchar_t *__wmemset_chk(wchar_t *, wchar_t, size_t, size_t);
static bool memory_only;

static unsigned char *map(void)
{
	unsigned char *p = mmap(NULL, SIZE + 4096, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + SIZE, 4096, PROT_NONE)) {
		perror("mmap");
		exit(1);
	}
	return p;
}

static void memory(unsigned char *x, unsigned char *y, size_t n)
{
	sink += (uintptr_t)p_memcpy(x, y, n);
	sink += (uintptr_t)p_mempcpy(x, y, n);
	sink += (uintptr_t)p_memmove(x, y, n);
	if (n > 8) {	/* either way over itself */
		sink += (uintptr_t)p_memmove(x + 1, x, n - 1);
		sink += (uintptr_t)p_memmove(x, x + 3, n - 3);
	}
	sink += (uintptr_t)p_memset(x, 'm', n);
	p_memset(y, 'm', n);
	sink += (uintptr_t)__memcpy_chk(x, y, n, n) + (uintptr_t)__mempcpy_chk(x, y, n, n) +
		(uintptr_t)__memmove_chk(x, y, n, n) + (uintptr_t)__memset_chk(x, 'm', n, n);
	sink += (uintptr_t)p_memcmp(x, y, n) + (uintptr_t)p_bcmp(x, y, n) +
		(uintptr_t)__memcmpeq(x, y, n);
	sink += (uintptr_t)p_memchr(x, 'z', n) + (uintptr_t)p_memrchr(x, 'z', n);
	if (!n)
		return;
	for (size_t i = 0; i < 3; i++) {	/* where it is found, or differs */
		size_t at = i == 0 ? 0 : i == 1 ? n / 2 : n - 1;

		x[at] = 'z';
		sink += (uintptr_t)p_memcmp(x, y, n) + (uintptr_t)p_bcmp(x, y, n) +
			(uintptr_t)__memcmpeq(x, y, n);
		sink += (uintptr_t)p_memchr(x, 'z', n) + (uintptr_t)p_memrchr(x, 'z', n);
		sink += (uintptr_t)p_rawmemchr(x, 'z');
		sink += (uintptr_t)p_memmem(x, n, "zmm", n > 3 ? 3 : n);
		x[at] = 'm';
	}
}

static void strings(char *x, char *y, size_t n)
{
	/* n bytes and the end */
	p_memset(x, 'q', n);
	p_memset(y, 'q', n);
	x[n] = y[n] = 0;
	sink += strlen(x) + strnlen(x, n) + strnlen(x, n / 2) + strnlen(x, n + 1);
	sink += (uintptr_t)strchr(x, 'z') + (uintptr_t)strrchr(x, 'z') +
		(uintptr_t)strchrnul(x, 'z') + (uintptr_t)strchr(x, 0);
	sink += (uintptr_t)strcmp(x, y) + (uintptr_t)strncmp(x, y, n) +
		(uintptr_t)strncmp(x, y, n / 2 + 1) + (uintptr_t)strcasecmp(x, y) +
		(uintptr_t)strncasecmp(x, y, n);
	sink += strspn(x, "q") + strspn(x, "qrstuvwxyz0123456789+-*/") + strcspn(x, "zy") +
		strcspn(x, "rstuvwxyz0123456789+-*/") + (uintptr_t)strpbrk(x, "zyx");
	sink += (uintptr_t)strstr(x, "qz") + (uintptr_t)strcasestr(x, "QZ") +
		(uintptr_t)strstr(x, "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqz");
	for (size_t i = 0; n && i < 3; i++) {
		size_t at = i == 0 ? 0 : i == 1 ? n / 2 : n - 1;

		x[at] = i == 2 ? 'Q' : 'z';
		sink += (uintptr_t)strcmp(x, y) + (uintptr_t)strncmp(x, y, n) +
			(uintptr_t)strcasecmp(x, y) + (uintptr_t)strncasecmp(x, y, n);
		sink += (uintptr_t)strchr(x, 'z') + (uintptr_t)strrchr(x, 'z') +
			(uintptr_t)strchrnul(x, 'z') + (uintptr_t)strpbrk(x, "zyx") +
			strspn(x, "q") + strcspn(x, "z");
		x[at] = 'q';
	}
	sink += (uintptr_t)strcpy(x, y) + (uintptr_t)stpcpy(x, y) +
		(uintptr_t)strncpy(x, y, n) + (uintptr_t)strncpy(x, y, n + 1) +
		(uintptr_t)strncpy(x, y, n / 2) + (uintptr_t)stpncpy(x, y, n + 1) +
		(uintptr_t)stpncpy(x, y, n / 2);
	x[n / 2] = y[n - n / 2] = 0;
	sink += (uintptr_t)strcat(x, y);
	x[n / 2] = 0;
	sink += (uintptr_t)strncat(x, y, n - n / 2);
}

static void wide(wchar_t *x, wchar_t *y, size_t n)
{
	wmemset(x, L'q', n);
	wmemset(y, L'q', n);
	sink += (uintptr_t)__wmemset_chk(x, L'q', n, n);
	x[n] = y[n] = 0;
	sink += wcslen(x) + wcsnlen(x, n) + wcsnlen(x, n / 2);
	sink += (uintptr_t)wcschr(x, L'z') + (uintptr_t)wcsrchr(x, L'z') +
		(uintptr_t)wmemchr(x, L'z', n) + (uintptr_t)wcscmp(x, y) +
		(uintptr_t)wcsncmp(x, y, n) + (uintptr_t)wmemcmp(x, y, n);
	for (size_t i = 0; n && i < 3; i++) {
		size_t at = i == 0 ? 0 : i == 1 ? n / 2 : n - 1;

		x[at] = L'z';
		sink += (uintptr_t)wcschr(x, L'z') + (uintptr_t)wcsrchr(x, L'z') +
			(uintptr_t)wmemchr(x, L'z', n) + (uintptr_t)wcscmp(x, y) +
			(uintptr_t)wcsncmp(x, y, n) + (uintptr_t)wmemcmp(x, y, n);
		x[at] = L'q';
	}
	sink += (uintptr_t)wcscpy(x, y);
}

static void all(size_t at, size_t other, size_t n)
{
	memory(a + at, b + other, n);
	if (memory_only)
		return;
	strings((char *)a + at, (char *)b + other, n);
	if (at % 4 == 0 && other % 4 == 0)
		wide((wchar_t *)(a + at), (wchar_t *)(b + other), n / 4);
}

int main(int argc, char **argv)
{
	size_t step = argc > 1 ? strtoul(argv[1], NULL, 0) : 1, count = 0;

	memory_only = argc > 2;
	if (!step)
		step = 1;
	a = map();
	b = map();
	for (size_t n = 0; n <= LENGTHS; n += n < 2 * step ? 1 : step) {
		size_t end = SIZE - n - 1;

		/* All alignments in turn, rather than with every length. */
		for (size_t i = 0; i < 64; i += 16 * step)
			all((i + count * 7) % 64 + 64, (count * 13 + i / 16 * 21) % 64 + 128, n);
		all(end, end, n);
		all(end, (count * 5) % 64, n);
		all((count * 3) % 64, end, n);
		all(4096 - n / 2, 8192 - n / 3, n);	/* over the end of a page */
		all(end & ~3ul, end & ~3ul, n);
		count++;
	}
	/* Loops, and `rep`, of which every turn is a step. */
	for (size_t n = 512; n < (step > 1 ? 2048 : SIZE - 1024); n *= 2)
		for (size_t i = 0; i < 3; i++) {
			size_t odd = n & 4096 ? 1 : 0;

			if (n > 512 && step > 1)
				memory(a + i * 32, b + i * 17, n + i * 63);
			else
				all(i * 32 + odd, i * 17, n + i * 63);
		}
	printf("%zu lengths\n", count);
	return 0;
}
