/* SPDX-License-Identifier: MIT */
/*
 * image: where in this ELF file is what?
 *
 * libelf reads the file, and only what is asked for. It is told to read and
 * not to map: whoever owns a file may truncate it at any moment, and a mapping
 * would then kill us with SIGBUS. Nothing is allocated for sizes that the file
 * claims, only for bytes that it has.
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
	const uint8_t *bytes;	/* the file up to the end of its last load */
};

/* Headers only. -ENOEXEC or -EBADMSG, as symbols_open. `fd` must stay open
 * until image_detach() or image_close(). */
int image_open(int fd, const char *path, struct image *ret);
/* Read what the loads hold. */
int image_load(struct image *, const char *path);
/* Forget the file; what was read stays. */
void image_detach(struct image *);
void image_close(struct image *);

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

/* Loaded bytes at a link-time address, and in *n how many follow; or NULL. */
const uint8_t *image_at(const struct image *, raddr_t addr, size_t *n);
/* Exactly `n` bytes at `addr`, or NULL. */
const uint8_t *image_bytes(const struct image *, raddr_t addr, uint64_t n);
/* Bytes in all loads: a bound for what tables can describe. */
uint64_t image_held(const struct image *);
bool image_is_text(const struct image *, raddr_t addr);

/* The GNU build id, at most 20 bytes of it; its length, 0 if none. */
size_t image_build_id(const struct image *, uint8_t ret[20]);

#endif
