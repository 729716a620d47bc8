/* SPDX-License-Identifier: MIT */
/* Is the unwind table of an image found by its headers in memory, and none that they only
 * claim? And what does a layout say of this very process? */
#include <elf.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "injector/ptrace/unwind_tables.h"
#include "tests/unit/check.h"

enum { SIZE = 3 << 12, AT = 0x2040, ROUNDS = 200000 };

static const raddr_t base = 0x400000;

/* The beginning of an image, whose table has 16 entries. */
static struct image {
	Elf64_Ehdr head;
	Elf64_Phdr segments[3];
	uint8_t fill[AT - sizeof(Elf64_Ehdr) - 3 * sizeof(Elf64_Phdr)];
	uint8_t encodings[4];
	int32_t frame;
	uint32_t count;
	int32_t table[16][2];
} image;

static bool read_image(raddr_t at, void *buf, size_t n)
{
	if (at < base || at - base > sizeof(image) || n > sizeof(image) - (at - base))
		return false;
	memcpy(buf, (const uint8_t *)&image + (at - base), n);
	return true;
}

static bool read_self(raddr_t at, void *buf, size_t n)
{
	memcpy(buf, (const void *)(uintptr_t)at, n);
	return true;
}

static void make_image(void)
{
	image = (struct image){
		.head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
			  .e_phoff = sizeof(Elf64_Ehdr), .e_phnum = 3,
			  .e_phentsize = sizeof(Elf64_Phdr) },
		.segments = {
			{ .p_type = PT_LOAD, .p_vaddr = 0x10000, .p_memsz = 0x1000 },
			{ .p_type = PT_LOAD, .p_offset = 0x2000, .p_vaddr = 0x12000 },
			{ .p_type = PT_GNU_EH_FRAME, .p_offset = AT, .p_vaddr = 0x10000 + AT,
			  .p_memsz = 12 + sizeof(image.table) },
		},
		.encodings = { 1, 0x1b, 0x03, 0x3b }, .count = 16,
	};
}

static bool find(struct unwind_table *ret)
{
	struct area areas[] = {
		{ { base, base + 0x1000 }, base, false, false },
		{ { base + 0x1000, base + 0x2000 }, base, false, true },
		{ { base + 0x2000, base + SIZE }, base, true, false },
		{ { base + SIZE, base + 2 * SIZE }, 0, true, false },
	};
	struct layout l = { .v = areas, .n = 4 };

	return unwind_table_find(&l, base, read_image, ret);
}

static void check_image(void)
{
	struct unwind_table t;

	make_image();
	CHECK(find(&t));
	CHECK_EQ(t.header, base + AT);
	CHECK_EQ(t.at, base + AT + 12);
	CHECK_EQ(t.entries, 16);
	image.count = 1 << 30;
	CHECK(find(&t));
	CHECK_EQ(t.entries, 16);
	image.segments[2].p_memsz = SIZE;	/* over the end */
	CHECK(!find(&t));
	image.segments[2].p_memsz = 11;
	CHECK(!find(&t));
	image.segments[2].p_memsz = -1ull;
	CHECK(!find(&t));
	make_image();
	image.encodings[3] = 0xff;
	CHECK(!find(&t));
	make_image();
	image.segments[2].p_type = PT_NULL;
	CHECK(!find(&t));
	make_image();
	image.head.e_phnum = 0xffff;
	CHECK(!find(&t));
}

/* Whatever the headers say, the table lies in the image. */
static void check_damaged(void)
{
	unsigned int found = 0, seed = 1;

	for (int i = 0; i < ROUNDS; i++) {
		struct unwind_table t;
		uint8_t *bytes = (uint8_t *)&image;

		make_image();
		for (int k = rand_r(&seed) % 4; k >= 0; k--) {
			size_t at = (size_t)rand_r(&seed) % 250;

			bytes[at < 232 ? at : AT + at - 232] = (uint8_t)rand_r(&seed);
		}
		if (!find(&t))
			continue;
		found++;
		CHECK(t.header >= base && t.at == t.header + 12);
		CHECK(t.entries <= SIZE / 8 && t.at + t.entries * 8 <= base + SIZE);
	}
	CHECK(found > 0 && found < ROUNDS);
}

static void *stay(void *tid)
{
	__atomic_store_n((pid_t *)tid, gettid(), __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

static pid_t start_young(void)
{
	static pid_t tid;
	pthread_t young;

	CHECK_EQ(pthread_create(&young, NULL, stay, &tid), 0);
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	return tid;
}

static void check_self(void)
{
	struct layout l = { 0 };
	struct unwind_table t;
	int here = 0;

	usleep(50000);		/* older than a tick */
	CHECK_EQ(layout_read(&l, getpid(), NULL, NULL), 0);
	for (size_t i = 1; i < l.n; i++)
		CHECK(l.v[i - 1].range.end <= l.v[i].range.start);
	const struct area *code = layout_at(&l, (raddr_t)(uintptr_t)check_self);
	CHECK(code && code->exec && !code->write && code->image);
	CHECK(code && unwind_table_find(&l, code->image, read_self, &t) && t.entries > 1);
	CHECK(range_has(l.main_stack, (raddr_t)(uintptr_t)&here));
	CHECK(layout_knows(&l, getpid(), getpid()));
	CHECK(!layout_knows(&l, getpid(), start_young()));

	/* What came later is seen at the second look, and the last. */
	void *fresh[2];
	for (int i = 0; i < 2; i++) {
		fresh[i] = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(!layout_at(&l, (raddr_t)(uintptr_t)fresh[i]));
		const struct area *a = layout_find(&l, getpid(), (raddr_t)(uintptr_t)fresh[i]);
		CHECK(i ? !a : a && !a->image);
	}
	layout_clear(&l);
}

int main(void)
{
	check_image();
	check_damaged();
	check_self();
	return failures != 0;
}
