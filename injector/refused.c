/* SPDX-License-Identifier: MIT */
#include "injector/refused.h"

#include "injector/say.h"

enum { SHOWN = 10 };

size_t refused_count(const struct selection *sel)
{
	size_t n = 0;

	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].n; j++)
			n += sel->v[i].plan->probes[j].refusal != REFUSED_NONE;
	return n;
}

/* Say those that are pieces, or those that are not, until SHOWN were. */
static size_t say_kind(const struct selection *sel, bool pieces, size_t said)
{
	for (size_t i = 0; i < sel->n; i++) {
		const struct selected *s = &sel->v[i];

		for (size_t j = 0; j < s->n && said < SHOWN; j++) {
			enum refusal why = s->plan->probes[j].refusal;

			if (!why || (why == REFUSED_FRAGMENT) != pieces)
				continue;
			say_hint("refused %s: %s", s->names[j], refusal_text(why));
			said++;
		}
	}
	return said;
}

void refused_say(const struct selection *sel, pid_t pid)
{
	size_t all = refused_count(sel), said = say_kind(sel, false, 0);

	said = say_kind(sel, true, said);
	if (all > said && !pid)
		say_hint("and %zu more refused; inject list FILE shows those of a file",
			 all - said);
	else if (all > said)
		say_hint("and %zu more refused; inject list -p %d shows all", all - said, pid);
}
