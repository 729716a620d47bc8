/* SPDX-License-Identifier: MIT */
/*
 * forge PID WHAT [FILE]: change the journal that inject keeps in a process, as a
 * bug or malice of that process could.
 *
 *	addr	every slot names another place, outside of all code
 *	near	every slot names a place some bytes further on
 *	state	every slot says that nothing was ever written
 *	old	every slot remembers other bytes
 *	count	there are no slots
 *	magic	there is no session
 *	save	the journal to FILE
 *	load	and back
 */
#include "tests/tools/session.h"

static void forge_slot(struct slot *s, const char *what)
{
	if (strcmp(what, "addr") == 0)
		s->addr = 0x10000;
	else if (strcmp(what, "near") == 0)
		s->addr += 16;
	else if (strcmp(what, "state") == 0)
		s->state = SLOT_FREE;
	else if (strcmp(what, "old") == 0)
		memset(s->old, 0x90, sizeof(s->old));
}

static void forge(struct session *s, struct slot *slots, const char *what)
{
	for (uint32_t i = 0; i < s->nslots; i++)
		forge_slot(&slots[i], what);
	if (strcmp(what, "count") == 0)
		s->nslots = 0;
	if (strcmp(what, "magic") == 0)
		s->magic = 0;
}

/* Between a file and memory, or nothing if it is no such command. */
static void keep(const char *what, const char *file, void *p, size_t n)
{
	bool save = strcmp(what, "save") == 0;
	FILE *f = file ? fopen(file, save ? "w" : "r") : NULL;

	if (!file)
		return;
	if (!f || (save ? fwrite(p, 1, n, f) : fread(p, 1, n, f)) != n || fclose(f))
		die(file);
}

int main(int argc, char **argv)
{
	enum { MOST = SLOTS_OFF + (1 << 20) };
	static uint8_t all[MOST];
	struct session *s = (void *)all;

	if (argc != 3 && argc != 4)
		return 2;
	uint64_t base = session_base(argv[1]);
	int fd = session_memory(argv[1]);
	if (pread(fd, all, MOST, (off_t)base) != MOST)
		die("read the journal");
	if (s->nslots > (MOST - SLOTS_OFF) / sizeof(struct slot))
		die("the journal is too long");
	keep(argv[2], argv[3], all, MOST);
	forge(s, (void *)(all + SLOTS_OFF), argv[2]);
	return pwrite(fd, all, MOST, (off_t)base) == MOST ? 0 : die("write it");
}
