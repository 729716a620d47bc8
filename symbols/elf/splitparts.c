/* SPDX-License-Identifier: MIT */
#include "symbols/elf/splitparts.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
	PIECE = 256,		/* bytes of a string that are read at a time */
	STRING_MAX = 1 << 16,
	HEAD = 8,		/* of a list of strings in DWARF 5 (7.26) */
};

static const char *const names[SPLIT_KINDS] = {
	[SPLIT_INFO] = ".debug_info.dwo", [SPLIT_TYPES] = ".debug_types.dwo",
	[SPLIT_ABBREV] = ".debug_abbrev.dwo", [SPLIT_LOC] = ".debug_loc.dwo",
	[SPLIT_LOCLISTS] = ".debug_loclists.dwo", [SPLIT_RNGLISTS] = ".debug_rnglists.dwo",
	[SPLIT_OFFSETS] = ".debug_str_offsets.dwo", [SPLIT_STR] = ".debug_str.dwo",
};

const char *split_section(enum split_kind kind)
{
	return names[kind];
}

/* ---- read ---------------------------------------------------------------- */

/* Room for more bytes of a section. */
static int make_room(struct split_parts *p, enum split_kind kind, uint64_t n, uint8_t **ret)
{
	if (n > p->left)
		return -EFBIG;
	uint8_t *bytes = realloc(p->v[kind].bytes, p->v[kind].n + n + 1);

	if (!bytes)
		return -ENOMEM;
	p->v[kind].bytes = bytes;
	*ret = bytes + p->v[kind].n;
	return 0;
}

/* What is compressed libelf unpacks as a whole. */
static int unpacked(const struct image *im, const GElf_Shdr *sh, uint64_t most,
		    const Elf_Data **ret)
{
	Elf_Scn *scn = elf_getscn(im->elf, (size_t)(sh - im->sections));
	GElf_Chdr packed;

	if (!scn || !gelf_getchdr(scn, &packed))
		*ret = elf_rawdata(scn, NULL);	/* it was unpacked before */
	else if (packed.ch_size > most)
		return -EFBIG;
	else
		*ret = elf_compress(scn, 0, 0) < 0 ? NULL : elf_rawdata(scn, NULL);
	return *ret && (*ret)->d_buf ? 0 : -ENOENT;
}

/* Bytes of a section, as many as there are: their number, or -errno. */
static int64_t read_at(const struct split_source *from, const GElf_Shdr *sh, uint64_t at,
		       uint8_t *to, uint64_t n, uint64_t most)
{
	const Elf_Data *data;

	if (sh->sh_flags & SHF_COMPRESSED) {
		int err = unpacked(from->image, sh, most, &data);

		if (err)
			return err;
		n = at < data->d_size ? MIN(n, data->d_size - at) : 0;
		memcpy(to, (const uint8_t *)data->d_buf + at, n);
		return (int64_t)n;
	}
	n = at < sh->sh_size ? MIN(n, sh->sh_size - at) : 0;
	if (sh->sh_offset > INT64_MAX || at > INT64_MAX - sh->sh_offset)
		return -ENOENT;
	ssize_t got = pread(from->fd, to, n, (off_t)(sh->sh_offset + at));

	return got < 0 ? -ENOENT : got;
}

int split_add(struct split_parts *p, enum split_kind kind, const struct split_source *from,
	      const GElf_Shdr *sh, uint64_t at, uint64_t n)
{
	uint8_t *to;
	int err = make_room(p, kind, n, &to);

	if (err)
		return err;
	int64_t got = read_at(from, sh, at, to, n, p->left);

	if (got < 0 || (uint64_t)got < n)
		return got < 0 ? (int)got : -ENOENT;
	p->v[kind].n += n;
	p->left -= n;
	return 0;
}

/* ---- strings ------------------------------------------------------------- */

/* A string of the file's, with its end. */
static int add_string(struct split_parts *p, const struct split_source *from, const GElf_Shdr *sh,
		      uint64_t at)
{
	for (size_t done = 0; done < STRING_MAX; done += PIECE) {
		uint8_t *to;
		int err = make_room(p, SPLIT_STR, PIECE, &to);
		int64_t n = err ? err : read_at(from, sh, at + done, to, PIECE, p->left);

		if (n <= 0)
			return n ? (int)n : -ENOENT;
		const uint8_t *end = memchr(to, '\0', (size_t)n);

		n = end ? end - to + 1 : n;
		p->v[SPLIT_STR].n += (size_t)n;
		p->left -= (uint64_t)n;
		if (end)
			return 0;
		if (n < PIECE)
			break;
	}
	return -ENOENT;
}

static int add_empty(struct split_parts *p)
{
	uint8_t *end;
	int err = make_room(p, SPLIT_STR, 1, &end);

	if (err)
		return err;
	*end = '\0';
	p->v[SPLIT_STR].n++;
	p->left--;
	return 0;
}

/* One that is not there has no text. */
static int add_named(struct split_parts *p, const struct split_source *from, const GElf_Shdr *sh,
		     uint8_t *entry)
{
	size_t begin = p->v[SPLIT_STR].n;
	uint32_t at, now = (uint32_t)begin;

	memcpy(&at, entry, sizeof(at));
	int err = begin > UINT32_MAX ? -EFBIG : add_string(p, from, sh, at);

	memcpy(entry, &now, sizeof(now));
	if (err != -ENOENT)
		return err;
	p->left += p->v[SPLIT_STR].n - begin;
	p->v[SPLIT_STR].n = begin;
	return add_empty(p);
}

/* In the file the sections follow one another: where the first string began, the section before
 * ends, and a string that begins there is none (debuginfo_string). So an empty one is the first. */
int split_add_strings(struct split_parts *p, const struct split_source *from, int version)
{
	const GElf_Shdr *sh = image_section(from->image, names[SPLIT_STR]);
	size_t n = p->v[SPLIT_OFFSETS].n;
	uint8_t *list = p->v[SPLIT_OFFSETS].bytes;

	if (!sh || !n)
		return 0;
	int err = add_empty(p);

	for (size_t i = version < 5 ? 0 : HEAD; !err && i + sizeof(uint32_t) <= n;
	     i += sizeof(uint32_t))
		err = add_named(p, from, sh, list + i);
	return err;
}

/* ---- write --------------------------------------------------------------- */

static bool write_section(Elf *elf, const void *bytes, size_t n, uint32_t type, uint32_t name)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = scn ? elf_newdata(scn) : NULL;
	GElf_Shdr sh;

	if (!data || !gelf_getshdr(scn, &sh))
		return false;
	*data = (Elf_Data){ .d_buf = (void *)bytes, .d_size = n, .d_align = 1,
			    .d_type = ELF_T_BYTE, .d_version = EV_CURRENT };
	sh.sh_type = type;
	sh.sh_name = name;
	return gelf_update_shdr(scn, &sh);
}

static bool write_sections(Elf *elf, const struct split_parts *p)
{
	static const char own[] = ".shstrtab";
	char text[256] = "";
	size_t n = 1;

	for (size_t i = 0; i < SPLIT_KINDS; i++) {
		if (!p->v[i].n)
			continue;
		if (!write_section(elf, p->v[i].bytes, p->v[i].n, SHT_PROGBITS, (uint32_t)n))
			return false;
		n += strlen(strcpy(text + n, names[i])) + 1;
	}
	memcpy(text + n, own, sizeof(own));
	return write_section(elf, text, n + sizeof(own), SHT_STRTAB, (uint32_t)n) &&
		elf_update(elf, ELF_C_WRITE) >= 0;
}

static bool write_file(Elf *elf, const struct split_parts *p, uint16_t machine)
{
	GElf_Ehdr head;
	size_t used = 0;

	for (size_t i = 0; i < SPLIT_KINDS; i++)
		used += p->v[i].n > 0;
	if (!gelf_newehdr(elf, ELFCLASS64) || !gelf_getehdr(elf, &head))
		return false;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	head.e_type = ET_REL;
	head.e_machine = machine;
	head.e_version = EV_CURRENT;
	head.e_shstrndx = (uint16_t)(used + 1);
	return gelf_update_ehdr(elf, &head) && write_sections(elf, p);
}

int split_write(const struct split_parts *p, uint16_t machine)
{
	int fd = memfd_create("unit", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
	bool written = elf && write_file(elf, p, machine);

	elf_end(elf);
	if (written)
		return fd;
	close(fd);
	return -ENOMEM;
}

void split_clear(struct split_parts *p)
{
	for (size_t i = 0; i < SPLIT_KINDS; i++) {
		p->left += p->v[i].n;
		free(p->v[i].bytes);
	}
	memset(p->v, 0, sizeof(p->v));
}
