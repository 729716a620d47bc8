/* SPDX-License-Identifier: MIT */
#include "injector/modules/select_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/log/say.h"
#include "symbols/names/glob.h"
#include "trace/format/event.h"

static struct marked_place *hidden_at(struct marked_places *places, raddr_t pc)
{
	for (size_t i = 0; i < places->n; i++)
		if (places->v[i].pc == pc && places->v[i].hidden)
			return &places->v[i];
	return NULL;
}

static int push(struct marked_places *places, struct marked_place place)
{
	struct marked_place *p = hidden_at(places, place.pc);

	place.ends |= p != NULL;
	p = p ? p : vec_push(places->v, places->n, places->cap);
	if (!p)
		return -ENOMEM;
	*p = place;
	return 0;
}

int places_add(struct marked_places *places, struct marked_place place)
{
	for (size_t i = 0; i < places->n; i++)
		if (places->v[i].pc == place.pc && (place.hidden || !places->v[i].hidden)) {
			places->v[i].ends |= place.ends;
			return 0;
		}
	return push(places, place);
}

int places_add_with(struct marked_places *places, struct marked_place place)
{
	struct marked_place *p = vec_push(places->v, places->n, places->cap);

	if (!p)
		return -ENOMEM;
	*p = place;
	p->with = true;
	return 0;
}

static int by_copy(const void *a, const void *b)
{
	const struct marked_place *x = a, *y = b;

	return x->pc != y->pc ? (x->pc > y->pc) - (x->pc < y->pc) :
		(x->die > y->die) - (x->die < y->die);
}

int places_order(struct marked_places *places)
{
	auto_free struct marked_place *others = calloc(places->n + 1, sizeof(*others));
	struct marked_place *v = calloc(places->n + 1, sizeof(*v));
	size_t nothers = 0, n = 0;

	if (!others || !v) {
		free(v);
		return -ENOMEM;
	}
	for (size_t i = 0; i < places->n; i++)
		if (places->v[i].with)
			others[nothers++] = places->v[i];
	vec_sort(others, nothers, by_copy);
	for (size_t i = 0; i < places->n; i++) {
		raddr_t pc = places->v[i].pc;

		if (places->v[i].with)
			continue;
		v[n++] = places->v[i];
		for (size_t k = vec_prefix(nothers, j, others[j].pc < pc);
		     k < nothers && others[k].pc == pc && others[k].with; k++) {
			v[n++] = others[k];
			others[k].with = false;
		}
	}
	free(places->v);
	*places = (struct marked_places){ .v = v, .n = n, .cap = places->n + 1,
		.ends = places->ends, .nends = places->nends, .ends_cap = places->ends_cap };
	return 0;
}

void places_drop(struct marked_places *places, struct range r)
{
	size_t kept = 0;

	for (size_t i = 0; i < places->n; i++)
		if (!range_has(r, places->v[i].pc))
			places->v[kept++] = places->v[i];
	places->n = kept;
}

const char *place_name(const struct marked_place *p, struct strings *made)
{
	char clean[1024], text[sizeof(clean) + 32];

	const char *own = p->site ? p->site->name : p->line ? p->line :
		p->hidden ? "?" : p->inlined;

	say_clean(own ? own : p->name, clean, sizeof(clean));
	int n = own ? snprintf(text, sizeof(text), "%s%s", clean,
			       own == p->inlined ? INLINED_MARK : "") :
		snprintf(text, sizeof(text), "%s+0x%llx", clean,
			 (unsigned long long)(p->pc - p->func->range.start));

	return strings_add(made, text, (size_t)n);
}

void place_nearest(const struct symbols *s, const struct func *f, uint64_t offset,
		   uint64_t *before, uint64_t *behind)
{
	const struct arch *arch = arch_by_machine(s->machine);
	uint64_t size = range_size(f->range), at = 0;
	size_t left;
	const uint8_t *p = symbols_text(s, f->range.start, &left);
	struct insn in;

	*before = *behind = UINT64_MAX;
	for (; arch && p && at < size && at < left && at <= offset; at += in.size) {
		if (at < offset)
			*before = at;
		/* What is no instruction is passed as data are. */
		if (arch->measure(p + at, left - at, f->range.start + at, &in))
			in.size = arch->align;
	}
	if (at < size)
		*behind = at;
}

bool place_begins(const struct symbols *s, const struct func *f, uint64_t offset)
{
	uint64_t before, behind;

	if (offset >= range_size(f->range))
		return false;
	if (!offset)
		return true;
	place_nearest(s, f, offset - 1, &before, &behind);
	return behind == offset;
}

bool place_is_meant(const struct pattern *p, struct module *m, const struct usdt_site *site)
{
	return !m->is_payload && module_is_meant(m, p, false) &&
		glob_match(p->name, site->name, strlen(site->name));
}

bool places_want(const struct pattern *usdt, size_t n, struct module *m)
{
	const struct usdt_sites *sites = NULL;

	if (n && !m->is_payload && module_usdt(m, &sites) < 0)
		fail_clear();
	for (size_t i = 0; sites && i < sites->n; i++)
		for (size_t k = 0; k < n; k++)
			if (place_is_meant(&usdt[k], m, &sites->v[i]))
				return true;
	return false;
}

/* An unlikely half belongs to its function. */
const struct func *place_owner(const struct symbols *s, raddr_t pc)
{
	const struct func *f = symbols_func_at(s, pc);

	return f && f->flags & FUNC_FRAGMENT && f->parent >= 0 ? &s->funcs[f->parent] : f;
}

int places_add_usdt(struct marked_places *places, struct pattern *usdt, size_t n, struct module *m)
{
	const struct usdt_sites *sites = NULL;
	int err = 0;

	if (n && m->symbols && module_usdt(m, &sites) < 0)
		fail_clear();
	for (size_t i = 0; sites && i < sites->n; i++) {
		const struct usdt_site *site = &sites->v[i];
		const struct func *f = place_owner(m->symbols, site->pc);
		bool meant = false;

		for (size_t k = 0; k < n && f; k++)
			if (place_is_meant(&usdt[k], m, site))
				meant = usdt[k].matched = true;
		if (meant && !err)
			err = push(places, (struct marked_place){ .func = f, .pc = site->pc,
									  .site = site });
	}
	return err;
}
