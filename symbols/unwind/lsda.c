/* SPDX-License-Identifier: MIT */
/*
 * lsda: where does the unwinder enter this function when something is thrown?
 *
 * Reads the call-site tables of .gcc_except_table, the language-specific area
 * that C++, Rust, Ada and Go's gccgo share. What has another form is for a routine of the
 * program's own, which goes where it likes.
 */
#include "symbols/unwind/unwind.h"

enum { HEAD_MAX = 64 };		/* more than an area's table of call sites is behind */

/* All call sites of one table. Adds landing pads that are in text. Sets FDE_LSDA if there are
 * any, and FDE_STRANGE if it is no such table. */
static int read_call_sites(const struct image *im, struct cursor c, uint8_t encoding, raddr_t base,
			   struct fde *fde, struct addresses *ret)
{
	raddr_t behind = 0;		/* the one before */

	while (cursor_left(&c)) {
		uint64_t start = cursor_pointer(&c, encoding);
		uint64_t length = cursor_pointer(&c, encoding);
		uint64_t pad = cursor_pointer(&c, encoding);

		cursor_uleb(&c);			/* action */
		if (c.bad)
			break;
		if (start < behind || start + length > range_size(fde->range) ||
		    (pad && !image_is_text(im, base + pad)))
			fde->flags |= FDE_STRANGE;
		behind = start + length;
		if (!pad || !image_is_text(im, base + pad))
			continue;
		if (addresses_add(ret, base + pad))
			return -ENOMEM;
		fde->flags |= FDE_LSDA;
	}
	fde->flags |= c.bad ? FDE_STRANGE : 0;
	return 0;
}

/* One function's area. *used grows by the bytes read. */
static int read_area(const struct image *im, struct fde *fde, uint64_t *used,
		     struct addresses *ret)
{
	struct cursor c = { .addr = fde->lsda };
	raddr_t base = fde->range.start;
	size_t n;

	fde->flags |= FDE_STRANGE;
	c.p = image_at(im, fde->lsda, HEAD_MAX, &n);
	if (!c.p)
		return 0;
	c.end = c.p + n;
	uint8_t encoding = cursor_uint(&c, 1);

	if (encoding != DW_EH_PE_omit)
		base = cursor_pointer(&c, encoding);
	if (cursor_uint(&c, 1) != DW_EH_PE_omit)
		cursor_uleb(&c);		/* where the type table ends */
	encoding = cursor_uint(&c, 1);
	uint64_t size = cursor_uleb(&c);
	struct cursor sites = { .addr = c.addr, .p = image_bytes(im, c.addr, size) };

	if (c.bad || !sites.p)
		return 0;
	sites.end = sites.p + size;
	*used += cursor_left(&sites) + 4;
	/* As compilers write them. */
	if (encoding == DW_EH_PE_uleb128 || encoding == DW_EH_PE_udata4)
		fde->flags &= (uint8_t)~FDE_STRANGE;
	return read_call_sites(im, sites, encoding, base, fde, ret);
}

int unwind_landing_pads(const struct image *im, struct unwind *u,
			struct addresses *ret)
{
	uint64_t used = 0, held = image_held(im);

	for (size_t i = 0; i < u->nfdes; i++) {
		if (!u->fdes[i].lsda)
			continue;
		/* Areas of different functions do not overlap, so all of them
		 * together are smaller than the file. */
		if (used > held)
			return -EBADMSG;
		if (read_area(im, &u->fdes[i], &used, ret))
			return -ENOMEM;
	}
	return 0;
}
