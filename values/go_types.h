/* SPDX-License-Identifier: MIT */
/*
 * go_types: what Go's runtime keeps of each type (abi.Type, runtime._type), as versions since 1.17
 * have it, and the names of kinds (internal/abi, reflect.Kind).
 *
 * An interface has the address of its type's description, or that of a table which has it. Its name
 * is so far behind where all descriptions begin: a byte of flags, its length (7 bits a byte, the
 * lowest first), itself.
 */
#ifndef VALUES_GO_TYPES_H
#define VALUES_GO_TYPES_H

enum {
	GO_TABLE_TYPE = 8,	/* in the table of an interface with methods: the type */
	GO_TYPE_READ = 20,	/* what is read of a description begins here, */
	GO_TYPE_SIZE = 24,	/* and is so large. In that are: */
	GO_FLAGS = 0,
	GO_KIND = 3,
	GO_NAME = 20,		/* 4 bytes */
	GO_FLAG_STAR = 2,	/* of GO_FLAGS: the '*' in front of the name is not the type's */
	GO_KIND_MASK = 31,
	GO_NAME_READ = 66,	/* bytes of a name, with what stands before it */
	GO_VALUE_READ = 16,	/* of a value: a string has so many */
};

enum go_kind {
	GO_BOOL = 1, GO_INT = 2, GO_INT64 = 6, GO_UINT = 7, GO_UINTPTR = 12, GO_FLOAT32 = 13,
	GO_FLOAT64 = 14, GO_POINTER = 22, GO_STRING = 24,
};

#endif
