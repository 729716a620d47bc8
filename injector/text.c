/* SPDX-License-Identifier: MIT */
#include "injector/text.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum { BATCH = 512, PAGE_BYTES = 4096 };

/* Read up to BATCH places at once. process_vm_readv does it in one call, but
 * respects page protections and may be forbidden: then one by one. */
static int read_batch(const struct target *t, const struct change *c, size_t n,
		      uint8_t (*ret)[CHANGE_MAX])
{
	struct iovec local[BATCH], remote[BATCH];
	size_t total = 0;

	for (size_t i = 0; i < n; i++) {
		local[i] = (struct iovec){ ret[i], c[i].len };
		remote[i] = (struct iovec){ (void *)(uintptr_t)c[i].addr, c[i].len };
		total += c[i].len;
	}
	if (process_vm_readv(t->pid, local, n, remote, n, 0) == (ssize_t)total)
		return 0;
	for (size_t i = 0; i < n; i++) {
		int err = target_read(t, c[i].addr, ret[i], c[i].len);
		if (err)
			return err;
	}
	return 0;
}

int text_look(const struct target *t, const struct change *c, size_t n, uint8_t *ret)
{
	uint8_t now[BATCH][CHANGE_MAX];

	for (size_t at = 0; at < n; at += BATCH) {
		size_t some = MIN(n - at, (size_t)BATCH);
		int err = read_batch(t, c + at, some, now);

		if (err)
			return err;
		for (size_t i = 0; i < some; i++) {
			const struct change *one = &c[at + i];

			ret[at + i] = memcmp(now[i], one->from, one->len) == 0 ? TEXT_FROM :
				memcmp(now[i], one->to, one->len) == 0 ? TEXT_TO : TEXT_OTHER;
		}
	}
	return 0;
}

int text_write(const struct target *t, const struct change *c, size_t n, size_t *done)
{
	for (*done = 0; *done < n; ++*done) {
		const struct change *one = &c[*done];

		if (one->addr / PAGE_BYTES != (one->addr + one->len - 1) / PAGE_BYTES)
			return fail(EINVAL, "a change at %#lx would straddle two pages",
				    (unsigned long)one->addr);
		int err = target_write(t, one->addr, one->to, one->len);
		if (err)
			return err;
	}
	return 0;
}

int text_verify(const struct target *t, const struct change *c, size_t n, size_t *bad)
{
	auto_free uint8_t *is = malloc(n + 1);

	if (!is)
		return fail(ENOMEM, "verify the text");
	int err = text_look(t, c, n, is);
	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		if (is[i] == TEXT_TO || memcmp(c[i].from, c[i].to, c[i].len) == 0)
			continue;
		*bad = i;
		return fail(0, "the text at %#lx of %d (%s) is not what was written",
			    (unsigned long)c[i].addr, t->pid, t->comm), -EIO;
	}
	return 0;
}

int text_touch(const struct target *t, const struct change *c, size_t n)
{
	raddr_t page = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t byte;

		if (c[i].addr / PAGE_BYTES == page)
			continue;
		page = c[i].addr / PAGE_BYTES;
		int err = target_read(t, c[i].addr, &byte, 1);
		err = err ? err : target_write(t, c[i].addr, &byte, 1);
		if (err)
			return err;
	}
	return 0;
}
