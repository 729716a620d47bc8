/* SPDX-License-Identifier: MIT */
#include "base/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One per thread: the tracer thread (injector/ptrace/tracing.h) fails on its own and
 * hands its message over with fail_keep(). */
static _Thread_local char kept[1024];

int (fail)(int err, const char *fmt, ...)
{
	if (!kept[0]) {
		va_list ap;

		va_start(ap, fmt);
		int n = vsnprintf(kept, sizeof(kept), fmt, ap);
		va_end(ap);
		if (err && n >= 0 && (size_t)n < sizeof(kept))
			snprintf(kept + n, sizeof(kept) - n, ": %s", strerror(err));
	}
	return err > 0 ? -err : -EINVAL;
}

const char *fail_text(void)
{
	return kept;
}

void fail_clear(void)
{
	kept[0] = '\0';
}

struct cause fail_keep(void)
{
	struct cause ret;

	memcpy(ret.text, kept, sizeof(ret.text));
	fail_clear();
	return ret;
}

void fail_give_back(const struct cause *cause)
{
	memcpy(kept, cause->text, sizeof(kept));
}

int base_grow(void **arr, size_t *cap, size_t size)
{
	size_t bigger = *cap ? *cap * 2 : 16;
	void *p = reallocarray(*arr, bigger, size);

	if (!p)
		return fail(ENOMEM, "grow an array to %zu elements", bigger);
	*arr = p;
	*cap = bigger;
	return 0;
}

void *base_zero(void *p, size_t size)
{
	return memset(p, 0, size);
}

char *base_printf(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}
