/* SPDX-License-Identifier: MIT */
/*
 * modules: the files that a process executes, as the process has mapped them;
 * or one file by itself.
 */
#ifndef INJECTOR_MODULES_H
#define INJECTOR_MODULES_H

#include <sys/types.h>

#include "base/base.h"
#include "symbols/symbols.h"

struct mapping;
struct signature;
struct signatures;
struct usdt_sites;

/* How far in a file, by mappings of it. */
struct got_to {
	uint64_t end;		/* of the last */
	uint64_t behind_code;	/* a byte more than where the last that is executable begins;
				 * 0: none was */
};

struct module {
	char *path;		/* as in /proc/PID/maps, or as given */
	const char *base;	/* its last component */
	char *linked;		/* what it is called by those that need it; NULL: not
				 * asked for yet */
	int fd;			/* the very inode that is mapped, also when the
				 * path holds another file by now; -1 if it could
				 * not be opened (then symbols is NULL). A copy's is its file's */
	dev_t dev;
	ino_t ino;
	raddr_t bias;		/* run-time address minus link-time address, */
	bool has_bias;		/* if it was looked for */
	struct range *maps;	/* its executable mappings, run-time */
	size_t nmaps, maps_cap;
	uint64_t map_offset;	/* in the file, of maps[0] */
	struct got_to at;	/* with its last mapping */
	unsigned int segments;	/* mappings of the file, of any kind */
	struct range span;	/* all its mappings, run-time */
	bool is_exe;		/* the main executable */
	bool is_system;		/* C library, loader, vdso, or the payload: see
				 * module_is_apart */
	bool is_payload;
	bool shared;		/* an executable mapping is MAP_SHARED */
	struct module *twin;	/* of a copy: that which is listed, whose file and symbols it has */
	struct symbols *symbols;/* owned; NULL until modules_symbols */
	struct symbols *text;	/* owned; NULL, or what modules_hold needs of them */
	struct signatures *signatures;	/* owned; NULL until module_signature */
	const struct usdt_sites *usdt;	/* owned; NULL until module_usdt */
};

struct modules {
	struct module *v;
	size_t n, cap;
	struct module *copies;	/* further images of their files, of which nothing is selected */
	size_t ncopies, copies_cap;
	pid_t pid;		/* 0: of a file */
	/* What their relocations name in other files, also those of modules that were not
	 * kept; NULL until modules_outwards. */
	struct outwards **outwards;
	size_t noutwards;
};

/* Not selected by a pattern without @MODULE, which a file by itself is. */
static inline bool module_is_apart(const struct module *m)
{
	return m->is_system && m->nmaps;
}

/* One file, for `inject list FILE`: bias 0. */
int modules_open_file(const char *path, struct modules *ret);
/* All executable file mappings of a process. Reads, never stops, the target. */
int modules_open_process(pid_t pid, struct modules *ret);
/* Open the very inode that is mapped, also when it was deleted or replaced; -1
 * if that cannot be. */
int modules_open_mapped(pid_t, const struct mapping *);
/* Read the symbols of a module, once. A module that is no usable ELF file is
 * an error the caller may choose to skip. */
int module_symbols(struct module *);
/* What is known of a function's values, by debug information, or of a well-known function by the
 * built-in table. The symbols have been read. 0, -ENOENT or -ENOMEM; the caller clears *ret if it
 * is 0. */
int module_signature(struct module *, const struct func *, struct signature *ret);
/* The same of what variables have at a place in a function's code. */
struct marked_place;
int module_signature_at(struct module *, const struct marked_place *, struct signature *ret);
/* Which functions are inlined at this place of a function's code: as signatures_inlined. */
int module_inlined(struct module *, const struct func *, raddr_t pc, char **ret);
/* What is known of the values of a place for tracers: by its note, and by `types`, a signature by
 * hand (NULL: by the table of well-known ones). 0 or -ENOMEM; the caller clears *ret if it is 0. */
struct usdt_site;
int module_usdt_signature(struct module *, const struct usdt_site *, const char *types,
			  struct signature *ret);
/* The places that its makers meant for tracers, in *ret. One that is no usable ELF file is an error
 * the caller may choose to skip. */
int module_usdt(struct module *, const struct usdt_sites **ret);
/* Does the module part of the pattern allow this one, by its file's name or by that
 * which it is linked by? Until version 2.34 glibc's libc.so.6 was libc-2.x.so. */
bool module_is_meant(struct module *, const struct pattern *, bool apart);
/* Read, once, where the relocations of all of them lead. A file that cannot be read leads
 * nowhere. Each keeps its file open until they are forgotten. 0 or -ENOMEM. */
int modules_outwards(struct modules *);
void modules_forget_outwards(struct modules *);
/* Close those that `keep` does not want. */
void modules_keep(struct modules *, bool (*keep)(void *ctx, const struct module *),
		  void *ctx);
/* The executable's file; NULL: it is not known. */
const char *modules_exe(const struct modules *);
/* The one that has this address mapped, or NULL. */
struct module *modules_at(const struct modules *, raddr_t);
/* The same, or a copy. */
struct module *modules_image(const struct modules *, raddr_t);
/* Does its file hold these bytes there? Reads its text if need be. */
bool modules_hold(const struct modules *, raddr_t, const uint8_t *bytes, size_t n);
void modules_close(struct modules *);

#endif
