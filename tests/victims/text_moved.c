/* SPDX-License-Identifier: MIT */
/*
 * text_moved: a program that moves its code to memory without a file, at the very
 * same address, as those do that want huge pages for it. `move` -> moved; `check` ->
 * same, or how many bytes differ from its file there.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "tests/victims/victim.h"

static unsigned char *text;	/* its executable mapping, from moved_work on */
static size_t size;
static unsigned char *file;	/* what that holds */

/* At the begin of a page, of whichever size: what is before stays where it is. */
PROBED __attribute__((aligned(65536))) uint64_t moved_work(uint64_t x)
{
	return x * x + 43;
}

static int find_text(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, offset, here = (unsigned long)moved_work;
	char line[512], access[8];

	while (maps && !text && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s %lx", &from, &to, access, &offset) == 4 &&
		    from < here && here < to) {
			text = (unsigned char *)here;
			size = to - here;
			file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd,
				    (off_t)(offset + here - from));
		}
	if (maps)
		fclose(maps);
	return text && file != MAP_FAILED;
}

static void move(void)
{
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		victim_wrong("mmap");
	memcpy(copy, text, size);
	if (mprotect(copy, size, PROT_READ | PROT_EXEC) ||
	    mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, text) != text)
		victim_wrong("mremap");
	victim_say("moved");
}

static void check(void)
{
	size_t differ = 0;

	for (size_t i = 0; i < size; i++)
		differ += text[i] != file[i];
	if (differ)
		victim_say("differs %zu", differ);
	else
		victim_say("same");
}

static void command(const char *word)
{
	if (strcmp(word, "move") == 0)
		move();
	else if (strcmp(word, "check") == 0)
		check();
	else
		victim_say("what is %s?", word);
}

int main(int argc, char **argv)
{
	if (!find_text())
		return 1;
	victim_say("ready");
	for (uint64_t x = (uint64_t)argc; victim_poll(1, command); x++) {
		if (moved_work(x) != x * x + 43)
			victim_wrong("moved_work");
		victim_count();
	}
	return victim_errors != 0;
}
