/* SPDX-License-Identifier: MIT */
/*
 * stub: what lies before each stub in an arena, and says what each place in it stands
 * for?
 *
 * Notes and stubs follow one another without gaps in each page, from its start (in the
 * page where the recording routines end: from there on) to a note without blocks. None lies in
 * two pages. So an address in a stub is enough to find its note.
 */
#ifndef PAYLOAD_STUB_H
#define PAYLOAD_STUB_H

#include <stddef.h>
#include <stdint.h>

/* The unit in which they are placed, bytes; and where the first may be, behind the
 * routines. */
#define STUB_ALIGN 16
#define ROUTINES_ALIGN 64

enum stub_part {
	STUB_COPY,		/* of an instruction: nothing is pushed */
	STUB_RECORD,		/* a recording call */
	STUB_CALL,		/* a call's copy: it pushes the return address, and jumps */
	STUB_TIGHT,		/* a recording call that nearly does without a stack */
	STUB_LEAVE,		/* a copy of an exit, */
	STUB_RECORD_LEAVE,	/* and the recording call before it, */
	STUB_RECORD_RETURN,	/* or the jump to what records a return, and returns */
	STUB_RECORD_BELOW,	/* a recording call below what the code relies on there */
};

/* So many bytes of the stub, and of the window that they stand for: none before its
 * next instruction, all of it with its last byte. */
struct stub_row {
	uint8_t bytes;
	uint8_t part : 4;	/* enum stub_part */
	uint8_t window : 4;
};

/* Rows without bytes are none. Behind what the others stand for the stub jumps back,
 * behind the window. */
struct stub_note {
	int32_t site;		/* where the window begins, from this note on */
	uint8_t blocks;		/* of STUB_ALIGN bytes, from here to the next note */
	uint8_t nrows;
	struct stub_row rows[];
};

/* Bytes from a note with so many rows to its stub. */
static inline size_t stub_note_size(size_t nrows)
{
	size_t size = offsetof(struct stub_note, rows) + nrows * sizeof(struct stub_row);

	return (size + STUB_ALIGN - 1) / STUB_ALIGN * STUB_ALIGN;
}

#endif
