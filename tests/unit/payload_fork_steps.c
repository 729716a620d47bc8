/* SPDX-License-Identifier: MIT */
/*
 * A handler forks a child at each instruction of a call that the fast path leaves to C, and the
 * child, whose threads' memory is wiped there, returns: does it go on as its parent does, to its
 * end, and does the parent's recording stay what it is?
 */
#include <setjmp.h>

#include "injector/reader/reader.h"
#include "tests/unit/payload_forks.h"
#include "tests/unit/payload_reads.h"

enum {
	RINGS = 8, FUNCS = READS_FUNCS,
	/* Functions; those from HOLDER on have a body that leaves the fiber. */
	PLAIN = 1, TIMED_ONE, SIFTED_ONE, LEAVER, COUNTED, WATCHED, MARKED, READ,
	KEPT_ONE,
	HOLDER = 12,
};

static struct world w;
static probed_fn *f[FUNCS];
static sigjmp_buf middle;
static bool is_child;
static uint64_t steps, forked, entries, exits;
static char said[16] = "text of it";
static struct reader *reader;
static struct reader_func names[WORLD_FUNCS];

/* ---- the world ----------------------------------------------------------- */

static void fresh(enum counting counting, uint64_t least)
{
	w.s = world_session(RINGS, counting == COUNT_TIMES ? 16 : 4);
	w.s->counting = counting;
	w.s->least = least;
	reads_begin(&w, READ);
	world_hello()(w.s);
	world_lead(&w);
	MUST_EQ(w.s->state, SESSION_READY);
	if (reader)
		reader_free(reader);
	reader = NULL;
	entries = exits = 0;
	MUST(!reader_new(w.s, w.s->size, getpid(), names, ARRAY_SIZE(names), &reader));
}

static int see(void *ctx, const struct event *e)
{
	entries += e->kind == EVENT_ENTRY || e->kind == EVENT_MARK;
	exits += e->kind == EVENT_EXIT || e->kind == EVENT_UNWOUND || e->kind == EVENT_EXIT_LOST;
	return 0;
}

static void drain(bool last)
{
	int64_t n;

	do
		n = reader_drain(reader, last, see, NULL);
	while (last && n > 0);
	MUST(n >= 0);
}

static void leave(void *arg)
{
	siglongjmp(middle, 1);
}

static struct thread *self(void)
{
	return world_thread(&w, world_ring_of(&w, 0));
}

/* ---- how a call comes to what is to be interrupted ----------------------- */

static void prepare_slow(void)
{
	self()->end = 0;
	self()->counted = 0;
}

/* The next call closes the sub-buffer, and begins one, for which there is room. */
static void prepare_over(void)
{
	drain(false);
	self()->limit = 0;
	self()->end = 0;
}

static void prepare_full(void)
{
	for (uint32_t i = 0; i <= w.s->nsub; i++) {
		self()->limit = 0;
		f[PLAIN](NULL);
	}
	self()->end = 0;
}

/* The same where the next call replaces what is oldest. */
static void prepare_kept(void)
{
	prepare_full();
	self()->limit = 0;
}

/* Calls were left. */
static void prepare_left(void)
{
	if (!sigsetjmp(middle, 0))
		f[LEAVER](said);
	if (!sigsetjmp(middle, 0))
		f[LEAVER](said);
	self()->end = 0;
}

/* The same where what is told of them begins a sub-buffer. */
static void prepare_left_over(void)
{
	prepare_left();
	self()->limit = 0;
}

static void prepare_visit(void)
{
	w.s->generation++;
	world_hello()(w.s);
}

/* A fiber is inside of a call that another thread has begun, which has ended. */
static void prepare_taken(void);

enum where { HERE, ON_FIBER, TAKEN };

/* Of its calls so many are told, or said to be lost; 0: of none is that the way. At each so many
 * instructions a child is forked; 0: at each. */
static const struct scene {
	const char *name;
	void (*prepare)(void);
	enum counting counting;
	uint32_t func;
	uint64_t made, least;
	enum where where;
	unsigned int stride;
} scenes[] = {
	{ "slow", prepare_slow, COUNT_NONE, PLAIN, 2, 0, HERE, 0 },
	{ "over", prepare_over, COUNT_NONE, PLAIN, 2, 0, HERE, 0 },
	{ "full", prepare_full, COUNT_NONE, PLAIN, 7, 0, HERE, 0 },
	{ "kept", prepare_kept, COUNT_NONE, PLAIN, 7, 0, HERE, 211 },
	{ "left", prepare_left, COUNT_NONE, PLAIN, 4, 0, HERE, 0 },
	{ "left over", prepare_left_over, COUNT_NONE, PLAIN, 4, 0, HERE, 0 },
	{ "visit", prepare_visit, COUNT_NONE, PLAIN, 2, 0, HERE, 0 },
	{ "fiber", prepare_slow, COUNT_NONE, PLAIN, 3, 0, ON_FIBER, 3 },
	{ "taken", prepare_taken, COUNT_NONE, HOLDER + PLAIN, 2, 0, TAKEN, 3 },
	{ "mark", prepare_slow, COUNT_NONE, MARKED, 2, 0, HERE, 0 },
	{ "watched", prepare_slow, COUNT_NONE, WATCHED, 2, 0, HERE, 0 },
	{ "read", prepare_slow, COUNT_NONE, READ, 2, 0, HERE, 3 },
	{ "registers", prepare_slow, COUNT_NONE, KEPT_ONE, 2, 0, HERE, 0 },
	{ "registers over", prepare_over, COUNT_NONE, KEPT_ONE, 2, 0, HERE, 0 },
	{ "read over", prepare_over, COUNT_NONE, READ, 2, 0, HERE, 5 },
	{ "timed", prepare_slow, COUNT_TIMES, TIMED_ONE, 0, 0, HERE, 0 },
	{ "timed fiber", prepare_slow, COUNT_TIMES, TIMED_ONE, 0, 0, ON_FIBER, 3 },
	{ "timed taken", prepare_taken, COUNT_TIMES, HOLDER + TIMED_ONE, 0, 0, TAKEN, 5 },
	{ "timed visit", prepare_visit, COUNT_TIMES, TIMED_ONE, 0, 0, HERE, 3 },
	{ "counted", prepare_slow, COUNT_CALLS, COUNTED, 0, 0, HERE, 0 },
	{ "sifted", prepare_slow, COUNT_SIFTED, SIFTED_ONE, 0, 1ull << 40, HERE, 0 },
	{ "sifted fiber", prepare_slow, COUNT_SIFTED, SIFTED_ONE, 0, 1ull << 40, ON_FIBER, 3 },
	{ "long", prepare_slow, COUNT_SIFTED, SIFTED_ONE, 2, 1, HERE, 0 },
	{ "long left", prepare_left, COUNT_SIFTED, SIFTED_ONE, 4, 1, HERE, 0 },
	{ "long left over", prepare_left_over, COUNT_SIFTED, SIFTED_ONE, 4, 1, HERE, 3 },
	{ "long taken", prepare_taken, COUNT_SIFTED, HOLDER + SIFTED_ONE, 2, 1, TAKEN, 5 },
	{ "long read", prepare_slow, COUNT_SIFTED, READ, 2, 1, HERE, 31 },
	{ "long read over", prepare_over, COUNT_SIFTED, READ, 2, 1, HERE, 41 },
};

static const struct scene *scene;

/* ---- fibers -------------------------------------------------------------- */

static ucontext_t fiber, back;

static void make_fiber(void (*body)(void))
{
	static char stack[1 << 16];

	MUST(!getcontext(&fiber));
	fiber.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) };
	makecontext(&fiber, body, 0);
}

static void resume(void *arg)
{
	MUST(!swapcontext(&back, &fiber));
}

static void yield(void *arg)
{
	MUST(!swapcontext(&fiber, &back));
}

static void *resume_there(void *arg)
{
	resume(arg);
	return NULL;
}

static void hold(void)
{
	f[scene->func](said);
	yield(NULL);
}

static void prepare_taken(void)
{
	pthread_t t;

	make_fiber(hold);
	MUST(!pthread_create(&t, NULL, resume_there, NULL));
	MUST(!pthread_join(t, NULL));
	prepare_slow();
}

/* ---- the call ------------------------------------------------------------ */

static uint64_t pc_of(const void *context)
{
#if defined(__x86_64__)
	return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
	return ((const ucontext_t *)context)->uc_mcontext.pc;
#endif
}

/* One child after another; each goes on from where it is. */
static void trapped(int sig, siginfo_t *info, void *context)
{
	pid_t child;
	int status;

	if (steps++ % (scene->stride ?: 1) && !getenv("SOAK"))
		return;
	child = fork();
	MUST(child >= 0);
	if (!child) {
		stop_stepping(context);
		is_child = true;
		alarm(100);
		return;
	}
	MUST(waitpid(child, &status, 0) == child);
	if (status)
		fprintf(stderr, "%s: status %x, step %llu, at %llx\n", scene->name, status,
			(unsigned long long)steps, (unsigned long long)pc_of(context));
	MUST(!status);
	forked++;
}

static void call_read(void *arg)
{
	f[READ](said);
}

static void call_there(void)
{
	call_stepping(scene->func == READ ? call_read : f[scene->func]);
}

static void calls_on_fiber(void)
{
	for (;;) {
		call_there();
		yield(NULL);
	}
}

static void call(void)
{
	if (scene->where == TAKEN)
		call_stepping(resume);
	else if (scene->where == ON_FIBER)
		resume(NULL);
	else
		call_there();
}

/* Where a child comes to its end only right before a loss is counted, that counts, too. */
static void check_told(void)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < RINGS; i++)
		lost += world_ring(&w, i)->lost_entries;
	if (!w.s->keep_last && scene->made)
		drain(true);
	printf("%s: %llu children; %llu entries, %llu exits, %llu lost\n", scene->name,
	       (unsigned long long)forked, (unsigned long long)entries,
	       (unsigned long long)exits, (unsigned long long)lost);
	MUST(forked > 30);
	if (w.s->keep_last)
		return;
	MUST(entries <= scene->made && entries + lost >= scene->made);
	MUST(lost <= (scene->prepare == prepare_full ? 16 : 0));
	MUST(exits == (scene->func == MARKED ? 0 : entries));
}

static void try_scene(void)
{
	fresh(scene->counting, scene->least);
	w.s->keep_last = scene->prepare == prepare_kept;
	f[scene->func % HOLDER](said);
	make_fiber(calls_on_fiber);
	steps = forked = 0;
	for (int i = 0; i < (scene->where == ON_FIBER ? 2 : 1); i++) {
		scene->prepare();
		call();
		if (is_child) {
			f[scene->func % HOLDER](said);
			f[PLAIN](NULL);
			_exit(0);
		}
	}
	check_told();
}

int main(void)
{
	struct sigaction act = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO };

	if (!CAN_STEP) {
		printf("skipped: no program can step itself on this processor\n");
		return 77;
	}
	setbuf(stdout, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = (struct reader_func){ .name = "f", .module = "m" };
	world_begin(&w, RINGS, 4);
	f[PLAIN] = probed(&w, PLAIN, NULL);
	f[TIMED_ONE] = timed(&w, TIMED_ONE, NULL);
	f[SIFTED_ONE] = sifted(&w, SIFTED_ONE, NULL);
	f[HOLDER + PLAIN] = probed(&w, HOLDER + PLAIN, yield);
	f[HOLDER + TIMED_ONE] = timed(&w, HOLDER + TIMED_ONE, yield);
	f[HOLDER + SIFTED_ONE] = sifted(&w, HOLDER + SIFTED_ONE, yield);
	f[LEAVER] = probed(&w, LEAVER, leave);
	f[COUNTED] = counted(&w, COUNTED, NULL);
	f[WATCHED] = reads_function(&w, WATCHED, NULL, hot_table.watch_entry,
				    hot_table.watch_exit);
	f[MARKED] = marked(&w, MARKED, NULL);
	f[READ] = reads_function(&w, READ, NULL, hot_table.values_entry, hot_table.values_exit);
	f[KEPT_ONE] = kept(&w, KEPT_ONE, NULL, 2, 1);
	MUST(!sigaction(SIGTRAP, &act, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		scene = &scenes[i];
		try_scene();
	}
	reader_free(reader);
	return 0;
}
