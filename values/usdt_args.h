/* SPDX-License-Identifier: MIT */
/*
 * usdt_args: where are the arguments of a place for tracers (USDT), as its note says?
 *
 * A note has a text such as "-4@%eax 8@-24(%rbp) 4@$5": of each argument how many bytes it has (a
 * minus: it is signed), and an operand as assembly has it. Nothing of it is believed: what is not
 * of a known form is USDT_UNKNOWN, and said to be so.
 */
#ifndef VALUES_USDT_ARGS_H
#define VALUES_USDT_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	USDT_ARGS_MAX = 12,	/* sys/sdt.h has probes with up to twelve */
	USDT_SYMBOL_MAX = 96,
};

enum usdt_from {
	USDT_UNKNOWN,		/* in no form that is known */
	USDT_NUMBER,		/* it is `number` itself */
	USDT_ADDRESS,		/* it is the address of `symbol`, and `number` */
	USDT_GENERAL,		/* register `reg`, from its byte `part` on */
	USDT_VECTOR,		/* vector register `reg`, a number in DWARF, too */
	USDT_MEMORY,		/* memory at base + index * scale + number, or, where `symbol` is
				 * not "", at symbol + number and that */
};

/* Registers by their numbers in DWARF; -1: none. */
struct usdt_arg {
	uint8_t from;		/* enum usdt_from */
	uint8_t size;		/* bytes; 0: not told */
	bool is_signed, is_float;
	int16_t reg, base, index;
	uint8_t part, scale;
	bool by_pc;		/* the symbol's address is named by a distance from the PC, which
				 * changes nothing of where it is */
	int64_t number;
	char symbol[USDT_SYMBOL_MAX];
};

struct usdt_args {
	size_t n;
	bool more;		/* than there is room for */
	struct usdt_arg v[USDT_ARGS_MAX];
};

/* `machine`: the file's e_machine. */
void usdt_args_parse(const char *text, uint16_t machine, struct usdt_args *ret);
/* "i32 %eax", "u64 -24(%rbp)", "i32 5" or "?": returns buf. */
char *usdt_arg_text(const struct usdt_arg *, uint16_t machine, char *buf, size_t size);

/* ---- what instruction sets have of their own: places_NAME_usdt.c --------- */

struct usdt_set {
	uint16_t machine;
	/* All `n` bytes are an operand, whose size has been read: fill in the rest. */
	bool (*operand)(const char *text, size_t n, struct usdt_arg *);
	/* A register as text, so many bytes of it. */
	void (*name)(int reg, unsigned int size, unsigned int part, char *buf, size_t room);
	/* And memory. */
	void (*memory)(const struct usdt_arg *, char *buf, size_t room);
};

extern const struct usdt_set usdt_x86_64, usdt_arm64;

/* A number in decimal or hexadecimal notation, all of it; false: it is none. */
bool usdt_number(const char *text, size_t n, int64_t *ret);
/* A symbol, and perhaps a number behind it or before it: foo, foo+8, foo-0x10, 8+foo; .LC0. */
bool usdt_symbol(const char *text, size_t n, struct usdt_arg *);

#endif
