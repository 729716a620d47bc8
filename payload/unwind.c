/* SPDX-License-Identifier: MIT */
/*
 * unwind: how does an unwinder that comes to code of ours go on?
 *
 * libgcc asks _Unwind_Find_FDE for the unwind information of every frame, and gives up
 * where there is none. A probe on that function leads here first. We know of three
 * places that no file tells of:
 *
 * 1. in the payload, and in the recording routines, of which it has a copy: its own
 *    table tells;
 * 2. in a stub: the note before it says which instruction it stands for there, and a
 *    row of arch/<name>/stand.S what was pushed;
 * 3. at a jump that leads to a stub, and is not where the stub's window begins: in
 *    padding, in what a host's jump has left, or on an island. It stands for that
 *    window's first instruction.
 *
 * Any thread may ask, in any state, and from a signal handler: nothing is written.
 */
#include <linux/elf.h>
#include "arch/stand.h"
#include "payload/payload.h"

/* Where the linker put the file's start, and its end. */
extern const char payload_base[] __asm__("__ehdr_start")
	__attribute__((visibility("hidden")));
extern const char payload_end[] __asm__("_end") __attribute__((visibility("hidden")));
/* The copy of the recording routines, which is there for its unwind information. */
extern const char hot_begin[] __attribute__((visibility("hidden")));
extern const char hot_end[] __attribute__((visibility("hidden")));
extern const char stands[] __attribute__((visibility("hidden")));

/* .eh_frame_hdr, as linkers write it. */
struct table {
	uint8_t version, frame_encoding, count_encoding, encoding;
	int32_t frame;
	uint32_t count;
	struct {
		int32_t func, fde;	/* from the table on, by func */
	} v[];
};

struct fde {
	uint32_t length, cie;
	int32_t func;		/* from here on */
	uint32_t size;
};

/* A place in the program's code, and what is on the stack beside what is there. */
struct standing {
	uint64_t pc;
	int row;
};

static const struct table *own_table(void)
{
	const Elf64_Ehdr *eh = (const void *)payload_base;
	const Elf64_Phdr *ph = (const void *)(payload_base + eh->e_phoff);
	unsigned int i = 0;

	while (i < eh->e_phnum && ph[i].p_type != PT_GNU_EH_FRAME)
		i++;
	return i < eh->e_phnum ? (const void *)(payload_base + ph[i].p_vaddr) : NULL;
}

/* 1. What of the payload holds `pc`; *func is where that begins. */
static const void *find_own(uint64_t pc, uint64_t *func)
{
	const struct table *t = own_table();
	uint32_t lo = 0, hi = t ? t->count : 0;
	const struct fde *fde;

	while (lo < hi) {
		uint32_t i = lo + (hi - lo) / 2;

		if ((uint64_t)t + (uint64_t)(int64_t)t->v[i].func <= pc)
			lo = i + 1;
		else
			hi = i;
	}
	if (!lo)
		return NULL;
	*func = (uint64_t)t + (uint64_t)(int64_t)t->v[lo - 1].func;
	fde = (const void *)((const char *)t + t->v[lo - 1].fde);
	return pc - *func < fde->size ? fde : NULL;
}

static uint64_t routines_size(void)
{
	return (uint64_t)(hot_end - hot_begin);
}

static const struct arena *arena_at(const struct session *s, uint64_t pc)
{
	uint32_t i;

	for (i = 0; i < s->narenas && i < SESSION_ARENAS; i++)
		if (pc - s->arenas[i].base < s->arenas[i].size)
			return &s->arenas[i];
	return NULL;
}

static uint64_t stub_of(const struct stub_note *n)
{
	return (uint64_t)n + stub_note_size(n->nrows);
}

/* The note of the stub that holds `pc`. */
static const struct stub_note *note_at(const struct arena *a, uint64_t pc)
{
	uint64_t page = pc & ~(uint64_t)(PAGE - 1);
	uint64_t first = (a->base + routines_size() + ROUTINES_ALIGN - 1) &
			 ~(uint64_t)(ROUTINES_ALIGN - 1);
	uint64_t at = first > page ? first : page;

	while (at < page + PAGE) {
		const struct stub_note *n = (const void *)at;

		at += (uint64_t)n->blocks * STUB_ALIGN;
		if (!n->blocks)
			break;
		if (pc < at)
			return pc >= stub_of(n) ? n : NULL;
	}
	return NULL;
}

/* 2. */
static struct standing stands_for(const struct stub_note *n, uint64_t pc)
{
	struct standing ret = { (uint64_t)n + (uint64_t)(int64_t)n->site, STAND_BARE };
	enum stub_part last = STUB_COPY;
	uint64_t at = stub_of(n);
	unsigned int i;

	for (i = 0; i < n->nrows && n->rows[i].bytes; i++) {
		const struct stub_row *row = &n->rows[i];

		if (pc - at < row->bytes) {
			ret.row = stand_of(row->part, (unsigned int)(pc - at));
			return ret;
		}
		at += row->bytes;
		ret.pc += row->window;
		last = row->part;
	}
	/* The jump back: to an exit that stays, and was recorded, or to any other. */
	ret.row = stand_of(last == STUB_RECORD_LEAVE ? STUB_LEAVE : STUB_COPY, 0);
	return ret;
}

/* Where a jump is written, or the one that it leads to first, which is never unmapped. */
static bool is_written(const struct slot *slot, uint64_t pc)
{
	if (slot->island && slot->addr + (uint64_t)(int64_t)slot->island == pc)
		return true;
	return slot->addr == pc && slot->kind != SLOT_SEMAPHORE &&
		(slot->state == SLOT_PLANNED || slot->state == SLOT_ACTIVE);
}

static bool in_journal(const struct session *s, uint64_t pc)
{
	const struct slot *slots = (const void *)((const char *)s + s->slots_off);
	uint32_t i, n = observe(&s->nslots);

	for (i = 0; i < n && i < s->max_slots; i++)
		if (is_written(&slots[i], pc))
			return true;
	return false;
}

/* 3. `pc` is where a jump may stand, and can be read. */
static bool leads_to_stub(const struct session *s, uint64_t pc, struct standing *ret)
{
	uint64_t to = (pc & (PAGE - 1)) < PAGE - CPU_JUMP_SIZE ?
		cpu_jump_goal((const uint8_t *)pc) : 0;
	const struct arena *a = to ? arena_at(s, to) : NULL;
	const struct stub_note *n = a ? note_at(a, to) : NULL;

	if (!n || to != stub_of(n))
		return false;
	*ret = stands_for(n, to);
	return ret->pc != pc;
}

/* What is asked about begins so far before `pc` that this is in the row. */
static const void *unwind_answer(const struct standing *st, uint64_t pc, struct unwind_bases *ret)
{
	uint64_t row = (uint64_t)stands + (uint64_t)st->row, func;
	const void *fde = find_own(row, &func);

	*ret = (struct unwind_bases){ .tbase = st->pc - 1, .func = pc - (row - func) };
	return fde;
}

static const void *in_ours(const struct session *s, uint64_t pc, struct unwind_bases *ret)
{
	const struct arena *a = arena_at(s, pc);
	bool routine = a && pc - a->base < routines_size();
	uint64_t moved = routine ? a->base - (uint64_t)hot_begin : 0, func;
	const struct stub_note *n;
	struct standing st;
	const void *fde;

	if (!a && pc - (uint64_t)payload_base >= (uint64_t)(payload_end - payload_base))
		return NULL;
	if (!a || routine) {
		fde = find_own(pc - moved, &func);
		*ret = (struct unwind_bases){ 0, 0, func + moved };
		return fde;
	}
	n = note_at(a, pc);
	if (!n)
		return NULL;
	st = stands_for(n, pc);
	return st.row < 0 ? NULL : unwind_answer(&st, pc, ret);
}

uint64_t unwind_place(const struct session *s, uint64_t back)
{
	const struct arena *a = arena_at(s, back);
	const struct stub_note *n = a ? note_at(a, back) : NULL;

	return n ? stands_for(n, back).pc : 0;
}

const void *payload_find(uint64_t pc, struct unwind_bases *ret, unwind_find *original)
{
	const struct session *s = observe(&payload_session);
	const void *fde = in_ours(s, pc, ret);
	struct standing st;

	if (fde)
		return fde;
	fde = original(pc, ret);
	/* Of what has unwind information the code can be read. Any other address may lie in no
	 * function: a caller need not stand there (_Unwind_FindEnclosingFunction). */
	if ((fde || in_journal(s, pc)) && leads_to_stub(s, pc, &st))
		return unwind_answer(&st, pc, ret);
	return fde;
}
