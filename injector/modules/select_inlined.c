/* SPDX-License-Identifier: MIT */
#include "injector/modules/select_inlined.h"

#include <errno.h>
#include <string.h>

#include "injector/log/say.h"
#include "injector/modules/select_copies.h"
#include "symbols/lines/inlined.h"

enum { FUNCTIONS_MAX = 4096 };	/* of one pattern in one module */

/* What has been found of a pattern. */
struct found_copies {
	bool any;
	size_t unseen;		/* they begin where something else is marked, */
	const char *first;	/* such as this one */
};

/* Is it among them? `other`: else, is another there, which begins with the same instruction? */
static bool has_copy(const struct marked_places *places, const struct inlined_copy *c, bool *other)
{
	*other = false;
	for (size_t i = 0; i < places->n; i++) {
		const struct marked_place *p = &places->v[i];

		if (p->pc != c->pc || p->hidden)
			continue;
		if (p->inlined && p->die == c->die)
			return true;
		*other = true;
	}
	return false;
}

/* An instruction has one mark. The reader tells by it of all copies that begin there; where it does
 * not, one is seen (`pieces` NULL). */
static int add_copy(struct marked_places *places, struct module *m, struct marked_place place,
		    struct fragments *pieces, const struct inlined_copy *c,
		    struct found_copies *ret)
{
	bool other;
	int err = 0;

	ret->any = true;
	if (has_copy(places, c, &other))
		return 0;
	if (other && !pieces) {
		ret->first = ret->unseen++ ? ret->first : place.inlined;
		return 0;
	}
	err = other ? places_add_with(places, place) : places_add(places, place);
	return !err && pieces ? places_add_ends(places, m, place.func, pieces, c) : err;
}

static int add_copies(struct marked_places *places, const struct inlined *i, struct module *m,
		      struct strings *made, struct fragments *pieces,
		      struct found_copies *ret)
{
	const char *name = strings_add(made, i->name, strlen(i->name));
	int err = name ? 0 : -ENOMEM;

	for (size_t k = 0; k < i->ncopies && !err; k++) {
		const struct inlined_copy *c = &i->copies[k];
		const struct func *f = place_owner(m->symbols, c->pc);

		if (f)
			err = add_copy(places, m, (struct marked_place){
				.func = f, .pc = c->pc, .inlined = name, .die = c->die },
				       pieces, c, ret);
	}
	return err;
}

int places_add_inlined(struct marked_places *places, struct pattern *p, struct module *m,
		       struct strings *made, bool ends)
{
	struct inlined_list found = { .deadline = UINT64_MAX, .most = FUNCTIONS_MAX };
	int err = p->plt || p->place ? 0 : inlined_find(m->symbols, m->fd, p, &found);
	struct fragments pieces = { 0 };
	struct found_copies copies = { 0 };

	if (!err && ends && found.n)
		err = fragments_list(m->symbols, &pieces);
	for (size_t i = 0; i < found.n && !err; i++)
		err = add_copies(places, &found.v[i], m, made, ends ? &pieces : NULL, &copies);
	p->matched |= copies.any;
	if (copies.unseen)
		say_hint("%s: copies that are not seen, for others begin with the same instruction: "
			 "%zu of %s, such as %s; select them alone", m->base, copies.unseen,
			 p->glob, copies.first);
	if (ends && found.n && !pieces.budget)
		say_hint("%s: %s has too many copies to look where each ends: some have no durations",
			 m->base, p->glob);
	if (found.too_large)
		say_hint("%s: its debug information has %ju MB, which is not read: no inlined "
			 "functions", m->base, (uintmax_t)(found.too_large >> 20));
	if (found.missing)
		say_hint("%s: %s, to which debug information was split, is not found: inlined "
			 "functions of that are not known", m->base, found.missing);
	if (found.cut)
		say_hint("%s: more inlined functions match %s than are looked at", m->base,
			 p->glob);
	inlined_clear(&found);
	free(pieces.v);
	return err ? fail(ENOMEM, "look for inlined functions") : 0;
}
