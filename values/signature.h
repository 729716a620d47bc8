/* SPDX-License-Identifier: MIT */
/*
 * signature: which values does a function take and return, of which types, and where are they
 * at its entry and exit?
 *
 * All of it is numbers and indices, with the names in one block of text: it can be kept in a
 * recording, and nothing in it can be followed in a circle by pointers.
 */
#ifndef VALUES_SIGNATURE_H
#define VALUES_SIGNATURE_H

#include "base/base.h"

enum {
	TYPES_MAX = 1024,	/* of one signature */
	MEMBERS_MAX = 4096,
	ENUMERATORS_MAX = 4096,
	TEXT_MAX = 1 << 17,	/* bytes of names */
	PARAMS_MAX = 32,
	PIECES_MAX = 8,
	NESTED_MAX = 16,	/* structures within structures */
};

enum type_kind {
	TYPE_UNKNOWN,
	TYPE_VOID,
	TYPE_INT,
	TYPE_CHAR,		/* plain char, and others that are text */
	TYPE_BOOL,
	TYPE_ENUM,		/* `of`: the integer below it; first, n: enumerators */
	TYPE_FLOAT,
	TYPE_COMPLEX,		/* two floats of half the size */
	TYPE_POINTER,		/* `of`: what is there */
	TYPE_REFERENCE,		/* of C++: the same, and never NULL */
	TYPE_CODE,		/* a function */
	TYPE_STRUCT,		/* first, n: members; a class, too */
	TYPE_UNION,
	TYPE_ARRAY,		/* `n` of `of` */
	TYPE_VECTOR,		/* the same in one vector register */
	TYPE_VARIANTS,		/* of Rust: one of several structures. first, n: members, of
				 * which one is there; `of`: the integer that tells which,
				 * 0: none does; pointer_at: where that is; length_at: the
				 * first member's enumerator, which has the number */
};

enum type_flag {
	TYPE_SIGNED = 1,
	TYPE_INDIRECT = 2,	/* a class that is passed by a pointer to a copy */
	TYPE_OPAQUE = 4,	/* its members are not known, or not told */
	TYPE_HEX = 8,		/* print it so */
	TYPE_OCTAL = 16,
	TYPE_TO_CONST = 32,	/* a pointer through which nothing is written */
	TYPE_QUAD = 64,		/* a float of 16 bytes, all of which count (IEEE 754) */
};

/* What the members of a class mean, as a user thinks of them: shapes.h. */
enum type_shape {
	SHAPE_NONE,
	SHAPE_TEXT,		/* pointer and length of characters */
	SHAPE_TEXT_COW,		/* pointer to characters, with the length 24 bytes before */
	SHAPE_TEXT_LIBCXX,	/* short within, or long elsewhere */
	SHAPE_SPAN,		/* pointer and number of elements */
	SHAPE_VECTOR,		/* pointers to the first and behind the last element */
	SHAPE_OWNER,		/* a pointer, and perhaps what deletes it */
	SHAPE_OPTIONAL,		/* a value, and whether it is there */
	SHAPE_INNER,		/* `of` at pointer_at, and nothing else that is of interest */
	SHAPE_INTERFACE,	/* of Go: the pointer to its value, and at length_at what tells of
				 * its type: a description of that, or what has its address */
};

struct type {
	uint8_t kind, flags;	/* enum type_kind, enum type_flag */
	uint8_t shape;		/* enum type_shape */
	uint8_t spare;
	uint32_t name;		/* in the text: the name of the outermost typedef, if there
				 * is one; 0: none */
	uint64_t size;		/* bytes */
	uint32_t align;		/* bytes; 0: not known */
	uint32_t of;		/* a type */
	uint32_t first, n;
	/* With a shape: where in it the pointer, the length or end, and the value are. */
	uint32_t pointer_at, length_at;
};

enum member_flag {
	MEMBER_BASE = 1,	/* what a class inherits from */
	MEMBER_OTHERWISE = 2,	/* of TYPE_VARIANTS: for all numbers that no other has */
};

struct member {
	uint32_t name;		/* 0: none */
	uint32_t type;
	uint32_t at;		/* bytes from the structure's begin */
	uint16_t bit;		/* of a bit field: its lowest bit, from the byte `at` */
	uint8_t bits;		/* and how many; 0: it is none */
	uint8_t flags;		/* enum member_flag */
};

struct enumerator {
	int64_t value;
	uint32_t name;
	uint32_t spare;
};

enum piece_from {
	FROM_GENERAL,		/* registers by their numbers in DWARF */
	FROM_VECTOR,		/* from 0 up */
	FROM_X87,		/* depth in the register stack */
	FROM_STACK,		/* offset from the stack pointer at the entry */
	FROM_LITERAL,		/* it is always `literal` */
	FROM_MEMORY,		/* where the general register `number` points to, plus `offset`,
				 * `literal`, and register `index` times `scale` */
	FROM_ADDRESS,		/* that address itself, or a number that is made so */
};

enum { PIECE_NO_REGISTER = 0xff };	/* of these two: there is none */

/* Some bytes of a value. */
struct piece {
	uint8_t from;		/* enum piece_from */
	uint8_t number;		/* of the register */
	uint16_t at;		/* in the value: bytes */
	uint16_t size;
	uint8_t index, scale;	/* of memory and addresses; not kept in recordings */
	int32_t offset;		/* of the stack; of a general register the bytes below it */
	uint64_t literal;
};

enum place_kind {
	PLACE_UNKNOWN,
	PLACE_GONE,		/* optimised out */
	PLACE_NOWHERE,		/* it has no bytes */
	PLACE_PIECES,
	PLACE_POINTED,		/* the first piece is a pointer to it */
	PLACE_BY_TYPE,		/* as the calling convention has it for its type: only until
				 * places_settle has found that */
};

struct place {
	uint8_t kind;		/* enum place_kind */
	uint8_t n;
	/* PLACE_POINTED, of a result: the pointer is taken at the entry, and the value at the
	 * exit. */
	bool kept;
	/* It is told of later code only that this was it at the entry: true if the convention
	 * has it there, too, for a parameter may have become another one. PLACE_BY_TYPE: there,
	 * a pointer to it is in the frame. */
	bool later;
	bool always;		/* registers that are told of all the function's code */
	bool packed;		/* pieces without what lies between them: run-time, as above */
	struct piece pieces[PIECES_MAX];
};

/* What is behind a pointer, if its type does not tell: of prototypes. */
enum behind {
	BEHIND_TYPE,		/* what the type says */
	BEHIND_NOTHING,		/* just a number */
	BEHIND_TEXT,		/* characters up to a NUL */
	BEHIND_BYTES,		/* `length` of them */
	BEHIND_LIST,		/* `length` of what the type points to */
};

enum length_from {
	LENGTH_FIXED,
	LENGTH_PARAM,		/* the value of a parameter */
	LENGTH_POINTED,		/* of what a parameter points to */
	LENGTH_RESULT,
};

struct contents {
	uint8_t behind;		/* enum behind */
	bool out;		/* it is there at the exit */
	uint8_t from;		/* enum length_from */
	uint8_t param;		/* the index of that */
	uint8_t length_size;	/* LENGTH_POINTED: bytes of the length */
	uint32_t length;	/* LENGTH_FIXED; a limit of BEHIND_TEXT, 0: none */
	uint32_t unit;		/* bytes that the length counts in; 0: one */
};

struct parameter {
	uint32_t name;		/* 0: none */
	uint32_t type;
	struct place place;
	struct contents contents;
	bool hidden;		/* it is there for the places of the others */
};

/* Whose convention it has, and whose way to write values. */
enum signature_language {
	LANGUAGE_C,		/* C++, too */
	LANGUAGE_RUST,
	LANGUAGE_GO,		/* of version 1.17 and later */
	LANGUAGE_OTHER,		/* its convention is not known */
};

enum signature_source {
	SIGNATURE_DWARF,
	SIGNATURE_BY_HAND,
	SIGNATURE_KNOWN,	/* the built-in table */
};

struct signature {
	struct type *types;	/* the first is void */
	size_t ntypes, types_cap;
	struct member *members;
	size_t nmembers, members_cap;
	struct enumerator *enumerators;
	size_t nenumerators, enumerators_cap;
	char *text;		/* names, each with its NUL; the first is empty */
	size_t ntext, text_cap;
	struct parameter params[PARAMS_MAX];
	size_t nparams;
	struct parameter result;
	uint32_t name;
	uint16_t machine;	/* e_machine */
	uint8_t source;		/* enum signature_source */
	uint8_t language;	/* enum signature_language */
	uint16_t compiler;	/* of Rust: its version, the number behind "1."; 0: not known */
	bool variadic;
	bool more;		/* parameters than PARAMS_MAX */
	/* The compiler has given it another convention than its declaration says. */
	bool own_convention;
	/* clang before version 18: halves of an __int128 are parameters of their own on x86-64. */
	bool halves;
	/* Of Go: where the runtime keeps its descriptions of types; empty: not known. Run-time, and
	 * not kept in recordings. */
	struct range go_types;
	bool out_of_memory;	/* or out of bounds: what is missing is void or nameless */
};

/* 0 or -ENOMEM. */
int signature_begin(struct signature *, uint16_t machine);
void signature_clear(struct signature *);
/* Each returns an index, 0 if there is no room (see out_of_memory). */
uint32_t signature_text(struct signature *, const char *text);
uint32_t signature_type(struct signature *, const struct type *);
/* Add to the end of the list; false if there is no room. */
bool signature_member(struct signature *, const struct member *);
bool signature_enumerator(struct signature *, int64_t value, const char *name);

/* Indices from others may be anything: void, or an empty name, if there is no such. */
const struct type *signature_type_at(const struct signature *, uint32_t);
const char *signature_name_at(const struct signature *, uint32_t);
const struct member *signature_member_at(const struct signature *, const struct type *,
					 uint32_t i);
/* The one of that name; NULL: there is none. */
const struct enumerator *signature_enumerator_at(const struct signature *, const struct type *,
						 uint32_t i);
/* The number by which a member of TYPE_VARIANTS is told; NULL: all that others do not have. */
const struct enumerator *variant_number(const struct signature *, const struct type *,
					uint32_t i);
/* The alignment of a type, bytes; 1 at least. */
uint32_t signature_align(const struct signature *, uint32_t type);
/* bound.c. Leave out members of types that would take too long to walk; places_settle does it. */
void signature_bound(struct signature *);
/* Is it as good as the one thing within it, `of` at pointer_at? */
static inline bool type_is_inner(const struct type *t)
{
	return t->shape == SHAPE_INNER || t->shape == SHAPE_INTERFACE;
}

/* Is it a number, bool, enum or pointer, in a general register if it is a parameter? */
bool type_is_scalar(const struct type *);
/* A union of which gcc tells no members, as of a transparent one that only a typedef names
 * (connect()'s address): it is passed as its first member would be, which mostly is a pointer. */
bool type_is_transparent(const struct type *);

#endif
