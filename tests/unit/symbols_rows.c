/* SPDX-License-Identifier: MIT */
/*
 * Do the rows by which stacks are walked say what readelf says, which has a reader of .eh_frame of
 * its own: where the CFA is, and where the return address and the frame pointer are? And what
 * becomes of the frame of a signal, of a linkage table, and of what makes no sense?
 */
#include <errno.h>

#include "symbols/unwind/rows.h"
#include "tests/unit/symbols_world.h"

static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/bin/python3",
};

static size_t compared, others;

static void rows_of(const char *path, struct unwind_rows *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0);
	MUST_EQ(unwind_rows_open(fd, path, "/nonexistent", (struct range){ 0, UINT64_MAX },
				 ret), 0);
	close(fd);
}

static struct unwind_rule rule_at(const struct unwind_rows *r, raddr_t pc)
{
	size_t n = vec_prefix(r->n, i, r->v[i].at <= pc);

	return n ? r->rules[r->v[n - 1].rule] : (struct unwind_rule){ 0 };
}

/* ---- readelf --------------------------------------------------------------- */

/* A row of its table, and which of its columns are whose. */
struct row {
	raddr_t start;
	char cfa[32], fp[32], ra[32];
};

struct columns {
	int fp, ra;		/* behind the place; 0: not there */
};

static void parse_columns(char *line, struct columns *ret)
{
	int i = 0;

	*ret = (struct columns){ 0 };
	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"), i++) {
		if (!strcmp(word, "rbp"))
			ret->fp = i;
		else if (!strcmp(word, "ra"))
			ret->ra = i;
	}
}

static void parse_row(char *line, const struct columns *c, struct row *ret)
{
	int i = 0;

	*ret = (struct row){ .fp = "u", .ra = "u" };
	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"), i++) {
		if (*word == '(')	/* "r10 (r10)" */
			i--;
		else if (i == 0)
			ret->start = strtoull(word, NULL, 16);
		else if (i == 1)
			snprintf(ret->cfa, sizeof(ret->cfa), "%s", word);
		else if (i == c->fp)
			snprintf(ret->fp, sizeof(ret->fp), "%s", word);
		else if (i == c->ra)
			snprintf(ret->ra, sizeof(ret->ra), "%s", word);
	}
}

/* What a rule says, as readelf has it; of what rules say otherwise, "?". */
static void rule_text(const struct unwind_rule *rule, struct row *ret)
{
	*ret = (struct row){ .cfa = "?", .fp = "?", .ra = "?" };
	if (rule->base == UNWIND_END)
		strcpy(ret->ra, "u");
	if (rule->base != UNWIND_SP && rule->base != UNWIND_FP)
		return;
	snprintf(ret->cfa, sizeof(ret->cfa), "%s%+d", rule->base == UNWIND_SP ? "rsp" : "rbp",
		 rule->cfa);
	snprintf(ret->ra, sizeof(ret->ra), "c%+d", rule->ra);
	if (rule->flags & UNWIND_FP_SAME)
		strcpy(ret->fp, "u");
	else if (!(rule->flags & (UNWIND_FP_BY_FP | UNWIND_FP_GONE)))
		snprintf(ret->fp, sizeof(ret->fp), "c%+d", rule->fp);
}

static bool is_text(const char *said)
{
	return !strcmp(said, "exp") || !strcmp(said, "vexp") || said[0] == 'r';
}

static void compare_at(const char *path, const struct unwind_rows *r, raddr_t pc,
		       const struct row *said)
{
	struct unwind_rule rule = rule_at(r, pc);
	bool sp = !strncmp(said->cfa, "rsp", 3), fp = !strncmp(said->cfa, "rbp", 3);
	struct row ours;

	rule_text(&rule, &ours);
	if (!strcmp(said->ra, "u")) {
		others++;
		MUST_EQ(rule.base, UNWIND_END);
		return;
	}
	if (!(sp || fp) || is_text(said->ra)) {
		others++;
		MUST(rule.base != UNWIND_SP && rule.base != UNWIND_FP);
		return;
	}
	compared++;
	if (!strcmp(said->cfa, ours.cfa) && !strcmp(said->ra, ours.ra) &&
	    (is_text(said->fp) || !strcmp(said->fp, ours.fp)))
		return;
	fprintf(stderr, "%s: at %#llx we say %s, %s, %s; readelf %s, %s, %s\n", path,
		(unsigned long long)pc, ours.cfa, ours.fp, ours.ra, said->cfa, said->fp, said->ra);
	exit(1);
}

static void compare_row(const char *path, const struct unwind_rows *r, const struct row *row,
			raddr_t end)
{
	if (!*row->cfa || row->start >= end)
		return;
	compare_at(path, r, row->start, row);
	compare_at(path, r, end - 1, row);
}

static void compare_file(const char *path)
{
	struct unwind_rows r;
	char command[512], line[4096];
	struct columns columns = { 0 };
	struct row row = { 0 };
	raddr_t end = 0;

	rows_of(path, &r);
	MUST(r.n > 1000 && r.nrules < 20000);
	snprintf(command, sizeof(command), "readelf -wF %s 2>/dev/null", path);
	FILE *f = popen(command, "r");

	MUST(f);
	while (fgets(line, sizeof(line), f)) {
		char *pc = strstr(line, " pc=");

		if (pc || strstr(line, " CIE ")) {
			compare_row(path, &r, &row, end);
			row = (struct row){ 0 };
			end = 0;
			if (pc)
				sscanf(pc, " pc=%*x..%lx", &end);
		} else if (strstr(line, " LOC ")) {
			parse_columns(line, &columns);
		} else if (end && strspn(line, "0123456789abcdef") == 16) {
			struct row next;

			parse_row(line, &columns, &next);
			compare_row(path, &r, &row, next.start);
			row = next;
		}
	}
	compare_row(path, &r, &row, end);
	pclose(f);
	printf("%s: %zu rows, %zu rules\n", path, r.n, r.nrules);
	unwind_rows_clear(&r);
}

/* ---- made ------------------------------------------------------------------- */

static raddr_t symbol(const char *file, const char *name)
{
	struct symbols *s = world_symbols(file);
	raddr_t at = world_func(s, name)->range.start;

	symbols_close(s);
	return at;
}

static void look_at_made(void)
{
	struct unwind_rows r;
	char path[512];

	world_write("made.s",
		    /* A signal's frame, as glibc has it. */
		    ".globl s\n.type s,@function\n.cfi_startproc\n.cfi_signal_frame\n"
		    ".cfi_escape 0x0f,4,0x77,0xa0,1,6\n"
		    ".cfi_escape 0x10,16,3,0x77,0xa8,1\n.cfi_escape 0x10,6,3,0x77,0xf8,0\n"
		    "nop\ns: mov $15, %eax\n syscall\n.cfi_endproc\n.size s,.-s\n"
		    /* A frame that was aligned: the CFA is in memory. */
		    ".globl a\n.type a,@function\na: .cfi_startproc\n push %rbp\n"
		    ".cfi_escape 0x0f,3,0x76,0x78,6\n.cfi_escape 0x10,6,2,0x76,0\n"
		    " hlt\n .cfi_endproc\n.size a,.-a\n"
		    /* Whose CFA is in a register that is not followed. */
		    ".globl b\n.type b,@function\nb: .cfi_startproc\n"
		    ".cfi_def_cfa rbx, 16\n hlt\n .cfi_endproc\n.size b,.-b\n"
		    /* The outermost. */
		    ".globl o\n.type o,@function\no: .cfi_startproc\n.cfi_undefined rip\n"
		    " hlt\n .cfi_endproc\n.size o,.-o\n"
		    /* One that forgets what was pushed before: its return address is above. */
		    ".globl p\n.type p,@function\np: .cfi_startproc\n"
		    ".cfi_def_cfa rsp, 0\n.cfi_offset rip, 8\n.cfi_offset rbp, 0\n"
		    " hlt\n .cfi_endproc\n.size p,.-p\n"
		    /* An expression that ends too early. */
		    ".globl x\n.type x,@function\nx: .cfi_startproc\n"
		    ".cfi_escape 0x0f,1,0x77\n hlt\n .cfi_endproc\n.size x,.-x\n"
		    ".globl n\n.type n,@function\nn: hlt\n.size n,.-n\n");
	MUST_EQ(world_run("gcc -shared -nostdlib -o made.so made.s"), 0);
	snprintf(path, sizeof(path), "%s/made.so", world_dir);
	rows_of(path, &r);
	struct unwind_rule rule = rule_at(&r, symbol(path, "s"));

	MUST_EQ(rule.base, UNWIND_SIGNAL);
	MUST(rule.cfa == 160 && rule.ra == 168 && rule.fp == 120);
	rule = rule_at(&r, symbol(path, "a") + 1);
	MUST_EQ(rule.base, UNWIND_FP_AT);
	MUST(rule.cfa == -8 && rule.ra == -8 && rule.fp == 0 && rule.flags == UNWIND_FP_BY_FP);
	MUST_EQ(rule_at(&r, symbol(path, "b")).base, UNWIND_STOP);
	MUST_EQ(rule_at(&r, symbol(path, "o")).base, UNWIND_END);
	rule = rule_at(&r, symbol(path, "p"));
	MUST_EQ(rule.base, UNWIND_SP);
	MUST(rule.cfa == 16 && rule.ra == -8 && rule.fp == -16 && !rule.flags);
	MUST_EQ(rule_at(&r, symbol(path, "x")).base, UNWIND_STOP);
	MUST_EQ(rule_at(&r, symbol(path, "n")).base, UNWIND_NONE);
	unwind_rows_clear(&r);
}

static void look_at_none(void)
{
	struct unwind_rows r;
	char path[512];

	world_write("none.s", ".globl n\n.type n,@function\nn: hlt\n.size n,.-n\n");
	MUST_EQ(world_run("gcc -shared -nostdlib -Wl,--no-eh-frame-hdr -o none.so none.s"), 0);
	snprintf(path, sizeof(path), "%s/none.so", world_dir);
	rows_of(path, &r);
	MUST_EQ(rule_at(&r, symbol(path, "n")).base, UNWIND_NONE);
	unwind_rows_clear(&r);
	snprintf(path, sizeof(path), "%s/none.s", world_dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	MUST_EQ(unwind_rows_open(fd, path, "/nonexistent", (struct range){ 0, 1 }, &r), -ENOEXEC);
	close(fd);
}

int main(void)
{
	world_open();
	look_at_none();
	look_at_made();
	if (!world_has("readelf")) {
		printf("skipped: no readelf\n");
		return 77;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!access(files[i], R_OK))
			compare_file(files[i]);
	MUST(compared > 50000);
	printf("%zu places agree, and %zu that no rule of two registers has\n", compared, others);
	return 0;
}
