/* SPDX-License-Identifier: MIT */
#include "trace/format/callers.h"

size_t callers_sound(const struct caller_names *names, const uint64_t *callers, size_t n,
		     uint8_t *cut)
{
	struct caller c;

	for (size_t i = 0; i < n; i++)
		if (!names->find(names->ctx, callers[i], &c)) {
			*cut = CALLERS_NO_TABLE;
			return i;
		}
	return n;
}

const char *callers_cut_text(uint8_t cut)
{
	switch (cut) {
	case CALLERS_WHOLE:
	case CALLERS_FULL:
		return NULL;
	case CALLERS_NO_TABLE:
		return "no unwind information tells what called that";
	case CALLERS_NO_RULE:
		return "the unwind information there is of a kind that is not followed";
	case CALLERS_NO_MEMORY:
		return "the stack could not be read further";
	}
	return "what lies above is no stack";
}

bool caller_table_find(void *ctx, uint64_t address, struct caller *ret)
{
	const struct caller_table *t = ctx;
	size_t n = vec_prefix(t->n, i, t->v[i].address <= address);

	*ret = n && t->v[n - 1].address == address ? t->v[n - 1] :
		(struct caller){ .address = address };
	return true;
}
