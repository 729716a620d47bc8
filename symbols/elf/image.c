/* SPDX-License-Identifier: MIT */
#include "symbols/elf/image.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
	PIECE_MAX = 1u << 31,	/* no real file has a larger table or text */
	NOTES_MAX = 1 << 20,	/* a build id takes 36 bytes */
};

/* ---- headers ------------------------------------------------------------- */

static int check_kind(Elf *elf, const char *path)
{
	if (elf_kind(elf) != ELF_K_ELF)
		return fail(0, "read %s: not an ELF file", path), -ENOEXEC;
	if (gelf_getclass(elf) == ELFCLASS32)
		return fail(0, "read %s: 32-bit code", path), -ENOEXEC;
	if (elf_getident(elf, NULL)[EI_DATA] != ELFDATA2LSB)
		return fail(0, "read %s: not little-endian 64-bit code", path), -ENOEXEC;
	return 0;
}

/* More sections than fit in the header are counted elsewhere, and libelf at
 * once allocates for all: up to 2^32, if the file is sparse. No program has
 * that many. */
static bool counts_elsewhere(int fd)
{
	Elf64_Ehdr eh;

	return pread(fd, &eh, sizeof(eh), 0) == sizeof(eh) &&
	       eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_shoff && !eh.e_shnum;
}

static int read_segments(struct image *im, const char *path)
{
	const GElf_Ehdr *eh = &im->header;

	if (!eh->e_phnum)
		return 0;
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phnum == PN_XNUM)
		return fail(EBADMSG, "read %s: its program headers", path);
	im->segments = calloc(eh->e_phnum, sizeof(*im->segments));
	if (!im->segments)
		return fail(ENOMEM, "read %s", path);
	for (; im->nsegments < eh->e_phnum; im->nsegments++)
		if (!gelf_getphdr(im->elf, im->nsegments,
				  &im->segments[im->nsegments]))
			return fail(EBADMSG, "read %s: its program headers",
				    path);
	return 0;
}

static bool is_in_file(const struct image *im, uint64_t at, uint64_t size)
{
	return at <= im->size && size <= im->size - at;
}

/*
 * The string table of the section names. libelf would unpack a compressed one
 * by itself, and a small file can hold a very large one; there is no honest
 * reason for it.
 */
static int read_section_names(struct image *im, const char *path)
{
	const GElf_Shdr *sh;
	size_t index, n = im->nsections;

	im->nsections = 0;
	if (elf_getshdrstrndx(im->elf, &index) || index >= n)
		return 0;
	sh = &im->sections[index];
	if (sh->sh_flags & SHF_COMPRESSED || sh->sh_type != SHT_STRTAB)
		return 0;
	im->section_names = image_section_data(im, sh);
	if (im->section_names)
		im->nsections = n;
	else if (sh->sh_size && sh->sh_size <= PIECE_MAX &&
		 is_in_file(im, sh->sh_offset, sh->sh_size))
		return fail(EIO, "read %s: the names of its sections", path);
	return 0;
}

/* A file runs without section headers, so a broken table is as good as none. But one
 * that is there and cannot be read would hide functions, and places that are led to. */
static int read_sections(struct image *im, const char *path)
{
	size_t n;

	if (elf_getshdrnum(im->elf, &n) || !n ||
	    im->header.e_shentsize != sizeof(Elf64_Shdr) ||
	    !is_in_file(im, im->header.e_shoff, n * sizeof(Elf64_Shdr)))
		return 0;
	im->sections = calloc(n, sizeof(*im->sections));
	if (!im->sections)
		return fail(ENOMEM, "read %s", path);
	for (; im->nsections < n; im->nsections++)
		if (!gelf_getshdr(elf_getscn(im->elf, im->nsections),
				  &im->sections[im->nsections]))
			break;
	if (im->nsections < n)
		return fail(EIO, "read %s: its sections", path);
	return read_section_names(im, path);
}

static int open_headers(struct image *im, const char *path)
{
	int err = check_kind(im->elf, path);

	if (err)
		return err;
	if (!gelf_getehdr(im->elf, &im->header))
		return fail(EBADMSG, "read %s: its header", path);
	err = read_segments(im, path);
	return err ? err : read_sections(im, path);
}

int image_open(int fd, const char *path, struct image *ret)
{
	struct stat st;
	int err;

	*ret = (struct image){ 0 };
	if (fstat(fd, &st))
		return fail(errno, "read %s", path);
	if (!S_ISREG(st.st_mode))
		return fail(0, "read %s: not a regular file", path), -ENOEXEC;
	ret->size = st.st_size;
	elf_version(EV_CURRENT);
	if (!counts_elsewhere(fd))
		ret->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!ret->elf)
		return fail(EBADMSG, "read %s: its headers", path);
	err = open_headers(ret, path);
	if (err)
		image_close(ret);
	return err;
}

void image_detach(struct image *im)
{
	elf_cntl(im->elf, ELF_C_FDDONE);
}

void image_close(struct image *im)
{
	free(im->segments);
	free(im->sections);
	free(im->loads);
	image_unload(im);
	elf_end(im->elf);
	*im = (struct image){ 0 };
}

/* ---- lookups ------------------------------------------------------------- */

const char *image_section_name(const struct image *im, const GElf_Shdr *sh)
{
	const Elf_Data *names = im->section_names;
	const char *p = names->d_buf;

	if (sh->sh_name >= names->d_size ||
	    !memchr(p + sh->sh_name, '\0', names->d_size - sh->sh_name))
		return "";
	return p + sh->sh_name;
}

const GElf_Shdr *image_section(const struct image *im, const char *name)
{
	for (size_t i = 1; i < im->nsections; i++)
		if (!strcmp(image_section_name(im, &im->sections[i]), name))
			return &im->sections[i];
	return NULL;
}

const GElf_Shdr *image_section_by_type(const struct image *im, uint32_t type)
{
	for (size_t i = 1; i < im->nsections; i++)
		if (im->sections[i].sh_type == type)
			return &im->sections[i];
	return NULL;
}

Elf_Data *image_section_data(const struct image *im, const GElf_Shdr *sh)
{
	Elf_Data *data;

	if (sh->sh_size > PIECE_MAX)
		return NULL;
	data = elf_getdata(elf_getscn(im->elf, sh - im->sections), NULL);
	return data && data->d_buf ? data : NULL;
}

/* libelf reads a table by itself, and makes it what its functions expect. */
Elf_Data *image_table(const struct image *im, raddr_t addr, uint64_t size,
		      Elf_Type type)
{
	size_t entry = gelf_fsize(im->elf, type, 1, EV_CURRENT);
	const struct load *l = image_load_at(im, addr);

	if (!l || MIN(size, l->range.end - addr) < entry)
		return NULL;
	size = MIN(size, l->range.end - addr);
	return elf_getdata_rawchunk(im->elf, (int64_t)(l->offset + (addr - l->range.start)),
				    size - size % entry, type);
}

const GElf_Phdr *image_segment(const struct image *im, uint32_t type)
{
	for (size_t i = 0; i < im->nsegments; i++)
		if (im->segments[i].p_type == type)
			return &im->segments[i];
	return NULL;
}

static size_t note_build_id(Elf_Data *notes, uint8_t ret[20])
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr note;

	for (; notes && (next = gelf_getnote(notes, at, &note, &name, &desc)); at = next)
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp((char *)notes->d_buf + name, "GNU", 4)) {
			size_t n = MIN(note.n_descsz, 20u);

			memcpy(ret, (char *)notes->d_buf + desc, n);
			return n;
		}
	return 0;
}

/* Debug files keep the note in a section, while their segments are empty. */
size_t image_build_id(const struct image *im, uint8_t ret[20])
{
	const GElf_Shdr *sh = image_section(im, ".note.gnu.build-id");
	size_t left = NOTES_MAX, n = 0;

	if (sh && sh->sh_type == SHT_NOTE && sh->sh_size <= NOTES_MAX)
		n = note_build_id(image_section_data(im, sh), ret);
	for (size_t i = 0; i < im->nsegments && !n; i++) {
		const GElf_Phdr *ph = &im->segments[i];

		if (ph->p_type != PT_NOTE || ph->p_filesz > left)
			continue;
		left -= ph->p_filesz;
		n = note_build_id(elf_getdata_rawchunk(
			im->elf, ph->p_offset, ph->p_filesz,
			ph->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR), ret);
	}
	return n;
}
