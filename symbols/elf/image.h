/* SPDX-License-Identifier: MIT */
/*
 * image: where in this ELF file is what?
 *
 * libelf reads the headers, sections and tables, and we read what the loads hold: all
 * of the text at once, of the rest only what is asked for. Nothing is mapped: the owner of a
 * file may truncate it at any moment, and a mapping would then kill us with SIGBUS. Nothing is
 * allocated for sizes that the file claims, only for bytes that it has.
 */
#ifndef SYMBOLS_IMAGE_H
#define SYMBOLS_IMAGE_H

#include <gelf.h>

#include "base/base.h"

/* A PT_LOAD, as far as the file holds it; sorted by address, disjoint. */
struct load {
	struct range range;
	uint64_t offset;	/* in the file */
	uint32_t flags;		/* PF_X, ... */
};

struct image {
	Elf *elf;		/* owns what is read of the file */
	uint64_t size;		/* of the file, bytes */
	GElf_Ehdr header;
	GElf_Phdr *segments;
	size_t nsegments;
	GElf_Shdr *sections;	/* none when the table is missing or broken */
	size_t nsections;
	Elf_Data *section_names;	/* NULL: they have none */
	/* After image_load(): */
	struct load *loads;
	size_t nloads;
	const struct load *text;	/* the largest of those that run; NULL: none does */
	struct blocks *blocks;	/* what was read of them */
};

/* Headers only. -ENOEXEC or -EBADMSG, as symbols_open. `fd` must stay open
 * until image_detach() or image_close(). */
int image_open(int fd, const char *path, struct image *ret);
/* Forget the file but for what its loads hold; sections that were read stay. */
void image_detach(struct image *);
void image_close(struct image *);

/* loads.c. Be ready to read what the loads hold; read the text, too. 0, -EBADMSG or
 * another -errno. */
int image_ready(struct image *, int fd, const char *path);
int image_load(struct image *, int fd, const char *path);
void image_unload(struct image *);
/* Keep the text only: what else is asked for is read again. */
void image_forget_data(const struct image *);
/* Why something could not be read that a load holds: an errno; 0 as long as all could. */
int image_error(const struct image *);

/* The first section of that name, or NULL. */
const GElf_Shdr *image_section(const struct image *, const char *name);
const GElf_Shdr *image_section_by_type(const struct image *, uint32_t type);
const char *image_section_name(const struct image *, const GElf_Shdr *);
const GElf_Phdr *image_segment(const struct image *, uint32_t type);
/* What a section holds, or NULL: it is empty, or not in the file. */
Elf_Data *image_section_data(const struct image *, const GElf_Shdr *);
/* The table of `size` bytes at a link-time address, for the gelf functions of
 * its type; what the file does not hold is cut off. NULL if that is all. */
Elf_Data *image_table(const struct image *, raddr_t addr, uint64_t size,
		      Elf_Type type);

/* Relocations with addends at a link-time address, in place; what the file does
 * not hold is cut off. */
struct relas {
	const uint8_t *bytes;
	size_t n;
};

struct relas image_relas(const struct image *, raddr_t addr, uint64_t size);
GElf_Rela relas_get(const struct relas *, size_t i);

/* Loaded bytes at a link-time address, `want` of them or as many as follow, which is
 * in *n; or NULL, also if they cannot be read. They stay until image_forget_data. */
const uint8_t *image_at(const struct image *, raddr_t addr, uint64_t want, size_t *n);
/* Exactly `n` bytes at `addr`, or NULL. */
const uint8_t *image_bytes(const struct image *, raddr_t addr, uint64_t n);
/* Text at a link-time address, and in *n how much follows; or NULL. It stays. */
const uint8_t *image_text(const struct image *, raddr_t addr, size_t *n);
/* Bytes in all loads: a bound for what tables can describe. */
uint64_t image_held(const struct image *);
bool image_is_text(const struct image *, raddr_t addr);
/* The one that holds an address, or NULL. */
const struct load *image_load_at(const struct image *, raddr_t addr);

/* The GNU build id, at most 20 bytes of it; its length, 0 if none. */
size_t image_build_id(const struct image *, uint8_t ret[20]);

#endif
