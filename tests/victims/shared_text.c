/* SPDX-License-Identifier: MIT */
/* shared_text: calls code that it has mapped MAP_SHARED from a copy of itself,
 * shared.bin in the current directory: a write into that text would reach the
 * file. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/victims/victim.h"

/* Position independent and alone: it works at any address. */
PROBED uint64_t shared_work(uint64_t x)
{
	return x * 1103515245 + 12345;
}

/* The executable segment of the program: link-time range and file offset. */
static int find_text(struct dl_phdr_info *info, size_t size, void *arg)
{
	ElfW(Phdr) *text = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    info->dlpi_phdr[i].p_flags & PF_X) {
			*text = info->dlpi_phdr[i];
			text->p_paddr = info->dlpi_addr;
		}
	return 1;
}

int main(void)
{
	uint64_t (*work)(uint64_t);
	ElfW(Phdr) text = { 0 };
	char *map;
	int fd;

	if (system("cp /proc/$PPID/exe shared.bin"))
		return 1;
	dl_iterate_phdr(find_text, &text);
	fd = open("shared.bin", O_RDWR | O_CLOEXEC);
	map = mmap(NULL, text.p_memsz, PROT_READ | PROT_EXEC, MAP_SHARED, fd,
		   text.p_offset);
	if (map == MAP_FAILED)
		return 1;
	work = (void *)(map + ((uintptr_t)shared_work - text.p_paddr -
			       text.p_vaddr));
	victim_say("ready");
	for (uint64_t x = 1; victim_poll(1, NULL); x++) {
		if (work(x) != x * 1103515245 + 12345)
			victim_wrong("shared_work");
		victim_count();
	}
	return victim_errors != 0;
}
