/* SPDX-License-Identifier: MIT */
/*
 * Which pages does a visit take for islands of an earlier one? What the list in the
 * session says was written by the target, perhaps: so not without looking at the memory.
 */
#include "injector/islands/pages.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/arch.h"
#include "injector/proc/kernel.h"
#include "injector/session/session.h"
#include "tests/unit/check.h"

enum { PAGES = 16, FOREIGN = 100 };

static struct session_map map;
static uint8_t *memory;		/* a page for each case, none beside another */

static uint8_t *page(size_t i)
{
	return memory + 2 * i * PAGE;
}

static void list(size_t i, enum island_state state)
{
	uint64_t *words = (void *)((char *)map.s + ISLANDS_OFF);

	words[map.s->nislands++] = (uintptr_t)page(i) | state;
}

static void make(size_t i, int prot, int flags, int fd)
{
	void *p = mmap(page(i), PAGE, prot, flags | MAP_FIXED, fd, 0);

	CHECK(p == page(i));
}

/* A page as ours are, with such bytes at one place. */
static void fill(const struct target *t, size_t i, size_t at, const uint8_t *bytes, size_t n)
{
	make(i, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	CHECK(!n || target_write(t, (uintptr_t)page(i) + at, bytes, n) == 0);
}

static bool is_known(const struct target *t, size_t i)
{
	struct pages ps;
	bool found = false;

	map.s->nislands = 0;
	list(i, ISLAND_MAPPED);
	CHECK(pages_find(t, arch_host()->jump_size, 1 << 30, &ps) == 0);
	for (size_t k = 0; k < ps.nold; k++)
		found |= ps.v[k].at == (uintptr_t)page(i);
	pages_clear(&ps);
	return found;
}

/* Only what was mapped, and says so: the rest is the target's to use. */
static void states(const struct target *t)
{
	struct pages ps;

	for (size_t i = 0; i < 4; i++)
		fill(t, i, 0, NULL, 0);
	map.s->nislands = 0;
	list(0, ISLAND_WANTED);
	list(1, ISLAND_MAPPED);
	list(2, ISLAND_NONE);
	list(3, ISLAND_UNWANTED);
	CHECK(pages_find(t, arch_host()->jump_size, 1 << 30, &ps) == 0);
	CHECK(ps.nold == 1 && ps.v[0].at == (uintptr_t)page(1));
	pages_clear(&ps);
	/* There is no more room than the list has. */
	map.s->nislands = ISLANDS_MOST - 2;
	CHECK(pages_find(t, arch_host()->jump_size, 1 << 30, &ps) == 0);
	CHECK(ps.most == ps.nold + 2);
	pages_clear(&ps);
}

static void memories(const struct target *t)
{
	char name[] = "pages.XXXXXX";
	auto_close int fd = mkstemp(name);

	CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0 && unlink(name) == 0);
	make(0, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
	CHECK(!is_known(t, 0));
	make(0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	CHECK(!is_known(t, 0));
	make(0, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1);
	CHECK(!is_known(t, 0));
	CHECK(munmap(page(0), PAGE) == 0);
	CHECK(!is_known(t, 0));
	make(0, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	CHECK(is_known(t, 0));
}

/* Jumps into stubs of ours, and nothing else. */
static void contents(const struct target *t)
{
	raddr_t stub = (uintptr_t)page(PAGES - 1) + 64;
	uint8_t code[ARCH_JUMP_MAX];
	int n;

	map.s->arenas[0] = (struct arena){ (uintptr_t)page(PAGES - 1), PAGE, 128, 0, 0 };
	map.s->narenas = 1;
	n = arch_host()->jump((uintptr_t)page(1) + FOREIGN, stub, code);
	CHECK(n > 0);
	fill(t, 1, FOREIGN, code, (size_t)n);
	CHECK(is_known(t, 1));
	fill(t, 1, FOREIGN, (const uint8_t[]){ 0xc3 }, 1);
	CHECK(!is_known(t, 1));
	/* It leads elsewhere. */
	n = arch_host()->jump((uintptr_t)page(1) + FOREIGN, (uintptr_t)page(2), code);
	fill(t, 1, FOREIGN, code, (size_t)n);
	CHECK(!is_known(t, 1));
	/* It does not end in the page. */
	n = arch_host()->jump((uintptr_t)page(1) + PAGE - 2, stub, code);
	fill(t, 1, PAGE - 2, code, 2);
	CHECK(!is_known(t, 1));
	/* Where stubs are to be is no room for islands. */
	fill(t, PAGES - 1, 0, NULL, 0);
	CHECK(!is_known(t, PAGES - 1));
	map.s->narenas = 0;
	CHECK(is_known(t, PAGES - 1));
}

int main(void)
{
	struct target self = { .pid = getpid(), .mem = open("/proc/self/mem", O_RDWR) };
	struct session_wish wish = { .nthreads = 1, .max_slots = 16 };
	struct session_shape shape;

	if (kernel_page() != PAGE) {
		printf("skipped: this kernel has larger pages, where there are no islands\n");
		return 77;
	}
	CHECK(session_shape(&wish, NULL, &shape) == 0);
	int fd = memfd_create(SESSION_NAME, MFD_ALLOW_SEALING);
	CHECK(session_create(fd, &shape, false, &map) == 0);
	map.s->generation = 1;
	map.s->magic = SESSION_MAGIC;
	memory = mmap(NULL, 2 * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	if (failures)
		return 1;
	states(&self);
	memories(&self);
	contents(&self);
	session_unmap(&map);
	close(self.mem);
	return failures != 0;
}
