/* SPDX-License-Identifier: MIT */
#include "symbols/image.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
	PIECE_MAX = 1u << 31,	/* no real file has a larger table or text */
};

/* ---- bytes of the file --------------------------------------------------- */

static int read_at(const struct image *im, uint64_t offset, void *buf, size_t n)
{
	uint8_t *p = buf;

	if (offset > im->size || n > im->size - offset)
		return -EBADMSG;
	if (im->fd < 0) {
		memcpy(p, im->memory + offset, n);
		return 0;
	}
	while (n) {
		ssize_t got = pread(im->fd, p, n, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EBADMSG;
		p += got, n -= got, offset += got;
	}
	return 0;
}

int image_piece(const struct image *im, uint64_t offset, uint64_t size,
		void *ret)
{
	uint8_t *p;
	int err;

	if (offset > im->size || size > im->size - offset || size > PIECE_MAX)
		return -EBADMSG;
	p = malloc(size + 1);
	if (!p)
		return -ENOMEM;
	err = read_at(im, offset, p, size);
	if (err) {
		free(p);
		return err;
	}
	p[size] = 0;
	*(uint8_t **)ret = p;
	return 0;
}

/* ---- headers ------------------------------------------------------------- */

static int check_header(const struct image *im, const char *path)
{
	const Elf64_Ehdr *eh = &im->header;

	if (memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return fail(ENOEXEC, "read %s: not an ELF file", path);
	if (eh->e_ident[EI_CLASS] == ELFCLASS32)
		return fail(ENOEXEC, "read %s: 32-bit code", path);
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_ident[EI_DATA] != ELFDATA2LSB)
		return fail(ENOEXEC, "read %s: not little-endian 64-bit code",
			    path);
	return 0;
}

static int read_segments(struct image *im, const char *path)
{
	const Elf64_Ehdr *eh = &im->header;
	int err;

	if (!eh->e_phnum)
		return 0;
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phnum == PN_XNUM)
		return fail(EBADMSG, "read %s: its program headers", path);
	err = image_piece(im, eh->e_phoff, eh->e_phnum * sizeof(Elf64_Phdr),
			  &im->segments);
	if (err)
		return fail(-err, "read %s: its program headers", path);
	im->nsegments = eh->e_phnum;
	return 0;
}

/* A file runs without section headers, so a broken table is as good as none. */
static void read_sections(struct image *im)
{
	const Elf64_Ehdr *eh = &im->header;
	uint64_t count = eh->e_shnum;
	uint32_t names = eh->e_shstrndx;
	Elf64_Shdr first;

	if (!eh->e_shoff || eh->e_shentsize != sizeof(Elf64_Shdr) ||
	    read_at(im, eh->e_shoff, &first, sizeof(first)))
		return;
	if (!count)		/* more than 65,279 of them */
		count = first.sh_size;
	if (names == SHN_XINDEX)
		names = first.sh_link;
	if (!count || count > im->size / sizeof(Elf64_Shdr) ||
	    image_piece(im, eh->e_shoff, count * sizeof(Elf64_Shdr),
			&im->sections))
		return;
	im->nsections = count;
	if (names < count && im->sections[names].sh_type == SHT_STRTAB &&
	    !image_piece(im, im->sections[names].sh_offset,
			 im->sections[names].sh_size, &im->section_names))
		im->section_names_size = im->sections[names].sh_size;
}

static int open_headers(struct image *im, const char *path)
{
	int err = read_at(im, 0, im->header.e_ident, EI_NIDENT);

	if (err)
		return fail(ENOEXEC, "read %s: not an ELF file", path);
	err = check_header(im, path);
	if (err)
		return err;
	err = read_at(im, 0, &im->header, sizeof(im->header));
	if (err)
		return fail(-err, "read %s: its header", path);
	err = read_segments(im, path);
	if (err)
		return err;
	read_sections(im);
	return 0;
}

int image_open(int fd, const char *path, struct image *ret)
{
	struct stat st;

	*ret = (struct image){ .fd = fd };
	if (fstat(fd, &st))
		return fail(errno, "read %s", path);
	if (!S_ISREG(st.st_mode))
		return fail(ENOEXEC, "read %s: not a regular file", path);
	ret->size = st.st_size;
	int err = open_headers(ret, path);
	if (err)
		image_close(ret);
	return err;
}

int image_open_memory(const uint8_t *bytes, size_t size, const char *path,
		      struct image *ret)
{
	*ret = (struct image){ .fd = -1, .memory = bytes, .size = size };
	int err = open_headers(ret, path);
	if (err)
		image_close(ret);
	return err;
}

void image_detach(struct image *im)
{
	im->fd = -1;
	im->memory = NULL;
	im->size = 0;
}

void image_close(struct image *im)
{
	free(im->segments);
	free(im->sections);
	free(im->section_names);
	free(im->loads);
	free(im->bytes);
	*im = (struct image){ .fd = -1 };
}

/* ---- loads --------------------------------------------------------------- */

static int compare_loads(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	if (x->range.start != y->range.start)
		return x->range.start < y->range.start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* What the file really holds of a PT_LOAD; an empty range if nothing. */
static struct load load_of(const struct image *im, const Elf64_Phdr *ph)
{
	struct load l = { .offset = ph->p_offset, .flags = ph->p_flags };
	uint64_t n = 0;

	if (ph->p_type == PT_LOAD && ph->p_offset < im->size)
		n = MIN(ph->p_filesz, im->size - ph->p_offset);
	l.range.start = ph->p_vaddr;
	l.range.end = ph->p_vaddr + MIN(n, UINT64_MAX - ph->p_vaddr);
	return l;
}

/* Sorted by address; of two that overlap, the later gives way. */
static void sort_loads(struct image *im)
{
	raddr_t end = 0;
	size_t kept = 0;

	qsort(im->loads, im->nloads, sizeof(*im->loads), compare_loads);
	for (size_t i = 0; i < im->nloads; i++) {
		struct load l = im->loads[i];

		if (l.range.end <= end)
			continue;
		if (l.range.start < end) {
			l.offset += end - l.range.start;
			l.range.start = end;
		}
		end = l.range.end;
		im->loads[kept++] = l;
	}
	im->nloads = kept;
}

int image_load(struct image *im, const char *path)
{
	uint64_t end = 0;
	int err;

	im->loads = calloc(im->nsegments + 1, sizeof(*im->loads));
	if (!im->loads)
		return fail(ENOMEM, "read %s", path);
	for (size_t i = 0; i < im->nsegments; i++) {
		struct load l = load_of(im, &im->segments[i]);

		if (l.range.start == l.range.end)
			continue;
		im->loads[im->nloads++] = l;
		end = MAX(end, l.offset + range_size(l.range));
	}
	sort_loads(im);
	err = image_piece(im, 0, end, &im->bytes);
	return err ? fail(-err, "read %s: its segments", path) : 0;
}

static const struct load *load_at(const struct image *im, raddr_t addr)
{
	size_t lo = 0, hi = im->nloads;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct load *l = &im->loads[mid];

		if (range_has(l->range, addr))
			return l;
		if (addr < l->range.start)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

const uint8_t *image_at(const struct image *im, raddr_t addr, size_t *n)
{
	const struct load *l = load_at(im, addr);

	if (!l)
		return NULL;
	*n = l->range.end - addr;
	return im->bytes + l->offset + (addr - l->range.start);
}

const uint8_t *image_bytes(const struct image *im, raddr_t addr, uint64_t n)
{
	size_t have;
	const uint8_t *p = image_at(im, addr, &have);

	return p && n <= have ? p : NULL;
}

uint64_t image_held(const struct image *im)
{
	uint64_t held = 0;

	for (size_t i = 0; i < im->nloads; i++)
		held += range_size(im->loads[i].range);
	return held;
}

bool image_is_text(const struct image *im, raddr_t addr)
{
	const struct load *l = load_at(im, addr);

	return l && l->flags & PF_X;
}

/* ---- lookups ------------------------------------------------------------- */

const char *image_section_name(const struct image *im, const Elf64_Shdr *sh)
{
	if (sh->sh_name >= im->section_names_size)
		return "";
	return im->section_names + sh->sh_name;
}

const Elf64_Shdr *image_section(const struct image *im, const char *name)
{
	for (size_t i = 1; i < im->nsections; i++)
		if (!strcmp(image_section_name(im, &im->sections[i]), name))
			return &im->sections[i];
	return NULL;
}

const Elf64_Shdr *image_section_by_type(const struct image *im, uint32_t type)
{
	for (size_t i = 1; i < im->nsections; i++)
		if (im->sections[i].sh_type == type)
			return &im->sections[i];
	return NULL;
}

const Elf64_Shdr *image_section_at(const struct image *im, raddr_t addr)
{
	for (size_t i = 1; i < im->nsections; i++) {
		const Elf64_Shdr *sh = &im->sections[i];

		if (sh->sh_flags & SHF_ALLOC && !(sh->sh_flags & SHF_TLS) &&
		    addr >= sh->sh_addr && addr - sh->sh_addr < sh->sh_size)
			return sh;
	}
	return NULL;
}

const Elf64_Phdr *image_segment(const struct image *im, uint32_t type)
{
	for (size_t i = 0; i < im->nsegments; i++)
		if (im->segments[i].p_type == type)
			return &im->segments[i];
	return NULL;
}

static size_t note_build_id(const uint8_t *p, size_t n, size_t align,
			    uint8_t ret[20])
{
	Elf64_Nhdr note;

	while (n >= sizeof(note)) {
		memcpy(&note, p, sizeof(note));
		p += sizeof(note), n -= sizeof(note);

		uint64_t name = ALIGN_UP((uint64_t)note.n_namesz, align);
		uint64_t desc = ALIGN_UP((uint64_t)note.n_descsz, align);

		if (name > n || note.n_descsz > n - name)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(p, "GNU", 4)) {
			size_t len = MIN(note.n_descsz, 20u);

			memcpy(ret, p + name, len);
			return len;
		}
		if (desc > n - name)
			return 0;
		p += name + desc, n -= name + desc;
	}
	return 0;
}

static size_t piece_build_id(const struct image *im, uint64_t offset,
			     uint64_t size, uint64_t align, uint8_t ret[20])
{
	auto_free uint8_t *p = NULL;

	if (image_piece(im, offset, size, &p))
		return 0;
	return note_build_id(p, size, align == 8 ? 8 : 4, ret);
}

/* Debug files keep the note in a section, while their segments are empty. */
size_t image_build_id(const struct image *im, uint8_t ret[20])
{
	const Elf64_Shdr *sh = image_section(im, ".note.gnu.build-id");
	size_t n = 0;

	if (sh && sh->sh_type == SHT_NOTE)
		n = piece_build_id(im, sh->sh_offset, sh->sh_size,
				   sh->sh_addralign, ret);
	for (size_t i = 0; i < im->nsegments && !n; i++) {
		const Elf64_Phdr *ph = &im->segments[i];

		if (ph->p_type == PT_NOTE)
			n = piece_build_id(im, ph->p_offset, ph->p_filesz,
					   ph->p_align, ret);
	}
	return n;
}
