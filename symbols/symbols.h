/* SPDX-License-Identifier: MIT */
/*
 * symbols: which functions does this file have, and where?
 *
 * The only part that knows ELF and unwind tables. Knows no process and no
 * ptrace: a module of a process is a file descriptor of the inode that the
 * process has mapped. All addresses are link-time addresses (st_value,
 * p_vaddr); a caller that knows the process adds the load bias. Every byte of the file is
 * hostile. libelf and libdw read it (and never map it: its owner could truncate it under
 * us); what they would trust too far is kept from them.
 */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include "base/base.h"

enum func_source {
	FUNC_SYMTAB,		/* .symtab of the file itself */
	FUNC_DYNSYM,
	FUNC_DEBUG,		/* a debug file, by build-id or debuglink */
	FUNC_MINIDEBUG,		/* .gnu_debugdata */
	FUNC_EH_FRAME,		/* an unwind entry alone: fn_<hex address> */
	FUNC_LINKAGE,		/* symbols_add_stubs */
	FUNC_GO,		/* what Go's runtime has for its tracebacks */
};

enum func_flag {
	FUNC_FRAGMENT = 1,	/* a piece of another function (.cold, or an
				 * unwind entry that is no function's start):
				 * never probed by itself, see parent */
	FUNC_IFUNC = 2,		/* the symbol is an IFUNC resolver */
	FUNC_NO_SIZE = 4,	/* st_size was 0: the range is up to the next
				 * symbol or unwind entry */
	FUNC_NO_UNWIND = 8,	/* no unwind entry covers its start */
	FUNC_LSDA = 16,		/* has landing pads */
	FUNC_PLT = 32,		/* a stub of the linkage table, which jumps to
				 * the function of that name in another file */
	FUNC_REACHED = 64,	/* one that starts before it ends behind its start */
	FUNC_PACKED = 128,	/* may be a fragment, for it is packed like those: a call to it
				 * would tell */
	FUNC_STRANGE = 256,	/* where its unwinder may enter it is not told in a known form */
	FUNC_LOCAL = 512,	/* its symbols are its file's own */
};

struct func {
	/* Owned by the struct symbols. `name` is demangled (C++, Rust legacy
	 * and v0, through libiberty) without its parameter list and without
	 * Rust's hash; `full` has the parameter list (Rust: the hash); `raw`
	 * is the symbol, without its version. Suffixes of clones (.isra.0) stay
	 * in all three. Control characters are replaced by `?`. */
	const char *name, *full, *raw;
	struct range range;
	uint8_t source;		/* enum func_source */
	uint16_t flags;		/* enum func_flag */
	int32_t parent;		/* of a FRAGMENT with a known parent: index in
				 * funcs; else -1 */
	uint32_t alias;		/* index in aliases of the first further name of
				 * this address, and their number */
	uint32_t naliases;
};

/* Executable bytes of the file (a PT_LOAD with PF_X), trimmed to what the file
 * really holds. */
struct text {
	struct range range;
	uint64_t offset;	/* in the file */
	const uint8_t *bytes;	/* range_size() of them; owned by symbols */
};

/* A piece of a function that has no bytes, by its symbol: where a path would go on that is
 * never taken, as the compiler knows. Another function's piece begins there, as a rule. */
struct empty_piece {
	raddr_t at;
	raddr_t parent;		/* the function's start */
};

struct func_alias {
	const char *name, *full, *raw;
};

/* A word that the loader fills with a symbol's address. */
struct got_slot {
	raddr_t at;
	const char *raw;	/* owned by the symbols */
};

/* A word that the loader fills with what an IFUNC's resolver returns. */
struct ifunc_slot {
	raddr_t at, resolver;
};

/* Code that jumps through a slot. */
struct plt_stub {
	struct range range;
	const char *raw;	/* the slot's */
};

struct symbols {
	const char *path;	/* as given */
	const char *base;	/* its last component */
	uint16_t machine;	/* e_machine */
	bool is_dynamic;	/* has PT_DYNAMIC */
	bool is_pie;		/* ET_DYN */
	const char *interp;	/* PT_INTERP, or NULL */
	uint8_t build_id[20];
	uint8_t build_id_len;	/* 0: none */

	struct text *texts;
	size_t ntexts;
	const struct text *text;	/* the largest; NULL: there is none */

	/* Sections that code may read, and within them, or beside them, what only loaders,
	 * unwinders and tracers do: see symbols_is_tabled. */
	struct range *tabled, untabled[32];
	size_t ntabled, nuntabled;

	/* What the file calls a note: data, though it may lie in a text. Empty: none. */
	struct range note;

	/* One per address, sorted by range.start. Where a symbol and an unwind
	 * entry disagree about an end, the symbol wins unless its size is 0.
	 * Ranges of different functions may overlap (hostile or hand-written
	 * files); users must not assume otherwise. */
	struct func *funcs;
	size_t nfuncs;		/* at most INT32_MAX */
	struct func_alias *aliases;
	size_t naliases;	/* of all functions together */

	struct empty_piece *empties;	/* sorted by `at`, then by parent */
	size_t nempties;

	/* Sorted, unique link-time addresses within the texts that something
	 * other than a direct branch may lead to: targets of relative
	 * relocations (REL, RELA, RELR) and of absolute words in non-PIE data,
	 * landing pads of every LSDA, dynamic symbols, the ELF entry, init/fini. Together with
	 * the function starts and direct branches these are the barriers of
	 * plan. */
	raddr_t *pointers;
	size_t npointers;
	/* What the same relocations and words name that is no text. */
	raddr_t *data_pointers;
	size_t ndata_pointers;
	/* Where the relocations put addresses of text. Sorted. */
	raddr_t *code_words;
	size_t ncode_words;

	/* Bytes within the texts that must run, or be read, where they are, as
	 * the file's __rseq_cs sections tell: restartable sequences, each with
	 * the last byte of the instruction before it, which tells the kernel
	 * that it begins; and the signatures before their abort addresses.
	 * Sorted and disjoint. */
	struct range *rseqs;
	size_t nrseqs;

	/* First addresses of XRay's sleds, sorted: code that the program's own
	 * runtime may rewrite while it runs. */
	raddr_t *sleds;
	size_t nsleds;

	/* Code that Go's compiler made; empty: none. */
	struct range go;
	/* Of that, what no goroutine goes on at that was preempted. Sorted, disjoint. */
	struct range *unsafe;
	size_t nunsafe;

	/* Code that OCaml's compiler made. Sorted, disjoint. */
	struct range *ocaml;
	size_t nocaml;

	/* How the file reaches other files: slots sorted by address; slots of IFUNCs;
	 * the sections of stubs (which of them, only the instructions tell). */
	struct got_slot *slots;
	size_t nslots;
	struct ifunc_slot *ifunc_slots;
	size_t nifunc_slots;
	struct range *tables;
	size_t ntables;

	/* By block of 1 << index_shift bytes from the first function's start on: how many
	 * functions begin before it. To find one is to search a block; NULL: all. */
	uint32_t *index;
	unsigned int index_shift;

	struct symbols_impl *impl;
};

/*
 * Read the file behind `fd` (which may be closed after the call). `path` is for
 * messages and for finding debug files by .gnu_debuglink next to it. Never
 * contacts a debuginfod server. Errors: -ENOEXEC not an ELF file of a 64-bit
 * little-endian machine, -EBADMSG truncated or corrupt where it matters,
 * -ENOMEM. A debug file that is missing or broken is not an error, nor is a
 * table of the file that makes no sense: what it would have told is missing.
 */
int symbols_open(int fd, const char *path, struct symbols **ret);
/* The same of its text alone: there are no functions, and nothing that data tells. */
int symbols_open_text(int fd, const char *path, struct symbols **ret);
/* The name by which others link this file, "" (and false) if there is none. Reads
 * nothing else of it. */
bool symbols_soname(int fd, const char *path, char *ret, size_t size);
/* Where later calls look for debug files; NULL: "/usr/lib/debug". The string is
 * not copied. */
void symbols_set_debug_root(const char *dir);
void symbols_close(struct symbols *);	/* NULL is legal */

/* Bytes at a link-time address from the file's PT_LOADs (any, not only text).
 * 0, or -EFAULT when the file does not hold all of them, or they cannot be read: a caller that
 * concludes anything from that asks symbols_error. */
int symbols_read(const struct symbols *, raddr_t addr, void *buf, size_t n);

/* The same in place: a pointer to the bytes at `addr`, and in *n how many of `most` follow
 * in the same PT_LOAD; NULL and 0 if none. */
const uint8_t *symbols_bytes(const struct symbols *, raddr_t addr, size_t most, size_t *n);

/* Does a PT_LOAD hold this address, as far as the file has it? Nothing is read. */
bool symbols_holds(const struct symbols *, raddr_t addr);
/* From the first of these to the last. */
struct range symbols_span(const struct symbols *);

/* Is it data that the program's own code may read to find a way by? */
bool symbols_is_tabled(const struct symbols *, raddr_t);
/* Is it of what only loaders, unwinders and tracers read? *next: where that ends; or, if it is
 * not, where the next of that begins, UINT64_MAX if none does. */
bool symbols_is_for_others(const struct symbols *, raddr_t, raddr_t *next);
/* Does the file's table of sections say that there is data, be it in a segment that may run?
 * `left`, if not NULL: in a range around it; it is cut to what lies between data. */
bool symbols_is_data(const struct symbols *, raddr_t, struct range *left);

/* 0, or -errno with a message: something that the file holds could not be read. */
int symbols_error(const struct symbols *);

/* The texts as one: a pointer to the bytes at `addr`, and in *n how many follow
 * in the same text. NULL if outside. */
const uint8_t *symbols_text_at(const struct symbols *, raddr_t addr, size_t *n);

/* It is asked for each instruction, and nearly all of them are in the largest. */
static inline const uint8_t *symbols_text(const struct symbols *s, raddr_t addr, size_t *n)
{
	const struct text *t = s->text;

	if (!t || !range_has(t->range, addr))
		return symbols_text_at(s, addr, n);
	*n = t->range.end - addr;
	return t->bytes + (addr - t->range.start);
}

/* The function whose range holds `addr` and starts nearest before it, or
 * NULL. */
const struct func *symbols_func_at(const struct symbols *, raddr_t addr);

/* Has OCaml's compiler made what is there? */
bool symbols_of_ocaml(const struct symbols *, raddr_t addr);

/* A function or object that .dynsym defines, by exact raw name; its link-time
 * address, or -ENOENT. Versions: the default one wins. */
int symbols_dynamic(const struct symbols *, const char *name, raddr_t *ret);

/* An object or function that the file defines, also for itself alone, by the exact name of its
 * symbol; -ENOENT if there is none, or if different ones have that name. */
int symbols_object(const struct symbols *, const char *name, raddr_t *ret);

/*
 * What the relocations of a file name by a symbol of any file and a distance from it. Reads
 * nothing else of the file. 0, or -errno as symbols_open.
 */
struct outwards;
int symbols_outwards(int fd, const char *path, struct outwards **ret);
void outwards_free(struct outwards *);	/* NULL is legal */
/* Add to *v the places of this file's text that these are, by the symbols that it defines.
 * 0, -ENOMEM, or -EBADMSG if there are more than files have. */
int symbols_led_to(const struct symbols *, const struct outwards *, raddr_t **v, size_t *n,
		   size_t *cap);

/* The symbol whose address the loader puts into the word at `at`, or NULL. */
const char *symbols_slot(const struct symbols *, raddr_t at);
/* Make functions of linkage stubs, FUNC_PLT; sorts `stubs`. To be called before a pointer to a
 * struct func is kept. 0 or -ENOMEM. */
int symbols_add_stubs(struct symbols *, struct plt_stub *stubs, size_t n);

/* The CFA's offset from the stack pointer at `pc` in bytes (8 at a function's
 * entry on x86-64), from .eh_frame; -ENOENT when no unwind entry covers it,
 * -ENOTSUP when the CFA is not sp + constant there. Several threads may ask at once. */
int symbols_cfa_offset(const struct symbols *, raddr_t pc, int64_t *ret);

/* The same by any register (its number in DWARF): the CFA is what that holds, and so much more. */
int symbols_cfa_rule(const struct symbols *, raddr_t pc, uint64_t *reg, int64_t *offset);

/*
 * Patterns: GLOB[+OFFSET][@MODULE], see inject(1). The last @ splits; a name with a
 * version such as `memcpy@@GLIBC` is not a pattern. "@exe" is the executable.
 */
struct pattern {
	char *glob;		/* what the user typed, for messages */
	char *name;		/* part before the @ */
	char *spelling;		/* the same as spelling.h compares it; NULL: as `name` */
	char *module;		/* part after it, NULL if none */
	bool place;		/* NAME+OFFSET[@MODULE]: what is so many bytes behind
				 * the start of a function */
	uint64_t offset;
	bool plt;		/* NAME@plt[@MODULE]: calls through the linkage
				 * table of that module */
	bool matched;		/* set by the caller that selects, for its hints */
};

/* 0, or -EINVAL with a message: empty, unbalanced [ ], module missing, an offset that is none. */
int pattern_parse(const char *text, struct pattern *ret);
void pattern_clear(struct pattern *);
/* Does the module part allow this module? Without one: true unless the module
 * is the C library, the dynamic loader or the payload (`is_system`). */
bool pattern_allows(const struct pattern *, const char *base, bool is_exe,
		    bool is_system);
/*
 * The name under which `f` matches, NULL if it does not. A name equal to the
 * glob is an exact match (*exact = true); callers that got any exact match for
 * a pattern drop its other matches. Tried are: name, full (with parameter
 * list), raw, and the same without gcc's .isra/.constprop/.part suffixes, [abi:...] and
 * Rust's hash, for f and for its aliases; then all of it by its spelling (spelling.h).
 * `*` crosses `::`.
 */
const char *pattern_match(const struct pattern *, const struct symbols *,
			  const struct func *f, bool *exact);
/* Up to `n` names of functions (with `plt`, of linkage stubs) that are near
 * `name` (edit distance, substrings), nearest first. Returns how many. Strings
 * owned by the symbols. */
size_t pattern_near(const struct symbols *, const char *name, bool plt,
		    const char **ret, size_t n);
/* The same of `count` other names: words of the command line. */
size_t words_near(const char *const *words, size_t count, const char *name,
		  const char **ret, size_t n);

#endif
