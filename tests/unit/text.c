/* SPDX-License-Identifier: MIT */
/* Are changes of text that are all to be made given up while there is time to undo them,
 * never in vain, and undone? */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "injector/ptrace/target.h"
#include "injector/ptrace/text.h"
#include "tests/unit/check.h"

enum { PAGES = 256, PLACES = PAGES * 4, BYTES = PAGES * 4096 };

/* At an even pace, of 1000 that take so many ns each: how many are made? */
static size_t made(uint64_t each, uint64_t until)
{
	for (size_t i = 0; i < 1000; i++)
		if (text_is_hopeless(0, i * each, until, i, 1000))
			return i;
	return 1000;
}

static void check_rule(void)
{
	CHECK_EQ(made(100, 100000), 1000);	/* just enough for all */
	CHECK_EQ(made(100, 200000), 1000);
	CHECK_EQ(made(101, 100000), 496);	/* not for all: as long to be undone */
	CHECK_EQ(made(1000, 100000), 51);
	CHECK(text_is_hopeless(0, 101, 100, 0, 10));
	CHECK(!text_is_hopeless(0, 100, 100, 0, 10));
	/* It was slow, and is nearly done. */
	CHECK(!text_is_hopeless(0, 90, 100, 999, 1000));
	CHECK(text_is_hopeless(0, 101, 100, 999, 1000));
}

static size_t changed(const uint8_t *text)
{
	size_t n = 0;

	for (size_t i = 0; i < BYTES; i++)
		n += text[i] != 0;
	return n;
}

static void check_changes(struct target *t)
{
	static struct change c[PLACES];
	size_t done;
	uint8_t *text = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(text != MAP_FAILED);
	for (size_t i = 0; i < PLACES; i++)
		c[i] = (struct change){ .addr = (raddr_t)(uintptr_t)text + i * 1024, .len = 1,
					.to = { 1 } };
	/* No time at all; too little for some; as much as it takes. */
	CHECK_EQ(text_change_all(t, c, PLACES, 1, &done), -EAGAIN);
	CHECK_EQ(done, 0);
	for (uint64_t budget = 1000; budget < 1000000000; budget *= 2) {
		fail_clear();
		int err = text_change_all(t, c, PLACES, now_ns() + budget, &done);

		CHECK(err == 0 ? done == PLACES : err == -EAGAIN && done < PLACES);
		CHECK_EQ(changed(text), done);
		text_undo(t, c, done);
		CHECK_EQ(changed(text), 0);
	}
	fail_clear();
	CHECK_EQ(text_change_all(t, c, PLACES, 0, &done), 0);
	CHECK_EQ(changed(text), PLACES);
	munmap(text, BYTES);
}

int main(void)
{
	struct target t;

	if (target_open(getpid(), &t)) {
		printf("no memory to write to: %s\n", fail_text());
		return 1;
	}
	check_rule();
	check_changes(&t);
	target_close(&t);
	return failures != 0;
}
