/* SPDX-License-Identifier: MIT */
#include "symbols/elf/debuginfo.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
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

/* Give what was read of a section room behind it, of zeros. What was read of it before stays. */
static bool move_data(struct debug_source *from, Elf_Scn *scn, size_t room)
{
	Elf_Data *raw = elf_rawdata(scn, NULL), *data = elf_getdata(scn, NULL);

	if (from->nmoved == ARRAY_SIZE(from->moved) || !data || !data->d_buf)
		return false;
	char *to = malloc(data->d_size + room);

	if (!to)
		return false;
	memcpy(to, data->d_buf, data->d_size);
	memset(to + data->d_size, 0, room);
	if (raw && raw->d_buf == data->d_buf)
		raw->d_buf = to;
	data->d_buf = to;
	from->moved[from->nmoved++] = to;
	return true;
}

static void end_data(const Elf_Data *d)
{
	if (d && d->d_buf && d->d_size)
		((char *)d->d_buf)[d->d_size - 1] = '\0';
}

static bool ends(const Elf_Data *d)
{
	return !d || !d->d_buf || !d->d_size || !((const char *)d->d_buf)[d->d_size - 1];
}

/* libdw gives a string as it stands there, and does not look whether it ends before the section
 * does. What compilers make ends with a 0: the last string's, or what ends the last list; but the
 * unit that stands for a split one has neither. (It is given raw data, which libelf keeps beside
 * the other where a section is said to be no bytes.) */
static void end_strings(struct debug_source *from)
{
	const struct image *im = &from->image;

	for (size_t i = 1; i < im->nsections; i++) {
		Elf_Scn *scn = has_strings(image_section_name(im, &im->sections[i])) ?
			elf_getscn(im->elf, i) : NULL;

		if (!scn)
			continue;
		if (!ends(elf_getdata(scn, NULL)) && move_data(from, scn, 1))
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
		end_strings(from);
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

/* ---- units in other files ------------------------------------------------ */

static bool has_string(const Elf_Data *d, const char *text)
{
	const char *begin = d ? d->d_buf : NULL;

	return begin && text >= begin && text < begin + d->d_size;
}

/* The section of the file that has this string; NULL: none has. */
static Elf_Scn *section_with(Elf *elf, const char *text)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));)
		if (has_string(elf_rawdata(scn, NULL), text) ||
		    has_string(elf_getdata(scn, NULL), text))
			return scn;
	return NULL;
}

/* The string of an attribute, where `room` bytes may be written; NULL: it is none that is kept with
 * others, or memory is out. */
static char *writable_string(struct debuginfo *d, Dwarf_Attribute *a, size_t room)
{
	const char *text = debuginfo_string(a);
	Elf_Scn *scn = text && dwarf_whatform(a) != DW_FORM_string ?
		section_with(d->main.image.elf, text) : NULL;

	if (!scn || (d->strings && d->strings != scn))
		return NULL;
	if (!d->strings && move_data(&d->main, scn, room)) {
		d->strings = scn;
		text = debuginfo_string(a);
	}
	return d->strings && has_string(elf_getdata(scn, NULL), text) ? (char *)text : NULL;
}

/* libdw opens the file that the unit names when it is first asked for the split one. So while it
 * is, the name is that of the file in memory. */
static bool show_file(struct debuginfo *d, Dwarf_Die *unit, Dwarf_Attribute *name, int fd)
{
	char link[40], kept[sizeof(link)];
	size_t n = (size_t)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd) + 1;
	char *at = writable_string(d, name, sizeof(link));
	Dwarf_Die whole;

	if (!at)
		return false;
	memcpy(kept, at, n);
	memcpy(at, link, n);
	int err = dwarf_cu_info(unit->cu, NULL, NULL, NULL, &whole, NULL, NULL, NULL);

	memcpy(at, kept, n);
	if (err || !whole.addr || whole.cu == unit->cu)
		return false;
	*unit = whole;
	return true;
}

/* What the entry of a split unit says of it; false: it is none. */
static bool describe_split(Dwarf_Die *unit, Dwarf_Attribute *name, struct split_unit *ret)
{
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Attribute a;

	if (dwarf_cu_info(unit->cu, &version, &type, NULL, NULL, &ret->id, NULL, NULL) ||
	    type != DW_UT_skeleton)
		return false;
	ret->version = version;
	ret->dir = debuginfo_string(dwarf_attr(unit, DW_AT_comp_dir, &a));
	ret->name = debuginfo_string(dwarf_attr(unit, DW_AT_dwo_name, name) ?:
				     dwarf_attr(unit, DW_AT_GNU_dwo_name, name));
	return true;
}

bool debuginfo_whole(struct debuginfo *d, Dwarf_Die *unit)
{
	struct split_unit split = { 0 };
	Dwarf_Attribute name;

	if (!describe_split(unit, &name, &split))
		return true;
	if (!split.name)
		return false;
	auto_close int fd = splitfile_open(&d->places, &split, &d->left);
	bool shown = fd >= 0 && show_file(d, unit, &name, fd);

	if (!shown && !d->missing)
		d->missing = strdup(split.name);
	return shown;
}

/* ---- open and close ------------------------------------------------------ */

int debuginfo_open(int fd, const char *path, const char *root, uint64_t most,
		   struct debuginfo *ret)
{
	*ret = (struct debuginfo){ .main.fd = -1, .common.fd = -1, .left = most };
	if (!open_main(ret, fd, path, root, &ret->dir) || !read_dwarf(ret, &ret->main, most))
		return -ENOENT;
	ret->places = (struct split_places){ .path = path, .dir = ret->dir,
					     .machine = ret->main.image.header.e_machine };
	return read_common(ret, ret->dir, most) ? 0 : -ENOENT;
}

static void close_source(struct debug_source *from)
{
	if (from->dwarf)
		dwarf_end(from->dwarf);
	if (from->image.elf)
		image_close(&from->image);
	for (size_t i = 0; i < from->nmoved; i++)
		free(from->moved[i]);
	if (from->fd >= 0)
		close(from->fd);
	*from = (struct debug_source){ .fd = -1 };
}

void debuginfo_close(struct debuginfo *d)
{
	close_source(&d->main);
	close_source(&d->common);
	splitfile_close(&d->places);
	free(d->missing);
	free(d->dir);
}
