/* SPDX-License-Identifier: MIT */
#include "injector/modules/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "injector/proc/kernel.h"
#include "injector/proc/procfs.h"
#include "plan/plan.h"
#include "symbols/funcs/usdt.h"
#include "symbols/types/signatures.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Not selected unless the user names the module: probing every malloc of a
 * process is asked for explicitly. */
static bool is_system_name(const char *base)
{
	static const char *const globs[] = {
		"libc.so*", "libc-2.*.so", "ld-linux*.so*", "ld-2.*.so", "ld.so*",
		"ld-musl-*", "libpthread*.so*", "libdl*.so*", "\\[vdso]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(globs); i++)
		if (fnmatch(globs[i], base, 0) == 0)
			return true;
	return false;
}

/* Open `path` if it is the inode `m`; the device may differ on overlayfs. */
static int open_same(const char *path, const struct mapping *m)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_ino != m->ino)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* map_files needs a capability; without it the executable is reached through
 * /proc/PID/exe, and a library by its path in the target's root, if that still is
 * the same file. */
int modules_open_mapped(pid_t pid, const struct mapping *m)
{
	char path[sizeof(m->path) + 80], dir[64];

	procfs_map_file(pid, m->range, path, sizeof(path));
	int fd = open_same(path, m);
	if (fd >= 0)
		return fd;
	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/root%s", dir, m->path);
	fd = open_same(path, m);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/exe", dir);
	return open_same(path, m);
}

struct scan {
	pid_t pid;
	struct modules *mods;
	struct stat exe;
	bool have_exe;
	/* The mappings of one file that come just now, upwards in it. */
	ino_t ino;
	raddr_t start;		/* of the first of them */
	struct got_to at;	/* in the file, with the last */
	unsigned int n;
	struct module *image;	/* that they belong to; NULL: none yet */
	struct module *last;	/* the module that was extended last, or NULL */
};

static bool same_file(const struct module *mod, dev_t dev, ino_t ino)
{
	return mod->ino == ino && mod->dev == dev;
}

static uint64_t end_in_file(const struct mapping *m)
{
	return m->offset + range_size(m->range);
}

/* The loader maps a file's segments upwards, and one begins at most in the page in which the one
 * before ends. What goes further back is another image. So is code from where there was code
 * already, for of a small file all segments may begin in the same page. */
static bool goes_back(const struct mapping *m, const struct got_to *at)
{
	return m->offset + kernel_page() < at->end || (m->exec && m->offset < at->behind_code);
}

static void go_to(struct got_to *at, const struct mapping *m)
{
	at->end = end_in_file(m);
	if (m->exec)
		at->behind_code = m->offset + 1;
}

/* The image of its file that `m` goes on with. */
static struct module *goes_on(struct modules *mods, const struct mapping *m)
{
	for (size_t i = mods->n; i-- > 0;)
		if (same_file(&mods->v[i], m->dev, m->ino))
			return goes_back(m, &mods->v[i].at) ? NULL : &mods->v[i];
	return NULL;
}

static struct module *first_of(const struct modules *mods, size_t n, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < n; i++)
		if (same_file(&mods->v[i], dev, ino))
			return &mods->v[i];
	return NULL;
}

/* A file is opened once, however many images it has: a program may map one a thousand times. */
static struct module *module_new(struct scan *s, const struct mapping *m)
{
	const struct module *first = first_of(s->mods, s->mods->n, m->dev, m->ino);
	bool has_file = first && first->fd >= 0;
	struct module *mod = vec_push(s->mods->v, s->mods->n, s->mods->cap);

	if (!mod)
		return NULL;
	mod->path = strdup(m->path);
	mod->base = mod->path ? base_name(mod->path) : "?";
	mod->fd = has_file ? -1 : modules_open_mapped(s->pid, m);
	mod->dev = m->dev;
	mod->ino = m->ino;
	mod->span = (struct range){ s->start, m->range.end };
	mod->segments = s->n - 1;
	mod->is_exe = s->have_exe && s->exe.st_ino == m->ino;
	mod->is_payload = strncmp(m->path, "/memfd:inject-payload", 21) == 0;
	mod->is_system = mod->is_payload || is_system_name(mod->base);
	return mod;
}

static int modules_extend(struct module *mod, const struct mapping *m)
{
	mod->span.end = MAX(mod->span.end, m->range.end);
	go_to(&mod->at, m);
	mod->segments++;
	if (!m->exec)
		return 0;
	struct range *r = vec_push(mod->maps, mod->nmaps, mod->maps_cap);
	if (!r)
		return -ENOMEM;
	*r = m->range;
	if (mod->nmaps == 1)
		mod->map_offset = m->offset;
	mod->shared |= m->shared;
	return 0;
}

static int add_mapping(void *ctx, const struct mapping *m)
{
	struct scan *s = ctx;

	/* .bss: anonymous memory right behind the file's. */
	if (!m->ino && s->last && s->last->span.end == m->range.start)
		s->last->span.end = m->range.end;
	/* Without any access: a hole between segments, which the loader leaves. */
	if (!m->ino || m->path[0] != '/' || !(m->read || m->write || m->exec))
		return 0;
	if (m->ino != s->ino || goes_back(m, &s->at)) {
		s->start = m->range.start;
		s->n = 0;
		s->at = (struct got_to){ 0 };
		s->image = goes_on(s->mods, m);
	}
	s->ino = m->ino;
	go_to(&s->at, m);
	s->n++;
	if (!s->image && m->exec)
		s->image = module_new(s, m);
	s->last = s->image;
	if ((m->exec && !s->image) || (s->image && modules_extend(s->image, m) < 0))
		return fail(ENOMEM, "list the modules of %d", s->pid);
	return 0;
}

static void module_clear(struct module *mod)
{
	signatures_close(mod->signatures);
	usdt_free(mod->usdt);
	if (!mod->twin) {
		symbols_close(mod->symbols);
		symbols_close(mod->text);
	}
	if (mod->fd >= 0 && !mod->twin)
		close(mod->fd);
	free(mod->path);
	free(mod->linked);
	free(mod->maps);
}

/*
 * Of several images of a file the one of most segments is the loader's, the
 * first of equals. The others are copies that the program itself has mapped (V8
 * does so with its builtins, to have them near its code), mostly of one piece; or
 * a second one of the loader's (dlmopen), which may have come when the first was probed.
 */
static int part_copies(struct modules *mods)
{
	size_t kept = 0, i;

	for (i = 0; i < mods->n; i++) {
		struct module *mod = &mods->v[i];
		struct module *other = first_of(mods, kept, mod->dev, mod->ino);

		if (!other) {
			mods->v[kept++] = *mod;
			continue;
		}
		struct module *copy = vec_push(mods->copies, mods->ncopies, mods->copies_cap);
		if (!copy)
			break;
		if (other->fd < 0)
			other->fd = mod->fd;
		else if (mod->fd >= 0)
			close(mod->fd);
		mod->fd = other->fd;
		*copy = mod->segments > other->segments ? *other : *mod;
		*other = mod->segments > other->segments ? *mod : *other;
		copy->twin = other;
	}
	/* (Where memory is out, what was not looked at goes with the rest.) */
	for (size_t k = i; k < mods->n; k++)
		module_clear(&mods->v[k]);
	bool all = i == mods->n;
	mods->n = kept;
	return all ? 0 : fail(ENOMEM, "list the modules of %d", mods->pid);
}

int modules_open_process(pid_t pid, struct modules *ret)
{
	char path[80], dir[64];
	struct scan s = { .pid = pid, .mods = ret };

	*ret = (struct modules){ .pid = pid };
	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/exe", dir);
	s.have_exe = stat(path, &s.exe) == 0;
	int err = procfs_maps(pid, add_mapping, &s);
	err = err ? err : part_copies(ret);
	if (err)
		modules_close(ret);
	return err;
}

int modules_open_file(const char *path, struct modules *ret)
{
	*ret = (struct modules){ 0 };
	struct module *mod = vec_push(ret->v, ret->n, ret->cap);
	if (!mod)
		return fail(ENOMEM, "open %s", path);
	mod->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (mod->fd < 0) {
		int err = fail(errno, "open %s", path);

		modules_close(ret);
		return err;
	}
	mod->path = strdup(path);
	mod->base = mod->path ? base_name(mod->path) : "?";
	mod->is_exe = true;
	mod->is_system = is_system_name(mod->base);
	int err = module_symbols(mod);
	if (err)
		modules_close(ret);
	return err;
}

/* The load bias, from the file's text that the first executable mapping maps. */
static int find_bias(struct module *mod, const struct symbols *s)
{
	for (size_t i = 0; i < s->ntexts; i++) {
		const struct text *t = &s->texts[i];

		if (ALIGN_DOWN(t->offset, kernel_page()) > mod->map_offset ||
		    mod->map_offset >= t->offset + range_size(t->range))
			continue;
		mod->bias = mod->maps[0].start - mod->map_offset -
			(t->range.start - t->offset);
		mod->has_bias = true;
		return 0;
	}
	return fail(0, "%s: no executable segment of the file is mapped", mod->path);
}

static int copy_symbols(struct module *mod)
{
	int err = module_symbols(mod->twin);

	mod->symbols = err ? NULL : mod->twin->symbols;
	err = err ? err : find_bias(mod, mod->symbols);
	if (err)
		mod->symbols = NULL;
	return err;
}

int module_symbols(struct module *mod)
{
	if (mod->symbols)
		return 0;
	if (mod->twin)
		return copy_symbols(mod);
	if (mod->fd < 0)
		return fail(ENOENT, "the file behind %s cannot be opened", mod->path);
	int err = symbols_open(mod->fd, mod->path, &mod->symbols);
	const struct arch *arch = err ? NULL : arch_by_machine(mod->symbols->machine);
	if (arch)
		err = plan_linkage(arch, mod->symbols);
	if (!err && mod->nmaps)
		err = find_bias(mod, mod->symbols);
	if (err && mod->symbols) {
		symbols_close(mod->symbols);
		mod->symbols = NULL;
	}
	return err;
}

static const char *linked_name(struct module *mod)
{
	char name[256] = "";

	if (!mod->linked && mod->fd >= 0)
		symbols_soname(mod->fd, mod->path, name, sizeof(name));
	if (!mod->linked)
		mod->linked = strdup(name);
	return mod->linked ? mod->linked : "";
}

bool module_is_meant(struct module *mod, const struct pattern *p, bool apart)
{
	if (pattern_allows(p, mod->base, mod->is_exe, apart))
		return true;
	return p->module && pattern_allows(p, linked_name(mod), mod->is_exe, apart);
}

int module_usdt(struct module *m, const struct usdt_sites **ret)
{
	int err = 0;

	if (!m->usdt)
		err = m->fd < 0 ? fail(0, "%s cannot be opened", m->path) :
			usdt_read(m->fd, m->path, &m->usdt);
	*ret = m->usdt;
	return err;
}

int modules_outwards(struct modules *mods)
{
	if (mods->outwards)
		return 0;
	mods->outwards = calloc(mods->n + 1, sizeof(struct outwards *));
	if (!mods->outwards)
		return fail(ENOMEM, "read the relocations of %zu files", mods->n);
	for (size_t i = 0; i < mods->n; i++) {
		const struct module *m = &mods->v[i];

		if (m->fd < 0 || m->is_payload)
			continue;
		int err = symbols_outwards(m->fd, m->path, &mods->outwards[mods->noutwards]);

		if (err == -ENOMEM)
			return err;
		if (err)
			fail_clear();
		else
			mods->noutwards++;
	}
	return 0;
}

void modules_forget_outwards(struct modules *mods)
{
	for (size_t i = 0; i < mods->noutwards; i++)
		outwards_free(mods->outwards[i]);
	free(mods->outwards);
	mods->outwards = NULL;
	mods->noutwards = 0;
}

/* A copy goes with its twin. */
static void keep_copies(struct modules *mods)
{
	size_t kept = 0;

	for (size_t i = 0; i < mods->ncopies; i++) {
		struct module *copy = &mods->copies[i];
		struct module *twin = first_of(mods, mods->n, copy->dev, copy->ino);

		if (!twin) {
			module_clear(copy);
			continue;
		}
		copy->twin = twin;
		mods->copies[kept++] = *copy;
	}
	mods->ncopies = kept;
}

void modules_keep(struct modules *mods, bool (*keep)(void *ctx, const struct module *),
		  void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < mods->n; i++) {
		if (keep(ctx, &mods->v[i]))
			mods->v[kept++] = mods->v[i];
		else
			module_clear(&mods->v[i]);
	}
	mods->n = kept;
	keep_copies(mods);
}

void modules_close(struct modules *mods)
{
	for (size_t i = 0; i < mods->n; i++)
		module_clear(&mods->v[i]);
	for (size_t i = 0; i < mods->ncopies; i++)
		module_clear(&mods->copies[i]);
	modules_forget_outwards(mods);
	free(mods->copies);
	free(mods->v);
	*mods = (struct modules){ 0 };
}

const char *modules_exe(const struct modules *mods)
{
	for (size_t i = 0; i < mods->n; i++)
		if (mods->v[i].is_exe)
			return mods->v[i].path;
	return NULL;
}

static struct module *module_among(struct module *v, size_t n, raddr_t addr)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < v[i].nmaps; j++)
			if (range_has(v[i].maps[j], addr))
				return &v[i];
	return NULL;
}

struct module *modules_at(const struct modules *mods, raddr_t addr)
{
	return module_among(mods->v, mods->n, addr);
}

struct module *modules_image(const struct modules *mods, raddr_t addr)
{
	struct module *m = modules_at(mods, addr);

	return m ? m : module_among(mods->copies, mods->ncopies, addr);
}

/* Its symbols, or what knows as much of its text; NULL with a message. */
static const struct symbols *module_text(struct module *mod)
{
	struct module *of = mod->twin ?: mod;

	if (!of->symbols && !of->text && of->fd >= 0)
		symbols_open_text(of->fd, of->path, &of->text);
	const struct symbols *s = of->symbols ?: of->text;

	return s && (mod->has_bias || !find_bias(mod, s)) ? s : NULL;
}

bool modules_hold(const struct modules *mods, raddr_t addr, const uint8_t *bytes, size_t n)
{
	struct module *m = modules_image(mods, addr);
	const struct symbols *s = m ? module_text(m) : NULL;
	size_t there;

	/* One failure is no reason to leave a probe behind. */
	if (m && !s)
		s = module_text(m);
	const uint8_t *file = s ? symbols_text(s, addr - m->bias, &there) : NULL;

	return file && there >= n && memcmp(file, bytes, n) == 0;
}
