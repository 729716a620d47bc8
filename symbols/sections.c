/* SPDX-License-Identifier: MIT */
/* sections: which of a file's bytes are data, as it says itself? */
#include "symbols/sections.h"

#include <errno.h>
#include <string.h>

enum {
	SECTIONS_MAX = 256,	/* of data; no real file has more, */
	HEADERS_MAX = 64,	/* nor so many segments */
};

/* Read by none of the program's own code. A note may be, and is found by whatever has its
 * address; where addresses are numbers nothing else tells of those in it. */
static bool is_for_others(const struct image *im, const GElf_Shdr *sh)
{
	static const char *const names[] = {
		".eh_frame", ".eh_frame_hdr", ".gcc_except_table", ".gopclntab", ".gnu.version",
		"__patchable_function_entries", "__mcount_loc", "xray_instr_map", "xray_fn_idx",
	};
	const char *name = image_section_name(im, sh);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	if (sh->sh_type == SHT_NOTE && im->header.e_type == ET_EXEC)
		return false;
	return sh->sh_type != SHT_PROGBITS && sh->sh_type != SHT_INIT_ARRAY &&
		sh->sh_type != SHT_FINI_ARRAY;
}

/* The sections of a linker are few, and do not overlap. Of a file that has more, all is data
 * that its segments hold. */
static bool find_tabled(const struct image *im, struct symbols *s)
{
	uint64_t left = image_held(im);

	for (size_t i = 1; i < im->nsections; i++) {
		const GElf_Shdr *sh = &im->sections[i];
		struct range r = { sh->sh_addr,
				   sh->sh_addr + MIN(sh->sh_size, UINT64_MAX - sh->sh_addr) };
		bool others = is_for_others(im, sh);

		if (!(sh->sh_flags & SHF_ALLOC) || sh->sh_flags & SHF_EXECINSTR || !sh->sh_size ||
		    (others && sh->sh_type == SHT_NOBITS))
			continue;
		if (others ? s->nuntabled == ARRAY_SIZE(s->untabled) :
		    s->ntabled == SECTIONS_MAX || range_size(r) > left)
			return false;
		if (others) {
			s->untabled[s->nuntabled++] = r;
			continue;
		}
		left -= range_size(r);
		s->tabled[s->ntabled++] = r;
	}
	return s->ntabled > 0;
}

/* A segment that runs may begin with the file's headers. (The kernel does not look at the sizes
 * that the first one tells of them.) */
static void add_headers(const struct image *im, struct symbols *s)
{
	uint64_t size = sizeof(Elf64_Ehdr);

	if (im->header.e_phoff == size && im->header.e_phnum <= HEADERS_MAX)
		size += im->header.e_phnum * sizeof(Elf64_Phdr);
	for (size_t i = 0; i < im->nloads && s->nuntabled < ARRAY_SIZE(s->untabled); i++) {
		struct range r = im->loads[i].range;

		if (im->loads[i].offset || !(im->loads[i].flags & PF_X))
			continue;
		r.end = r.start + MIN(size, range_size(r));
		s->untabled[s->nuntabled++] = r;
	}
}

int sections_find(const struct image *im, struct symbols *s)
{
	s->tabled = calloc(SECTIONS_MAX + im->nloads, sizeof(*s->tabled));
	if (!s->tabled)
		return -ENOMEM;
	if (!find_tabled(im, s)) {
		s->ntabled = s->nuntabled = 0;
		for (size_t i = 0; i < im->nloads; i++)
			if (!(im->loads[i].flags & PF_X))
				s->tabled[s->ntabled++] = im->loads[i].range;
	}
	add_headers(im, s);
	return 0;
}

bool symbols_is_tabled(const struct symbols *s, raddr_t a)
{
	bool ret = false;

	for (size_t i = 0; i < s->ntabled && !ret; i++)
		ret = range_has(s->tabled[i], a);
	for (size_t i = 0; i < s->nuntabled && ret; i++)
		ret = !range_has(s->untabled[i], a);
	return ret;
}

bool symbols_is_for_others(const struct symbols *s, raddr_t a, raddr_t *next)
{
	*next = UINT64_MAX;
	for (size_t i = 0; i < s->nuntabled; i++) {
		struct range r = s->untabled[i];

		if (range_has(r, a)) {
			*next = r.end;
			return true;
		}
		if (r.start > a)
			*next = MIN(*next, r.start);
	}
	return false;
}

/* Nothing stands in for sections of data in a file that names none. */
bool symbols_is_data(const struct symbols *s, raddr_t a, struct range *left)
{
	const struct range *all[] = { s->tabled, s->untabled };
	const size_t n[] = { s->ntabled, s->nuntabled };

	for (size_t k = 0; k < ARRAY_SIZE(all); k++)
		for (size_t i = 0; i < n[k]; i++) {
			struct range r = all[k][i];

			if (range_has(r, a))
				return true;
			if (left && r.start > a)
				left->end = MIN(left->end, r.start);
			else if (left)
				left->start = MAX(left->start, r.end);
		}
	return false;
}
