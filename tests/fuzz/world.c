/* SPDX-License-Identifier: MIT */
/*
 * world: what is where, and what is in it at random?
 */
#include "tests/fuzz/world.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "payload/abi.h"

enum {
	AROUND = 256 << 20,	/* data below and above the texts */
	STUBS = 1 << 20,
	BREAKPOINT = 0xcc,
};

/*
 * Far from everything else of this process, and from each other: a pointer of
 * ours with any displacement or index added leads to nothing of value.
 */
/* Where a sanitizer has none of its own memory, either. */
#define BLOCK_AT 0x180000000000ul
#define CODE_AT 0x200000000000ul
/* So much is free below and above all that: wherever a jump may lead. */
#define REACH ((size_t)(1ul << 31) + PAGE)

static uint64_t seed = 1;

void world_seed(uint64_t s)
{
	seed = s * 0x9e3779b97f4a7c15ull | 1;
}

uint64_t world_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

uint8_t *world_at(const struct world *w, raddr_t a)
{
	return w->memory + (a - w->range.start);
}

raddr_t world_address(const struct world *w, uint64_t ours)
{
	return ours - (uint64_t)(uintptr_t)w->memory + w->range.start;
}

bool world_is_text(const struct world *w, raddr_t a)
{
	size_t left;

	return symbols_text(w->symbols, a, &left) != NULL;
}

bool world_has_stack(const struct world *w, uint64_t sp)
{
	uint64_t block = (uint64_t)(uintptr_t)w->block;

	return sp >= block + 2 * WORLD_RED_ZONE && sp <= block + WORLD_BLOCK;
}

#define RETURN "\xc3"

/* Of all functions, open. */
static uint8_t gates[1 << REC_FUNC_BITS];

/* A routine of the stubs: keep the word in that log, change nothing. */
static raddr_t put_routine(struct world *w, int place, int log, const char *back)
{
	uint8_t *code = world_at(w, w->stubs.end) - PAGE + 16 * place;
	int32_t rel = (int32_t)((uint8_t *)&w->logs[log] - (code + 7));

	memcpy(code, "\x48\x89\x05", 3);	/* mov %rax, log */
	memcpy(code + 3, &rel, 4);
	memcpy(code + 7, back, strlen(back));
	return world_address(w, (uint64_t)(uintptr_t)code);
}

static int make_executable(const struct world *w, struct range r)
{
	uint8_t *from = world_at(w, r.start & ~(raddr_t)(PAGE - 1));

	return mprotect(from, (size_t)(world_at(w, r.end) - from),
			PROT_READ | PROT_WRITE | PROT_EXEC);
}

static int put_texts(struct world *w)
{
	for (size_t i = 0; i < w->symbols->ntexts; i++) {
		struct range r = w->symbols->texts[i].range;

		if (make_executable(w, r))
			return fail(errno, "memory that is writable and executable");
		memset(world_at(w, r.start), BREAKPOINT, range_size(r));
	}
	if (make_executable(w, w->stubs))
		return fail(errno, "memory that is writable and executable");
	w->logs = (uint64_t *)(world_at(w, w->stubs.end) - PAGE / 2);
	w->routines.entry = put_routine(w, 0, 0, RETURN);
	w->routines.exit = put_routine(w, 1, 1, RETURN);
	w->routines.mark = put_routine(w, 2, 2, RETURN);
	w->routines.leave = put_routine(w, 3, 1, "\xff\xe1");	/* jmp *%rcx */
	w->routines.late = w->routines.entry;
	w->routines.gates = (uintptr_t)memset(gates, 1, sizeof(gates));
	w->stubs.end -= PAGE;
	return 0;
}

/* The block, with a page before and behind it that must not be touched. */
static int put_block(struct world *w)
{
	uint8_t *p = mmap((void *)BLOCK_AT, WORLD_BLOCK + 2 * PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED)
		return fail(errno, "memory for data");
	w->block = p + PAGE;
	return mprotect(w->block, WORLD_BLOCK, PROT_READ | PROT_WRITE) ?
		fail(errno, "memory for data") : 0;
}

static struct range texts_range(const struct symbols *s)
{
	struct range r = s->texts[0].range;

	for (size_t i = 1; i < s->ntexts; i++) {
		r.start = MIN(r.start, s->texts[i].range.start);
		r.end = MAX(r.end, s->texts[i].range.end);
	}
	return r;
}

/* Reserve it all; what is neither code nor data is not to be touched. */
static int reserve(struct world *w)
{
	size_t n = range_size(w->range);
	uint8_t *p = mmap((void *)CODE_AT, n + 2 * REACH, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			  MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED)
		return fail(errno, "memory for the code of %s", w->symbols->path);
	w->memory = p + REACH;
	return mprotect(w->memory, n, PROT_READ | PROT_WRITE) ?
		fail(errno, "memory for the data of %s", w->symbols->path) : 0;
}

int world_add_code(const struct world *w, raddr_t a, size_t n)
{
	uint8_t *first = (uint8_t *)((uintptr_t)world_at(w, a) & ~(uintptr_t)(PAGE - 1));

	return mprotect(first, (size_t)(world_at(w, a) + n - first),
			PROT_READ | PROT_WRITE | PROT_EXEC);
}

bool world_is_free(const struct world *w, raddr_t a)
{
	uint64_t n = range_size(w->range), at = a - (w->range.start - REACH);

	return at < REACH - PAGE || (at >= REACH + n && at < n + 2 * REACH - PAGE);
}

int world_open(const struct symbols *s, struct world *ret)
{
	struct world w = { .symbols = s, .block = MAP_FAILED };

	if (!s->ntexts)
		return fail(ENOENT, "%s has no code", s->path);
	struct range texts = texts_range(s);

	if (range_size(texts) > 1 << 30)
		return fail(ERANGE, "the code of %s lies too far apart", s->path);
	w.range.start = texts.start > AROUND ? texts.start - AROUND : 0;
	w.range.start &= ~(raddr_t)(PAGE - 1);
	w.stubs.start = (texts.end + AROUND) & ~(raddr_t)(PAGE - 1);
	w.stubs.end = w.range.end = w.stubs.start + STUBS;
	int err = reserve(&w);

	if (!err)
		err = put_texts(&w);
	if (!err)
		err = put_block(&w);
	*ret = w;
	if (err)
		world_close(ret);
	return err;
}

void world_close(struct world *w)
{
	if (w->memory)
		munmap(w->memory - REACH, range_size(w->range) + 2 * REACH);
	if (w->block != MAP_FAILED)
		munmap(w->block - PAGE, WORLD_BLOCK + 2 * PAGE);
}

/* What is likely in a register: mostly an address of data, aligned or not. */
uint64_t world_value(const struct world *w)
{
	uint64_t x = world_random(), data = (uint64_t)(uintptr_t)w->block;

	data += WORLD_PART + WORLD_PART / 2 - 512;
	switch (x >> 60) {
	default:
		return data + (x & 0x3f8);
	case 8:
		return data + (x & 0x3ff);
	case 9: case 10:
		return x & 0x3f;
	case 11:			/* only its lower half is small */
		return x << 32 | (x >> 32 & 1);
	case 12:
		return x << 4;
	case 13:
		return x & 0x7fffffff;
	case 14:
		return (uint64_t)-(int64_t)(x & 0x3f);
	case 15:
		return x & 1 ? 0 : UINT64_MAX;
	}
}

void world_fill(const struct world *w, uint8_t *block)
{
	for (size_t i = 0; i < WORLD_BLOCK; i += 8) {
		uint64_t value = world_value(w);

		memcpy(block + i, &value, 8);
	}
}

void world_registers(const struct world *w, struct state *s)
{
	uint64_t stack = (uint64_t)(uintptr_t)w->block + 2 * WORLD_PART;
	uint64_t x = world_random();

	for (int i = 0; i < REG_RIP; i++)
		s->regs[i] = (greg_t)world_value(w);
	s->regs[REG_RSP] = (greg_t)(stack + WORLD_PART / 2 + (x & 0x1f8));
	if (x >> 63)			/* a frame pointer */
		s->regs[REG_RBP] = s->regs[REG_RSP] + 2 * WORLD_RED_ZONE +
			(greg_t)(x >> 20 & 0x78);
	s->regs[REG_EFL] = (greg_t)(0x202 | (x >> 32 & RUNNER_FLAGS));
	if (x >> 60 & 7)			/* rarely backwards */
		s->regs[REG_EFL] &= ~0x400ll;
	s->fs = (uint64_t)(uintptr_t)w->block + WORLD_PART / 2;
	runner_vectors(s, world_random);
}
