/* SPDX-License-Identifier: MIT */
/*
 * Does a truncated, damaged or malicious file do no harm: no crash, no hang, no
 * memory without bounds, and a result that keeps its promises?
 */
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "symbols/names/demangle.h"
#include "tests/unit/symbols_world.h"

enum {
	STEP = 64, ROUNDS = 2000, FLIPS = 12,
	SLOWEST_MS = 2000,	/* for a file of 20 kB; a hang takes longer */
	RSS_MAX_MB = 700,	/* with a sanitizer's shadow and quarantine */
};

struct bytes {
	uint8_t *p;
	size_t n;
};

static uint64_t seed = 88172645463325252u;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static struct bytes slurp(const char *name)
{
	auto_close int fd = open(world_path(name), O_RDONLY);
	struct stat st;
	struct bytes b;

	MUST(fd >= 0 && !fstat(fd, &st));
	b.n = st.st_size;
	b.p = malloc(b.n);
	MUST(b.p && read(fd, b.p, b.n) == (ssize_t)b.n);
	return b;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int feed(const uint8_t *p, size_t n)
{
	auto_close int fd = memfd_create("hostile", MFD_CLOEXEC);
	uint64_t start = now_ms();
	struct symbols *s;
	int err;

	MUST(fd >= 0 && write(fd, p, n) == (ssize_t)n);
	err = symbols_open(fd, "hostile", &s);
	if (!err) {
		world_ask(s);
		symbols_close(s);
	} else {
		MUST(err == -ENOEXEC || err == -EBADMSG);
		MUST(*fail_text());
	}
	fail_clear();
	MUST(now_ms() - start < SLOWEST_MS);
	return err;
}

static void truncates(struct bytes b)
{
	for (size_t n = 0; n < b.n; n += STEP)
		feed(b.p, n);
	MUST_EQ(feed(b.p, b.n), 0);
}

/* Where .eh_frame is. */
static struct range find_entries(struct bytes b)
{
	const Elf64_Ehdr *eh = (const void *)b.p;
	const Elf64_Shdr *sh = (const void *)(b.p + eh->e_shoff);
	const char *names = (char *)b.p + sh[eh->e_shstrndx].sh_offset;
	size_t i = 0;

	while (strcmp(names + sh[i].sh_name, ".eh_frame"))
		MUST(++i < eh->e_shnum);
	return (struct range){ sh[i].sh_offset,
			       sh[i].sh_offset + sh[i].sh_size };
}

/* A quarter anywhere, in the headers, in the section headers, and in the unwind
 * entries; as bytes, or as words that are likely to be trouble. */
static void flip(uint8_t *p, size_t n, struct range entries)
{
	static const uint64_t trouble[] = {
		0, 1, UINT64_MAX, INT64_MAX, 1ull << 63, 0xffffffff, 0x7fffffff,
		0x10000, UINT64_MAX - 8, 1ull << 40,
	};
	uint64_t r = random_word(), word;
	size_t at = random_word() % (n - 8);

	if (r % 4 == 1)
		at %= 1024;
	else if (r % 4 == 2)
		at = n - 8 - at % 2048;
	else if (r % 4 == 3)
		at = entries.start + at % range_size(entries);
	if (r & 0x100) {
		p[at] ^= 1u << (r >> 16) % 8;
	} else if (r & 0x200) {
		p[at] = r >> 24;
	} else {
		at &= ~7ul;
		word = trouble[(r >> 16) % ARRAY_SIZE(trouble)];
		memcpy(p + at, &word, r & 0x400 ? 4 : 8);
	}
}

static void flips(struct bytes b)
{
	struct range entries = find_entries(b);
	uint8_t *copy = malloc(b.n);
	unsigned int opened = 0;

	MUST(copy);
	for (int i = 0; i < ROUNDS; i++) {
		memcpy(copy, b.p, b.n);
		for (uint64_t k = 1 + random_word() % FLIPS; k; k--)
			flip(copy, b.n, entries);
		opened += feed(copy, b.n) == 0;
	}
	MUST(opened > ROUNDS / 10 && opened < ROUNDS);
	free(copy);
}

/* ---- made to hurt -------------------------------------------------------- */

/* Sixty thousand segments that all claim the whole file. */
static void many_segments(struct bytes b)
{
	const size_t count = 60000, at = ALIGN_UP(b.n, 8);
	struct bytes big = { .n = at + count * sizeof(Elf64_Phdr) };
	Elf64_Ehdr *eh;
	Elf64_Phdr *ph;

	big.p = calloc(1, big.n);
	MUST(big.p);
	memcpy(big.p, b.p, b.n);
	eh = (Elf64_Ehdr *)big.p;
	eh->e_phoff = at;
	eh->e_phnum = count;
	ph = (Elf64_Phdr *)(big.p + at);
	for (size_t i = 0; i < count; i++)
		ph[i] = (Elf64_Phdr){
			.p_type = PT_LOAD, .p_flags = PF_X | PF_R,
			.p_vaddr = i * 8, .p_filesz = big.n, .p_memsz = big.n,
		};
	feed(big.p, big.n);
	free(big.p);
}

/* A long program that fails at its end, for each of many entries. */
static void slow_entries(void)
{
	struct symbols *s;
	uint64_t start;

	world_write("slow.s",
		".text\nt: .fill 320000,1,0x90\n"
		".section .eh_frame,\"a\",@progbits\n"
		"0: .long 2f-1f\n1: .long 0\n.byte 1\n.string \"zR\"\n"
		".byte 1,0x78,16,1,27\n.fill 200000,1,0\n.byte 0x41\n"
		".balign 4\n2:\n.set k, 0\n.rept 20000\n"
		".long 2f-1f\n1: .long 1b-0b\n.long t+k-.\n.long 16\n"
		".byte 0\n.balign 4\n2:\n.set k, k+16\n.endr\n");
	MUST_EQ(world_run("gcc -shared -nostdlib -s -Wl,--no-eh-frame-hdr "
			   "-o slow.so slow.s 2>ld.log"), 0);
	start = now_ms();
	s = world_symbols("slow.so");
	world_ask(s);
	symbols_close(s);
	MUST(now_ms() - start < SLOWEST_MS);
}

/*
 * Unwind entries that would cost libdw gigabytes, or lead it out of its bounds:
 * a register number like no machine has, states remembered by the million, a
 * CIE with more letters than data.
 */
static void unwind_bombs(void)
{
	static const char *const names[] = { "huge", "hoard" };
	struct symbols *s;
	int64_t offset;

	world_write("bomb.s",
		".macro f name\n.globl \\name\n.type \\name,@function\n"
		"\\name: .cfi_startproc\n nop\n .endm\n"
		".macro end name\n ret\n.cfi_endproc\n"
		".size \\name,.-\\name\n.endm\n"
		".text\n f fine\n end fine\n"
		" f huge\n .cfi_escape 7,0xfe,0xff,0xff,0x3f\n end huge\n"
		" f hoard\n .rept 200000\n"
		" .cfi_escape 10,10,10,10,10,10,10,10,10,10\n"
		" .endr\n end hoard\n");
	world_write("letters.s",
		".section .eh_frame,\"a\",@progbits\n"
		".long 2f-1f\n1: .long 0\n.byte 1\n.ascii \"z\"\n"
		".fill 100000,1,'L'\n.byte 0,1,120,16,1,27\n.balign 4\n2:\n");
	MUST_EQ(world_run("gcc -shared -nostdlib -o bomb.so bomb.s && "
			   "gcc -shared -nostdlib -Wl,--no-eh-frame-hdr "
			   "-o letters.so bomb.s letters.s 2>ld.log"), 0);
	s = world_symbols("bomb.so");
	MUST_EQ(symbols_cfa_offset(s, world_func(s, "fine")->range.start,
				    &offset), 0);
	MUST_EQ(offset, 8);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct func *f = world_func(s, names[i]);

		MUST(!(f->flags & FUNC_NO_UNWIND));
		MUST_EQ(symbols_cfa_offset(s, f->range.end - 1, &offset),
			 -ENOTSUP);
	}
	symbols_close(s);
	s = world_symbols("letters.so");
	world_ask(s);
	symbols_close(s);
}

/* A file that says it is a terabyte, and is, but has no bytes. */
static void sparse(struct bytes b)
{
	auto_close int fd = memfd_create("sparse", MFD_CLOEXEC);
	struct symbols *s;
	Elf64_Ehdr *eh = (Elf64_Ehdr *)b.p;
	Elf64_Phdr *ph = (Elf64_Phdr *)(b.p + eh->e_phoff);
	Elf64_Phdr *load = NULL;

	for (int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD)
			load = &ph[i];
	MUST(fd >= 0 && load);
	Elf64_Phdr saved = *load;

	load->p_filesz = load->p_memsz = 1ull << 40;
	MUST(write(fd, b.p, b.n) == (ssize_t)b.n);
	MUST(!ftruncate(fd, 1ll << 40));
	*load = saved;
	MUST_EQ(symbols_open(fd, "sparse", &s), -EBADMSG);
	fail_clear();
}

/* Short symbols with enormous names, or names that take for ever. */
static void mangled_bombs(void)
{
	struct strings strings = { 0 };
	struct names names;
	char raw[4096] = "_Z1fIiE", *p = raw + strlen(raw);
	uint64_t start = now_ms();

	/* Each argument is a pair of the one before. */
	p += sprintf(raw, "_Z1f1PIiiE");
	for (int i = 0; i < 30; i++)
		p += sprintf(p, "S_IS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUV"[i],
			     "0123456789ABCDEFGHIJKLMNOPQRSTUV"[i]);
	MUST_EQ(demangle(&strings, raw, &names), 0);
	MUST(strlen(names.full) < 20000);
	p = raw + sprintf(raw, "_ZN");
	for (int i = 0; i < 1000; i++)
		p += sprintf(p, "1aI");
	MUST_EQ(demangle(&strings, raw, &names), 0);
	/* Rust's back references, doubling the same way. */
	p = raw + sprintf(raw, "_RIC1aTuuE");
	for (int i = 0; i < 40; i++)
		p += sprintf(p, "TB%cB%cE", "345678abcdef"[i % 12],
			     "345678abcdef"[i % 12]);
	MUST_EQ(demangle(&strings, raw, &names), 0);
	for (int i = 0; i < 20000; i++) {
		size_t n = 3 + random_word() % 60;

		raw[0] = '_';
		raw[1] = i & 1 ? 'Z' : 'R';
		for (size_t k = 2; k < n; k++)
			raw[k] = "SNIEBTLZRCJXKM0123456789_abht.:"[random_word() % 31];
		raw[n] = '\0';
		MUST_EQ(demangle(&strings, raw, &names), 0);
		for (const char *c = names.name; c != raw && *c; c++)
			MUST((unsigned char)*c >= ' ' && *c != 0x7f);
	}
	strings_clear(&strings);
	MUST(now_ms() - start < 10000);
}

static void build(void)
{
	world_write("h.cc",
		"#include <stdexcept>\n"
		"struct G { int *p; ~G() { ++*p; } };\n"
		"int (*table[3])(int);\n"
		"__attribute__((noinline)) int may(int a)\n"
		"{ if (a > 3) throw std::runtime_error(\"x\"); return a; }\n"
		"extern \"C\" int work(int a)\n"
		"{ int n = 0; { G g{&n}; try { n += may(a); } catch (...) { n--; } }\n"
		"  return n; }\n"
		"int main(int n, char **) { table[0] = work; return table[0](n); }\n");
	if (!world_has("g++") ||
	    world_run("g++ -O2 -o h h.cc && strip -g -o pie h && "
		      "g++ -O2 -no-pie -o h h.cc && strip -o exec h")) {
		printf("skipped: no g++\n");
		exit(77);
	}
	/* Names elsewhere: in a file that is not there, and packed. */
	MUST_EQ(world_run("cp exec sent && strip -g h && "
			   "(xz -c h || cat h) >h.xz 2>xz.log && "
			   "objcopy --add-gnu-debuglink=h --add-section "
			   ".gnu_debugdata=h.xz sent"), 0);
}

int main(void)
{
	static const char *const files[] = { "pie", "exec", "sent" };
	struct rusage usage;

	world_open();
	build();
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct bytes b = slurp(files[i]);

		truncates(b);
		flips(b);
		many_segments(b);
		sparse(b);
		free(b.p);
	}
	unwind_bombs();
	slow_entries();
	mangled_bombs();
	MUST(!getrusage(RUSAGE_SELF, &usage));
	MUST(usage.ru_maxrss < RSS_MAX_MB * 1024l);
	return 0;
}
