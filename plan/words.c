/* SPDX-License-Identifier: MIT */
/*
 * words: which places of the text does data lead to that no relocation tells of?
 *
 * Where a program is linked to one address any four or eight bytes may be one, aligned or
 * not; in code, those of an operand. Anywhere a word of data may be the distance from
 * itself to code: tables of places that may fault, and of what repairs that, are made so.
 * Nothing says which of these is one by chance. But who is led there begins with an
 * instruction: one that leads into the middle of what is there is none.
 */
#include <errno.h>
#include <string.h>

#include "plan/arrivals.h"

struct scan {
	struct plan_impl *p;
	struct range text;	/* from the first to the last */
	size_t table;		/* of the tables those before this one are passed */
};

static bool is_text(const struct plan_impl *p, raddr_t a)
{
	size_t left;

	return symbols_text(p->symbols, a, &left);
}

static int note_number(struct scan *s, raddr_t a)
{
	struct plan_impl *p = s->p;

	if (!range_has(s->text, a) || !is_text(p, a) || ground_is_number(p, a))
		return 0;
	raddr_t *new = vec_push(p->numbers, p->nnumbers, p->numbers_cap);

	if (!new)
		return -ENOMEM;
	*new = a;
	return 0;
}

/* Is it an entry of a table that jumps go by? That is a distance from elsewhere. */
static bool is_entry(struct scan *s, raddr_t at)
{
	const struct plan_impl *p = s->p;

	while (s->table < p->ntables && p->tables[s->table].end <= at)
		s->table++;
	return s->table < p->ntables && p->tables[s->table].at <= at;
}

static int scan_data(struct scan *s, struct range r)
{
	const struct symbols *syms = s->p->symbols;
	size_t n;
	const uint8_t *p = symbols_bytes(syms, r.start, range_size(r), &n);
	int err = 0;

	s->table = 0;
	for (size_t i = 0; p && i + 4 <= n && !err; i++) {
		raddr_t at = r.start + i;
		uint32_t word;

		memcpy(&word, p + i, 4);
		if (!syms->is_pie && range_has(s->text, word) && symbols_is_tabled(syms, at))
			err = note_number(s, word);
		raddr_t to = at + (raddr_t)(int64_t)(int32_t)word;

		if (at % 4 == 0 && !err && range_has(s->text, to) && !is_entry(s, at) &&
		    symbols_is_tabled(syms, at))
			err = note_number(s, to);
	}
	return err;
}

/* Eight bytes of text; four are a part of a distance as a rule. */
static int scan_text(struct scan *s, const struct text *t)
{
	int err = 0;
	uint64_t word;

	for (size_t i = 0; i + 8 <= range_size(t->range) && !err; i++) {
		memcpy(&word, t->bytes + i, 8);
		if (range_has(s->text, word))
			err = note_number(s, word);
	}
	return err;
}

int words_note(struct plan_impl *p)
{
	const struct symbols *syms = p->symbols;
	struct scan s = { .p = p, .text = { UINT64_MAX, 0 } };
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < syms->ntexts; i++) {
		s.text.start = MIN(s.text.start, syms->texts[i].range.start);
		s.text.end = MAX(s.text.end, syms->texts[i].range.end);
	}
	for (size_t i = 0; i < syms->ntabled && !err; i++)
		err = scan_data(&s, syms->tabled[i]);
	for (size_t i = 0; i < syms->ntexts && !syms->is_pie && !err; i++)
		err = scan_text(&s, &syms->texts[i]);
	base_sort(p->numbers, p->nnumbers, sizeof(*p->numbers));
	for (size_t i = 0; i < p->nnumbers; i++)
		if (!kept || p->numbers[kept - 1] != p->numbers[i])
			p->numbers[kept++] = p->numbers[i];
	p->nnumbers = kept;
	for (size_t i = 0; i < kept; i++)
		ground_use_padding(p, p->numbers[i]);
	return err;
}

bool words_lead_to(const struct plan_impl *p, raddr_t a)
{
	size_t i = vec_prefix(p->nnumbers, k, p->numbers[k] < a);

	return i < p->nnumbers && p->numbers[i] == a;
}

int words_operand(struct plan_impl *p, const uint8_t *bytes, const struct insn *in)
{
	uint32_t word;
	int err = 0;

	for (size_t i = 1; i + 4 <= in->size && !err; i++) {
		memcpy(&word, bytes + i, 4);
		if (!is_text(p, word))
			continue;
		struct scan s = { .p = p, .text = { word, (raddr_t)word + 1 } };

		err = note_number(&s, word);
	}
	return err;
}
