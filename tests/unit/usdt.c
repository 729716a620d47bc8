/* SPDX-License-Identifier: MIT */
/* Are the notes of places for tracers (USDT) read as they are, and is nothing read that is not
 * there? */
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/funcs/usdt.h"
#include "tests/unit/check.h"

enum { BASE = 0x2000, NOTES_MAX = 16384 };

static struct file {
	Elf64_Ehdr eh;
	Elf64_Shdr sh[5];
	char names[64];
	uint8_t notes[NOTES_MAX];
} file;

static size_t used;		/* bytes of notes */

static void put(const void *p, size_t n)
{
	MUST(used + n <= sizeof(file.notes));
	memcpy(file.notes + used, p, n);
	used += n;
}

static void put_head(uint32_t owner, uint32_t size, uint32_t type)
{
	put((const uint32_t[]){ owner, size, type }, 12);
}

/* Three texts, each with its NUL, are given as one. */
static void put_note(uint64_t pc, uint64_t base, uint64_t semaphore, const char *texts, size_t n)
{
	static const uint8_t none[4];

	put_head(8, (uint32_t)(24 + n), 3);
	put("stapsdt", 8);
	put((const uint64_t[]){ pc, base, semaphore }, 24);
	put(texts, n);
	put(none, -n & 3);
}

#define NOTE(pc, base, semaphore, texts) put_note(pc, base, semaphore, texts, sizeof(texts))

static void begin(void)
{
	static const char names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab";

	used = 0;
	memset(&file, 0, sizeof(file));
	memcpy(file.names, names, sizeof(names));
	file.eh = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_shoff = offsetof(struct file, sh), .e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 4, .e_shstrndx = 3 };
	file.sh[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_NOTE, .sh_addralign = 4,
		.sh_offset = offsetof(struct file, notes) };
	file.sh[2] = (Elf64_Shdr){ .sh_name = 15, .sh_type = SHT_PROGBITS, .sh_addr = BASE,
		.sh_size = 1, .sh_offset = offsetof(struct file, notes) };
	file.sh[3] = (Elf64_Shdr){ .sh_name = 29, .sh_type = SHT_STRTAB,
		.sh_size = sizeof(file.names), .sh_offset = offsetof(struct file, names) };
}

static const struct usdt_sites *sites;

/* Of the file, as far as it is there. */
static int read_file(size_t size)
{
	auto_close int fd = memfd_create("usdt", 0);

	MUST(fd >= 0 && write(fd, &file, size) == (ssize_t)size);
	usdt_free(sites);
	int err = usdt_read(fd, "usdt", &sites);

	CHECK(err || sites);
	fail_clear();
	return err;
}

static size_t end(void)
{
	file.sh[1].sh_size = used;
	MUST_EQ(read_file(sizeof(file)), 0);
	return sites->n;
}

static bool is_site(size_t i, raddr_t pc, raddr_t semaphore, const char *name, const char *args)
{
	const struct usdt_site *s = &sites->v[i];

	return s->pc == pc && s->semaphore == semaphore && !strcmp(s->name, name) &&
		!strcmp(s->args, args);
}

static void plain(void)
{
	begin();
	NOTE(0x1000, BASE, 0, "libc\0setjmp\0008@%rdi -4@%esi");
	NOTE(0x1010, BASE, 0x4000, "p\0n\0");
	MUST_EQ(end(), 2);
	CHECK(is_site(0, 0x1000, 0, "libc:setjmp", "8@%rdi -4@%esi"));
	CHECK(is_site(1, 0x1010, 0x4000, "p:n", ""));
	/* No file has to have any. */
	begin();
	CHECK_EQ(end(), 0);
	file.sh[1].sh_type = SHT_PROGBITS;
	CHECK_EQ(end(), 0);
}

/* What was moved after it was linked has moved with its base. */
static void moved(void)
{
	begin();
	NOTE(0x1000, BASE - 0x500, 0x4000, "a\0b\0");
	NOTE(0x1000, BASE - 0x500, 0, "a\0c\0");
	NOTE(0x1000, 0, 0x4000, "a\0d\0");
	MUST_EQ(end(), 3);
	CHECK(is_site(0, 0x1500, 0x4500, "a:b", ""));
	CHECK(is_site(1, 0x1500, 0, "a:c", ""));
	CHECK(is_site(2, 0x1000, 0x4000, "a:d", ""));
	file.sh[2].sh_name = 0;
	MUST_EQ(end(), 3);
	CHECK(is_site(0, 0x1000, 0x4000, "a:b", ""));
}

/* Notes of others, and what makes no sense, are passed; what has no end is the end. */
static void others(void)
{
	begin();
	put_head(4, 4, 1);
	put("GNU\0abcd", 8);
	NOTE(1, BASE, 0, "a\0b\0");
	put_head(8, 8, 3);		/* without room for addresses */
	put("stapsdt\0abcdefgh", 16);
	put_note(2, BASE, 0, "no\0end", 6);
	NOTE(3, BASE, 0, "\0name\0");
	NOTE(4, BASE, 0, "provider\0\0");
	NOTE(5, BASE, 0, "a\033[2J\0c\n\0\tx");
	MUST_EQ(end(), 2);
	CHECK(is_site(0, 1, 0, "a:b", ""));
	CHECK(is_site(1, 5, 0, "a?[2J:c?", "?x"));
	put_head(8, UINT32_MAX, 3);
	put("stapsdt", 8);
	CHECK_EQ(end(), 2);
	put_head(UINT32_MAX, 8, 3);
	CHECK_EQ(end(), 2);
	put("x", 1);
	CHECK_EQ(end(), 2);
}

static void long_text(void)
{
	static char texts[6000];

	memset(texts, 'x', sizeof(texts));
	texts[1] = texts[3] = texts[sizeof(texts) - 1] = '\0';
	begin();
	put_note(1, BASE, 0, texts, sizeof(texts));
	NOTE(2, BASE, 0, "a\0b\0");
	MUST_EQ(end(), 1);
	CHECK_EQ(sites->v[0].pc, 2);
}

/* Cut off anywhere, and with any byte changed, it is read or refused. */
static void hostile(void)
{
	uint32_t seed = 1;

	begin();
	for (int i = 0; i < 20; i++)
		NOTE(0x1000 + i, BASE, i, "some\0where\0004@%eax 8@-8(%rbp)");
	end();
	struct file whole = file;

	for (size_t n = 0; n < offsetof(struct file, notes) + used; n += 7)
		read_file(n);
	for (int i = 0; i < 4000; i++) {
		for (int k = 0; k < 3; k++) {
			seed = seed * 1103515245 + 12345;
			((uint8_t *)&file)[(seed >> 8) % (offsetof(struct file, notes) + used)] =
				(uint8_t)(seed >> 3);
		}
		if (!read_file(sizeof(file)))
			CHECK(sites->n <= NOTES_MAX / 40);
		file = whole;
	}
}

int main(void)
{
	plain();
	moved();
	others();
	long_text();
	hostile();
	usdt_free(sites);
	return failures != 0;
}
