/* SPDX-License-Identifier: MIT */
/* whole_told: where is the stack, as the file tells? */
#include <errno.h>

#include "plan/flow/whole.h"

bool whole_tell_stack(const struct whole *w, size_t step, struct stack *ret)
{
	int64_t cfa;
	int err = symbols_cfa_offset(w->body->impl->symbols, w->body->steps[step].insn.pc, &cfa);

	if (!err)
		ret->at[w->sp] = (int32_t)(WORD - cfa);
	if (err == -ENOTSUP) {		/* a frame's register is in use */
		ret->at[w->sp] = STACK_ANEW;
		ret->at[w->fp] = -WORD;
	}
	return !err || err == -ENOTSUP;
}

void whole_begin_stack(const struct whole *w, size_t step, struct stack *ret)
{
	stack_begin(w->flow->arch, ret);
	(void)whole_tell_stack(w, step, ret);
}

/* Behind a loop in which a large frame is made page by page the file tells how large it is. */
void whole_find_stack(const struct whole *w, size_t step, struct stack *s)
{
	int64_t cfa;

	if (step < w->body->nsteps && !w->lies &&
	    !symbols_cfa_offset(w->body->impl->symbols, w->body->steps[step].insn.pc, &cfa))
		s->at[w->sp] = (int32_t)(WORD - cfa);
}

/* By different ways here the stack is not where it was: a file that says all the same where it
 * is says nothing. */
void whole_note_lost(struct whole *w, size_t step)
{
	int64_t cfa;

	w->lies |= !symbols_cfa_offset(w->body->impl->symbols, w->body->steps[step].insn.pc, &cfa);
}

/* Where does a return here take its way back? False: that is not known. */
bool whole_find_top(struct whole *w, size_t step, const struct state *s, int64_t *ret)
{
	int64_t cfa;

	*ret = s->stack.at[w->sp];
	if (stack_is_known(&s->stack, w->sp))
		return true;
	if (w->lies ||
	    symbols_cfa_offset(w->body->impl->symbols, w->body->steps[step].insn.pc, &cfa))
		return false;
	*ret = WORD - cfa;
	return true;
}

/* Is the stack before this step where the file has it? */
static bool is_as_told(const struct whole *w, size_t step, const struct state *s)
{
	int64_t cfa;
	int err = symbols_cfa_offset(w->body->impl->symbols, w->body->steps[step].insn.pc, &cfa);

	return err == -ENOTSUP ? s->stack.at[w->fp] == -WORD :
		!err && WORD - cfa == s->stack.at[w->sp];
}

/* Is what stands before this step, and what pads behind it, a call that never comes back? So the
 * file says, if the stack is elsewhere here, and at the call it is where the file has it. Where it
 * says nothing, another way here does. */
bool whole_never_comes_back(const struct whole *w, size_t step, const struct state *s)
{
	const struct state *at = &w->states[w->at[step]];
	const struct step *steps = w->body->steps;
	size_t i = step - 1;
	int64_t cfa;

	if (at->reached && at->stack.at[w->sp] == s->stack.at[w->sp])
		return false;
	while (i && (steps[i].insn.flags & INSN_NOP || steps[i].insn.kind == INSN_STOP) &&
	       !w->flow->led[i])
		i--;
	if (steps[i].insn.kind != INSN_CALL && steps[i].insn.kind != INSN_CALL_INDIRECT)
		return false;
	if (symbols_cfa_offset(w->body->impl->symbols, steps[step].insn.pc, &cfa))
		return at->reached && !at->guessed && stack_is_known(&at->stack, w->sp);
	return WORD - cfa != s->stack.at[w->sp] && is_as_told(w, i, s);
}
