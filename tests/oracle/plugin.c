/* SPDX-License-Identifier: MIT */
/*
 * A plugin of qemu-user: where does a program arrive otherwise than by falling
 * through?
 *
 * QEMU translates block by block, and calls us before it runs one. A block that
 * begins where the one before it (of the same thread) ended was fallen into: QEMU ends
 * blocks for reasons of its own, too. All others are arrivals, each a line of the log:
 *
 *	FILE<tab>WHERE<tab>FROM<tab>KIND
 *
 * in link-time addresses of FILE; FROM is the last instruction of the block before, 0 if
 * that is no code of FILE. KIND is d for a direct branch, i for an indirect one or a
 * return, and k where the kernel or the emulator has led there: a signal's handler, what
 * it came back to, an instruction begun again. Nothing of the project's is in here, so
 * that nothing is missed in the same way twice.
 *
 * Arguments: out=FILE, appended to. The API is declared here, for Debian's qemu-user
 * comes without its header: version 1, of QEMU 4.2 to 10.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id,
		void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *,
		void (*)(unsigned, void *), int flags, void *);
void qemu_plugin_register_vcpu_init_cb(plugin_id, void (*)(plugin_id, unsigned));
void qemu_plugin_register_vcpu_syscall_cb(plugin_id,
		void (*)(plugin_id, unsigned, int64_t num, uint64_t, uint64_t, uint64_t,
			 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
int qemu_plugin_install(plugin_id, const void *info, int argc, char **argv);

enum {
	THREADS = 4096,
	MODULES = 4096,
	SEGMENTS = 8,
	CACHE = 1 << 12,
	OUT = 1 << 14,		/* so much of a program that is killed is lost */
};

/* How a block ends: by what its last instruction can do. */
enum end { END_DIRECT, END_INDIRECT, END_OTHER, END_KERNEL, END_REPEATED };

struct module {
	char *path;
	uint64_t dev, ino;
	size_t n;
	Elf64_Phdr loads[SEGMENTS];
};

struct block {
	uint64_t start, end, last;	/* as the program sees them */
	uint64_t target;		/* of a direct branch */
	uint64_t to, from;		/* link-time: start and last; 0: of no file */
	const struct module *module;
	enum end how;
};

/* What a page of code was mapped from. */
struct page {
	uint64_t page;
	const struct module *module;
	int64_t bias;		/* from what is mapped to link-time addresses */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct block *previous[THREADS];
static struct module modules[MODULES];
static size_t nmodules;
static struct page cache[CACHE];
static struct seen { const struct module *module; uint64_t to, from; } *seen;
static size_t nseen, seen_cap;
static char out[OUT];
static size_t nout;
static int out_fd;

static void flush(void)
{
	/* One write per call: other processes append to the same file. */
	if (nout && write(out_fd, out, nout) < 0)
		perror("write");
	nout = 0;
}

static struct module *module_open(const char *path, const struct stat *st)
{
	struct module *m = &modules[nmodules];
	Elf64_Ehdr h;
	Elf64_Phdr p;
	int fd;

	for (size_t i = 0; i < nmodules; i++)
		if (modules[i].dev == st->st_dev && modules[i].ino == st->st_ino)
			return &modules[i];
	if (nmodules == MODULES || (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return NULL;
	m->n = 0;
	if (pread(fd, &h, sizeof(h), 0) == sizeof(h) && !memcmp(h.e_ident, ELFMAG, SELFMAG) &&
	    h.e_ident[EI_CLASS] == ELFCLASS64)
		for (int i = 0; i < h.e_phnum && m->n < SEGMENTS; i++)
			if (pread(fd, &p, sizeof(p), h.e_phoff + i * sizeof(p)) == sizeof(p) &&
			    p.p_type == PT_LOAD && p.p_flags & PF_X)
				m->loads[m->n++] = p;
	close(fd);
	if (!m->n)
		return NULL;
	m->path = strdup(path);
	m->dev = st->st_dev;
	m->ino = st->st_ino;
	nmodules++;
	return m;
}

/* Which file does a line of maps tell of, if it is this address's? */
static bool page_of_line(const char *line, uint64_t host, struct page *ret)
{
	uint64_t start, end, offset;
	struct stat st;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start, &end,
		   &offset, &at) < 3 || host < start || host >= end)
		return false;
	offset += host - start;
	if (!at || line[at] != '/' || stat(line + at, &st))
		return true;
	struct module *m = module_open(line + at, &st);

	for (size_t i = 0; m && i < m->n; i++) {
		const Elf64_Phdr *p = &m->loads[i];

		if (offset < p->p_offset || offset >= p->p_offset + p->p_filesz)
			continue;
		ret->module = m;
		ret->bias = (int64_t)(p->p_vaddr + offset - p->p_offset);
	}
	return true;
}

static struct page page_of(uint64_t at, uint64_t host)
{
	struct page *p = &cache[(at >> 12) % CACHE];
	char line[4400];

	if (p->page == at >> 12)
		return *p;
	*p = (struct page){ .page = at >> 12 };
	/* The page's first byte may be no byte of the segment, but this one is. */
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (!page_of_line(line, host, p))
			continue;
		p->bias -= (int64_t)at;
		break;
	}
	if (f)
		fclose(f);
	return *p;
}

static enum end end_of(const uint8_t *p, size_t n, uint64_t next, uint64_t *target)
{
	bool repeats = false;
	int32_t d = 0;
	size_t i = 0;

	for (; i < n; i++) {
		if ((p[i] | 1) == 0xf3)
			repeats = true;
		else if (p[i] >> 4 != 4 && (p[i] | 1) != 0x65 && (p[i] & 0xe7) != 0x26 &&
			 (p[i] | 1) != 0x67)
			break;
	}
	uint8_t op = i < n ? p[i] : 0, second = i + 1 < n ? p[i + 1] : 0;

	if (op >> 4 == 7 || op == 0xeb || (op & 0xfc) == 0xe0)
		d = (int8_t)second;
	else if (op == 0xe8 || op == 0xe9 || (op == 0x0f && second >> 4 == 8))
		/* 0x66 does not shorten the distance in 64-bit code, but on AMD. */
		memcpy(&d, p + n - 4, 4);
	else if ((op | 1) == 0xc3 || (op | 1) == 0xcb ||
		 (op == 0xff && (second >> 3 & 7) >= 2 && (second >> 3 & 7) <= 5))
		return END_INDIRECT;
	else if ((op == 0x0f && (second == 5 || second == 0x34)) || op == 0xcd || op == 0xcc ||
		 op == 0xcf)
		return END_KERNEL;
	else if (repeats && ((op & 0xf4) == 0xa4 || (op & 0xfc) == 0x6c || (op & 0xfe) == 0xaa))
		return END_REPEATED;
	else
		return END_OTHER;
	*target = next + (int64_t)d;
	return END_DIRECT;
}

static bool seen_before(const struct module *m, uint64_t to, uint64_t from)
{
	if (2 * nseen >= seen_cap) {
		struct seen *old = seen;
		size_t cap = seen_cap;

		seen_cap = cap ? 2 * cap : 1 << 16;
		seen = calloc(seen_cap, sizeof(*seen));
		if (!seen)
			abort();
		nseen = 0;
		for (size_t i = 0; i < cap; i++)
			if (old[i].module)
				seen_before(old[i].module, old[i].to, old[i].from);
		free(old);
	}
	size_t at = ((to * 31 + from) * 0x9e3779b97f4a7c15u >> 20) + (size_t)(m - modules);

	for (;; at++) {
		struct seen *s = &seen[at & (seen_cap - 1)];

		if (!s->module) {
			*s = (struct seen){ m, to, from };
			nseen++;
			return false;
		}
		if (s->module == m && s->to == to && s->from == from)
			return true;
	}
}

/* A block that was left in its middle, for an exception or because QEMU begins an
 * instruction again, is none that has led to here. */
static char kind_of(const struct block *p, const struct block *b)
{
	if (p->how == END_DIRECT)
		return b->start == p->target ? 'd' : 'k';
	if (p->how == END_INDIRECT)
		return b->start > p->start && b->start < p->end ? 'k' : 'i';
	return 'k';
}

static void arrive(const struct block *p, const struct block *b)
{
	uint64_t from = p->module == b->module ? p->from : 0;

	pthread_mutex_lock(&lock);
	if (!seen_before(b->module, b->to, from)) {
		if (nout > OUT - 5000)
			flush();
		nout += (size_t)snprintf(out + nout, OUT - nout, "%s\t%" PRIx64 "\t%" PRIx64
					 "\t%c\n", b->module->path, b->to, from, kind_of(p, b));
	}
	pthread_mutex_unlock(&lock);
}

static void on_block(unsigned cpu, void *arg)
{
	const struct block *b = arg, *p = previous[cpu % THREADS];

	previous[cpu % THREADS] = b;
	if (p && p->end != b->start && b->module &&
	    (p->how != END_REPEATED || b->start != p->last))
		arrive(p, b);
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0),
				*last = qemu_plugin_tb_get_insn(tb, n - 1);
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	b->start = qemu_plugin_insn_vaddr(first);
	b->last = qemu_plugin_insn_vaddr(last);
	b->end = b->last + qemu_plugin_insn_size(last);
	b->how = end_of(qemu_plugin_insn_data(last), b->end - b->last, b->end, &b->target);
	pthread_mutex_lock(&lock);
	struct page page = page_of(b->start, (uintptr_t)qemu_plugin_insn_haddr(first));

	pthread_mutex_unlock(&lock);
	b->module = page.module;
	if (b->module) {
		b->to = b->start + (uint64_t)page.bias;
		b->from = b->last + (uint64_t)page.bias;
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, 0, b);
}

/* A thread's number is used again. */
static void on_thread(plugin_id id, unsigned cpu)
{
	previous[cpu % THREADS] = NULL;
}

static void on_syscall(plugin_id id, unsigned cpu, int64_t num, uint64_t a, uint64_t b,
		       uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	switch (num) {
	case 9: case 11: case 25:	/* mmap, munmap, mremap */
		pthread_mutex_lock(&lock);
		memset(cache, 0, sizeof(cache));
		pthread_mutex_unlock(&lock);
		break;
	case 56: case 57: case 58:	/* what a child inherits it would write again */
	case 59: case 231: case 60: case 62: case 200: case 234: case 435:
		pthread_mutex_lock(&lock);
		flush();
		pthread_mutex_unlock(&lock);
		break;
	}
}

static void on_exit_(plugin_id id, void *arg)
{
	pthread_mutex_lock(&lock);
	flush();
	pthread_mutex_unlock(&lock);
}

__attribute__((visibility("default")))
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	const char *path = NULL;

	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			path = argv[i] + 4;
	out_fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	if (out_fd < 0) {
		fprintf(stderr, "out=%s: cannot be written\n", path ? path : "");
		return 1;
	}
	/* Programs close what they do not know, or make it their own. */
	int high = fcntl(out_fd, F_DUPFD_CLOEXEC, 900);

	if (high >= 0) {
		close(out_fd);
		out_fd = high;
	}
	qemu_plugin_register_vcpu_init_cb(id, on_thread);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	qemu_plugin_register_atexit_cb(id, on_exit_, NULL);
	return 0;
}
