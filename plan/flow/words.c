/* SPDX-License-Identifier: MIT */
/*
 * words: which places of the text does data lead to that no relocation tells of?
 *
 * Where a program is linked to one address any four or eight bytes may be one, aligned or
 * not; in code, those of an operand. Anywhere a word of data may be the distance from
 * itself to code: tables of places that may fault, and of what repairs that, are made so.
 * And one may be the distance from other data, where code adds to the address of that what it
 * finds by a pointer: mostly characters of a string.
 * Nothing says which of these is one by chance. But control that is led there begins with an
 * instruction: one that leads into the middle of what is there is none.
 */
#include <errno.h>
#include <string.h>

#include "plan/arrivals.h"
#include "plan/text/crew.h"
#include "plan/text/ground.h"

enum {
	BLOCK = 16,		/* bytes of which it is asked at once whether a word is in them */
	SHARE = 1 << 18,	/* bytes that one thread looks at in one go, at least */
	SHARES_MAX = 64,	/* of one section */
	BASES = 256,		/* that distances are looked for from */
};

/* The bit of a place; NULL: it is no text. */
static const struct ground *word_bit(const struct plan_impl *p, raddr_t a, uint64_t *bit)
{
	const struct ground *g = range_has(p->texts, a) ? ground_at(p, a) : NULL;

	*bit = g ? a - g->text->range.start : 0;
	return g;
}

void words_note_number(struct plan_impl *p, raddr_t a)
{
	uint64_t bit;
	const struct ground *g = word_bit(p, a, &bit);

	if (g && !bit_get(g->planes[PLANE_WORD], bit) && !runtimes_is_number(p, a))
		bit_set(g->planes[PLANE_WORD], bit);
}

typedef uint32_t words __attribute__((vector_size(BLOCK)));

/* Does any of the words of four bytes that begin in this block, at whatever byte, lie in the
 * text, as its low half has it? Hardly any does: four at a time are asked. */
static bool may_have_word(const struct plan_impl *p, const uint8_t *block)
{
	const words start = (uint32_t)p->texts.start - (words){ 0 };
	const words size = (uint32_t)range_size(p->texts) - (words){ 0 };
	words found = { 0 }, at;

	if (range_size(p->texts) > UINT32_MAX)
		return true;
	for (size_t i = 0; i < 4; i++) {
		memcpy(&at, block + i, sizeof(at));
		found |= (words)(at - start < size);
	}
	return found[0] | found[1] | found[2] | found[3];
}

static uint64_t word_at(const uint8_t *p, size_t width)
{
	uint64_t word;
	uint32_t half;

	if (width == 8)
		memcpy(&word, p, sizeof(word));
	else
		memcpy(&half, p, sizeof(half)), word = half;
	return word;
}

/* Where addresses are numbers: words of `width` bytes, four or eight, at any byte; `tabled`:
 * only data. */
static void scan_numbers(struct plan_impl *p, raddr_t start, const uint8_t *bytes, size_t n,
			size_t width, bool tabled)
{
	const uint32_t first = (uint32_t)p->texts.start;
	const uint64_t size = range_size(p->texts);
	size_t i = 0;

	while (i + width <= n) {
		size_t end = MIN(i + BLOCK, n - width + 1);

		if (i + BLOCK + 3 <= n && !may_have_word(p, bytes + i))
			i = end;
		for (; i < end; i++) {
			uint64_t word = word_at(bytes + i, 4);

			/* As may_have_word: of eight bytes the low half. */
			if ((uint32_t)word - first >= size)
				continue;
			word = word_at(bytes + i, width);
			if (range_has(p->texts, word) &&
			    (!tabled || symbols_is_tabled(p->symbols, start + i)))
				words_note_number(p, word);
		}
	}
}

/* Distances from themselves. An entry of a table is none, but what stands behind the last one may
 * be, and nothing says which that is. */
static void scan_distances(struct plan_impl *p, raddr_t start, const uint8_t *bytes, size_t n,
			   bool tabled)
{
	for (size_t i = -start % 4; i + 4 <= n; i += 4) {
		raddr_t at = start + i;
		int32_t distance;

		memcpy(&distance, bytes + i, 4);
		raddr_t to = at + (raddr_t)(int64_t)distance;

		if (range_has(p->texts, to) &&
		    (!tabled || symbols_is_tabled(p->symbols, at)))
			words_note_number(p, to);
	}
}

/* Distances from other data: words of four bytes, at any byte. */
static void scan_based(struct plan_impl *p, raddr_t base, const uint8_t *bytes, size_t n)
{
	const uint32_t first = (uint32_t)(p->texts.start - base);
	const uint64_t size = range_size(p->texts);

	for (size_t i = 0; i + 4 <= n; i++) {
		uint32_t word = (uint32_t)word_at(bytes + i, 4);
		raddr_t to = base + (raddr_t)(int64_t)(int32_t)word;

		if (word - first < size && range_has(p->texts, to))
			words_note_number(p, to);
	}
}

/* What one thread looks at in one go: a piece of a section of data, or of a text. */
struct share {
	struct range section;
	size_t first, end;	/* words that begin in these of its bytes */
	bool text;
};

/* Has a section of data something that only loaders, unwinders and tracers read? Most have not:
 * then it need not be asked of each word. */
static bool has_untabled(const struct symbols *syms, struct range section)
{
	bool ret = false;

	for (size_t i = 0; i < syms->nuntabled && !ret; i++)
		ret = range_overlaps(syms->untabled[i], section);
	return ret;
}

/* As addresses of the texts have them: of four bytes where all are so low, of eight where none
 * is. Of a text words of eight: four are a part of a distance as a rule. */
static void scan_words(struct plan_impl *own, const struct share *share, raddr_t start,
		       const uint8_t *bytes, size_t n, bool tabled)
{
	bool four = !share->text && own->texts.start <= UINT32_MAX;
	bool eight = share->text || own->texts.end > UINT32_MAX;

	if (four)
		scan_numbers(own, start, bytes, n, 4, tabled);
	if (eight)
		scan_numbers(own, start, bytes, n, 8, tabled);
}

static int scan_share(struct plan_impl *own, size_t part, void *ctx)
{
	const struct share *share = (struct share *)ctx + part;
	const struct symbols *syms = own->symbols;
	struct range r = share->section;
	size_t n;
	const uint8_t *bytes = symbols_bytes(syms, r.start, range_size(r), &n);
	bool tabled = !share->text && has_untabled(syms, r);

	if (!bytes || share->first >= n)
		return 0;
	/* The last may end in the next share. */
	n = MIN(n, share->end + sizeof(raddr_t) - 1) - share->first;
	if (!syms->is_pie)
		scan_words(own, share, r.start + share->first, bytes + share->first, n, tabled);
	if (!share->text)
		scan_distances(own, r.start + share->first, bytes + share->first, n, tabled);
	for (size_t i = 0; i < own->nbases && !share->text; i++)
		if (!i || own->bases[i].base != own->bases[i - 1].base)
			scan_based(own, own->bases[i].base, bytes + share->first, n);
	return 0;
}

/* The shares of what the file has of a section: with *v NULL, only their number. */
static size_t words_divide(const struct symbols *syms, struct range section, bool text,
			   struct share *v)
{
	size_t size, n = 0;

	symbols_bytes(syms, section.start, range_size(section), &size);
	for (size_t at = 0, step = MAX(SHARE, size / SHARES_MAX + 1); at < size; at += step, n++)
		if (v)
			v[n] = (struct share){ section, at, MIN(at + step, size), text };
	return n;
}

static size_t divide_all(const struct symbols *syms, struct share *v)
{
	size_t n = 0;

	for (size_t i = 0; i < syms->ntabled; i++)
		n += words_divide(syms, syms->tabled[i], false, v ? v + n : NULL);
	for (size_t i = 0; i < syms->ntexts && !syms->is_pie; i++)
		n += words_divide(syms, syms->texts[i].range, true, v ? v + n : NULL);
	return n;
}

static int scan_all(struct plan_impl *p)
{
	size_t n = divide_all(p->symbols, NULL);
	auto_free struct share *shares = calloc(n + 1, sizeof(*shares));
	const struct crew_work work = { .work = scan_share, .ctx = shares, .ahead = SIZE_MAX };

	if (!shares)
		return fail(ENOMEM, "plan %s", p->symbols->base);
	divide_all(p->symbols, shares);
	return crew_run(p, &work, n);
}

/* Of so many nothing is looked for. */
static int doubt_bases(struct plan_impl *p)
{
	size_t n = 0;
	int err = 0;

	base_sort(p->bases, p->nbases, sizeof(*p->bases));
	for (size_t i = 0; i < p->nbases; i++)
		n += !i || p->bases[i].base != p->bases[i - 1].base;
	for (size_t i = 0; i < p->nbases && n > BASES && !err; i++)
		err = arrivals_doubt(p, p->bases[i].pc, UNPROVED_TABLE);
	p->nbases = n > BASES ? 0 : p->nbases;
	return err;
}

int words_note(struct plan_impl *p)
{
	int err = doubt_bases(p);

	if (!err)
		err = scan_all(p);
	for (size_t i = 0; i < p->ngrounds && !err; i++)
		ground_revive_all(&p->grounds[i]);
	return err;
}

bool words_lead_to(const struct plan_impl *p, raddr_t a)
{
	uint64_t bit;
	const struct ground *g = word_bit(p, a, &bit);

	return g && bit_get(g->planes[PLANE_WORD], bit);
}

/* The first bit from one on that is set, and before another one. */
static uint64_t next_bit(const uint64_t *bits, uint64_t from, uint64_t end)
{
	for (uint64_t left; from < end; from = (from | 63) + 1) {
		left = bits_at(bits, from / 64) >> from % 64;
		if (left)
			return from + (unsigned int)__builtin_ctzll(left);
	}
	return end;
}

raddr_t words_next(const struct plan_impl *p, raddr_t a)
{
	raddr_t ret = UINT64_MAX;

	for (size_t i = 0; i < p->ngrounds; i++) {
		struct range r = p->grounds[i].text->range;
		uint64_t end = range_size(r), from = MAX(a, r.start) - r.start;
		uint64_t bit = next_bit(p->grounds[i].planes[PLANE_WORD], from, end);

		ret = bit < end ? MIN(ret, r.start + bit) : ret;
	}
	return ret;
}

void words_operand(struct plan_impl *p, const uint8_t *bytes, const struct insn *in)
{
	uint32_t word;

	for (size_t i = 1; i + 4 <= in->size; i++) {
		memcpy(&word, bytes + i, 4);
		words_note_number(p, word);
	}
}

bool words_has_number(const struct plan_impl *p, const uint8_t *bytes, const struct insn *in)
{
	uint64_t most = range_size(p->span) + 1;	/* and the end */
	bool all = p->span.end > UINT32_MAX || p->span.start < PAGE;
	uint32_t word;

	for (size_t i = 1; i + 4 <= in->size && !all; i++) {
		memcpy(&word, bytes + i, 4);
		all = word - p->span.start < most || -word - p->span.start < most;
	}
	return all;
}
