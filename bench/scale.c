/* SPDX-License-Identifier: MIT */
/*
 * scale: does the cost of a call depend on how many functions or threads there are?
 *
 *	functions N	-> call NS floor NS compiled NS: N functions called in turn, warm
 *	cold N		-> the same, each time with caches full of something else
 *	threads N	-> one function called by N threads at a time
 *
 * The floor is as in calls.c: two time stamps and two stores, compiled in. So is what
 * the same words take that inject records, written by two routines which all functions
 * call: what of the cost is the processor's, that has no room for so many functions.
 * In bursts with pauses; of them, and of all threads, the median counts. All threads
 * together make no more calls a second than two would, for a reader that prints the calls
 * is to keep up. The functions are scale_0000 to scale_9999, so short that entry and exit are
 * in one stub: with two, as most functions have, a call jumps twice more (docs/recording.md says
 * what that costs).
 */
#include <pthread.h>

#include "tests/victims/victim.h"

enum { FUNCTIONS = 10000, BURST = 1000, ROUNDS = 51, THREADS = 64, CACHE = 64 << 20,
	STEP = 3797 };	/* no common divisor with a power of ten */

typedef uint64_t function(uint64_t);

/* Three of a kind, in a table that the assembler fills. */
enum kind { CALLED, FLOOR, COMPILED, KINDS };
extern function *const table[FUNCTIONS][KINDS];

static __thread uint64_t stamps[2 * FUNCTIONS];
__thread uint64_t *cursor;

/*
 * By the assembler, which makes 20,000 functions in no time. They begin with a push, as
 * most functions do; those of the floor store two time stamps.
 */
asm(".macro record name, kind\n"
    ".p2align 6\n"
    "\\name:\n"
    "	push %rax\n"
    "	push %rdx\n"
    "	rdtsc\n"
    "	shl $32, %rdx\n"
    "	lea (%rdx, %rax), %rdx\n"
    "	shl $24, %rdx\n"
    "	shr $22, %rdx\n"
    "	shl $42, %rcx\n"
    "	lea \\kind(%rdx, %rcx), %rdx\n"
    "	mov %fs:cursor@tpoff, %rcx\n"
    "	mov %rdx, (%rcx)\n"
    "	add $8, %rcx\n"
    "	mov %rcx, %fs:cursor@tpoff\n"
    "	pop %rdx\n"
    "	pop %rax\n"
    "	ret\n"
    ".endm\n"
    ".section .data.rel.ro, \"aw\"\n"
    ".balign 8\n"
    "table:\n"
    ".text\n"
    "record record_entry, 1\n"
    "record record_exit, 2\n"
    ".set number, 0\n"
    ".irpc a, 0123456789\n.irpc b, 0123456789\n.irpc c, 0123456789\n.irpc d, 0123456789\n"
    ".p2align 4\n"
    ".globl scale_\\a\\b\\c\\d\n"
    ".type scale_\\a\\b\\c\\d, @function\n"
    "scale_\\a\\b\\c\\d:\n"
    "	push %rbx\n"
    "	lea (%rdi, %rdi), %rax\n"
    "	pop %rbx\n"
    "	ret\n"
    ".size scale_\\a\\b\\c\\d, . - scale_\\a\\b\\c\\d\n"
    ".p2align 4\n"
    "floor_\\a\\b\\c\\d:\n"
    "	push %rbx\n"
    "	mov %fs:cursor@tpoff, %rcx\n"
    "	rdtsc\n"
    "	shl $32, %rdx\n"
    "	or %rdx, %rax\n"
    "	mov %rax, (%rcx)\n"
    "	lea (%rdi, %rdi), %rbx\n"
    "	rdtsc\n"
    "	shl $32, %rdx\n"
    "	or %rdx, %rax\n"
    "	mov %rax, 8(%rcx)\n"
    "	add $16, %rcx\n"
    "	mov %rcx, %fs:cursor@tpoff\n"
    "	mov %rbx, %rax\n"
    "	pop %rbx\n"
    "	ret\n"
    ".p2align 4\n"
    "compiled_\\a\\b\\c\\d:\n"
    "	mov $number, %ecx\n"
    "	call record_entry\n"
    "	push %rbx\n"
    "	lea (%rdi, %rdi), %rax\n"
    "	pop %rbx\n"
    "	mov $number, %ecx\n"
    "	call record_exit\n"
    "	ret\n"
    ".set number, number + 1\n"
    ".section .data.rel.ro, \"aw\"\n"
    ".quad scale_\\a\\b\\c\\d, floor_\\a\\b\\c\\d, compiled_\\a\\b\\c\\d\n"
    ".text\n"
    ".endr\n.endr\n.endr\n.endr\n");

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What one of n calls takes, of all those functions in turn, but no two neighbours. */
static double burst(enum kind kind, size_t functions, size_t n)
{
	size_t step = STEP % functions;
	uint64_t x = 1;
	double begin;

	cursor = stamps;
	begin = now_ns();
	for (size_t i = 0, k = 0; i < n; i++) {
		x = table[k][kind](x);
		k += step;
		k -= k >= functions ? functions : 0;
	}
	asm volatile("" : : "r"(x));
	return (now_ns() - begin) / (double)n;
}

static void fill_caches(void)
{
	static char *other;

	if (!other)
		other = malloc(CACHE);
	for (size_t i = 0; other && i < CACHE; i += 64)
		other[i]++;
}

static double median_of(enum kind kind, size_t functions, bool cold)
{
	static double ns[ROUNDS];
	size_t n = cold || functions > BURST ? functions : BURST;

	burst(kind, functions, n);
	for (int i = 0; i < ROUNDS; i++) {
		victim_sleep_us(n > BURST ? 20000 : 2000);
		if (cold)
			fill_caches();
		else
			burst(kind, functions, n);
		ns[i] = burst(kind, functions, n);
	}
	qsort(ns, ROUNDS, sizeof(*ns), ascending);
	return ns[ROUNDS / 2];
}

/* ---- threads ------------------------------------------------------------- */

struct work {
	enum kind kind;
	long pause;		/* us */
	double *ns;		/* ROUNDS */
};

static void *work(void *arg)
{
	const struct work *w = arg;

	for (int i = 0; i < ROUNDS; i++) {
		victim_sleep_us(w->pause);
		burst(w->kind, 1, BURST);
		w->ns[i] = burst(w->kind, 1, BURST);
	}
	return NULL;
}

static double of_threads(enum kind kind, size_t n)
{
	static double ns[THREADS * ROUNDS];
	long pause = n > 2 ? 1000 * (long)n : 2000;
	struct work works[THREADS];
	pthread_t threads[THREADS];

	for (size_t i = 0; i < n; i++) {
		works[i] = (struct work){ kind, pause, ns + i * ROUNDS };
		if (pthread_create(&threads[i], NULL, work, &works[i]))
			_exit(1);
	}
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	qsort(ns, n * ROUNDS, sizeof(*ns), ascending);
	return ns[n * ROUNDS / 2];
}

static double warm(enum kind kind, size_t n)
{
	return median_of(kind, n, false);
}

static double cold(enum kind kind, size_t n)
{
	return median_of(kind, n, true);
}

static void say(double cost(enum kind, size_t), size_t n)
{
	victim_say("call %.2f floor %.2f compiled %.2f", cost(CALLED, n), cost(FLOOR, n),
		   cost(COMPILED, n));
}

static void command(const char *word)
{
	size_t n;

	if (sscanf(word, "functions %zu", &n) == 1 && n && n <= FUNCTIONS)
		say(warm, n);
	else if (sscanf(word, "cold %zu", &n) == 1 && n && n <= FUNCTIONS)
		say(cold, n);
	else if (sscanf(word, "threads %zu", &n) == 1 && n && n <= THREADS)
		say(of_threads, n);
	else
		victim_say("what is %s?", word);
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	return 0;
}
