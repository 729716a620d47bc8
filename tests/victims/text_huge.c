/* SPDX-License-Identifier: MIT */
/*
 * text_huge: a program whose code lies in huge pages of its file, if that is in a file
 * system which has such (tmpfs). `huge` -> huge KB: so much of its code is mapped by
 * huge pages.
 */
#include "tests/victims/victim.h"

/* Enough of it to have a huge page whole, in the middle of which huge_work stands. */
__asm__(".text\n\t.skip 3 << 20, 0xcc\n\t.balign 4096");
PROBED uint64_t huge_work(uint64_t x)
{
	return x * x + 59;
}
__asm__(".text\n\t.skip 3 << 20, 0xcc");

static unsigned long huge_kb(void)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	unsigned long from, to, kb, sum = 0, here = (unsigned long)huge_work;
	bool mine = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			mine = from <= here && here < to;
		if (mine && (sscanf(line, "FilePmdMapped: %lu", &kb) == 1 ||
			     sscanf(line, "ShmemPmdMapped: %lu", &kb) == 1))
			sum += kb;
	}
	if (f)
		fclose(f);
	return sum;
}

static void command(const char *word)
{
	if (strcmp(word, "huge") == 0)
		victim_say("huge %lu", huge_kb());
	else
		victim_say("what is %s?", word);
}

int main(int argc, char **argv)
{
	victim_say("ready");
	for (uint64_t x = (uint64_t)argc; victim_poll(1, command); x++) {
		if (huge_work(x) != x * x + 59)
			victim_wrong("huge_work");
		victim_count();
	}
	return victim_errors != 0;
}
