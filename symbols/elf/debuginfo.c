/* SPDX-License-Identifier: MIT */
#include "symbols/elf/debuginfo.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <string.h>

#include "symbols/elf/debugfile.h"

/* Bytes of debug information; UINT64_MAX if it is compressed as it once was. */
static uint64_t debug_size(const struct image *im)
{
	uint64_t sum = 0;

	for (size_t i = 1; i < im->nsections; i++) {
		const char *name = image_section_name(im, &im->sections[i]);
		GElf_Chdr packed;
		uint64_t size = im->sections[i].sh_size;

		if (!strncmp(name, ".zdebug", 7))
			return UINT64_MAX;
		if (strncmp(name, ".debug", 6) != 0)
			continue;
		if (im->sections[i].sh_flags & SHF_COMPRESSED) {
			if (!gelf_getchdr(elf_getscn(im->elf, i), &packed))
				return UINT64_MAX;
			size = packed.ch_size;
		}
		if (__builtin_add_overflow(sum, size, &sum))
			return UINT64_MAX;
	}
	return sum;
}

/* Entries, and strings that they name */
static bool has_strings(const char *name)
{
	static const char *const words[] = { "info", "types", "str", "line_str" };
	const char *word = !strncmp(name, ".debug_", 7) ? name + 7 :
		!strncmp(name, ".zdebug_", 8) ? name + 8 : "";

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static void end_data(const Elf_Data *d)
{
	if (d && d->d_buf && d->d_size)
		((char *)d->d_buf)[d->d_size - 1] = '\0';
}

/* libdw gives a string as it stands there, and does not look whether it ends before the section
 * does. What compilers make ends with a 0: the last string's, or what ends the last list. (It is
 * given raw data, which libelf keeps beside the other where a section is said to be no bytes.) */
static void end_strings(const struct image *im)
{
	for (size_t i = 1; i < im->nsections; i++) {
		Elf_Scn *scn = has_strings(image_section_name(im, &im->sections[i])) ?
			elf_getscn(im->elf, i) : NULL;

		if (!scn)
			continue;
		end_data(elf_rawdata(scn, NULL));
		end_data(elf_getdata(scn, NULL));
	}
}

/* A string in an entry itself, or one by its number, may begin where its section ends: libdw does
 * not look (0.188). */
static bool may_be_behind(unsigned int form)
{
	return form == DW_FORM_string || form == DW_FORM_strx || form == DW_FORM_GNU_str_index ||
		(form >= DW_FORM_strx1 && form <= DW_FORM_strx4);
}

static bool is_end_of(const Elf_Data *d, const char *text)
{
	return d && d->d_buf && text == (const char *)d->d_buf + d->d_size;
}

static bool is_behind(Dwarf *dwarf, const char *text)
{
	Elf *elf = dwarf_getelf(dwarf);
	bool ret = false;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) && !ret;) {
		ret = is_end_of(elf_rawdata(scn, NULL), text) ||
			is_end_of(elf_getdata(scn, NULL), text);
	}
	return ret;
}

const char *debuginfo_string(Dwarf_Attribute *a)
{
	const char *ret = a ? dwarf_formstring(a) : NULL;

	return ret && may_be_behind(dwarf_whatform(a)) &&
		is_behind(dwarf_cu_getdwarf(a->cu), ret) ? NULL : ret;
}

const char *debuginfo_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	return debuginfo_string(dwarf_attr_integrate(die, DW_AT_name, &a));
}

static bool read_dwarf(struct debuginfo *d, struct debug_source *from, uint64_t most)
{
	uint64_t size = debug_size(&from->image);

	if (size > most) {
		d->too_large = MAX(d->too_large, size);
		return false;
	}
	from->dwarf = dwarf_begin_elf(from->image.elf, DWARF_C_READ, NULL);
	if (from->dwarf)
		end_strings(&from->image);
	return from->dwarf;
}

/* What dwz has moved to a file of its own. libdw would look for it by itself, and open
 * whatever it is told to; so if it is not found, nothing is read. */
static bool read_common(struct debuginfo *d, const char *dir, uint64_t most)
{
	const char *name;
	const void *id;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(d->main.dwarf, &name, &id);

	if (n <= 0)
		return n == 0;
	if (debugfile_open_common(dir, name, id, (size_t)n, &d->common.image, &d->common.fd) ||
	    !read_dwarf(d, &d->common, most) ||
	    dwelf_dwarf_gnu_debugaltlink(d->common.dwarf, &name, &id))
		return false;
	dwarf_setalt(d->main.dwarf, d->common.dwarf);
	return true;
}

/* The debug information itself, or that of the file which was split from it; the name of
 * the directory for the caller to free. */
static bool open_main(struct debuginfo *d, int fd, const char *path, const char *root, char **dir)
{
	const char *slash = strrchr(path, '/');
	struct image file;
	struct stripped stripped = { .image = &file, .path = path,
				     .debug_root = root };

	if (image_open(fd, path, &file)) {
		fail_clear();
		return false;
	}
	if (image_section(&file, ".debug_info")) {
		d->main.image = file;
		*dir = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
		return *dir;
	}
	int err = debugfile_open(&stripped, &d->main.image, &d->main.fd, dir);

	image_close(&file);
	if (err)
		d->main.image = (struct image){ 0 };
	return !err && *dir;
}

int debuginfo_open(int fd, const char *path, const char *root, uint64_t most,
		   struct debuginfo *ret)
{
	auto_free char *dir = NULL;

	*ret = (struct debuginfo){ .main.fd = -1, .common.fd = -1 };
	if (!open_main(ret, fd, path, root, &dir) || !read_dwarf(ret, &ret->main, most))
		return -ENOENT;
	return read_common(ret, dir, most) ? 0 : -ENOENT;
}

static void close_source(struct debug_source *from)
{
	if (from->dwarf)
		dwarf_end(from->dwarf);
	if (from->image.elf)
		image_close(&from->image);
	if (from->fd >= 0)
		close(from->fd);
	*from = (struct debug_source){ .fd = -1 };
}

void debuginfo_close(struct debuginfo *d)
{
	close_source(&d->main);
	close_source(&d->common);
}
