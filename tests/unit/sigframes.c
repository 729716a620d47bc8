/* SPDX-License-Identifier: MIT */
/* Are signal trampolines found wherever they lie in a file's code, which is read in
 * pieces, and each once? */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/regs.h"
#include "injector/ptrace/sigframes.h"
#include "tests/unit/check.h"

enum { SIZE = 4 << 20, STEP = 1 << 16 };

/* One at each of the last places of a step, so that some straddle the pieces. */
static void put_trampolines(uint8_t *code, size_t shift)
{
	for (size_t at = STEP; at < SIZE; at += STEP)
		memcpy(code + at - shift, gadget_sigreturn.bytes, gadget_sigreturn.size);
}

static size_t count(const struct sigframes *found, raddr_t code, size_t shift)
{
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++)
		n += found->restorers[i] >= code && found->restorers[i] < code + SIZE &&
			(found->restorers[i] + shift - code) % STEP == 0;
	return n;
}

int main(void)
{
	int fd = memfd_create("code", 0);
	struct target t;

	if (frame_mark) {
		printf("skipped: frames have a mark of their own here, and no trampolines\n");
		return 77;
	}

	if (fd < 0 || ftruncate(fd, SIZE) < 0 || target_open(getpid(), &t)) {
		printf("no code to look at: %s\n", fail_text());
		return 1;
	}
	uint8_t *code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	const uint8_t *run = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);

	if (code == MAP_FAILED || run == MAP_FAILED) {
		perror("map code of a file in memory");
		return 77;
	}
	for (size_t shift = 0; shift <= gadget_sigreturn.size; shift++) {
		struct sigframes found;

		memset(code, 0, SIZE);
		put_trampolines(code, shift);
		CHECK_EQ(sigframes_prepare(&t, &found), 0);
		CHECK_EQ(count(&found, (raddr_t)(uintptr_t)run, shift), SIZE / STEP - 1);
		for (size_t i = 1; i < found.n; i++)
			CHECK(found.restorers[i - 1] < found.restorers[i]);
		sigframes_clear(&found);
	}
	target_close(&t);
	close(fd);
	return failures != 0;
}
