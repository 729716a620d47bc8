/* SPDX-License-Identifier: MIT */
#include "injector/modules/select_around.h"

#include "injector/log/say.h"

static bool is_meant(struct pattern *patterns, size_t n, struct module *m,
		     const struct usdt_site *site)
{
	bool meant = false;

	for (size_t i = 0; i < n; i++)
		if (place_is_meant(&patterns[i], m, site))
			meant = patterns[i].matched = true;
	return meant;
}

void around_add(struct pattern *patterns, size_t npatterns, struct module *m, const char **names,
		size_t *n)
{
	const struct usdt_sites *sites = NULL;

	if (npatterns && m->symbols && module_usdt(m, &sites) < 0)
		fail_clear();
	for (size_t i = 0; sites && i < sites->n; i++) {
		const struct usdt_site *site = &sites->v[i];
		const struct func *f = place_owner(m->symbols, site->pc);
		size_t at = f ? (size_t)(f - m->symbols->funcs) : 0;

		if (!f || !is_meant(patterns, npatterns, m, site) || names[at])
			continue;
		names[at] = f->source == FUNC_EH_FRAME ? site->name : f->name;
		++*n;
	}
}
