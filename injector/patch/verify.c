/* SPDX-License-Identifier: MIT */
#include "injector/patch/verify.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "injector/modules/modules.h"
#include "injector/proc/kernel.h"
#include "injector/proc/pagemap.h"
#include "injector/proc/procfs.h"
#include "injector/session/blobs.h"
#include "payload/abi.h"

enum {
	AT_ONCE = 512,		/* pages of the kernel */
	MOST = 1 << 16,		/* differences that are kept */
	LOOKS = 3,
	REST = 5 * 1000 * 1000,	/* ns between them */
};

struct verifying {
	const struct target *target;
	const struct text_diffs *known;
	struct text_diffs *ret;
	int pagemap;		/* -1: cannot be read */
	int file;		/* of the mapping; -1: not opened, or cannot be */
	bool tried;		/* to open it */
	bool is_data;		/* it holds no functions */
};

bool verify_is_copy(const struct target *t, raddr_t at)
{
	auto_close int fd = pagemap_open(t->pid);
	uint64_t entry;

	return !pagemap_read(fd, at, 1, &entry) || pagemap_is_copy(entry);
}

/* A file of another kind has no functions for us, so no jump was ever written there;
 * and what a program keeps in one it writes itself: a heap with its compiled code, as
 * Lisp's. */
static bool is_no_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		memcmp(magic, ELFMAG, sizeof(magic)) != 0;
}

static void open_once(struct verifying *v, const struct mapping *m)
{
	if (v->tried)
		return;
	v->tried = true;
	v->file = modules_open_mapped(v->target->pid, m);
	v->is_data = v->file >= 0 && is_no_elf(v->file);
}

/* The file's bytes of a page, and how many it has; what lies behind its end
 * reads as zeros. -1 if that is not known. */
static ssize_t read_file(const struct verifying *v, const struct mapping *m, raddr_t page,
			 uint8_t *ret)
{
	memset(ret, 0, PAGE);
	return v->file < 0 ? -1 :
		pread(v->file, ret, PAGE, (off_t)(m->offset + (page - m->range.start)));
}

/* The first of the known differences that ends behind `addr`. */
static size_t known_from(const struct text_diffs *known, raddr_t addr)
{
	return vec_prefix(known ? known->n : 0, i,
			  known->v[i].addr + known->v[i].len <= addr);
}

/* differs[i]: byte i of the page is neither the file's nor a known one. */
static void verify_mark(const struct verifying *v, raddr_t page, const uint8_t *now,
			const uint8_t *file, bool *differs)
{
	for (size_t i = 0; i < PAGE; i++)
		differs[i] = !file || now[i] != file[i];
	for (size_t k = known_from(v->known, page); v->known && k < v->known->n; k++) {
		const struct text_diff *d = &v->known->v[k];

		if (d->addr >= page + PAGE)
			break;
		for (size_t i = 0; i < d->len; i++) {
			raddr_t at = d->addr + i - page;	/* wraps below the page */

			if (at < PAGE && now[at] == d->is[i])
				differs[at] = false;
		}
	}
}

static int verify_note(struct verifying *v, raddr_t page, const uint8_t *now, const bool *differs)
{
	struct text_diff *d = NULL;

	for (size_t i = 0; i < PAGE; i++) {
		if (!differs[i]) {
			d = NULL;
			continue;
		}
		if (v->ret->n >= MOST) {
			v->ret->more = true;
			return 1;
		}
		if (!d || d->len == sizeof(d->is)) {
			d = vec_push(v->ret->v, v->ret->n, v->ret->cap);
			if (!d)
				return fail(ENOMEM, "verify the text");
			d->addr = page + i;
		}
		d->is[d->len++] = now[i];
	}
	return 0;
}

/* What cannot be read differs, unless nothing is there: behind the end of the
 * file. What is being unmapped just now will not last. */
static int compare_page(struct verifying *v, const struct mapping *m, raddr_t page)
{
	uint8_t now[PAGE] = { 0 }, file[PAGE];
	bool differs[PAGE];

	open_once(v, m);
	if (v->is_data)
		return 0;
	ssize_t size = read_file(v, m, page, file);

	if (target_read(v->target, page, now, PAGE) < 0) {
		fail_clear();
		if (!size)
			return 0;
		size = -1;
	}
	verify_mark(v, page, now, size < 0 ? NULL : file, differs);
	return verify_note(v, page, now, differs);
}

/* One of the kernel's, which may be several. */
static int compare_pages(struct verifying *v, const struct mapping *m, raddr_t at)
{
	int err = 0;

	for (uint64_t done = 0; done < kernel_page() && !err; done += PAGE)
		err = compare_page(v, m, at + done);
	return err;
}

static int compare_mapping(struct verifying *v, const struct mapping *m)
{
	const uint64_t size = kernel_page();
	uint64_t entries[AT_ONCE];
	size_t n;

	for (raddr_t at = m->range.start; at < m->range.end; at += n * size) {
		n = MIN((m->range.end - at) / size, (uint64_t)AT_ONCE);
		bool told = pagemap_read(v->pagemap, at, n, entries);

		for (size_t i = 0; i < n; i++) {
			int err = told && !pagemap_is_copy(entries[i]) ? 0 :
				compare_pages(v, m, at + i * size);
			if (err)
				return err;
		}
	}
	return 0;
}

/* What is mapped shared is the file. */
static int each_mapping(void *ctx, const struct mapping *m)
{
	struct verifying *v = ctx;

	if (!m->exec || m->shared || !m->ino || m->path[0] != '/')
		return 0;
	v->file = -1;
	v->tried = false;
	v->is_data = false;
	int err = compare_mapping(v, m);
	if (v->file >= 0)
		close(v->file);
	return err;
}

int verify_text(const struct target *t, const struct text_diffs *known, struct text_diffs *ret)
{
	auto_close int pagemap = pagemap_open(t->pid);

	*ret = (struct text_diffs){ 0 };
	struct verifying v = { .target = t, .known = known, .ret = ret, .pagemap = pagemap };
	int err = procfs_maps(t->pid, each_mapping, &v);

	if (err < 0)
		verify_clear(ret);
	return err < 0 ? err : 0;
}

int verify_lasting(const struct target *t, const struct text_diffs *known,
		   struct text_diffs *ret)
{
	int err = verify_text(t, known, ret);

	for (int i = 1; i < LOOKS && !err && ret->n; i++) {
		verify_clear(ret);
		nanosleep(&(struct timespec){ 0, REST }, NULL);
		err = verify_text(t, known, ret);
	}
	return err;
}

struct arenas {
	const struct target *target;
	struct range *v;
	size_t n, cap;
};

static int note_arena(void *ctx, const struct mapping *m)
{
	struct arenas *a = ctx;
	size_t head = sizeof(struct arena_header), size = (size_t)(hot_end - hot_begin);

	if (!m->exec || m->write || m->shared || m->ino || range_size(m->range) < size)
		return 0;
	auto_free uint8_t *code = malloc(size);

	if (!code)
		return fail(ENOMEM, "look for stubs");
	if (target_read(a->target, m->range.start, code, size) < 0) {
		fail_clear();
		return 0;
	}
	if (memcmp(code + head, hot_begin + head, size - head) != 0)
		return 0;
	struct range *r = vec_push(a->v, a->n, a->cap);
	if (!r)
		return fail(ENOMEM, "look for stubs");
	*r = m->range;
	return 0;
}

static bool in_arena(const struct arenas *a, raddr_t addr)
{
	for (size_t i = 0; i < a->n; i++)
		if (range_has(a->v[i], addr))
			return true;
	return false;
}

/* Does the jump at `pc` that has the byte at `at` lead into an arena, by itself
 * or by another one, outside of the module (plan/puns)? */
static bool leads_to_arena(const struct arenas *a, raddr_t pc, raddr_t at, int hops)
{
	uint8_t code[ARCH_JUMP_MAX];
	struct insn in;

	if (target_read(a->target, pc, code, sizeof(code)) < 0 ||
	    arch_host()->measure(code, sizeof(code), pc, &in) < 0 ||
	    in.kind != INSN_JUMP || pc + in.size <= at)
		return false;
	return in_arena(a, in.dest) ||
		(hops && leads_to_arena(a, in.dest, in.dest, hops - 1));
}

/* Is some byte of the difference one of a jump into an arena? It may begin
 * before it, with bytes that are the same in the file. */
static bool is_probe(const struct arenas *a, const struct text_diff *d)
{
	bool found = false;

	for (raddr_t pc = d->addr - ARCH_JUMP_MAX + 1; pc < d->addr + d->len && !found; pc++)
		found = leads_to_arena(a, pc, MAX(pc, d->addr), 1);
	fail_clear();
	return found;
}

static int verify_keep(const struct target *t, struct text_diffs *diffs, bool probes)
{
	struct arenas a = { .target = t };
	int err = procfs_maps(t->pid, note_arena, &a);
	size_t kept = 0;

	for (size_t i = 0; !err && i < diffs->n; i++)
		if (is_probe(&a, &diffs->v[i]) == probes)
			diffs->v[kept++] = diffs->v[i];
	if (!err)
		diffs->n = kept;
	free(a.v);
	return err;
}

int verify_keep_probes(const struct target *t, struct text_diffs *diffs)
{
	return verify_keep(t, diffs, true);
}

int verify_drop_probes(const struct target *t, struct text_diffs *diffs)
{
	return verify_keep(t, diffs, false);
}

void verify_clear(struct text_diffs *diffs)
{
	free(diffs->v);
	*diffs = (struct text_diffs){ 0 };
}
