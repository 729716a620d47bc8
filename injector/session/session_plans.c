/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "injector/session/session.h"

bool session_add_plan(struct session_map *m, uint32_t func, const struct capture_plan *plan,
		      size_t size)
{
	if (!m->plans)
		return true;
	if (func >= m->shape.plans_funcs || size > m->shape.plans - m->plans_used)
		return false;
	memcpy(m->plans + m->plans_used, plan, size);
	if (plan->condition)
		((struct capture_plan *)(m->plans + m->plans_used))->condition +=
			(uint32_t)(m->plans_used / 8);
	__atomic_store_n((uint32_t *)m->plans + func, (uint32_t)(m->plans_used / 8),
			 __ATOMIC_RELEASE);
	m->plans_used += ALIGN_UP(size, 8);
	m->s->planned = 1;
	return true;
}
