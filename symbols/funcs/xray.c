/* SPDX-License-Identifier: MIT */
#include "symbols/funcs/xray.h"

#include <errno.h>
#include <string.h>

/* As LLVM's runtime reads it. */
struct sled {
	uint64_t address, function;
	uint8_t kind, always;
	uint8_t version;	/* from 2 on, addresses are relative to where
				 * they stand */
	uint8_t pad[13];
};

_Static_assert(sizeof(struct sled) == 32, "the layout of xray_instr_map");

static int add_map(const struct image *im, const GElf_Shdr *sh,
		   struct addresses *ret)
{
	const uint8_t *p = image_bytes(im, sh->sh_addr, sh->sh_size);
	int err = 0;

	for (uint64_t at = 0; p && !err && sh->sh_size - at >= sizeof(struct sled);
	     at += sizeof(struct sled)) {
		struct sled s;

		memcpy(&s, p + at, sizeof(s));
		if (s.version >= 2)
			s.address += sh->sh_addr + at;
		if (image_is_text(im, s.address))
			err = addresses_add(ret, s.address);
	}
	return err;
}

/* Sections that overlap, which no linker makes, are not gone through again. */
int xray_find(const struct image *im, struct addresses *ret)
{
	uint64_t left = image_held(im);
	int err = 0;

	for (size_t i = 1; i < im->nsections && !err; i++) {
		const GElf_Shdr *sh = &im->sections[i];

		if (strcmp(image_section_name(im, sh), "xray_instr_map") ||
		    sh->sh_type == SHT_NOBITS || sh->sh_size > left)
			continue;
		left -= sh->sh_size;
		err = add_map(im, sh, ret);
	}
	return err;
}
