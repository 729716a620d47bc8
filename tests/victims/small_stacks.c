/* SPDX-License-Identifier: MIT */
/*
 * small_stacks: fibers whose stacks are small and lie side by side, without guards: in
 * an array, in one mapping, or wherever malloc has put them. They change in the middle
 * of calls, from one to the next, in one thread or in several. Does a tracer see each
 * call begin and end once, as the fibers themselves have counted?
 *
 * small_stacks SWITCH MEMORY SIZE FIBERS THREADS, where SWITCH is own (a few
 * instructions), ucontext or boost; and MEMORY array, mmap, malloc, frame (of the thread
 * that runs them) or below (the stack of the thread that runs them, which is small). A
 * command "run N" makes N rounds in each fiber, and then answers with what was called:
 * "made tight_deep N tight_hop N tight_leaf N inside N moved N": "inside" adds up how many
 * calls each of them was in, "moved" how often a fiber went on in another thread.
 */
#include <alloca.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/victims/change_stacks.h"
#include "tests/victims/victim.h"

enum {
	FIBERS_MOST = 1024,
	SIZE_MOST = 8192,
	BELOW = 1024,		/* of a stack, for what is called last, and for us */
	MARGIN = 64,		/* its lowest bytes, which no call is to reach */
	OWN = 256 * 1024,	/* a thread's own, if it is small */
};

struct transfer {
	void *context, *data;
};

/* Of Boost.Context, below what it has for C++. */
__attribute__((weak)) struct transfer jump_fcontext(void *to, void *data);
__attribute__((weak)) void *make_fcontext(void *top, size_t size, void (*)(struct transfer));

struct counts {
	uint64_t deep, hops, leaves, inside, moved;
};

struct fiber {
	pthread_mutex_t running;
	char *stack;
	struct changer *by;	/* the thread that runs it */
	ucontext_t context;
	void *place;		/* where it goes on, if not by its context */
	uint64_t rounds, limit, chance, open;
	pthread_t last;
	struct counts n;
};

/* A thread, on its own stack. */
struct changer {
	ucontext_t context;
	void *place;
};

static struct fiber fibers[FIBERS_MOST];
static char array[FIBERS_MOST * SIZE_MOST] __attribute__((aligned(64)));
static size_t size;
static unsigned int nfibers, depth;
static void (*leave)(struct fiber *), (*enter)(struct fiber *);
static void (*prepare)(struct fiber *);

static unsigned int below(struct fiber *f, unsigned int limit)
{
	f->chance ^= f->chance << 13;
	f->chance ^= f->chance >> 7;
	f->chance ^= f->chance << 17;
	return (unsigned int)(f->chance >> 33) % limit;
}

PROBED void tight_hop(struct fiber *f)
{
	leave(f);
	asm volatile("" ::: "memory");
}

PROBED uint64_t tight_leaf(uint64_t x)
{
	asm volatile("" : "+r"(x) : : "memory");
	return x + 1;
}

static inline void hop(struct fiber *f)
{
	f->n.hops++;
	f->n.inside += f->open;
	tight_hop(f);
}

static inline void leaf(struct fiber *f)
{
	f->n.leaves++;
	f->n.inside += f->open;
	if (tight_leaf(f->open) != f->open + 1)
		victim_wrong("tight_leaf");
}

/* Frames of other sizes each time. */
PROBED uint64_t tight_deep(struct fiber *f, unsigned int left)
{
	size_t room_size = 16 + 32 * below(f, 3);
	volatile char *room = alloca(room_size);
	uint64_t got = 0;

	room[0] = room[room_size - 1] = (char)left;
	f->n.deep++;
	f->n.inside += f->open++;
	if (below(f, 2))
		leaf(f);
	if (left)
		got = 1 + tight_deep(f, left - 1);
	if (!left || below(f, 3) == 0)
		hop(f);
	if (below(f, 2))
		leaf(f);
	if (room[0] != (char)left)
		victim_wrong("room");
	f->open--;
	return got;
}

__attribute__((noreturn)) static void live(struct fiber *f)
{
	for (;;) {
		unsigned int n = below(f, depth);

		while (f->rounds == f->limit)
			leave(f);
		if (tight_deep(f, n) != n || f->open)
			victim_wrong("tight_deep");
		f->rounds++;
	}
}

/* --- three ways from stack to stack --- */

/* Global: of what is local ld may take the section's beginning for its address, on arm64. */
asm(".pushsection .text\n"
    ".globl begin_own\n"
    ".type begin_own, %function\n"
    "begin_own:\n"
#if defined(__x86_64__)
    "	mov %rbx, %rdi\n"
    "	call *%rbp\n"
    "	ud2\n"
#else
    "	mov x0, x19\n"
    "	blr x20\n"
    "	udf #0\n"
#endif
    ".size begin_own, . - begin_own\n"
    ".popsection\n");
void begin_own(void);

static void leave_own(struct fiber *f)
{
	change_stacks(&f->place, f->by->place);
}

static void enter_own(struct fiber *f)
{
	change_stacks(&f->by->place, f->place);
}

static void prepare_own(struct fiber *f)
{
	uint64_t *top = new_stack(f->stack + (size & ~15ul), begin_own);

	top[STACK_WORD_ONE] = (uint64_t)f;
	top[STACK_WORD_TWO] = (uint64_t)live;
	f->place = top;
}

static void leave_ucontext(struct fiber *f)
{
	swapcontext(&f->context, &f->by->context);
}

static void enter_ucontext(struct fiber *f)
{
	swapcontext(&f->by->context, &f->context);
}

static void begin_ucontext(unsigned int i)
{
	live(&fibers[i]);
}

static void prepare_ucontext(struct fiber *f)
{
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = size;
	makecontext(&f->context, (void (*)(void))begin_ucontext, 1, (int)(f - fibers));
}

static void leave_boost(struct fiber *f)
{
	struct transfer from = jump_fcontext(f->by->place, f);

	f->by->place = from.context;
}

static void enter_boost(struct fiber *f)
{
	f->place = jump_fcontext(f->place, f).context;
}

static void begin_boost(struct transfer from)
{
	struct fiber *f = from.data;

	f->by->place = from.context;
	live(f);
}

static void prepare_boost(struct fiber *f)
{
	f->place = make_fcontext(f->stack + size, size, begin_boost);
}

/* --- threads that run them --- */

/* One step of a fiber, rather of one that another thread has run last. */
static bool step(struct fiber *f, struct changer *me, bool own)
{
	bool goes = false;

	if (pthread_mutex_trylock(&f->running))
		return false;
	if (f->rounds != f->limit && (own || !pthread_equal(f->last, pthread_self()))) {
		f->n.moved += !pthread_equal(f->last, pthread_self());
		f->last = pthread_self();
		f->by = me;
		enter(f);
		goes = true;
	}
	pthread_mutex_unlock(&f->running);
	return goes;
}

static void *run(void *alone)
{
	struct changer me = { 0 };

	for (unsigned int pass = 0;; pass++) {
		bool any = false;

		for (unsigned int i = 0; i < nfibers; i++)
			any |= step(&fibers[i], &me, alone || pass % 8 == 0);
		victim_count();
		if (!any)
			victim_sleep_us(100);
	}
	return NULL;
}

static void add(struct counts *sum, const struct counts *n, uint64_t times)
{
	sum->deep += times * n->deep;
	sum->hops += times * n->hops;
	sum->leaves += times * n->leaves;
	sum->inside += times * n->inside;
	sum->moved += times * n->moved;
}

/* Until all of the fiber's rounds are over. */
static void settle(struct fiber *f, struct counts *sum)
{
	for (;; victim_sleep_us(1000)) {
		pthread_mutex_lock(&f->running);
		if (f->rounds == f->limit)
			break;
		pthread_mutex_unlock(&f->running);
	}
	add(sum, &f->n, 1);
	for (unsigned int i = 0; i < MARGIN; i++)
		if (f->stack[i] != 'm')
			victim_wrong("a stack was too small");
	pthread_mutex_unlock(&f->running);
}

static void command(const char *line)
{
	struct counts sum = { 0 };
	uint64_t n = strtoull(line + 4, NULL, 10);

	if (strncmp(line, "run ", 4) != 0) {
		victim_say("what is %s?", line);
		return;
	}
	for (unsigned int i = 0; i < nfibers; i++) {
		pthread_mutex_lock(&fibers[i].running);
		add(&sum, &fibers[i].n, -1ull);
		fibers[i].limit += n;
		pthread_mutex_unlock(&fibers[i].running);
	}
	for (unsigned int i = 0; i < nfibers; i++)
		settle(&fibers[i], &sum);
	victim_say("made tight_deep %llu tight_hop %llu tight_leaf %llu inside %llu moved %llu",
		   (unsigned long long)sum.deep, (unsigned long long)sum.hops,
		   (unsigned long long)sum.leaves, (unsigned long long)sum.inside,
		   (unsigned long long)sum.moved);
}

static const struct {
	const char *name;
	void (*leave)(struct fiber *), (*enter)(struct fiber *), (*prepare)(struct fiber *);
} switches[] = {
	{ "own", leave_own, enter_own, prepare_own },
	{ "ucontext", leave_ucontext, enter_ucontext, prepare_ucontext },
	{ "boost", leave_boost, enter_boost, prepare_boost },
};

static bool choose_switch(const char *name)
{
	if (strcmp(name, "boost") == 0 && !jump_fcontext)
		return false;
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
		if (strcmp(switches[i].name, name) != 0)
			continue;
		leave = switches[i].leave;
		enter = switches[i].enter;
		prepare = switches[i].prepare;
		return true;
	}
	return false;
}

static void make_fibers(char *from)
{
	for (unsigned int i = 0; i < nfibers; i++) {
		fibers[i].chance = 88172645463325252ull + i;
		pthread_mutex_init(&fibers[i].running, NULL);
		fibers[i].stack = from ? from + i * size : malloc(size);
		memset(fibers[i].stack, 'm', MARGIN);
		prepare(&fibers[i]);
	}
}

static void *run_in_frame(void *alone)
{
	make_fibers(alloca(nfibers * size));
	return run(alone);
}

static void begin(const char *memory, unsigned int threads)
{
	bool frame = strcmp(memory, "frame") == 0, below = strcmp(memory, "below") == 0;
	char *map = mmap(NULL, nfibers * size + OWN, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t t;

	if (!frame)
		make_fibers(strcmp(memory, "malloc") == 0 ? NULL :
			    strcmp(memory, "array") == 0 ? array : map);
	pthread_attr_init(&attr);
	if (below)
		pthread_attr_setstack(&attr, map + nfibers * size, OWN);
	for (unsigned int i = 0; i < threads; i++)
		pthread_create(&t, &attr, frame ? run_in_frame : run,
			       threads == 1 ? fibers : NULL);
}

int main(int argc, char **argv)
{
	if (argc != 6 || !choose_switch(argv[1]))
		return 2;
	size = strtoul(argv[3], NULL, 10);
	nfibers = (unsigned int)strtoul(argv[4], NULL, 10);
	if (size <= BELOW || size > SIZE_MOST || !nfibers || nfibers > FIBERS_MOST)
		return 2;
	depth = 1 + (unsigned int)(size - BELOW) / 320;
	begin(argv[2], (unsigned int)strtoul(argv[5], NULL, 10));
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	_exit(victim_errors != 0);
}
