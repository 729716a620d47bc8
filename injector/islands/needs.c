/* SPDX-License-Identifier: MIT */
#include "injector/islands/needs.h"

#include <errno.h>

#include "payload/page.h"
#include "payload/stub.h"

uint64_t needs_of_stub(const struct placed_probe *p, const struct placed_site *s, uint16_t size)
{
	return ALIGN_UP((uint64_t)plan_note_size(p, s) + size, (uint64_t)STUB_ALIGN);
}

static void need_site(const struct placed_probe *p, const struct placed_site *s,
		      struct arena_need *need, uint32_t *slots)
{
	if (!s->stub)
		need->bytes += needs_of_stub(p, s, s->site.stub_most);
	*slots += s->site.hole.len ? 2 : 1;
}

/* None lies in two pages: of each, less than the largest may have is left over. */
static uint64_t pages_for(uint64_t bytes)
{
	return bytes ? (bytes / (PAGE - STUB_MAX) + 2) * PAGE : 0;
}

int needs_list(const struct selection *sel, struct arena_need **needs, uint32_t *slots)
{
	*needs = calloc(sel->n + 1, sizeof(**needs));
	*slots = 0;
	if (!*needs)
		return fail(ENOMEM, "plan the stubs");
	for (size_t i = 0; i < sel->n; i++) {
		(*needs)[i].module = sel->v[i].module;
		for (size_t j = 0; j < sel->v[i].nprobes; j++) {
			const struct placed_probe *p = &sel->v[i].probes[j];

			(*needs)[i].spills |= !p->refusal &&
				p->planned->routines == ROUTINES_TIGHT;
			for (size_t k = 0; !p->refusal && k < p->nsites; k++)
				need_site(p, &p->sites[k], &(*needs)[i], slots);
		}
		(*needs)[i].bytes = pages_for((*needs)[i].bytes);
	}
	return 0;
}
