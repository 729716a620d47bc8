/* SPDX-License-Identifier: MIT */
/* poke PID SYMBOL BYTES: write as many bytes (hex) as a breakpoint has over the first of an
 * exported function of the executable, as a debugger does, and print those
 * that were there. `poke PID SYMBOL` prints them only. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __x86_64__
enum { BYTES = 1 };
#else
enum { BYTES = 4 };
#endif

static int die(const char *what)
{
	fprintf(stderr, "poke: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Link-time address of a symbol in .dynsym. Trusts its file: it is one that
 * the tests have built. */
static uint64_t find(const uint8_t *elf, const char *name)
{
	const Elf64_Ehdr *eh = (const void *)elf;
	const Elf64_Shdr *sh = (const void *)(elf + eh->e_shoff);

	for (int i = 0; i < eh->e_shnum; i++) {
		const Elf64_Sym *sym = (const void *)(elf + sh[i].sh_offset);
		const char *str;

		if (sh[i].sh_type != SHT_DYNSYM)
			continue;
		str = (const char *)elf + sh[sh[i].sh_link].sh_offset;
		for (size_t k = 0; k < sh[i].sh_size / sizeof(*sym); k++)
			if (strcmp(str + sym[k].st_name, name) == 0)
				return sym[k].st_value;
	}
	errno = ENOENT;
	return die(name);
}

/* Where the executable is: its first mapping. Others may lie below it. */
static uint64_t base(const char *pid)
{
	char path[64], exe[4096], line[4400];
	uint64_t start = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	f = fopen(path, "re");
	if (!f || n <= 0)
		die(path);
	while (!start && fgets(line, sizeof(line), f))
		if (strstr(line, exe))
			start = strtoull(line, NULL, 16);
	fclose(f);
	return start;
}

int main(int argc, char **argv)
{
	char path[64];
	struct stat st;
	uint64_t addr;
	uint8_t *elf, bytes[BYTES];
	int fd;

	if (argc != 3 && argc != 4)
		return 2;
	snprintf(path, sizeof(path), "/proc/%s/exe", argv[1]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		die(path);
	elf = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (elf == MAP_FAILED)
		die(path);
	addr = base(argv[1]) + find(elf, argv[2]);
	snprintf(path, sizeof(path), "/proc/%s/mem", argv[1]);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || pread(fd, bytes, BYTES, addr) != BYTES)
		die(path);
	for (int i = 0; i < BYTES; i++)
		printf("%02x", bytes[i]);
	printf("\n");
	if (argc == 4) {
		for (int i = 0; i < BYTES; i++)
			if (sscanf(argv[3] + 2 * i, "%2hhx", &bytes[i]) != 1)
				return 2;
		if (pwrite(fd, bytes, BYTES, addr) != BYTES)
			die(path);
	}
	return 0;
}
