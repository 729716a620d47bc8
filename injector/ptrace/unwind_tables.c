/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/unwind_tables.h"

#include <elf.h>
#include <string.h>

enum {
	SEGMENTS_MOST = 128,
	PAGE_LEAST = 4096,
	ENTRY = 8,		/* bytes: where a function is, and its entry */
	VERSION = 1,
	/* DW_EH_PE_: what the numbers of .eh_frame_hdr are */
	UDATA4 = 0x03, SDATA4 = 0x0b, PCREL = 0x10, DATAREL = 0x30,
};

/* .eh_frame_hdr as every linker writes it: other forms are not read. */
struct header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
};

static bool is_elf(const Elf64_Ehdr *h)
{
	return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
		h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_phentsize == sizeof(Elf64_Phdr) &&
		h->e_phnum <= SEGMENTS_MOST;
}

/* All of it belongs to the image. */
static bool is_within(const struct layout *l, raddr_t image, struct range r)
{
	for (raddr_t at = r.start; at < r.end;) {
		const struct area *a = layout_at(l, at);

		if (!a || a->image != image)
			return false;
		at = a->range.end;
	}
	return r.start < r.end;
}

/* The segment that .eh_frame_hdr is, in memory. Addresses count from where the segment
 * that the image begins with is. */
static bool find_segment(raddr_t image, bool (*read)(raddr_t, void *buf, size_t n),
			 struct range *ret)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;
	bool first = false, found = false;
	raddr_t bias = 0;

	if (!read(image, &h, sizeof(h)) || !is_elf(&h))
		return false;
	for (uint16_t i = 0; i < h.e_phnum; i++) {
		if (!read(image + h.e_phoff + i * sizeof(p), &p, sizeof(p)))
			return false;
		if (p.p_type == PT_LOAD && !first && p.p_offset < PAGE_LEAST) {
			first = true;
			bias = image - (p.p_vaddr - p.p_offset);
		} else if (p.p_type == PT_GNU_EH_FRAME && !found) {
			found = true;
			*ret = (struct range){ p.p_vaddr, p.p_vaddr + p.p_memsz };
		}
	}
	ret->start += bias;
	ret->end += bias;
	return first && found;
}

bool unwind_table_find(const struct layout *l, raddr_t image,
		       bool (*read)(raddr_t, void *buf, size_t n), struct unwind_table *ret)
{
	struct range r = { 0 };
	struct header h;

	if (!find_segment(image, read, &r) || !is_within(l, image, r) ||
	    range_size(r) < sizeof(h) || !read(r.start, &h, sizeof(h)))
		return false;
	if (h.version != VERSION || h.frame_encoding != (PCREL | SDATA4) ||
	    h.count_encoding != UDATA4 || h.table_encoding != (DATAREL | SDATA4))
		return false;
	*ret = (struct unwind_table){
		r.start, r.start + sizeof(h),
		MIN((uint64_t)h.count, (range_size(r) - sizeof(h)) / ENTRY),
	};
	return ret->entries;
}
