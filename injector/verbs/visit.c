/* SPDX-License-Identifier: MIT */
/* visit: which session is there in a process, for a verb that finds it there? */
#include "injector/verbs/visit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/log/say.h"
#include "injector/patch/slots.h"
#include "injector/patch/verify.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/preflight.h"
#include "injector/session/notes.h"

static int visit_look(struct visit *v)
{
	int err = session_find(&v->target, &v->session);

	v->segment = (struct segment){ .fd = v->target.mem, .at = v->session.base,
				       .size = v->session.mapped };
	return err;
}

int visit_open(pid_t pid, struct visit *ret)
{
	*ret = (struct visit){ .target.mem = -1 };
	int err = preflight_session(pid);

	err = err ? err : target_open(pid, &ret->target);
	err = err ? err : visit_look(ret);
	if (!err)
		return 0;
	visit_close(ret);
	return preflight_again(preflight_session, pid, err);
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

bool visit_is_child(const struct visit *v)
{
	return !session_is_of(&v->session.s, v->target.pid);
}

int visit_claimed(struct visit *v)
{
	int err = visit_started(v, false);

	if (!err && visit_is_child(v))
		err = fail(0, "%d (%s) was forked by a process that records by itself (%d, as that "
			   "sees it), and records nothing; give the PID of that one",
			   v->target.pid, v->target.comm, v->session.s.pid);
	err = err ? err : target_claim(&v->target);				/* 1 */
	if (err)
		return err;
	metadata_clear(&v->notes);
	session_forget(&v->session);
	err = visit_look(v);							/* 2 */
	return err ? err : visit_started(v, false);
}

static bool visit_stands(const struct visit *v, const struct slot *s)
{
	return s->kind != SLOT_SEMAPHORE &&
		(s->state == SLOT_ACTIVE || s->state == SLOT_PLANNED) && s->len &&
		s->len <= CHANGE_MAX && s->func < v->notes.about.nfuncs;
}

/* Code of the process, a page at a time, for slots lie close together. */
struct code {
	const struct target *target;
	raddr_t page;		/* 0: none yet */
	bool there;
	uint8_t bytes[PAGE];
};

static bool code_read(struct code *c, raddr_t at, uint8_t *ret, size_t n)
{
	raddr_t page = at & ~(raddr_t)(PAGE - 1);

	if (at + n > page + PAGE)
		return !target_read(c->target, at, ret, n);
	if (page != c->page)
		c->there = !target_read(c->target, page, c->bytes, PAGE);
	c->page = page;
	if (c->there)
		memcpy(ret, c->bytes + (at - page), n);
	return c->there;
}

/* So many bytes of ours no other code has by chance. */
enum { CERTAIN = 4 };

/* Forgotten is only what is known not to stand: the code has the bytes of the file that is mapped
 * now, or those that were there before; or no code of a file is there, and no jump of ours. (In
 * that of a file which cannot be read, another tool may have written over a jump, and take that
 * back.) */
static bool is_gone(struct code *c, const struct modules *loaded, const struct slot *s)
{
	uint8_t now[CHANGE_MAX];

	if (!code_read(c, s->addr, now, s->len))
		return !modules_image(loaded, s->addr);
	bool same = !memcmp(now, s->new_, s->len);

	if (same && s->len >= CERTAIN)
		return false;
	if (modules_hold(loaded, s->addr, now, s->len))
		return true;
	return !same && (!memcmp(now, s->old, s->len) || !modules_image(loaded, s->addr));
}

/* An image by its number; that behind the last: none has it. */
static size_t image_of(const struct modules *loaded, raddr_t at)
{
	size_t i = 0, n = loaded->n + loaded->ncopies;

	while (i < n && !range_has((i < loaded->n ? &loaded->v[i] :
				    &loaded->copies[i - loaded->n])->span, at))
		i++;
	return i;
}

/* What is known of an image by its slots. */
struct image_slots {
	bool stands;		/* one does, or its page is the process's own, as if written to */
	bool gone;		/* one is */
};

/* A counter goes with the places of its library, where that was loaded anew. (Of a visit that was
 * killed a place may be gone, and the counter be raised.) */
static void forget_counters(struct visit *v, const struct modules *loaded,
			    const struct image_slots *images)
{
	for (uint32_t i = 0; i < v->session.s.nslots; i++) {
		struct slot *s = &v->session.slots[i];
		const struct image_slots *image = &images[image_of(loaded, s->addr)];

		if (s->kind == SLOT_SEMAPHORE && session_is_pending(s) && image->gone &&
		    !image->stands)
			s->state = SLOT_REMOVED;
	}
}

size_t visit_forget_gone(struct visit *v, const struct modules *loaded)
{
	size_t nimages = loaded->n + loaded->ncopies, n = 0;
	auto_free struct image_slots *images = calloc(nimages + 1, sizeof(*images));
	struct code code = { .target = &v->target };

	if (!images)
		return 0;
	images[nimages].gone = true;
	for (uint32_t i = 0; i < v->session.s.nslots; i++) {
		struct slot *s = &v->session.slots[i];
		struct image_slots *image = &images[image_of(loaded, s->addr)];

		if (!visit_stands(v, s))
			continue;
		bool gone = is_gone(&code, loaded, s);

		image->stands = image->stands || (image != &images[nimages] &&
			(!gone || verify_is_copy(&v->target, s->addr)));
		image->gone |= gone;
		if (!gone)
			continue;
		n += s->state == SLOT_ACTIVE && (s->kind == SLOT_ENTRY || s->kind == SLOT_PLACE);
		s->state = SLOT_REMOVED;
	}
	forget_counters(v, loaded, images);
	fail_clear();
	return n;
}

void visit_tell_gone(struct visit *v, const struct modules *loaded)
{
	size_t n = visit_forget_gone(v, loaded);

	if (n)
		say("%zu function%s probed any more, for what %s in was unloaded", n,
		    n == 1 ? " is not" : "s are not", n == 1 ? "it was" : "they were");
}

/* What is probed for unwinders only has no name. */
static bool is_silent(const struct visit *v, uint32_t func)
{
	return strcmp(v->notes.about.funcs[func].module, "?") == 0;
}

bool *visit_probed(const struct visit *v, size_t *count)
{
	bool *probed = calloc(v->notes.about.nfuncs + 1, sizeof(*probed));

	*count = 0;
	for (uint32_t i = 0; probed && i < v->session.s.nslots; i++) {
		const struct slot *s = &v->session.slots[i];

		if ((s->kind != SLOT_ENTRY && s->kind != SLOT_PLACE) ||
		    !visit_stands(v, s) || probed[s->func] || is_silent(v, s->func))
			continue;
		probed[s->func] = true;
		++*count;
	}
	return probed;
}

/* Does the jump stand in the code, too? A removal that is under way takes it out, then closes the
 * gate, and tells the journal last. */
static bool is_in_code(const struct visit *v, const struct slot *s)
{
	uint8_t now[CHANGE_MAX];

	return !target_read(&v->target, s->addr, now, s->len) && !memcmp(now, s->new_, s->len);
}

/* One whose gate is closed while its jumps stand, unless all are. */
bool *visit_disarmed(const struct visit *v, size_t *count)
{
	size_t n = v->notes.about.nfuncs;
	auto_free uint8_t *gates = calloc(n + 1, 1);
	bool *ret = visit_probed(v, count);

	*count = 0;
	if (!ret || !gates || n > 1u << REC_FUNC_BITS ||
	    v->session.s.state == SESSION_CLOSED ||
	    segment_read(&v->segment, GATES_OFF, gates, n) < 0)
		n = 0;
	for (size_t i = 0; i < v->notes.about.nfuncs && ret; i++)
		ret[i] &= i < n && !gates[i];
	for (uint32_t i = 0; i < v->session.s.nslots && ret; i++) {
		const struct slot *s = &v->session.slots[i];

		if ((s->kind == SLOT_ENTRY || s->kind == SLOT_PLACE) && visit_stands(v, s))
			ret[s->func] = ret[s->func] && is_in_code(v, s);
	}
	for (size_t i = 0; i < v->notes.about.nfuncs && ret; i++)
		*count += ret[i];
	fail_clear();
	return ret;
}

void visit_say_disarmed(const struct visit *v)
{
	char names[600] = "";
	size_t count, said = 0, used = 0;
	auto_free bool *disarmed = visit_disarmed(v, &count);

	for (size_t i = 0; i < v->notes.about.nfuncs && said < count && used < 400; i++) {
		if (!disarmed[i])
			continue;
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.150s",
					 said++ ? ", " : "", v->notes.about.funcs[i].name);
	}
	if (count)
		say("disarmed meanwhile, for they took more than %.4g %% of a thread's time: %s%s",
		    v->session.s.limit / 100.0, names, said < count ? ", ..." : "");
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

		if (!visit_stands(v, s))
			continue;
		c = vec_push(ret->changes, ret->nchanges, ret->changes_cap);
		if (!c)
			return fail(ENOMEM, "read the journal");
		*c = slot_change(s, i);
		c->kept = kept_by(s);
	}
	return 0;
}
