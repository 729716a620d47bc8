/* SPDX-License-Identifier: MIT */
#include "symbols/unwind/unwind.h"

#include <string.h>

enum {
	INDEX_HEAD = 16,	/* bytes of the loader's index that say where the
				 * entries are */
	LETTERS_MAX = 8,	/* of an augmentation; real ones have four */
	PADDING = 256,		/* zeros behind the section */
	DEBUG_MOST = 256 << 20,	/* bytes of .debug_frame */
};

/* What .eh_frame or .debug_frame is read from. */
struct reader {
	const struct image *im;
	struct unwind *u;
	bool debug;		/* the latter */
	uint8_t *bytes;		/* the copy */
	size_t size;
	raddr_t addr;
};

/* From `p`, which lies in the copy, to `end`. */
static struct cursor cursor_at(const struct reader *r, const uint8_t *p,
			       const uint8_t *end)
{
	return (struct cursor){
		.p = p, .end = end, .addr = r->addr + (p - r->bytes),
	};
}

/* ---- CIEs ---------------------------------------------------------------- */

static bool is_fixed_pointer(uint8_t encoding)
{
	return !(encoding & ~(0x0f | DW_EH_PE_pcrel)) &&
	       (encoding & 0x07) != DW_EH_PE_uleb128;
}

/* The augmentation letters that follow 'z' say what its data are. Relics
 * without 'z' are not read. */
static bool read_augmentation(const char *letters, struct cursor data,
			      struct cie *cie)
{
	uint8_t encoding;

	if (!*letters)
		return true;
	if (*letters != 'z')
		return false;
	cie->has_augmentation = true;
	while (*++letters) {
		switch (*letters) {
		case 'L':
			cie->lsda_encoding = cursor_uint(&data, 1);
			break;
		case 'P':
			encoding = cursor_uint(&data, 1);
			if (!is_fixed_pointer(encoding & ~DW_EH_PE_indirect))
				return false;
			cursor_pointer(&data, encoding & 0x0f);
			break;
		case 'R':
			cie->encoding = cursor_uint(&data, 1);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':	/* return addresses signed with key B */
		case 'G':	/* memory tagging */
			break;
		default:
			return false;
		}
	}
	return !data.bad;
}

/* 0, -ENOMEM, or -EBADMSG for one that is to be left out. */
static int read_cie(struct reader *r, Dwarf_Off at, const Dwarf_CIE *entry)
{
	struct cie cie = {
		.at = at, .encoding = DW_EH_PE_absptr,
		.lsda_encoding = DW_EH_PE_omit,
		.code_factor = entry->code_alignment_factor,
		.data_factor = entry->data_alignment_factor,
	}, *slot;
	struct cursor data = cursor_at(r, entry->augmentation_data,
				       entry->initial_instructions);
	struct cursor program = cursor_at(r, entry->initial_instructions,
					  entry->initial_instructions_end);

	if (!read_augmentation(entry->augmentation, data, &cie) ||
	    !is_fixed_pointer(cie.encoding) ||
	    !cfa_is_sane(program, cie.encoding))
		return -EBADMSG;
	cfa_begin(&cie, program);
	cie.program = program.p;
	cie.size = (uint32_t)cursor_left(&program);
	slot = vec_push(r->u->cies, r->u->ncies, r->u->cies_cap);
	if (!slot)
		return -ENOMEM;
	*slot = cie;
	return 0;
}

static int compare_cies(const void *a, const void *b)
{
	const struct cie *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static const struct cie *find_cie(const struct unwind *u, Dwarf_Off at)
{
	struct cie key = { .at = at };

	return u->ncies ? bsearch(&key, u->cies, u->ncies, sizeof(key),
				  compare_cies) : NULL;
}

/* ---- FDEs ---------------------------------------------------------------- */

/* As read_cie. One whose program alone is bad still tells where code is. */
static int read_fde(struct reader *r, const Dwarf_FDE *entry)
{
	const struct cie *cie = find_cie(r->u, entry->CIE_pointer);
	struct cursor c = cursor_at(r, entry->start, entry->end), data;
	struct fde fde = { 0 }, *slot;
	size_t room;

	if (!cie)
		return -EBADMSG;
	fde.range.start = cursor_pointer(&c, cie->encoding);
	/* The length has the same format, and is relative to nothing. */
	uint64_t size = cursor_pointer(&c, cie->encoding & 0x0f);

	if (c.bad || !size || fde.range.start + size <= fde.range.start ||
	    !image_is_text(r->im, fde.range.start))
		return -EBADMSG;
	image_text(r->im, fde.range.start, &room);
	fde.range.end = fde.range.start + MIN(size, room);
	if (cie->has_augmentation) {
		data = cursor_take(&c, cursor_uleb(&c));
		fde.lsda = cursor_pointer(&data, cie->lsda_encoding);
		if (data.bad)
			fde.lsda = 0;
	}
	if (c.bad)
		return -EBADMSG;
	slot = vec_push(r->u->fdes, r->u->nfdes, r->u->fdes_cap);
	if (!slot)
		return -ENOMEM;
	fde.cie = (uint32_t)(cie - r->u->cies);
	fde.size = (uint32_t)cursor_left(&c);
	if (fde.size == cursor_left(&c) && cfa_is_sane(c, cie->encoding))
		fde.program = c.p;
	*slot = fde;
	return 0;
}

/* ---- the section --------------------------------------------------------- */

/* For each letter of a CIE's augmentation, libdw 0.188 may read a byte past the
 * entry, and a hostile augmentation could be as long as the section. */
static bool has_long_augmentation(const struct reader *r, Dwarf_Off at)
{
	struct cursor c = cursor_at(r, r->bytes + at, r->bytes + r->size);
	bool is_long = cursor_uint(&c, 4) == UINT32_MAX;
	uint64_t of_cie = !r->debug ? 0 : is_long ? UINT64_MAX : UINT32_MAX;

	cursor_skip(&c, is_long ? 8 : 0);
	if (cursor_uint(&c, is_long ? 8 : 4) != of_cie)
		return false;		/* an FDE */
	cursor_skip(&c, 1);		/* version */
	return strnlen((const char *)c.p, cursor_left(&c)) > LETTERS_MAX;
}

static int read_entry(struct reader *r, Dwarf_Off at, Dwarf_Off *next)
{
	Elf_Data data = { .d_buf = r->bytes, .d_size = r->size };
	Dwarf_CFI_Entry entry;
	int err;

	*next = at;
	if (has_long_augmentation(r, at))
		return -EBADMSG;
	err = dwarf_next_cfi(r->im->header.e_ident, &data, !r->debug, at, next,
			     &entry);
	if (err > 0)
		*next = -1;
	if (err)
		return *next == at ? -EBADMSG : 0;
	err = dwarf_cfi_cie_p(&entry) ? read_cie(r, at, &entry.cie) :
					read_fde(r, &entry.fde);
	return err == -EBADMSG ? 0 : err;
}

/* Up to the terminator, or to what cannot be passed over. */
static int read_entries(struct reader *r)
{
	Dwarf_Off at = 0, next;
	int err = 0;

	for (; !err && at < r->size; at = next)
		err = read_entry(r, at, &next);
	return err == -EBADMSG ? 0 : err;
}

/* Without section headers the loader's index says where the entries start;
 * they end at a terminator, or at the latest with the segment. */
static void find_by_index(const struct image *im, struct cursor *ret)
{
	const GElf_Phdr *ph = image_segment(im, PT_GNU_EH_FRAME);
	struct cursor c;
	size_t n;

	if (!ph)
		return;
	c = (struct cursor){ .p = image_at(im, ph->p_vaddr, INDEX_HEAD, &n),
			     .addr = ph->p_vaddr };
	if (!c.p)
		return;
	c.end = c.p + n;
	cursor_uint(&c, 1);	/* version */
	uint8_t encoding = cursor_uint(&c, 1);

	cursor_skip(&c, 2);	/* encodings of the index itself */
	ret->addr = cursor_pointer(&c, encoding);
	ret->p = c.bad ? NULL : image_at(im, ret->addr, UINT64_MAX, &n);
	if (ret->p)
		ret->end = ret->p + n;
}

static void find_entries(const struct image *im, struct cursor *ret)
{
	const GElf_Shdr *sh = image_section(im, ".eh_frame");

	*ret = (struct cursor){ 0 };
	if (sh && sh->sh_type != SHT_NOBITS)
		ret->p = image_bytes(im, sh->sh_addr, sh->sh_size);
	if (!ret->p) {
		find_by_index(im, ret);
		return;
	}
	ret->end = ret->p + sh->sh_size;
	ret->addr = sh->sh_addr;
}

/* Of those with the same start the longest stays. */
static void sort_fdes(struct unwind *u)
{
	size_t kept = 0;

	base_sort(u->fdes, u->nfdes, sizeof(*u->fdes));
	for (size_t i = 0; i < u->nfdes; i++) {
		const struct fde *fde = &u->fdes[i];

		if (!kept || u->fdes[kept - 1].range.start != fde->range.start)
			u->fdes[kept++] = *fde;
		else if (u->fdes[kept - 1].range.end < fde->range.end)
			u->fdes[kept - 1] = *fde;
	}
	u->nfdes = kept;
}

static int read_section(const struct image *im, struct cursor section, bool debug,
			struct unwind *ret)
{
	static uint64_t ids;
	struct reader r = { .im = im, .u = ret, .debug = debug };

	*ret = (struct unwind){ .machine = im->header.e_machine,
				.id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED) };
	if (!section.p)
		return 0;
	r.size = cursor_left(&section);
	r.addr = ret->addr = section.addr;
	r.bytes = ret->copy = calloc(1, r.size + PADDING);
	if (r.bytes)
		memcpy(r.bytes, section.p, r.size);
	int err = r.bytes ? read_entries(&r) : -ENOMEM;

	if (err)
		unwind_clear(ret);
	else
		sort_fdes(ret);
	return err;
}

int unwind_read(const struct image *im, struct unwind *ret)
{
	struct cursor section;

	find_entries(im, &section);
	return read_section(im, section, false, ret);
}

/* What a section claims to unpack to is what libelf allocates. */
static bool unpack(const struct image *im, const GElf_Shdr *sh)
{
	Elf_Scn *scn = elf_getscn(im->elf, (size_t)(sh - im->sections));
	GElf_Chdr packed;

	if (!(sh->sh_flags & SHF_COMPRESSED))
		return true;
	return gelf_getchdr(scn, &packed) && packed.ch_size <= DEBUG_MOST &&
		elf_compress(scn, 0, 0) >= 0;
}

int unwind_read_debug(const struct image *im, const struct image *from, struct unwind *ret)
{
	const GElf_Shdr *sh = image_section(from, ".debug_frame");
	bool is_there = sh && sh->sh_type != SHT_NOBITS && sh->sh_size <= DEBUG_MOST &&
		unpack(from, sh);
	const Elf_Data *data = is_there ? image_section_data(from, sh) : NULL;
	struct cursor section = { 0 };

	if (data)
		section = (struct cursor){ .p = data->d_buf,
					   .end = (const uint8_t *)data->d_buf + data->d_size };
	return read_section(im, section, true, ret);
}

void unwind_clear(struct unwind *u)
{
	free(u->copy);
	free(u->cies);
	free(u->fdes);
	*u = (struct unwind){ 0 };
}

/* ---- lookups ------------------------------------------------------------- */

/* How many entries start at or before `pc`. */
static size_t count_until(const struct unwind *u, raddr_t pc)
{
	return vec_prefix(u->nfdes, i, u->fdes[i].range.start <= pc);
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

