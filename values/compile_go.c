/* SPDX-License-Identifier: MIT */
/*
 * compile_go: what is read of an interface of Go, in this order, so that text_go.c finds it:
 *
 * 1. with methods: the address of its type's description, in its table
 * 2. the description
 * 3. where descriptions begin, and where they end: numbers that are known
 * 4. where the name is; 5. the name
 * 6. the begin of the value, 7. and the text, if it is a string, or an error that begins with one
 */
#include <string.h>

#include "values/compile_impl.h"
#include "values/go_types.h"

static uint8_t add_number(struct compiling *c, uint64_t n)
{
	return compile_add(c, (struct read_op){
		.source = READ_LITERAL, .role = READ_LENGTH, .cap = 8,
		.offset = (int32_t)(uint32_t)n, .high = (int32_t)(uint32_t)(n >> 32) });
}

static uint8_t add_behind(struct compiling *c, uint8_t op, int32_t offset, uint16_t cap)
{
	return op == READS_NONE ? op : compile_add(c, (struct read_op){
		.source = READ_MEMORY, .role = READ_LENGTH, .index = op, .offset = offset,
		.cap = cap });
}

/* The description of the type; READS_NONE: it is not read. */
static uint8_t add_type(struct compiling *c, uint32_t type, struct where tab, bool methods)
{
	struct read_op op;

	if (!compile_behind(c, type, tab, methods ? 8 : GO_TYPE_SIZE, &op))
		return READS_NONE;
	op.offset = methods ? GO_TABLE_TYPE : GO_TYPE_READ;
	uint8_t made = compile_add(c, op);

	return methods ? add_behind(c, made, GO_TYPE_READ, GO_TYPE_SIZE) : made;
}

static bool add_name(struct compiling *c, uint8_t description)
{
	uint8_t base = add_number(c, c->s->go_types.start);
	uint8_t end = add_number(c, c->s->go_types.end);

	if (description == READS_NONE || base == READS_NONE || end == READS_NONE)
		return false;
	uint8_t at = compile_add(c, (struct read_op){
		.source = READ_SUM, .role = READ_LENGTH, .index = base, .cap = 8, .unit = 1,
		.length_index = description, .length_at = GO_NAME, .length_size = 4 });

	return add_behind(c, at, 0, GO_NAME_READ) != READS_NONE;
}

static void add_value(struct compiling *c, uint32_t type, struct where data, bool text)
{
	struct read_op op;

	if (!compile_behind(c, type, data, GO_VALUE_READ, &op))
		return;
	uint8_t value = compile_add(c, op);

	if (value == READS_NONE || !text)
		return;
	compile_add(c, (struct read_op){
		.source = READ_MEMORY, .role = READ_LENGTH, .index = value, .cap = c->o.text,
		.length_index = value, .length_at = 8, .length_size = 8 });
}

void compile_interface(struct compiling *c, uint32_t type, struct where w)
{
	const struct type *t = signature_type_at(c->s, type);
	const struct member *tab = signature_member_at(c->s, t, 0);
	bool methods = tab && !strcmp(signature_name_at(c->s, tab->name), "tab");
	bool error = !strcmp(signature_name_at(c->s, t->name), "error");
	struct where at = { w.op, w.at + t->length_at }, data = { w.op, w.at + t->pointer_at };

	if (range_size(c->s->go_types) && add_name(c, add_type(c, type, at, methods)))
		add_value(c, type, data, !methods || error);
}
