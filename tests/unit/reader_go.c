/* SPDX-License-Identifier: MIT */
/* Does the reader know when calls on a goroutine's stack are over that do not return? */
#include "tests/unit/reader_world.h"

enum { G0 = 7, G1 = 8 };	/* stacks: a thread's own, a goroutine's */

static void begin(struct world *w, uint32_t nrings)
{
	world_make(w, nrings, 4);
	world_read(w, 0);
	for (uint32_t i = 0; i < nrings; i++)
		world_claim(w, i, (int32_t)i + 1, 0);
}

/* "0/3221225479+read", with the stack's name for its number. */
static const char *drain(struct world *w)
{
	static char said[sizeof(told)];
	const char *from = world_drain(w, false);
	size_t n = 0;

	while (*from) {
		const char *slash = strchr(from, '/');
		char *end;

		if (!slash)
			break;
		n += (size_t)sprintf(said + n, "%sg%llu", n ? " " : "",
				     strtoull(slash + 1, &end, 10) & 0xffff);
		n += (size_t)sprintf(said + n, "%.*s", (int)strcspn(end, " "), end);
		from = end + strcspn(end, " ");
	}
	said[n] = '\0';
	return said;
}

#define CHECK_SAID(w, expected) do { \
	const char *said_ = drain(w); \
	if (strcmp(said_, expected) != 0) { \
		failures++; \
		printf("%s:%d:\n  said   %s\n  wanted %s\n", __FILE__, __LINE__, \
		       said_, expected); \
	} \
} while (0)

/* A goroutine that ends leaves what it is in; the next one on that stack begins anew. */
static void test_goexit(void)
{
	struct world w;

	begin(&w, 2);
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 1);
	put_deep(&w, 0, REC_ENTRY, ACCEPT, 2, 16);
	put_deep(&w, 0, REC_ENTRY, READ, 3, 64);
	world_ext(&w, 0, EXT_MARK, GOEXIT, 4);
	world_ext(&w, 1, EXT_STACK, goroutine(G1), 5);
	put_deep(&w, 1, REC_ENTRY, WAIT, 6, 32);
	put_deep(&w, 1, REC_EXIT, WAIT, 7, 32);
	CHECK_SAID(&w, "g8+accept g8+read g8.goexit1 g8!read g8!accept g8end g8+wait g8-wait");
	world_end(&w);
}

/* The thread's own goes with it, and with all that it has begun with. */
static void test_exit_thread(void)
{
	struct world w;

	begin(&w, 1);
	world_ext(&w, 0, EXT_STACK, goroutine(G0), 1);
	put_deep(&w, 0, REC_ENTRY, ACCEPT, 2, 16);
	world_ext(&w, 0, EXT_MARK, EXIT_THREAD, 3);
	CHECK_SAID(&w, "g7+accept g7.exitThread.abi0 g7!accept g7end");
	world_end(&w);
}

/* A call that goes over to a goroutine does not return; what it was called by may. */
static void test_gogo(void)
{
	struct world w;

	begin(&w, 1);
	world_ext(&w, 0, EXT_STACK, goroutine(G0), 1);
	put_deep(&w, 0, REC_ENTRY, ACCEPT, 2, 16);
	put_deep(&w, 0, REC_ENTRY, SCHEDULE, 3, 64);
	put_deep(&w, 0, REC_ENTRY, EXECUTE, 4, 128);
	world_ext(&w, 0, EXT_MARK, GOGOS, 5);
	world_ext(&w, 0, EXT_MARK, GOGO, 6);
	world_ext(&w, 0, EXT_STACK, goroutine(G1), 7);
	put_deep(&w, 0, REC_ENTRY, READ, 8, 16);
	put_deep(&w, 0, REC_EXIT, READ, 9, 16);
	world_ext(&w, 0, EXT_STACK, goroutine(G0), 10);
	put_deep(&w, 0, REC_EXIT, ACCEPT, 11, 16);
	CHECK_SAID(&w, "g7+accept g7+schedule g7+execute g7.gogos g7.gogo.abi0 g7!execute "
		       "g7!schedule g8+read g8-read g7-accept");
	world_end(&w);
}

/* Another program's functions may be called like that. */
static void test_elsewhere(void)
{
	struct world w;

	begin(&w, 1);
	world_put(&w, 0, REC_ENTRY, ACCEPT, 1);
	world_put(&w, 0, REC_ENTRY, SCHEDULE, 2);
	world_ext(&w, 0, EXT_MARK, GOGO, 3);
	world_ext(&w, 0, EXT_MARK, GOEXIT, 4);
	world_put(&w, 0, REC_EXIT, SCHEDULE, 5);
	CHECK_TOLD(&w, false, "0+accept 0+schedule 0.gogo.abi0 0.goexit1 0-schedule");
	world_end(&w);
}

int main(void)
{
	test_goexit();
	test_exit_thread();
	test_gogo();
	test_elsewhere();
	return failures != 0;
}
