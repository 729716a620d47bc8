/* SPDX-License-Identifier: MIT */
/*
 * noreturn: which calls never come back?
 *
 * A compiler knows that of some functions, and lets what it likes follow such a call. To
 * take that for where control goes on is to believe in ways that control never takes. Of a file's
 * own functions their code tells; of others the name.
 */
#include <errno.h>
#include <string.h>

#include "plan/arrivals.h"

enum { DEPTH = 12, STEPS_MAX = 4096 };

/* A sanitizer's report that ends the program, unless that was told to go on (`noabort`). */
static bool is_last_report(const char *name)
{
	size_t n = strlen(name);

	return (!strncmp(name, "__asan_report_", 14) && !strstr(name, "noabort")) ||
		(!strncmp(name, "__ubsan_handle_", 15) && !strcmp(name + n - 6, "_abort"));
}

/* Of the C and C++ libraries and of compilers; a name that ends with `*` is the beginning
 * of several. */
static bool is_known_name(const char *name)
{
	static const char *const names[] = {
		"exit", "_exit", "_Exit", "quick_exit", "abort", "longjmp", "_longjmp",
		"siglongjmp", "__longjmp_chk", "pthread_exit", "thrd_exit", "__assert_fail",
		"__assert_perror_fail", "__assert", "__stack_chk_fail", "__fortify_fail",
		"__chk_fail", "__libc_fatal", "__libc_start_main", "err", "errx", "verr", "verrx",
		"_Unwind_Resume", "__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast",
		"__cxa_bad_typeid", "__cxa_throw_bad_array_new_length", "__cxa_call_unexpected",
		"__cxa_call_terminate", "__cxa_pure_virtual", "__cxa_deleted_virtual",
		"_ZSt9terminatev", "_ZSt10unexpectedv", "_ZSt1*", "_ZSt2*", "_ZSt3*",
	};
	bool throws = strstr(name, "__throw_");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		if (names[i][n - 1] == '*' ? throws && !strncmp(name, names[i], n - 1) :
		    !strcmp(name, names[i]))
			return true;
	}
	return is_last_report(name);
}

static bool leaves_for_good(struct plan_impl *, const struct body *, size_t step, int depth);

static void noreturn_push(uint32_t *todo, size_t *n, bool *seen, size_t step)
{
	if (!seen[step])
		todo[(*n)++] = (uint32_t)step;
	seen[step] = true;
}

/* Is there a way from the first step to where the body is left? */
static bool body_comes_back(struct plan_impl *p, const struct body *b, uint32_t *todo,
			    bool *seen, int depth)
{
	size_t n = 0;

	noreturn_push(todo, &n, seen, 0);
	while (n) {
		size_t i = todo[--n];
		const struct step *s = &b->steps[i];
		bool direct = s->insn.kind == INSN_JUMP || s->insn.kind == INSN_BRANCH;

		if (s->insn.kind == INSN_RETURN || s->insn.kind == INSN_UNKNOWN || s->thunk)
			return true;
		if (s->insn.kind == INSN_JUMP_INDIRECT && !leaves_for_good(p, b, i, depth))
			return true;
		if (direct && body_has(b, s->insn.dest)) {
			size_t to = body_step(b, s->insn.dest);

			if (to == b->nsteps)
				return true;
			noreturn_push(todo, &n, seen, to);
		} else if (direct && !leaves_for_good(p, b, i, depth)) {
			return true;
		}
		if (s->ends || s->insn.kind == INSN_STOP ||
		    (s->insn.kind == INSN_CALL && leaves_for_good(p, b, i, depth)))
			continue;
		if (i + 1 == b->nsteps || b->steps[i + 1].piece != s->piece)
			return true;
		noreturn_push(todo, &n, seen, i + 1);
	}
	return false;
}

static bool comes_back(struct plan_impl *p, const struct func *f, int depth)
{
	struct body b;
	bool ret = true;

	if (range_size(f->range) > (uint64_t)STEPS_MAX * 4 || body_read(p, f, &b))
		return true;
	auto_free uint32_t *todo = calloc(b.nsteps + 1, sizeof(*todo));
	auto_free bool *seen = calloc(b.nsteps + 1, sizeof(*seen));

	if (todo && seen && b.nsteps && b.nsteps < STEPS_MAX && !b.entry_only)
		ret = body_comes_back(p, &b, todo, seen, depth);
	body_clear(&b);
	return ret;
}

/* A stub of the linkage table, that is no function of the symbols. */
static bool is_stub_for_good(const struct plan_impl *p, raddr_t to)
{
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, to, &left);
	raddr_t slot;
	const char *name = bytes && p->arch->linkage(bytes, left, to, &slot) ?
		symbols_slot(p->symbols, slot) : NULL;

	return name && is_known_name(name);
}

/* Does control that goes there never come back? */
static bool is_for_good(struct plan_impl *p, raddr_t to, int depth)
{
	const struct func *f = symbols_func_at(p->symbols, to);

	if (!f)
		return is_stub_for_good(p, to);
	if (f->range.start != to || depth >= DEPTH)
		return false;
	uint8_t *known = &p->comes_back[f - p->symbols->funcs];

	if (*known == COMES_UNKNOWN) {
		*known = COMES_BACK;	/* should it come to call itself */
		if (f->flags & FUNC_PLT ? is_known_name(f->raw) : !comes_back(p, f, depth + 1))
			*known = COMES_NEVER;
	}
	return *known == COMES_NEVER;
}

static bool leaves_for_good(struct plan_impl *p, const struct body *b, size_t step, int depth)
{
	const struct insn *in = &b->steps[step].insn;
	const char *name = in->flags & INSN_SLOT ? symbols_slot(p->symbols, in->ref) : NULL;

	if (in->kind == INSN_JUMP_INDIRECT || in->kind == INSN_CALL_INDIRECT)
		return name && is_known_name(name);
	return is_for_good(p, in->dest, depth);
}

void noreturn_mark(struct plan_impl *p, struct body *b)
{
	for (size_t i = 0; i < b->nsteps; i++) {
		struct step *s = &b->steps[i];

		if (s->insn.kind == INSN_CALL || (s->insn.kind == INSN_CALL_INDIRECT &&
						  s->insn.flags & INSN_SLOT))
			s->ends |= leaves_for_good(p, b, i, 0);
	}
}
