/* SPDX-License-Identifier: MIT */
#include "injector/show/refused.h"

#include "injector/log/say.h"

enum { SHOWN = 10 };

size_t refused_count(const struct selection *sel)
{
	size_t n = 0;

	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].n; j++)
			n += sel->v[i].probes[j].refusal != REFUSED_NONE &&
				!selected_is_hidden(&sel->v[i], j);
	return n;
}

static size_t count_pieces(const struct selection *sel)
{
	size_t n = 0;

	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].n; j++)
			n += sel->v[i].probes[j].refusal == REFUSED_FRAGMENT;
	return n;
}

/* Name so many of them; of pieces only if `all` are wanted. */
static void name_some(const struct selection *sel, size_t most, bool all)
{
	for (size_t i = 0; i < sel->n; i++) {
		const struct selected *s = &sel->v[i];

		for (size_t j = 0; j < s->n && most; j++) {
			enum refusal why = s->probes[j].refusal;

			if (!why || (why == REFUSED_FRAGMENT && !all) || selected_is_hidden(s, j))
				continue;
			say_hint("refused %s: %s", s->names[j], refusal_text(why));
			most--;
		}
	}
}

void refused_say(const struct selection *sel, pid_t pid, bool all)
{
	size_t pieces = all ? 0 : count_pieces(sel), others = refused_count(sel) - pieces;

	name_some(sel, all ? SIZE_MAX : SHOWN, all);
	if (pieces)
		say_hint("refused %zu more: piece%s of other functions, which no code calls "
			 "(-v: which)", pieces, pieces == 1 ? "" : "s");
	if (all || others <= SHOWN)
		return;
	if (!pid)
		say_hint("and %zu more refused (-v: which); inject list FILE shows those of a file",
			 others - SHOWN);
	else
		say_hint("and %zu more refused (-v: which); inject list -p %d shows all",
			 others - SHOWN, pid);
}
