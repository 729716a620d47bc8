/* SPDX-License-Identifier: MIT */
/*
 * Are the restartable sequences of a file known, however its words are filled
 * in, and does a table that lies do no harm?
 */
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/unit/symbols_world.h"

enum { SLOWEST_MS = 5000, MANY = 20000, WIDE = 4 << 20 };

/* Two sequences with their signatures, and a descriptor of zeros. */
static const char material[] =
	".macro label name\n.globl \\name\n"
	".ifndef OPEN\n.hidden \\name\n.endif\n\\name:\n.endm\n"
	".text\n.globl main\n.type main,@function\nmain: nop\n"
	"label s1\n nop; nop; nop\n"
	"label e1\n ret\n"
	".long 0x53053053\n"
	"label a1\n jmp s1\n"
	"label s2\n .fill 300,1,0x90\n"
	"label e2\n ret\n"
	".byte 0x0f, 0xb9, 0x3d\n.long 0x53053053\n"
	"label a2\n ret\n.size main,.-main\n"
	".pushsection __rseq_cs, \"aw\", @progbits\n.balign 32\n"
	".long 0, 0\n.quad s2, e2 - s2, a2\n"
	".fill 32,1,0\n"
	".long 0, 0\n.quad s1, e1 - s1, a1\n"
	".long 0, 0\n"		/* cut off */
	".popsection\n"
	".section .note.GNU-stack,\"\",@progbits\n";

/* ---- what is there ------------------------------------------------------- */

static raddr_t label_of(const char *file, const char *name)
{
	char command[600], line[256], found[128];
	unsigned long long addr, ret = 0;
	FILE *f;

	snprintf(command, sizeof(command), "nm %s", world_path(file));
	f = popen(command, "r");
	MUST(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %127s", &addr, found) == 2 &&
		    !strcmp(found, name))
			ret = addr;
	pclose(f);
	MUST(ret);
	return ret;
}

static void check_range(struct range r, raddr_t start, raddr_t end)
{
	MUST_EQ(r.start, start);
	MUST_EQ(r.end, end);
}

static void check_file(const char *file)
{
	struct symbols *s = world_symbols(file);

	MUST_EQ(s->nrseqs, 4);
	check_range(s->rseqs[0], label_of(file, "s1") - 1, label_of(file, "e1"));
	check_range(s->rseqs[1], label_of(file, "a1") - 4, label_of(file, "a1"));
	check_range(s->rseqs[2], label_of(file, "s2") - 1, label_of(file, "e2"));
	check_range(s->rseqs[3], label_of(file, "a2") - 4, label_of(file, "a2"));
	symbols_close(s);
}

static void kinds(void)
{
	static const char *const flags[] = {
		"-no-pie", "-no-pie -static", "-pie", "-static-pie", "-shared",
		"-pie -Wl,-z,pack-relative-relocs",
		"-pie -fuse-ld=lld", "-pie -fuse-ld=lld -Wl,-z,rel",
		"-pie -fuse-ld=lld -Wl,--pack-dyn-relocs=relr",
	};
	unsigned int built = 0;

	world_write("seq.s", material);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		if (world_run("%s %s -o kind.%zu seq.s 2>/dev/null", world_cc,
			      flags[i], i)) {
			MUST(i > 4);	/* not every linker can do the rest */
			continue;
		}
		char name[32];

		snprintf(name, sizeof(name), "kind.%zu", i);
		check_file(name);
		built++;
	}
	printf("%u ways to link\n", built);
}

/* Names that other files may see are resolved by symbol. */
static void by_symbol(void)
{
	MUST_EQ(world_run("%s -shared -nostdlib -Wa,--defsym,OPEN=1 "
			   "-o open.so seq.s", world_cc), 0);
	check_file("open.so");
}

static void none(void)
{
	struct symbols *s;

	world_write("plain.c", "int main(void) { return 0; }\n");
	MUST_EQ(world_run("%s -o plain plain.c", world_cc), 0);
	s = world_symbols("plain");
	MUST_EQ(s->nrseqs, 0);
	symbols_close(s);
}

/* ---- hostile ------------------------------------------------------------- */

static void check_promises(const struct symbols *s)
{
	size_t n;

	for (size_t i = 0; i < s->nrseqs; i++) {
		struct range r = s->rseqs[i];

		MUST(r.start < r.end);
		MUST(!i || r.start >= s->rseqs[i - 1].end);
		MUST(symbols_text(s, r.start, &n) && n >= range_size(r));
	}
}

static struct symbols *assemble(const char *text)
{
	struct symbols *s;

	world_write("bad.s", text);
	MUST_EQ(world_run("%s -shared -nostdlib -o bad.so bad.s", world_cc), 0);
	s = world_symbols("bad.so");
	check_promises(s);
	return s;
}

/* A sequence that does not end, one that wraps, one in data, one of nothing,
 * signatures before the first address and behind the text. */
static void lies(void)
{
	struct symbols *s = assemble(
		".text\nt: .fill 64,1,0x90\nu: .fill 64,1,0x90\n"
		".data\nd: .quad 0\n"
		".section __rseq_cs,\"aw\",@progbits\n"
		".long 0, 0\n.quad u, 0x7fffffffffffffff, 2\n"
		".long 0, 0\n.quad u, -1, 0\n"
		".long 0, 0\n.quad u + 8, -8, -1\n"
		".long 0, 0\n.quad d, 8, d\n"
		".long 0, 0\n.quad t, 0, t\n"
		".long 0, 0\n.quad -1, 16, 0x7fffffff00000000\n");

	MUST_EQ(s->nrseqs, 1);
	MUST_EQ(s->rseqs[0].start, s->texts[0].range.start + 63);
	MUST_EQ(s->rseqs[0].end, s->texts[0].range.end);
	symbols_close(s);
}

/* At the very start of the text nothing comes before. */
static void first_byte(void)
{
	struct symbols *s = assemble(
		".text\nt: .fill 64,1,0x90\n"
		".section __rseq_cs,\"aw\",@progbits\n"
		".long 0, 0\n.quad t, 8, t + 2\n");

	MUST_EQ(s->nrseqs, 1);
	check_range(s->rseqs[0], s->texts[0].range.start,
		    s->texts[0].range.start + 8);
	symbols_close(s);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Each sequence is nearly all of a large text: their bytes must not be marked so many times. */
static void many_that_overlap(void)
{
	char text[512];
	uint64_t start;
	struct symbols *s;

	snprintf(text, sizeof(text),
		 ".text\nt: .fill %d,1,0x90\n"
		 ".section __rseq_cs,\"aw\",@progbits\n.set k, 1\n"
		 ".rept %d\n.long 0, 0\n.quad t + k, %d, t + k + 9\n"
		 ".set k, k + 1\n.endr\n", WIDE, MANY, WIDE - MANY);
	start = now_ms();
	s = assemble(text);
	MUST(now_ms() - start < SLOWEST_MS);
	MUST_EQ(s->nrseqs, 1);
	check_range(s->rseqs[0], s->texts[0].range.start,
		    s->texts[0].range.start + WIDE);
	symbols_close(s);
}

/* What the section header of the table says. */
static void damage(uint64_t addr, uint64_t size, uint64_t flags, uint32_t type)
{
	auto_close int in = open(world_path("kind.2"), O_RDONLY);
	auto_close int fd = memfd_create("hostile", MFD_CLOEXEC);
	struct symbols *s;
	struct stat st;
	Elf64_Ehdr *eh;
	Elf64_Shdr *sh;

	MUST(in >= 0 && fd >= 0 && !fstat(in, &st));
	auto_free char *p = malloc(st.st_size);
	MUST(p && read(in, p, st.st_size) == st.st_size);
	eh = (void *)p;
	sh = (void *)(p + eh->e_shoff);
	for (int i = 0; i < eh->e_shnum; i++) {
		if (strcmp(p + sh[eh->e_shstrndx].sh_offset + sh[i].sh_name,
			   "__rseq_cs"))
			continue;
		sh[i].sh_addr += addr;
		sh[i].sh_size = size;
		sh[i].sh_flags = flags;
		sh[i].sh_type = type;
	}
	MUST(write(fd, p, st.st_size) == st.st_size);
	MUST_EQ(symbols_open(fd, "hostile", &s), 0);
	check_promises(s);
	symbols_close(s);
}

static void headers(void)
{
	static const uint64_t words[] = {
		0, 1, 8, 31, 32, 33, 4096, 0x7fffffff, 1ull << 40, INT64_MAX,
		UINT64_MAX - 31, UINT64_MAX,
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		for (size_t k = 0; k < ARRAY_SIZE(words); k++) {
			damage(words[i], words[k], SHF_ALLOC, SHT_PROGBITS);
			damage(words[i], words[k], SHF_ALLOC, SHT_NOBITS);
			damage(words[i], words[k], 0, SHT_RELA);
		}
}

int main(void)
{
	world_open();
	kinds();
	by_symbol();
	none();
	lies();
	first_byte();
	many_that_overlap();
	headers();
	return 0;
}
