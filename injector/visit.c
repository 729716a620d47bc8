/* SPDX-License-Identifier: MIT */
/* visit: which session is there in a process, for a verb that finds it there? */
#include "injector/visit.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/look.h"
#include "injector/notes.h"

int visit_open(pid_t pid, struct visit *ret)
{
	*ret = (struct visit){ .target.mem = -1 };
	int err = look_session(pid);

	err = err ? err : target_open(pid, &ret->target);
	err = err ? err : session_find(&ret->target, &ret->session);
	ret->segment = (struct segment){ .fd = ret->target.mem, .at = ret->session.base,
					 .size = ret->session.mapped };
	if (!err)
		return 0;
	visit_close(ret);
	return look_again(look_session, pid, err);
}

void visit_close(struct visit *v)
{
	metadata_clear(&v->notes);
	session_forget(&v->session);
	target_close(&v->target);
}

int visit_started(struct visit *v, bool interrupted)
{
	const struct session *s = &v->session.s;

	if (session_is_started(&v->session) ||
	    (interrupted && v->session.found && s->started))
		return notes_read(&v->segment, s, &v->notes);
	return fail(0, "%d (%s) does not record by itself; inject start -p %d -f GLOB begins that",
		    v->target.pid, v->target.comm, v->target.pid);
}

static bool stands(const struct visit *v, const struct slot *s)
{
	return (s->state == SLOT_ACTIVE || s->state == SLOT_PLANNED) && s->len &&
		s->len <= CHANGE_MAX && s->func < v->notes.about.nfuncs;
}

bool *visit_probed(const struct visit *v, size_t *count)
{
	bool *probed = calloc(v->notes.about.nfuncs + 1, sizeof(*probed));

	*count = 0;
	for (uint32_t i = 0; probed && i < v->session.s.nslots; i++) {
		const struct slot *s = &v->session.slots[i];

		if (s->kind != SLOT_ENTRY || !stands(v, s) || probed[s->func])
			continue;
		probed[s->func] = true;
		++*count;
	}
	return probed;
}

/* What a pun keeps is the rest of a jump that was not written whole. */
static uint8_t kept_by(const struct slot *s)
{
	struct insn in;

	if (arch_host()->measure(s->new_, sizeof(s->new_), s->addr, &in) < 0 || in.size <= s->len)
		return 0;
	return in.size - s->len;
}

int visit_changes(const struct visit *v, struct live *ret)
{
	*ret = (struct live){ .nfuncs = v->notes.about.nfuncs };
	for (uint32_t i = 0; i < v->session.s.nslots; i++) {
		const struct slot *s = &v->session.slots[i];
		struct change *c;

		if (!stands(v, s))
			continue;
		c = vec_push(ret->changes, ret->nchanges, ret->changes_cap);
		if (!c)
			return fail(ENOMEM, "read the journal");
		*c = (struct change){ .addr = s->addr, .len = s->len, .rank = slot_rank(s),
				      .kept = kept_by(s), .slot = i, .func = s->func };
		memcpy(c->from, s->old, sizeof(c->from));
		memcpy(c->to, s->new_, sizeof(c->to));
	}
	return 0;
}
