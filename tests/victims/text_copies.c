/* SPDX-License-Identifier: MIT */
/*
 * text_copies text|file above|below: has mapped its own text, or all of its own
 * file, a second time, as V8 does to have code near code; above or below the
 * place where it runs. Only what the loader mapped is the module.
 *
 * The copied function is called too, now and then, and does what the original
 * does.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/victims/victim.h"

/* Position independent and alone: it works at any address. */
PROBED uint64_t copy_work(uint64_t x)
{
	return x * 1103515245 + 12345;
}

struct text {
	uintptr_t base;		/* where the file's start is mapped */
	uint64_t offset, size;	/* of the executable segment in the file */
};

static int find_text(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct text *t = arg;

	t->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			t->offset = info->dlpi_phdr[i].p_offset;
			t->size = info->dlpi_phdr[i].p_filesz;
		}
	return size ? 1 : 0;
}

int main(int argc, char **argv)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t (*copy)(uint64_t);
	uintptr_t hint = 0, at, page = (uintptr_t)getpagesize();
	struct text t = { 0 };
	struct stat st;

	if (argc != 3 || fstat(fd, &st))
		return 2;
	dl_iterate_phdr(find_text, &t);
	t.size += t.offset & (page - 1);
	t.offset &= -page;
	if (strcmp(argv[1], "file") == 0) {
		t.size = st.st_size;
		at = (uintptr_t)copy_work - t.base;
		t.offset = 0;
	} else {
		at = (uintptr_t)copy_work - t.base - t.offset;
	}
	if (strcmp(argv[2], "below") == 0)
		hint = t.base - ((t.size + (64 << 20)) & -page);
	char *map = mmap((void *)hint, t.size, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | (hint ? MAP_FIXED_NOREPLACE : 0), fd, t.offset);
	if (map == MAP_FAILED || (hint && map > (char *)t.base))
		return 1;
	close(fd);
	copy = (void *)(map + at);
	victim_say("ready");
	for (uint64_t x = 1; victim_poll(1, NULL); x++) {
		uint64_t got = x % 64 ? copy_work(x) : copy(x);

		if (got != x * 1103515245 + 12345)
			victim_wrong("copy_work");
		victim_count();
	}
	return victim_errors != 0;
}
