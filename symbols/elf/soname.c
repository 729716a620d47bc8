/* SPDX-License-Identifier: MIT */
/* soname: by which name do others link this library? */
#include <string.h>

#include "symbols/elf/image.h"
#include "symbols/symbols.h"

static bool find_tags(const struct image *im, uint64_t *name, raddr_t *strings)
{
	const GElf_Phdr *ph = image_segment(im, PT_DYNAMIC);
	Elf_Data *table = ph ? elf_getdata_rawchunk(im->elf, (int64_t)ph->p_offset,
						    ph->p_filesz, ELF_T_DYN) : NULL;
	bool named = false;
	GElf_Dyn dyn;

	*strings = 0;
	for (int i = 0; table && gelf_getdyn(table, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag == DT_STRTAB)
			*strings = dyn.d_un.d_ptr;
		if (dyn.d_tag == DT_SONAME)
			*name = dyn.d_un.d_val;
		named |= dyn.d_tag == DT_SONAME;
	}
	return named && *strings;
}

/* Where the file has what is loaded at this address. */
static bool find_offset(const struct image *im, raddr_t at, uint64_t *ret)
{
	for (size_t i = 0; i < im->nsegments; i++) {
		const GElf_Phdr *ph = &im->segments[i];

		if (ph->p_type != PT_LOAD || at < ph->p_vaddr ||
		    at - ph->p_vaddr >= ph->p_filesz)
			continue;
		*ret = ph->p_offset + (at - ph->p_vaddr);
		return true;
	}
	return false;
}

bool symbols_soname(int fd, const char *path, char *ret, size_t size)
{
	struct image im;
	uint64_t name = 0, at = 0;
	raddr_t strings;

	ret[0] = '\0';
	if (image_open(fd, path, &im)) {
		fail_clear();
		return false;
	}
	bool found = find_tags(&im, &name, &strings) && name <= im.size &&
		find_offset(&im, strings + name, &at);
	ssize_t n = found ? pread(fd, ret, size - 1, (off_t)at) : 0;

	image_close(&im);
	ret[n > 0 ? n : 0] = '\0';
	return ret[0];
}
