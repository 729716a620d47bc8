/* SPDX-License-Identifier: MIT */
/*
 * usdt: the notes of sys/sdt.h.
 *
 *	words of 8 bytes	pc, where .stapsdt.base was, the semaphore's address or 0
 *	texts			provider, name, arguments, each with its NUL
 *
 * Addresses in notes are not changed by what moves a file after it was linked (prelink): where
 * .stapsdt.base is now, and was then, tells by how much.
 */
#include "symbols/funcs/usdt.h"

#include <errno.h>
#include <string.h>

#include "symbols/elf/image.h"
#include "symbols/names/demangle.h"

#define OWNER "stapsdt"
#define SECTION ".note.stapsdt"
#define BASE_SECTION ".stapsdt.base"

enum {
	NOTE_TYPE = 3,
	WORDS = 3,
	TEXT_MAX = 4096,	/* bytes of one text */
	SITES_MAX = 1 << 14,	/* names are compared each with each */
};

/* The head of what is given out: that comes first. */
struct usdt_list {
	struct usdt_sites sites;
	size_t cap;
	struct strings texts;
};

/* What is left of a note, or of the notes. */
struct rest {
	const char *at;
	size_t n;
};

static bool take_text(struct rest *r, const char **ret, size_t *n)
{
	*n = strnlen(r->at, MIN(r->n, (size_t)TEXT_MAX));
	if (*n == MIN(r->n, (size_t)TEXT_MAX))
		return false;
	*ret = r->at;
	r->at += *n + 1;
	r->n -= *n + 1;
	return true;
}

static int add_site(struct usdt_list *l, const uint64_t words[WORDS], raddr_t base,
		    const char *name, const char *args)
{
	raddr_t moved = base && words[1] ? base - words[1] : 0;
	struct usdt_site *s = vec_push(l->sites.v, l->sites.n, l->cap);

	if (!s)
		return -ENOMEM;
	*s = (struct usdt_site){ words[0] + moved, words[2] ? words[2] + moved : 0, name, args };
	return 0;
}

/* What one note says, `r`. */
static int read_site(struct usdt_list *l, struct rest r, raddr_t base)
{
	const char *provider, *name, *args;
	size_t nprovider, nname, nargs;
	uint64_t words[WORDS];
	char both[2 * TEXT_MAX];

	if (r.n < sizeof(words) || l->sites.n == SITES_MAX)
		return 0;
	memcpy(words, r.at, sizeof(words));
	r.at += sizeof(words);
	r.n -= sizeof(words);
	if (!take_text(&r, &provider, &nprovider) || !take_text(&r, &name, &nname) ||
	    !take_text(&r, &args, &nargs) || !nprovider || !nname)
		return 0;
	memcpy(both, provider, nprovider);
	both[nprovider] = ':';
	memcpy(both + nprovider + 1, name, nname);
	name = strings_add(&l->texts, both, nprovider + 1 + nname);
	args = strings_add(&l->texts, args, nargs);
	return name && args ? add_site(l, words, base, name, args) : -ENOMEM;
}

/* The next note's description; false: there is none. */
static bool next_note(struct rest *notes, bool *ours, struct rest *ret)
{
	Elf64_Nhdr head;

	if (notes->n < sizeof(head))
		return false;
	memcpy(&head, notes->at, sizeof(head));
	uint64_t owner = ALIGN_UP((uint64_t)head.n_namesz, 4);
	uint64_t size = ALIGN_UP((uint64_t)head.n_descsz, 4), left = notes->n - sizeof(head);

	/* The last one's padding may be missing. */
	if (owner > left || head.n_descsz > left - owner)
		return false;
	const char *at = notes->at + sizeof(head);

	*ours = head.n_type == NOTE_TYPE && head.n_namesz == sizeof(OWNER) &&
		memcmp(at, OWNER, sizeof(OWNER)) == 0;
	*ret = (struct rest){ at + owner, head.n_descsz };
	size = MIN(size, left - owner);
	*notes = (struct rest){ at + owner + size, left - owner - size };
	return true;
}

static int read_section(struct usdt_list *l, const struct image *im, const GElf_Shdr *sh,
			raddr_t base)
{
	Elf_Data *data = image_section_data(im, sh);
	struct rest notes = { data ? data->d_buf : NULL, data ? data->d_size : 0 }, note;
	bool ours;
	int err = 0;

	while (!err && next_note(&notes, &ours, &note))
		err = ours ? read_site(l, note, base) : 0;
	return err;
}

static int read_sections(struct usdt_list *l, const struct image *im)
{
	const GElf_Shdr *base = image_section(im, BASE_SECTION);
	int err = 0;

	for (size_t i = 1; im->section_names && i < im->nsections && !err; i++) {
		const GElf_Shdr *sh = &im->sections[i];

		if (sh->sh_type == SHT_NOTE && strcmp(image_section_name(im, sh), SECTION) == 0)
			err = read_section(l, im, sh, base ? base->sh_addr : 0);
	}
	return err;
}

int usdt_read(int fd, const char *path, const struct usdt_sites **ret)
{
	struct usdt_list *l = calloc(1, sizeof(*l));
	struct image im;

	*ret = NULL;
	if (!l)
		return fail(ENOMEM, "read %s", path);
	int err = image_open(fd, path, &im);

	if (!err) {
		err = read_sections(l, &im) ? fail(ENOMEM, "read %s", path) : 0;
		image_close(&im);
	}
	if (err)
		usdt_free(&l->sites);
	else
		*ret = &l->sites;
	return err;
}

void usdt_free(const struct usdt_sites *sites)
{
	struct usdt_list *l = (struct usdt_list *)sites;

	if (!l)
		return;
	strings_clear(&l->texts);
	free(l->sites.v);
	free(l);
}
