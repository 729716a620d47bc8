/* SPDX-License-Identifier: MIT */
/* remote, continued: where in the target is the code by which it makes a system call? */
#include "injector/remote/remote.h"

#include <errno.h>
#include <string.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/code.h"

struct gadget_search {
	const struct target *target;
	struct range ours;
	struct gadgets *found;
};

static raddr_t find_bytes(const uint8_t *hay, size_t n, raddr_t base,
			  const struct gadget *g)
{
	const uint8_t *p = g->size ? memmem(hay, n, g->bytes, g->size) : NULL;

	return p ? base + (raddr_t)(p - hay) : 0;
}

static void find_calls(const uint8_t *hay, size_t n, raddr_t base, struct gadgets *found)
{
	const struct gadget *g = &gadget_syscall_ret;
	size_t from = 0;

	if (!found->syscall_ret) {
		found->syscall_ret = find_bytes(hay, n, base, g);
		from = found->syscall_ret ? found->syscall_ret - base + g->size : n;
	}
	if (!found->other)
		found->other = find_bytes(hay + from, n - from, base + from, g);
}

/* Code that will be there when it is used: what has no name may be a compiler's, unless
 * it is the payload, where it was mapped without a loader. */
static bool is_lasting(const struct gadget_search *s, const struct mapping *m)
{
	return m->path[0] ? strcmp(m->path, "[vsyscall]") != 0 :
		m->range.start < s->ours.end && s->ours.start < m->range.end;
}

/* The C library's and the loader's code have both; the vdso and others may. */
static int search_mapping(void *ctx, const struct mapping *m)
{
	enum { MOST = 64 << 20 };
	struct gadget_search *s = ctx;
	size_t n = range_size(m->range);
	struct code c;

	if (!m->exec || !m->read || n > MOST || !is_lasting(s, m))
		return 0;
	auto_free uint8_t *code = malloc(n);
	if (!code)
		return fail(ENOMEM, "read the code of %d", s->target->pid);
	code_open(s->target, m, &c);
	int err = code_read(&c, m->range.start, code, n);
	code_close(&c);
	if (err) {
		fail_clear();
		return 0;
	}
	find_calls(code, n, m->range.start, s->found);
	if (!s->found->sigreturn)
		s->found->sigreturn = find_bytes(code, n, m->range.start, &gadget_sigreturn);
	if (!s->found->pop_number)
		s->found->pop_number = find_bytes(code, n, m->range.start, &gadget_pop_number);
	return s->found->other && s->found->sigreturn;
}

int remote_gadgets(const struct target *t, struct range ours, struct gadgets *ret)
{
	struct gadget_search s = { t, ours, ret };

	*ret = (struct gadgets){ 0 };
	int err = procfs_maps(t->pid, search_mapping, &s);
	if (err < 0)
		return err;
	return ret->syscall_ret && (ret->sigreturn || ret->pop_number) ? 0 :
		fail(ENOENT, "%d (%s): no code for a remote system call found", t->pid, t->comm);
}
