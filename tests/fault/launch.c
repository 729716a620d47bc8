/* SPDX-License-Identifier: MIT */
/*
 * launch HOW INJECT COMMAND: does a command begin and come to its end, or not
 * begin at all, whichever system call of the inject that starts it fails?
 *
 * Runs `inject -- COMMAND exit 7` with its 1st, 2nd, 3rd ... system call failing
 * (HOW `fail`), or killed before it (`kill`), until several runs in a row make no
 * n-th call any more. COMMAND prints `begun` and `done`; its end is seen by that of
 * its standard output. With STRIDE=N only every N-th call is taken. inject goes at an
 * equal pace, as in sweep.c. Exit status 0: no harm was done, and the end was reached.
 */
#include <fcntl.h>
#include <poll.h>

#include "tests/fault/failing.h"

enum {
	UNREACHED = 4,		/* runs in a row without an n-th call: the end */
	MOST_HARM = 20,
};

static long harm, points;

/* All that is printed until no process can print any more; false: it takes too long. */
static bool read_all(int fd, char *text, size_t size)
{
	size_t n = 0;

	for (;;) {
		struct pollfd p = { fd, POLLIN, 0 };
		int ready = poll(&p, 1, failing_patience() * 1000);
		ssize_t got;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		got = read(fd, text + n, size - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	text[n] = '\0';
	return true;
}

/* NULL if it is as it should be. */
static const char *judge(const struct failing_run *r, bool killed, bool ended,
			 const char *printed, const char *said)
{
	int status = WIFEXITED(r->status) ? WEXITSTATUS(r->status) :
		128 + WTERMSIG(r->status);
	bool none = !*printed, whole = strcmp(printed, "begun\ndone\n") == 0;

	if (!ended)
		return "the command, or inject, does not end";
	if (failing_sanitizer_found(said))
		return "what a sanitizer says";
	if (!none && !whole)
		return "the command has begun, and not come to its end";
	if (killed)
		return NULL;
	/* Before main, the loader says what it wants; and see gave_up in
	 * sweep.c. */
	if ((!r->noted && none) || status == 128 + SIGABRT || failing_sanitizer_gave_up(said))
		return NULL;
	if (whole && status != 7)
		return "the command has run, but its status is not there";
	if (none && status != 125 && status != 126)
		return "the command has not run, but no status says so";
	return r->number < 0 && !whole ? "not one call failed, and it has not run" : NULL;
}

static bool take(long n, long stride, bool do_kill, char **command)
{
	static const int in_turn[] = { ENOMEM, EPERM, EIO, EINTR, EAGAIN };
	struct failing_want want = { .n = n, .do_kill = do_kill, .alone = true,
		.text = "/dev/null",	/* of -o: main has begun */
		/* By the point: a stride of five would meet but one. */
		.err = in_turn[n / stride % 5], .seconds = failing_patience() };
	char printed[256] = "", said[1024] = "";
	struct failing_run r;
	int out[2], errors[2];

	if (pipe2(out, O_CLOEXEC) || pipe2(errors, O_CLOEXEC))
		exit(2);
	want.out = out[1];
	want.errors = errors[1];
	if (failing_run(&want, command, &r))
		exit(2);
	close(out[1]);
	close(errors[1]);
	bool ended = read_all(out[0], printed, sizeof(printed)) && !r.endless;
	if (ended)
		read_all(errors[0], said, sizeof(said));
	const char *why = judge(&r, do_kill && r.number >= 0, ended, printed, said);
	if (why) {
		printf("call %ld (system call %ld): %s (status %x)\n%s%s", n, r.number, why,
		       r.status, printed, said);
		harm++;
	}
	close(out[0]);
	close(errors[0]);
	points += r.number >= 0;
	return r.number >= 0;
}

int main(int argc, char **argv)
{
	long stride = getenv("STRIDE") ? atol(getenv("STRIDE")) : 1;
	int unreached = 0;

	if (argc != 4 || stride < 1 || nice(1) < 0)
		return 2;
	char *command[] = { argv[2], (char *)"-q", (char *)"-f", (char *)"command_*",
		(char *)"-o", (char *)"/dev/null", (char *)"--", argv[3],
		(char *)"exit", (char *)"7", NULL };
	setenv("COMMAND_REPORTS", "1", 1);
	for (long n = (stride + 1) / 2; unreached < UNREACHED && harm < MOST_HARM; n += stride)
		unreached = take(n, stride, strcmp(argv[1], "kill") == 0, command) ?
			0 : unreached + 1;
	printf("%ld points, %ld did harm\n", points, harm);
	return harm != 0;
}
