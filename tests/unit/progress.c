/* SPDX-License-Identifier: MIT */
/* Is progress drawn where it can be, taken away at its end, and drawn nowhere else? */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "injector/log/say.h"
#include "tests/unit/check.h"


static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* What is on the terminal of a thing that takes longer than what nothing is drawn of. */
static const char *drawn(const char *term)
{
	static char text[512];
	/* The latter is the other end of the terminal that is standard error. */
	int error = dup(STDERR_FILENO), terminal, keyboard;
	size_t n = 0;
	ssize_t got;

	keyboard = posix_openpt(O_RDWR | O_NOCTTY);
	MUST(keyboard >= 0 && grantpt(keyboard) == 0 && unlockpt(keyboard) == 0);
	terminal = open(ptsname(keyboard), O_RDWR | O_NOCTTY);
	MUST(terminal >= 0);
	if (term)
		setenv("TERM", term, 1);
	else
		unsetenv("TERM");
	dup2(terminal, STDERR_FILENO);
	say_progress(NULL, "planning it", 1, 4);
	sleep_ms(600);
	say_progress(NULL, "planning it", 2, 4);
	say_progress_end();
	dup2(error, STDERR_FILENO);
	close(error);
	close(terminal);
	/* Until it is known that no more comes, which is an error of a terminal's. */
	while ((got = read(keyboard, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	close(keyboard);
	return text;
}

int main(void)
{
	CHECK(strcmp(drawn("vt100"), "\r\033[Kinject: planning it 50%\r\033[K") == 0);
	CHECK(strcmp(drawn("dumb"), "") == 0);
	CHECK(strcmp(drawn(NULL), "") == 0);
	say_quiet(true);
	CHECK(strcmp(drawn("vt100"), "") == 0);
	return failures != 0;
}
