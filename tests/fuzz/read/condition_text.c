/* SPDX-License-Identifier: MIT */
/* condition_text: the input is a condition as a user writes it, of a function that has a bit of
 * everything. What becomes of it is good, and changes no plan for the worse. */
#include <elf.h>
#include <errno.h>

#include "tests/fuzz/read/read.h"
#include "tests/unit/check.h"
#include "values/compile.h"
#include "values/condition_compile.h"
#include "values/hand.h"

enum { TEXT_MOST = 2000 };

static int ranges(void *ctx, const char *glob, struct condition_range *v, size_t room, size_t *n)
{
	*n = MIN(strlen(glob), room);
	memset(v, 0, *n * sizeof(*v));
	return *n < strlen(glob) ? -E2BIG : 0;
}

static struct signature sig;

static uint32_t add(struct type t, const char *name, uint32_t of, uint32_t at)
{
	t.first = (uint32_t)sig.nmembers;
	t.n = 1;
	signature_member(&sig, &(struct member){ .name = signature_text(&sig, name), .type = of,
						 .at = at });
	return signature_type(&sig, &t);
}

/* A function by hand, whose last argument leads to structures. */
static void declare(void)
{
	static const char hand[] = "f(fd:int, buf:buf(n), n:u64, key:str, out:out(ret), x:f64, "
		"p:ptr, ret:long)";
	struct hand_error error;
	uint32_t text, inner, enumeration;
	size_t name;

	MUST(hand_parse(hand, EM_X86_64, &sig, &name, &error) == 0);
	text = signature_type(&sig, &(struct type){ .kind = TYPE_ARRAY, .size = 40, .n = 40,
						    .of = sig.types[sig.params[3].type].of });
	enumeration = signature_type(&sig, &(struct type){
		.kind = TYPE_ENUM, .size = 2, .first = (uint32_t)sig.nenumerators, .n = 1 });
	signature_enumerator(&sig, 3, "RED");
	inner = add((struct type){ .kind = TYPE_STRUCT, .size = 48 }, "text", text, 4);
	inner = add((struct type){ .kind = TYPE_UNION, .size = 48 }, "inner", inner, 0);
	inner = add((struct type){ .kind = TYPE_STRUCT, .shape = SHAPE_TEXT_LIBCXX, .size = 24,
				   .pointer_at = 16, .length_at = 8 }, "s", inner, 0);
	inner = add((struct type){ .kind = TYPE_STRUCT, .size = 48 }, "s", inner, 0);
	sig.types[sig.params[6].type].of = inner;
	sig.params[6].contents.behind = BEHIND_TYPE;
	sig.types[sig.params[0].type].of = enumeration;
	MUST(!sig.out_of_memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct condition_names names = { ranges, NULL, NULL };
	char expr[TEXT_MOST + 1], lines[2 * TEXT_MOST + 16];
	struct condition_error e;
	struct read_plan plan, before;
	struct condition c;

	if (!sig.ntypes)
		declare();
	size = MIN(size, TEXT_MOST);
	memcpy(expr, data, size);
	expr[size] = '\0';
	reads_compile(&sig, &(struct compile_options){ .deep = size % 3, .text = 40 }, &plan);
	before = plan;
	int err = condition_compile(expr, &sig, &plan, &names, &c, &e);

	MUST(!err || err == -EINVAL || err == -ENOENT || err == -ENOSPC);
	MUST(reads_check(&plan) == 0);
	if (!err) {
		MUST(condition_check(&c) == 0);
		return 0;
	}
	MUST(e.column <= strlen(expr) && memchr(e.what, '\0', sizeof(e.what)) && *e.what);
	MUST(!memcmp(&plan, &before, sizeof(plan)));
	MUST(condition_error_text(expr, &e, lines, sizeof(lines)) < sizeof(lines));
	return 0;
}
