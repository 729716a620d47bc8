/* SPDX-License-Identifier: MIT */
/* session: which session does the payload record into, and is it open? */
#include "payload/payload.h"

struct session *payload_session;
uint64_t payload_visit;

/* From now on no call comes further than its stub. */
static void close_session(struct session *s)
{
	uint8_t *gates = (uint8_t *)s + GATES_OFF;
	uint32_t i;

	publish(&s->state, SESSION_CLOSED);
	for (i = 0; i < s->nfuncs && i < 1u << REC_FUNC_BITS; i++)
		publish(&gates[i], 0);
}

/* Is anything to be recorded? Not when the reader has ended: no reader would take it,
 * and a later injector begins a session of its own. */
bool payload_is_open(struct session *s)
{
	if (observe(&s->state) != SESSION_CLOSED && observe(&s->reader) & READER_GONE)
		close_session(s);
	return observe(&s->state) != SESSION_CLOSED;
}
