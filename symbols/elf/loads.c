/* SPDX-License-Identifier: MIT */
/*
 * loads: what is in memory where this file is loaded?
 *
 * There is room for all of it, but only what is asked for is read, block by block: half of a
 * file may be data that never is. Text is read at the beginning, for all of it is looked at,
 * and compared with a process's later.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "symbols/elf/image.h"

enum {
	BLOCK = 1 << 16,	/* bytes that are read together */
	END_MAX = 1u << 31,	/* no real file has more to load */
};

/* Nothing real lies above: so an address to which a page or an instruction is added never comes
 * out at zero. */
static const raddr_t TOP = UINT64_MAX - (1 << 20);

struct blocks {
	int fd;			/* ours */
	int err;		/* errno of the first read that failed */
	pthread_mutex_t reading; /* several threads may ask at once */
	uint64_t end;		/* of the last load, in the file */
	uint8_t *bytes;		/* the file up to there */
	bool present[];		/* by block: it was read, and is not written to any more */
};

/* ---- where --------------------------------------------------------------- */

static int compare_loads(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	if (x->range.start != y->range.start)
		return x->range.start < y->range.start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* What the file really holds of a PT_LOAD; an empty range if nothing. */
static struct load load_of(const struct image *im, const GElf_Phdr *ph)
{
	struct load l = { .offset = ph->p_offset, .flags = ph->p_flags };
	uint64_t n = 0;

	if (ph->p_type == PT_LOAD && ph->p_offset < im->size)
		n = MIN(ph->p_filesz, im->size - ph->p_offset);
	l.range.start = MIN(ph->p_vaddr, TOP);
	l.range.end = l.range.start + MIN(n, TOP - l.range.start);
	return l;
}

/* Sorted by address; of two that overlap, the later gives way. */
static void sort_loads(struct image *im)
{
	raddr_t end = 0;
	size_t kept = 0;

	vec_sort(im->loads, im->nloads, compare_loads);
	for (size_t i = 0; i < im->nloads; i++) {
		struct load l = im->loads[i];

		if (l.range.end <= end)
			continue;
		if (l.range.start < end) {
			l.offset += end - l.range.start;
			l.range.start = end;
		}
		end = l.range.end;
		im->loads[kept++] = l;
	}
	im->nloads = kept;
}

static uint64_t end_in_file(const struct load *l)
{
	return l->offset + range_size(l->range);
}

/* Most that are asked for are in the text, or no addresses at all. */
const struct load *image_load_at(const struct image *im, raddr_t addr)
{
	if (im->text && range_has(im->text->range, addr))
		return im->text;
	if (!im->nloads || addr < im->loads[0].range.start ||
	    addr >= im->loads[im->nloads - 1].range.end)
		return NULL;
	size_t n = vec_prefix(im->nloads, i, im->loads[i].range.start <= addr);

	return range_has(im->loads[n - 1].range, addr) ? &im->loads[n - 1] : NULL;
}

uint64_t image_held(const struct image *im)
{
	uint64_t held = 0;

	for (size_t i = 0; i < im->nloads; i++)
		held += range_size(im->loads[i].range);
	return held;
}

bool image_is_text(const struct image *im, raddr_t addr)
{
	const struct load *l = image_load_at(im, addr);

	return l && l->flags & PF_X;
}

/* ---- blocks -------------------------------------------------------------- */

/* 0, or an errno; a file that has become shorter is EIO. */
static int read_at(const struct blocks *b, uint64_t at, uint64_t end)
{
	while (at < end) {
		ssize_t n = pread(b->fd, b->bytes + at, end - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		at += (uint64_t)n;
	}
	return 0;
}

static bool is_present(const struct blocks *b, uint64_t block)
{
	return __atomic_load_n(&b->present[block], __ATOMIC_ACQUIRE);
}

static bool are_present(const struct blocks *b, uint64_t at, uint64_t end)
{
	for (uint64_t i = at / BLOCK; i * BLOCK < end; i++)
		if (!is_present(b, i))
			return false;
	return true;
}

/* What is missing comes in one piece. */
static bool read_missing(struct blocks *b, uint64_t at, uint64_t end)
{
	for (uint64_t i = at / BLOCK, n; i * BLOCK < end; i = n) {
		for (n = i; n * BLOCK < end && !is_present(b, n); n++)
			;
		if (n == i) {
			n++;
			continue;
		}
		int err = read_at(b, i * BLOCK, MIN(n * BLOCK, b->end));

		if (err) {
			b->err = b->err ? b->err : err;
			return false;
		}
		for (uint64_t k = i; k < n; k++)
			__atomic_store_n(&b->present[k], true, __ATOMIC_RELEASE);
	}
	return true;
}

/* Have the bytes [at, end) of the file. */
static bool have(struct blocks *b, uint64_t at, uint64_t end)
{
	if (are_present(b, at, end))
		return true;
	pthread_mutex_lock(&b->reading);
	bool ret = read_missing(b, at, end);

	pthread_mutex_unlock(&b->reading);
	return ret;
}

static int make_room(struct image *im, int fd, uint64_t end)
{
	struct blocks *b = calloc(1, sizeof(*b) + end / BLOCK + 1);

	if (!b)
		return -ENOMEM;
	im->blocks = b;
	pthread_mutex_init(&b->reading, NULL);
	b->end = end;
	b->bytes = mmap(NULL, end, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->bytes == MAP_FAILED) {
		b->bytes = NULL;
		b->fd = -1;
		return -errno;
	}
	b->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return b->fd < 0 ? -errno : 0;
}

static bool read_text(const struct image *im)
{
	for (size_t i = 0; i < im->nloads; i++) {
		const struct load *l = &im->loads[i];

		if (l->flags & PF_X && !have(im->blocks, l->offset, end_in_file(l)))
			return false;
	}
	return true;
}

/* There is one room: loads that overlap in the file, as hostile ones could, cost no
 * more than the file. */
int image_ready(struct image *im, int fd, const char *path)
{
	uint64_t end = 0;

	im->loads = calloc(im->nsegments + 1, sizeof(*im->loads));
	if (!im->loads)
		return fail(ENOMEM, "read %s", path);
	for (size_t i = 0; i < im->nsegments; i++) {
		struct load l = load_of(im, &im->segments[i]);

		if (l.range.start == l.range.end)
			continue;
		im->loads[im->nloads++] = l;
		end = MAX(end, end_in_file(&l));
	}
	sort_loads(im);
	for (size_t i = 0; i < im->nloads; i++)
		if (im->loads[i].flags & PF_X &&
		    (!im->text || range_size(im->loads[i].range) > range_size(im->text->range)))
			im->text = &im->loads[i];
	if (!end)
		return 0;
	if (end > END_MAX)
		return fail(EBADMSG, "read %s: its segments", path);
	int err = make_room(im, fd, end);
	return err ? fail(-err, "read %s", path) : 0;
}

int image_load(struct image *im, int fd, const char *path)
{
	int err = image_ready(im, fd, path);

	if (err || read_text(im))
		return err;
	return fail(EBADMSG, "read %s: its segments", path);
}

void image_unload(struct image *im)
{
	struct blocks *b = im->blocks;

	if (!b)
		return;
	if (b->bytes)
		munmap(b->bytes, b->end);
	if (b->fd >= 0)
		close(b->fd);
	pthread_mutex_destroy(&b->reading);
	free(b);
	im->blocks = NULL;
}

static bool holds_text(const struct image *im, uint64_t block)
{
	for (size_t i = 0; i < im->nloads; i++) {
		const struct load *l = &im->loads[i];

		if (l->flags & PF_X && l->offset < (block + 1) * BLOCK &&
		    block * BLOCK < end_in_file(l))
			return true;
	}
	return false;
}

void image_forget_data(const struct image *im)
{
	struct blocks *b = im->blocks;

	for (uint64_t i = 0; b && i * BLOCK < b->end; i++) {
		if (!b->present[i] || holds_text(im, i))
			continue;
		b->present[i] = madvise(b->bytes + i * BLOCK, MIN(BLOCK, b->end - i * BLOCK),
					MADV_DONTNEED) < 0;
	}
}

int image_error(const struct image *im)
{
	return im->blocks ? im->blocks->err : 0;
}

/* ---- bytes --------------------------------------------------------------- */

const uint8_t *image_at(const struct image *im, raddr_t addr, uint64_t want, size_t *n)
{
	const struct load *l = image_load_at(im, addr);

	if (!l)
		return NULL;
	uint64_t at = l->offset + (addr - l->range.start);

	*n = MIN(want, l->range.end - addr);
	return have(im->blocks, at, at + *n) ? im->blocks->bytes + at : NULL;
}

const uint8_t *image_bytes(const struct image *im, raddr_t addr, uint64_t n)
{
	size_t have;
	const uint8_t *p = image_at(im, addr, n, &have);

	return p && n <= have ? p : NULL;
}

const uint8_t *image_text(const struct image *im, raddr_t addr, size_t *n)
{
	const struct load *l = image_load_at(im, addr);

	if (!l || !(l->flags & PF_X))
		return NULL;
	*n = l->range.end - addr;
	return im->blocks->bytes + l->offset + (addr - l->range.start);
}

struct relas image_relas(const struct image *im, raddr_t addr, uint64_t size)
{
	size_t have;
	const uint8_t *p = image_at(im, addr, size, &have);

	return (struct relas){ p, p ? have / sizeof(GElf_Rela) : 0 };
}

GElf_Rela relas_get(const struct relas *r, size_t i)
{
	GElf_Rela rela;

	memcpy(&rela, r->bytes + i * sizeof(rela), sizeof(rela));
	return rela;
}
