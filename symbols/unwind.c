/* SPDX-License-Identifier: MIT */
#include "symbols/unwind.h"

#include <string.h>

/* ---- CIEs ---------------------------------------------------------------- */

/* The augmentation letters that follow 'z' say what its data are. */
static bool read_augmentation(struct cursor *c, const char *letters,
			      const struct unwind *u, struct cie *cie)
{
	struct cursor data;

	if (*letters != 'z')
		return !*letters;	/* "eh" and other relics: not read */
	cie->has_augmentation = true;
	data = cursor_take(c, cursor_uleb(c));
	while (*++letters) {
		switch (*letters) {
		case 'L':
			cie->lsda_encoding = cursor_uint(&data, 1);
			break;
		case 'P': {
			uint8_t encoding = cursor_uint(&data, 1);

			cursor_pointer(&data, encoding, &u->bases);
			break;
		}
		case 'R':
			cie->encoding = cursor_uint(&data, 1);
			break;
		case 'S':	/* signal frame */
		case 'B':	/* return addresses signed with key B */
		case 'G':	/* memory tagging */
			break;
		default:	/* its data cannot be skipped, only left */
			return !data.bad;
		}
	}
	return !data.bad;
}

static int read_cie(struct unwind *u, uint64_t at, struct cursor c)
{
	struct cie *cie = vec_push(u->cies, u->ncies, u->cies_cap);
	const char *letters;

	if (!cie)
		return -ENOMEM;
	cie->at = at;
	cie->encoding = PE_ABS;
	cie->lsda_encoding = PE_OMIT;

	uint64_t version = cursor_uint(&c, 1);

	letters = (const char *)c.p;
	cursor_skip(&c, strnlen(letters, cursor_left(&c)) + 1);
	if (c.bad || (version != 1 && version != 3 && version != 4))
		return 0;
	if (version == 4)
		cursor_skip(&c, 2);	/* sizes of addresses and segments */
	cie->code_align = cursor_uleb(&c);
	cie->data_align = cursor_sleb(&c);
	if (version == 1)
		cursor_uint(&c, 1);	/* the return address's register */
	else
		cursor_uleb(&c);
	if (!read_augmentation(&c, letters, u, cie) || c.bad)
		return 0;
	cie->program = c;
	cie->usable = !cfa_run(u, cie, c, 0, UINT64_MAX, &cie->initial);
	return 0;
}

static const struct cie *find_cie(const struct unwind *u, uint64_t at)
{
	size_t lo = 0, hi = u->ncies;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->cies[mid].at == at)
			return &u->cies[mid];
		if (at < u->cies[mid].at)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

/* ---- FDEs ---------------------------------------------------------------- */

static raddr_t lsda_address(const struct image *im, const struct unwind *u,
			    const struct cie *cie, struct cursor data,
			    raddr_t func)
{
	struct pointer_bases bases = u->bases;
	const uint8_t *p;
	raddr_t addr;

	bases.func = func;
	addr = cursor_pointer(&data, cie->lsda_encoding, &bases);
	if (data.bad || !addr)
		return 0;
	if (!(cie->lsda_encoding & PE_INDIRECT))
		return addr;
	p = image_bytes(im, addr, 8);
	if (!p)
		return 0;
	memcpy(&addr, p, 8);
	return addr;
}

static int read_fde(const struct image *im, struct unwind *u, uint64_t cie_at,
		    struct cursor c)
{
	const struct cie *cie = find_cie(u, cie_at);
	struct fde fde = { 0 };
	struct cfa cfa;

	if (!cie || !cie->usable)
		return 0;
	fde.cie = cie - u->cies;
	fde.range.start = cursor_pointer(&c, cie->encoding, &u->bases);
	/* The length has the same format, and is relative to nothing. */
	uint64_t size = cursor_pointer(&c, cie->encoding & 0x0f, &u->bases);

	if (c.bad || !size || !image_is_text(im, fde.range.start))
		return 0;
	size_t room;

	image_at(im, fde.range.start, &room);
	fde.range.end = fde.range.start + MIN(size, room);
	if (cie->has_augmentation) {
		struct cursor data = cursor_take(&c, cursor_uleb(&c));

		fde.lsda = lsda_address(im, u, cie, data, fde.range.start);
	}
	if (c.bad)
		return 0;
	fde.program = c;
	if (!unwind_cfa(u, &fde, fde.range.start, &cfa) &&
	    !cfa.is_expression && cfa.reg == cie->initial.reg &&
	    cfa.offset == cie->initial.offset)
		fde.flags |= FDE_ENTERED;

	struct fde *slot = vec_push(u->fdes, u->nfdes, u->fdes_cap);

	if (!slot)
		return -ENOMEM;
	*slot = fde;
	return 0;
}

/* ---- the section --------------------------------------------------------- */

static int read_entries(const struct image *im, struct unwind *u,
			struct cursor c)
{
	const raddr_t base = c.addr;
	int err = 0;

	while (!err && cursor_left(&c) >= 4) {
		uint64_t at = c.addr - base;
		uint64_t size = cursor_uint(&c, 4);

		if (!size)	/* a terminator; a linker may leave several */
			continue;
		if (size == UINT32_MAX)
			size = cursor_uint(&c, 8);
		struct cursor entry = cursor_take(&c, size);
		uint64_t id_at = entry.addr - base;
		uint64_t id = cursor_uint(&entry, 4);

		if (entry.bad)
			break;
		/* An FDE has the distance back to its CIE here. */
		err = id ? read_fde(im, u, id_at - id, entry)
			 : read_cie(u, at, entry);
	}
	return err;
}

/* Without section headers the loader's index says where the entries start;
 * they end at a terminator, or at the latest with the segment. */
static bool find_by_index(const struct image *im, struct cursor *ret)
{
	const Elf64_Phdr *ph = image_segment(im, PT_GNU_EH_FRAME);
	struct pointer_bases none = { 0 };
	struct cursor c;
	size_t n;

	if (!ph)
		return false;
	c = (struct cursor){ .p = image_at(im, ph->p_vaddr, &n),
			     .addr = ph->p_vaddr };
	if (!c.p)
		return false;
	c.end = c.p + n;
	cursor_uint(&c, 1);	/* version */
	uint8_t encoding = cursor_uint(&c, 1);

	cursor_skip(&c, 2);	/* encodings of the index itself */
	raddr_t start = cursor_pointer(&c, encoding, &none);

	ret->p = c.bad ? NULL : image_at(im, start, &n);
	if (!ret->p)
		return false;
	ret->addr = start;
	ret->end = ret->p + n;
	for (const uint8_t *p = ret->p; ret->end - p >= 4;) {
		uint32_t size;

		memcpy(&size, p, 4);
		if (!size) {
			ret->end = p;
			break;
		}
		if (size > ret->end - p - 4)
			break;
		p += 4 + size;
	}
	return true;
}

static bool find_entries(const struct image *im, struct cursor *ret)
{
	const Elf64_Shdr *sh = image_section(im, ".eh_frame");

	*ret = (struct cursor){ 0 };
	if (!sh || sh->sh_type == SHT_NOBITS)
		return find_by_index(im, ret);
	ret->p = image_bytes(im, sh->sh_addr, sh->sh_size);
	if (!ret->p)
		return find_by_index(im, ret);
	ret->end = ret->p + sh->sh_size;
	ret->addr = sh->sh_addr;
	return true;
}

static int compare_fdes(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->range.start != y->range.start)
		return x->range.start < y->range.start ? -1 : 1;
	return x->program.p < y->program.p ? -1 : x->program.p > y->program.p;
}

static void sort_fdes(struct unwind *u)
{
	size_t kept = 0;

	if (u->nfdes)
		qsort(u->fdes, u->nfdes, sizeof(*u->fdes), compare_fdes);
	for (size_t i = 0; i < u->nfdes; i++)
		if (!kept || u->fdes[kept - 1].range.start !=
			     u->fdes[i].range.start)
			u->fdes[kept++] = u->fdes[i];
	u->nfdes = kept;
}

int unwind_read(const struct image *im, struct unwind *ret)
{
	const Elf64_Shdr *text = image_section(im, ".text");
	const Elf64_Shdr *got = image_section(im, ".got");
	struct cursor entries;
	int err;

	*ret = (struct unwind){
		.bases = { .text = text ? text->sh_addr : 0,
			   .data = got ? got->sh_addr : 0 },
	};
	if (!find_entries(im, &entries))
		return 0;
	err = read_entries(im, ret, entries);
	if (err)
		unwind_clear(ret);
	else
		sort_fdes(ret);
	return err;
}

void unwind_clear(struct unwind *u)
{
	free(u->cies);
	free(u->fdes);
	*u = (struct unwind){ 0 };
}

/* ---- lookups ------------------------------------------------------------- */

/* How many entries start at or before `pc`. */
static size_t count_until(const struct unwind *u, raddr_t pc)
{
	size_t lo = 0, hi = u->nfdes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->fdes[mid].range.start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct fde *unwind_find(const struct unwind *u, raddr_t pc)
{
	size_t n = count_until(u, pc);

	if (!n || !range_has(u->fdes[n - 1].range, pc))
		return NULL;
	return &u->fdes[n - 1];
}

const struct fde *unwind_next(const struct unwind *u, raddr_t pc)
{
	size_t n = pc ? count_until(u, pc - 1) : 0;

	return n < u->nfdes ? &u->fdes[n] : NULL;
}

int unwind_cfa(const struct unwind *u, const struct fde *fde, raddr_t pc,
	       struct cfa *ret)
{
	const struct cie *cie = &u->cies[fde->cie];

	*ret = cie->initial;
	return cfa_run(u, cie, fde->program, fde->range.start, pc, ret);
}
