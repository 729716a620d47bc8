/* SPDX-License-Identifier: MIT */
/*
 * driver PROGRAM PREFIX [FILE]: run a program, stop at the entry and at the return of each
 * function whose symbol begins so (of Rust: the last part of its name), execute its read plan, and
 * print the call with its values, a line each. What the program prints goes to the file. It stops
 * at breakpoints that stand in its code: of inject, symbols/ and values/ are used only.
 *
 *	-d PROGRAM PREFIX	print the signatures, and run nothing
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "symbols/types/signatures.h"
#include "tests/unit/check.h"
#include "values/compile.h"
#include "values/text.h"

/* What differs: a breakpoint, where a stop at one is, and what registers are called. */
#ifdef __aarch64__
enum { TRAP_SIZE = 4, TRAP_PASSED = 0 };
#define TRAP { { 0x00, 0x00, 0x20, 0xd4 } }
#define PC pc
#define SP sp
#else
enum { TRAP_SIZE = 1, TRAP_PASSED = 1 };
#define TRAP { { 0xcc } }
#define PC rip
#define SP rsp
#endif

struct traced {
	const struct func *f;
	struct signature signature;
	struct read_plan plan;
	raddr_t at;		/* in the process */
	struct word { uint8_t bytes[TRAP_SIZE]; } old;
};

static struct traced *all;
static size_t nall, cap;
static pid_t pid;
static int mem;

/* ---- the process --------------------------------------------------------- */

static size_t read_memory(void *ctx, uint64_t at, void *buf, size_t n)
{
	size_t done = 0;

	while (done < n) {
		size_t part = MIN(n - done, 4096 - (at + done) % 4096);
		ssize_t got = pread(mem, (char *)buf + done, part, (off_t)(at + done));

		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

static const struct word trap = TRAP;

static void poke(raddr_t at, struct word w)
{
	MUST_EQ(pwrite(mem, w.bytes, TRAP_SIZE, (off_t)at), TRAP_SIZE);
}

static struct word peek(raddr_t at)
{
	struct word w;

	MUST_EQ(pread(mem, w.bytes, TRAP_SIZE, (off_t)at), TRAP_SIZE);
	return w;
}

static void get(unsigned int which, void *set, size_t size)
{
	struct iovec v = { set, size };

	MUST_EQ(ptrace(PTRACE_GETREGSET, pid, which, &v), 0);
}

static void put(struct user_regs_struct *u)
{
	struct iovec v = { u, sizeof(*u) };

	MUST_EQ(ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &v), 0);
}

#ifdef __aarch64__
static void take_registers(const struct user_regs_struct *u, struct reads_registers *ret)
{
	struct user_fpsimd_struct f;

	get(NT_PRFPREG, &f, sizeof(f));
	*ret = (struct reads_registers){ .stack = u->sp };
	for (size_t i = 0; i < ARRAY_SIZE(u->regs); i++)
		ret->general[i] = u->regs[i];
	ret->general[ARRAY_SIZE(u->regs)] = u->sp;
	memcpy(ret->vector, f.vregs, sizeof(f.vregs));
}

/* Where it returns to, at its entry. */
static raddr_t return_of(const struct user_regs_struct *u)
{
	return u->regs[30];
}
#else
static void take_registers(const struct user_regs_struct *u, struct reads_registers *ret)
{
	const unsigned long long general[] = {
		u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp,
		u->r8, u->r9, u->r10, u->r11, u->r12, u->r13, u->r14, u->r15,
	};
	struct user_fpregs_struct f;

	get(NT_PRFPREG, &f, sizeof(f));
	*ret = (struct reads_registers){ .stack = u->rsp };
	for (size_t i = 0; i < ARRAY_SIZE(general); i++)
		ret->general[i] = general[i];
	memcpy(ret->vector, f.xmm_space, sizeof(f.xmm_space));
	for (size_t i = 0; i < READS_X87; i++)
		memcpy(ret->x87[i], (char *)f.st_space + 16 * i, sizeof(ret->x87[i]));
}

/* Where it returns to, at its entry. */
static raddr_t return_of(const struct user_regs_struct *u)
{
	uint64_t back;

	MUST_EQ(read_memory(NULL, u->rsp, &back, 8), 8);
	return back;
}
#endif

/* Until a breakpoint: its address; 0: the program has ended. */
static raddr_t go_on(struct user_regs_struct *u)
{
	int status;

	for (int signal = 0; ; signal = WSTOPSIG(status)) {
		MUST_EQ(ptrace(PTRACE_CONT, pid, 0, signal), 0);
		MUST_EQ(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			return 0;
		MUST(WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGTRAP)
			break;
	}
	get(NT_PRSTATUS, u, sizeof(*u));
	return u->PC - TRAP_PASSED;
}

static void step_from(struct user_regs_struct *u, raddr_t at)
{
	int status;

	u->PC = at;
	put(u);
	MUST_EQ(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
	MUST_EQ(waitpid(pid, &status, 0), pid);
	MUST(WIFSTOPPED(status));
}

/* Where the executable is mapped, less where it wants to be. */
static raddr_t find_bias(const struct symbols *s, const char *path)
{
	char line[512], name[64], *real = realpath(path, NULL);
	raddr_t low = 0;

	if (!s->is_pie)
		return 0;
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	FILE *f = fopen(name, "r");

	MUST(f && real);
	while (!low && fgets(line, sizeof(line), f))
		if (strstr(line, real))
			low = strtoull(line, NULL, 16);
	fclose(f);
	free(real);
	MUST(low);
	return low;
}

static void start(const char *path, const char *to)
{
	int status;

	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		if (to && !freopen(to, "w", stdout))
			_exit(127);
		execv(path, (char *[]){ (char *)path, NULL });
		_exit(127);
	}
	MUST_EQ(waitpid(pid, &status, 0), pid);
	MUST(WIFSTOPPED(status));
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	mem = open(name, O_RDWR | O_CLOEXEC);
	MUST(mem >= 0);
}

/* ---- one call ------------------------------------------------------------ */

static struct reads_memory memory = { read_memory, NULL };

/* Of a mangled name of Rust the last part, of others the symbol. */
static const char *short_name(const struct func *f)
{
	const char *last = f->name;

	if (strncmp(f->raw, "_R", 2) && !strstr(f->raw, "17h"))
		return f->raw;
	for (const char *at; (at = strstr(last, "::")); )
		last = at + 2;
	return last;
}

static void print_call(const struct traced *t, const struct reads_state *s, size_t nentry)
{
	static char line[1 << 16];
	struct capture c;

	MUST_EQ(capture_parse(&t->signature, &t->plan, s->capture, nentry, s->capture + nentry,
			      s->used - nentry, &c), 0);
	values_call(&c, short_name(t->f), line, sizeof(line));
	printf("%s\n", line);
}

/*
 * The call returns to `back`, with the stack pointer no lower than it is at the entry. Of Go it may
 * come to its entry again before: a prologue that asks for a larger stack, or lets another
 * goroutine run, begins anew, with the same arguments, perhaps on another stack.
 */
static void call(struct traced *t, struct user_regs_struct *u)
{
	struct reads_registers r;
	struct reads_state s;
	uint64_t stack;
	raddr_t back, at;
	struct word old;

	do {
		s = (struct reads_state){ 0 };
		u->PC = t->at;
		take_registers(u, &r);
		back = return_of(u);
		reads_run(&t->plan, false, &r, &memory, &s);
		stack = u->SP;

		poke(t->at, t->old);
		step_from(u, t->at);
		poke(t->at, trap);
		old = peek(back);
		poke(back, trap);
		at = go_on(u);
		if (at != back)
			poke(back, old);
	} while (at == t->at);
	MUST_EQ(at, back);
	MUST(u->SP >= stack);
	size_t nentry = s.used;

	take_registers(u, &r);
	reads_run(&t->plan, true, &r, &memory, &s);
	poke(back, old);
	u->PC = back;
	put(u);
	print_call(t, &s, nentry);
}

static void run(const struct symbols *s, const char *path, const char *to)
{
	struct user_regs_struct u;
	raddr_t at;

	start(path, to);
	raddr_t bias = find_bias(s, path);

	for (size_t i = 0; i < nall; i++) {
		all[i].at = all[i].f->range.start + bias;
		all[i].old = peek(all[i].at);
		poke(all[i].at, trap);
	}
	while ((at = go_on(&u))) {
		size_t i = 0;

		while (i < nall && all[i].at != at)
			i++;
		MUST(i < nall);
		call(&all[i], &u);
	}
}

/* -------------------------------------------------------------------------- */

static void find(const struct symbols *s, int fd, const char *prefix)
{
	struct signatures *from;

	MUST_EQ(signatures_open(s, fd, &from), 0);
	for (size_t i = 0; i < s->nfuncs; i++) {
		const struct func *f = &s->funcs[i];
		struct signature signature;

		if (strncmp(short_name(f), prefix, strlen(prefix)) || f->flags & FUNC_FRAGMENT ||
		    signatures_get(from, f, &signature))
			continue;
		struct traced *t = vec_push(all, nall, cap);

		MUST(t);
		t->f = f;
		t->signature = signature;
		reads_compile(&signature, &(struct compile_options){ .deep = 1 }, &t->plan);
		MUST_EQ(reads_check(&t->plan), 0);
	}
	signatures_close(from);
}

static void describe(void)
{
	char line[4096];

	for (size_t i = 0; i < nall; i++) {
		values_declaration(&all[i].signature, short_name(all[i].f), line, sizeof(line));
		printf("%s%s\n", line, all[i].signature.own_convention ? " (own convention)" : "");
	}
}

int main(int argc, char **argv)
{
	bool only = argc > 1 && !strcmp(argv[1], "-d");
	struct symbols *s;

	argv += 1 + only;
	argc -= 1 + only;
	MUST(argc >= 2);
	int fd = open(argv[0], O_RDONLY | O_CLOEXEC);

	MUST_EQ(symbols_open(fd, argv[0], &s), 0);
	find(s, fd, argv[1]);
	if (only)
		describe();
	else
		run(s, argv[0], argc > 2 ? argv[2] : NULL);
	for (size_t i = 0; i < nall; i++)
		signature_clear(&all[i].signature);
	free(all);
	symbols_close(s);
	return 0;
}
