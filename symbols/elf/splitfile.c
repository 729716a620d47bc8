/* SPDX-License-Identifier: MIT */
#include "symbols/elf/splitfile.h"

#include <errno.h>
#include <string.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/splitparts.h"

/* ---- a file of its own --------------------------------------------------- */

/* Types may have a section each, of the same name: units follow one another. Of all else one
 * section is meant. */
static int add_sections(struct split_parts *p, enum split_kind kind,
			const struct split_source *from)
{
	bool several = kind == SPLIT_INFO || kind == SPLIT_TYPES;
	const struct image *im = from->image;
	int err = 0;

	for (size_t i = 1; i < im->nsections && !err; i++) {
		const GElf_Shdr *sh = &im->sections[i];
		GElf_Chdr packed;

		if (strcmp(image_section_name(im, sh), split_section(kind)) != 0)
			continue;
		uint64_t n = !(sh->sh_flags & SHF_COMPRESSED) ? sh->sh_size :
			gelf_getchdr(elf_getscn(im->elf, i), &packed) ? packed.ch_size : 0;

		err = split_add(p, kind, from, sh, 0, n);
		if (!several)
			break;
	}
	return err;
}

static int add_all(struct split_parts *p, const struct split_source *from)
{
	int err = 0;

	for (enum split_kind kind = 0; kind < SPLIT_STR && !err; kind++)
		err = add_sections(p, kind, from);
	return err ? err : p->v[SPLIT_INFO].n ? 0 : -ENOENT;
}

static int read_alone(struct split_parts *p, const char *path, const struct split_unit *u)
{
	struct image image;
	auto_close int fd = debugfile_open_named(path, &image);
	struct split_source from = { &image, fd };

	if (fd < 0)
		return fd;
	int err = add_all(p, &from);

	if (!err)
		err = split_add_strings(p, &from, u->version);
	image_close(&image);
	return err;
}

/* libdw compares what it finds with the unit's number: another file of that name is none. */
static int read_in(struct split_parts *p, const char *dir, const struct split_unit *u)
{
	auto_free char *path = *u->name == '/' ? strdup(u->name) :
		base_printf("%s/%s", dir, u->name);

	return path ? read_alone(p, path, u) : -ENOMEM;
}

/* ---- a package: its index (DWARF 5, 7.3.5.3; version 2 is GNU's) --------- */

struct index_head {
	uint32_t version;	/* of DWARF 5 the upper half is padding */
	uint32_t columns, units, slots;
};

/* What a column is of, by version: DW_SECT_* */
static enum split_kind kind_of(uint32_t version, uint32_t section)
{
	static const enum split_kind gnu[] = {
		SPLIT_KINDS, SPLIT_INFO, SPLIT_TYPES, SPLIT_ABBREV, SPLIT_KINDS, SPLIT_LOC,
		SPLIT_OFFSETS, SPLIT_KINDS, SPLIT_KINDS,
	}, five[] = {
		SPLIT_KINDS, SPLIT_INFO, SPLIT_KINDS, SPLIT_ABBREV, SPLIT_KINDS, SPLIT_LOCLISTS,
		SPLIT_OFFSETS, SPLIT_KINDS, SPLIT_RNGLISTS,
	};

	return section >= ARRAY_SIZE(gnu) ? SPLIT_KINDS :
		version == 2 ? gnu[section] : five[section];
}

static uint32_t word(const uint8_t *at, uint64_t index)
{
	uint32_t ret;

	memcpy(&ret, at + 4 * index, sizeof(ret));
	return ret;
}

/* The row of a unit, counted from 1; 0: it has none. */
static uint32_t find_row(const struct index_head *h, const uint8_t *table, uint64_t id)
{
	const uint8_t *rows = table + 8 * (uint64_t)h->slots;
	uint64_t mask = h->slots - 1, at = id & mask, step = (id >> 32 & mask) | 1, found;

	for (uint32_t i = 0; i < h->slots && word(rows, at); i++, at = (at + step) & mask) {
		memcpy(&found, table + 8 * at, sizeof(found));
		if (found == id)
			return word(rows, at);
	}
	return 0;
}

/* Its head, if all that it tells of is there. */
static bool read_head(const Elf_Data *index, struct index_head *ret)
{
	if (!index || index->d_size < sizeof(*ret))
		return false;
	memcpy(ret, index->d_buf, sizeof(*ret));
	ret->version &= UINT16_MAX;
	if ((ret->version != 2 && ret->version != 5) || !ret->slots ||
	    (ret->slots & (ret->slots - 1)) || ret->columns > SPLIT_KINDS + 1)
		return false;
	return sizeof(*ret) + 12 * (uint64_t)ret->slots + 4 * (uint64_t)ret->columns +
		8 * (uint64_t)ret->columns * ret->units <= index->d_size;
}

static int add_row(struct split_parts *p, const struct split_source *from,
		   const struct index_head *h, const uint8_t *table, uint32_t row)
{
	const uint8_t *columns = table + 12 * (uint64_t)h->slots;
	const uint8_t *offsets = columns + 4 * (uint64_t)h->columns;
	const uint8_t *sizes = offsets + 4 * (uint64_t)h->columns * h->units;
	uint64_t first = (uint64_t)(row - 1) * h->columns;
	int err = 0;

	for (uint32_t i = 0; i < h->columns && !err; i++) {
		enum split_kind kind = kind_of(h->version, word(columns, i));
		const GElf_Shdr *sh = kind == SPLIT_KINDS ? NULL :
			image_section(from->image, split_section(kind));

		if (sh)
			err = split_add(p, kind, from, sh, word(offsets, first + i),
					word(sizes, first + i));
	}
	return err;
}

static int read_packed(struct split_parts *p, const struct split_package *package,
		       const struct split_unit *u)
{
	struct split_source from = { &package->image, package->fd };
	const GElf_Shdr *sh = image_section(from.image, ".debug_cu_index");
	const Elf_Data *index = sh ? image_section_data(from.image, sh) : NULL;
	struct index_head h;

	if (!read_head(index, &h))
		return -ENOENT;
	const uint8_t *table = (const uint8_t *)index->d_buf + sizeof(h);
	uint32_t row = find_row(&h, table, u->id);

	if (!row || row > h.units)
		return -ENOENT;
	int err = add_row(p, &from, &h, table, row);

	return err ? err : split_add_strings(p, &from, u->version);
}

static void open_package(struct split_places *s, const char *path)
{
	if (!path || s->package.image.elf)
		return;
	s->package.fd = debugfile_open_named(path, &s->package.image);
}

/* Beside the program, or beside the file with its debug information. */
static void find_package(struct split_places *s)
{
	const char *slash = strrchr(s->path, '/');
	auto_free char *first = base_printf("%s.dwp", s->path);
	auto_free char *second = base_printf("%s/%s.dwp", s->dir, slash ? slash + 1 : s->path);

	if (s->package.tried)
		return;
	s->package.tried = true;
	open_package(s, first);
	open_package(s, second);
}

/* -------------------------------------------------------------------------- */

static int read_unit(struct split_parts *p, struct split_places *s, const struct split_unit *u)
{
	int err = s->package.image.elf ? read_packed(p, &s->package, u) : -ENOENT;

	if (err == -ENOENT) {
		split_clear(p);
		err = read_in(p, s->dir, u);
	}
	if (err == -ENOENT && u->dir && *u->name != '/') {
		split_clear(p);
		err = read_in(p, u->dir, u);
	}
	return err;
}

int splitfile_open(struct split_places *s, const struct split_unit *u, uint64_t *left)
{
	struct split_parts p = { .left = *left };

	find_package(s);
	int err = read_unit(&p, s, u);

	if (!err)
		*left = p.left;
	if (!err)
		err = split_write(&p, s->machine);
	split_clear(&p);
	return err;
}

void splitfile_close(struct split_places *s)
{
	if (!s->package.image.elf)
		return;
	image_close(&s->package.image);
	close(s->package.fd);
}
