/* SPDX-License-Identifier: MIT */
/*
 * victim: how does a test talk with the program that is traced?
 *
 * Commands are lines on standard input (a FIFO that the test holds open, so
 * the victim ends when its test does); answers are lines on standard output.
 * No signal is used, because signals are part of what is tested.
 *
 *	ping	-> alive PROGRESS ERRORS
 *	quit	-> bye
 *
 * PROGRESS counts work done: a test that pings twice sees that the victim
 * still works. ERRORS counts results that were not what they should be; each
 * is also a line that begins with WRONG.
 */
#ifndef TESTS_VICTIM_H
#define TESTS_VICTIM_H

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A function that is to exist once, whole, and under its own name. */
#ifdef __clang__
#define PROBED __attribute__((noinline, used))
#else
#define PROBED __attribute__((noinline, noipa, used))
#endif

static uint64_t victim_progress;
static uint64_t victim_errors;

static inline void victim_count(void)
{
	__atomic_fetch_add(&victim_progress, 1, __ATOMIC_RELAXED);
}

/* One line, written at once: no stdio, whose locks other tests probe. */
__attribute__((format(printf, 1, 2))) static inline void
victim_say(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	if (write(STDOUT_FILENO, line, n) != n)
		_exit(4);
}

#define victim_wrong(...) \
	do { \
		__atomic_fetch_add(&victim_errors, 1, __ATOMIC_RELAXED); \
		victim_say("WRONG " __VA_ARGS__); \
	} while (0)

static inline void victim_sleep_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* Read one line of standard input, a byte at a time: nothing is read ahead,
 * so a child that execs finds the rest. False at the end of input. */
static inline bool victim_line(char *line, size_t size)
{
	size_t n = 0;
	char c;

	for (;;) {
		ssize_t got = read(STDIN_FILENO, &c, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got != 1)
			return false;
		if (c == '\n')
			break;
		if (n + 1 < size)
			line[n++] = c;
	}
	line[n] = '\0';
	return true;
}

/*
 * Wait at most `ms` for a command. False when the victim is to end. A command
 * other than ping and quit is given to `each` (NULL: it is an error).
 */
static inline bool victim_poll(int ms, void (*each)(const char *command))
{
	struct pollfd p = { STDIN_FILENO, POLLIN, 0 };
	char line[128];

	if (poll(&p, 1, ms) <= 0)
		return true;
	if (!victim_line(line, sizeof(line)))
		return false;
	if (strcmp(line, "quit") == 0) {
		victim_say("bye");
		return false;
	}
	if (strcmp(line, "ping") == 0)
		victim_say("alive %llu %llu",
			   (unsigned long long)__atomic_load_n(&victim_progress,
							       __ATOMIC_RELAXED),
			   (unsigned long long)__atomic_load_n(&victim_errors,
							       __ATOMIC_RELAXED));
	else if (each)
		each(line);
	else
		victim_say("what is %s?", line);
	return true;
}

#endif
