/* SPDX-License-Identifier: MIT */
/*
 * Does the reader tell a thread's switches between its calls, in the thread's own order, and say
 * where they do not fit together? The kernel's are made here.
 */
#include "tests/unit/reader_world.h"

#include "injector/switches/switches.h"

size_t __wrap_switches_threads(const struct switches *, const pid_t **);
int __wrap_switches_take(struct switches *, struct thread_switch **, size_t *, size_t *);

/* Ticks between two times of the tests: more than the clocks may differ by. */
#define STEP 100000ull

/* What it will say next. */
static struct thread_switch next[64];
static size_t nnext;
static const pid_t watched[] = { 1, 2, 3 };
static struct world w;

size_t __wrap_switches_threads(const struct switches *s, const pid_t **ret)
{
	(void)s;
	*ret = watched;
	return ARRAY_SIZE(watched);
}

int __wrap_switches_take(struct switches *s, struct thread_switch **v, size_t *n, size_t *cap)
{
	(void)s;
	for (size_t i = 0; i < nnext; i++)
		*vec_push(*v, *n, *cap) = next[i];
	nnext = 0;
	return 0;
}

static void kernel(int32_t tid, enum switch_kind kind, uint64_t t)
{
	next[nnext++] = (struct thread_switch){
		.tsc = w.base + t * STEP, .tid = tid, .parent = kind == SWITCH_BORN ? 1 : 0,
		.kind = (uint8_t)kind,
	};
}

static void call(uint32_t i, unsigned int kind, uint64_t func, uint64_t t)
{
	world_put(&w, i, kind, func, t * STEP);
}

/* It is told at `t` that it began earlier. */
static void begun(uint32_t i, uint64_t func, uint64_t since, uint64_t t)
{
	w.cur[i][1] = func << 2;
	w.cur[i][2] = (w.base + since * STEP) << REC_TIME_SHIFT;
	w.cur[i][0] = world_word(&w, REC_EXT, EXT_BEGUN | 2 << 6, t * STEP);
	w.cur[i] += 3;
}

/* Threads 1, 2 ... have rings 0, 1 ... */
static void begin(uint32_t nrings)
{
	world_make(&w, nrings, 2);
	world_read(&w, 0);
	CHECK_EQ(reader_watch(w.reader, (struct switches *)&w), 0);
	for (uint32_t i = 0; i < nrings; i++)
		world_claim(&w, i, (int32_t)i + 1, 0);
}

static void begin_sifted(uint32_t nrings)
{
	begin(nrings);
	w.reader->way = &way_sifted;
	w.reader->next_pending = UINT64_MAX;
}

static char said[4096];

static int note(void *ctx, const struct event *e)
{
	static const char *const kinds[] = {
		[EVENT_ENTRY] = "+", [EVENT_EXIT] = "-", [EVENT_OFF] = "off",
		[EVENT_PREEMPTED] = "put", [EVENT_ON] = "on", [EVENT_SWITCHES_LOST] = "gap",
		[EVENT_UNWOUND] = "!", [EVENT_STACK_END] = "end",
	};
	size_t n = strlen(said);

	(void)ctx;
	snprintf(said + n, sizeof(said) - n, "%s%d%s%llu", n ? " " : "", e->tid,
		 kinds[e->kind] ?: "?", (unsigned long long)(e->tsc - w.base) / STEP);
	return 0;
}

static void check_at(int line, const char *wanted)
{
	if (strcmp(said, wanted) != 0) {
		failures++;
		printf("%d: said   %s\n    wanted %s\n", line, said, wanted);
	}
	said[0] = '\0';
}

static void drain_at(int line, const char *wanted)
{
	reader_drain(w.reader, false, note, NULL);
	check_at(line, wanted);
}

#define DRAIN(wanted) drain_at(__LINE__, wanted)

static void settle_at(int line, uint64_t t, const char *wanted)
{
	CHECK_EQ(reader_settle(w.reader, w.base + t * STEP, note, NULL), 0);
	check_at(line, wanted);
	world_end(&w);
}

#define SETTLE(t, wanted) settle_at(__LINE__, t, wanted)

/* Between the calls; and nothing of what comes before the first one. */
static void test_between(void)
{
	begin(1);
	kernel(1, SWITCH_OFF, 1);
	kernel(1, SWITCH_ON, 2);
	DRAIN("");
	call(0, REC_ENTRY, ACCEPT, 10);
	kernel(1, SWITCH_OFF, 20);
	DRAIN("1on10 1+10");
	kernel(1, SWITCH_ON, 30);
	DRAIN("");
	call(0, REC_EXIT, ACCEPT, 40);
	DRAIN("1off20 1on30 1-40");
	call(0, REC_ENTRY, READ, 50);
	kernel(1, SWITCH_PREEMPTED, 60);
	DRAIN("1+50");
	SETTLE(70, "1put60");
}

/* A thread that is put aside before it has written its event, and another one that goes on. */
static void test_late(void)
{
	begin(2);
	call(0, REC_ENTRY, ACCEPT, 10);
	kernel(1, SWITCH_PREEMPTED, 20);
	call(1, REC_ENTRY, READ, 30);
	DRAIN("1on10 1+10 2on30 2+30");
	kernel(1, SWITCH_ON, 40);
	call(1, REC_EXIT, READ, 50);
	DRAIN("2-50");
	/* Read before 20, written behind 40. */
	call(0, REC_EXIT, ACCEPT, 15);
	call(0, REC_ENTRY, WAIT, 60);
	DRAIN("1-15 1put20 1on40 1+60");
	/* Where no calls come, a switch waits for the next time that the thread goes off. */
	kernel(1, SWITCH_OFF, 70);
	kernel(1, SWITCH_ON, 80);
	kernel(1, SWITCH_OFF, 90);
	DRAIN("1off70 1on80");
	kernel(1, SWITCH_ON, 100);
	kernel(1, SWITCH_PREEMPTED, 110);
	DRAIN("1off90 1on100");
	SETTLE(120, "1put110");
}

static void test_loss(void)
{
	begin(2);
	call(0, REC_ENTRY, ACCEPT, 10);
	call(1, REC_ENTRY, READ, 11);
	DRAIN("1on10 1+10 2on11 2+11");
	kernel(0, SWITCH_GAP, 20);
	kernel(0, SWITCH_GAP_END, 21);
	kernel(1, SWITCH_ON, 30);
	call(0, REC_EXIT, ACCEPT, 40);
	call(1, REC_EXIT, READ, 41);
	/* Of the second one the event tells that it runs. */
	DRAIN("1gap20 1on30 1-40 2gap20 2on41 2-41");
	/* It went off twice, with nothing between; and it makes calls while it is off. */
	kernel(1, SWITCH_OFF, 50);
	kernel(1, SWITCH_OFF, 60);
	call(0, REC_ENTRY, WAIT, 70);
	DRAIN("1off50 1gap60 1off60 1gap70 1on70 1+70");
	SETTLE(80, "");
}

/* In a gap nothing is told, of those either that are first heard of in it; two may overlap. */
static void test_gap(void)
{
	begin(5);
	call(0, REC_ENTRY, ACCEPT, 10);
	DRAIN("1on10 1+10");
	kernel(0, SWITCH_GAP, 20);
	kernel(1, SWITCH_OFF, 25);
	call(0, REC_EXIT, ACCEPT, 30);
	call(1, REC_ENTRY, ACCEPT, 31);
	kernel(0, SWITCH_GAP, 35);
	call(0, REC_ENTRY, READ, 40);
	kernel(0, SWITCH_GAP_END, 45);
	kernel(5, SWITCH_BORN, 50);
	call(0, REC_EXIT, READ, 51);
	call(4, REC_ENTRY, ACCEPT, 52);
	kernel(0, SWITCH_GAP_END, 60);
	call(0, REC_ENTRY, READ, 70);
	call(1, REC_EXIT, ACCEPT, 71);
	call(4, REC_EXIT, ACCEPT, 72);
	DRAIN("1gap20 1-30 2+31 1+40 1-51 5+52 1on70 1+70 2on71 2-71 5on72 5-72");
	SETTLE(80, "");
}

/* Calls that are told when they have ended, or hang: what is told of their thread begins with
 * them. */
static void test_begun(void)
{
	begin_sifted(2);
	kernel(1, SWITCH_OFF, 5);
	kernel(1, SWITCH_ON, 10);
	DRAIN("");
	kernel(1, SWITCH_PREEMPTED, 20);
	kernel(1, SWITCH_ON, 30);
	kernel(1, SWITCH_OFF, 40);
	kernel(1, SWITCH_ON, 50);
	DRAIN("");
	begun(0, ACCEPT, 15, 60);
	call(0, REC_EXIT, ACCEPT, 61);
	DRAIN("1on5 1off5 1on10 1put20 1on30 1off40 1on50 1+60 1-61");
	/* By then it may wait. */
	kernel(1, SWITCH_OFF, 70);
	begun(0, READ, 65, 80);
	kernel(1, SWITCH_ON, 90);
	call(0, REC_EXIT, READ, 100);
	DRAIN("1off70 1+80 1on90 1-100");
	/* The same of one that has said nothing. */
	kernel(2, SWITCH_OFF, 70);
	begun(1, READ, 65, 80);
	DRAIN("2on65 2off70 2+80");
	SETTLE(110, "");
}

/* A call within one that is told later, as its condition is decided by what it returns. */
static void test_begun_around(void)
{
	begin_sifted(2);
	kernel(1, SWITCH_ON, 10);
	kernel(1, SWITCH_OFF, 20);
	kernel(1, SWITCH_ON, 30);
	kernel(2, SWITCH_OFF, 20);
	kernel(2, SWITCH_ON, 30);
	call(0, REC_ENTRY, ACCEPT, 40);
	call(0, REC_EXIT, ACCEPT, 41);
	begun(1, ACCEPT, 35, 42);
	call(1, REC_EXIT, ACCEPT, 43);
	DRAIN("1on10 1off20 1on30 1+40 1-41 2on20 2off20 2on30 2+42 2-43");
	begun(0, READ, 15, 50);
	call(0, REC_EXIT, READ, 51);
	begun(1, READ, 25, 52);
	call(1, REC_EXIT, READ, 53);
	DRAIN("1+50 1-51 2+52 2-53");
	SETTLE(110, "");
}

/* The thread has ended, which is known already; its last call comes with the next pass. */
static void test_begun_ended(void)
{
	const uint64_t later = 1000000000;

	begin_sifted(1);
	kernel(1, SWITCH_OFF, 5);
	kernel(1, SWITCH_ON, 10);
	kernel(1, SWITCH_OFF, 20);
	kernel(1, SWITCH_ON, 30);
	kernel(1, SWITCH_PREEMPTED, 40);
	kernel(1, SWITCH_ON, 50);
	kernel(1, SWITCH_ENDED, later);
	DRAIN("");
	begun(0, ACCEPT, 15, 60);
	call(0, REC_EXIT, ACCEPT, 61);
	DRAIN("1on5 1off5 1on10 1off20 1on30 1put40 1on50 1+60 1-61");
	SETTLE(later, "1off1000000000");
}

/* Events of which it may be that a part alone was opened: of a thread that nothing was known of. */
static void test_partial(void)
{
	begin(6);
	kernel(4, SWITCH_ON, 5);
	call(3, REC_ENTRY, ACCEPT, 10);
	kernel(4, SWITCH_OFF, 20);
	kernel(4, SWITCH_ON, 30);
	call(3, REC_EXIT, ACCEPT, 40);
	DRAIN("4+10 4-40");
	/* Thread 5 was made by one that is watched. */
	kernel(5, SWITCH_BORN, 50);
	kernel(5, SWITCH_ON, 51);
	call(4, REC_ENTRY, ACCEPT, 60);
	kernel(5, SWITCH_OFF, 70);
	kernel(5, SWITCH_ON, 80);
	call(4, REC_EXIT, ACCEPT, 90);
	DRAIN("5on60 5+60 5off70 5on80 5-90");
	/* It ends: that is no time with a processor. And there is another one of its number. */
	call(4, REC_ENTRY, ACCEPT, 91);
	DRAIN("5+91");
	kernel(5, SWITCH_ENDED, 100);
	DRAIN("5off100");
	kernel(5, SWITCH_BORN, 110);
	kernel(5, SWITCH_ON, 111);
	DRAIN("");
	SETTLE(120, "");
}

int main(void)
{
	test_between();
	test_late();
	test_loss();
	test_gap();
	test_begun();
	test_begun_around();
	test_begun_ended();
	test_partial();
	return failures != 0;
}
