/* SPDX-License-Identifier: MIT */
/* say: what do we tell the user, apart from results? */
#include "injector/log/say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "injector/log/clock.h"
#include "trace/output/output.h"

enum {
	PATIENCE_MS = 200,	/* with a standard error that is full */
	PROGRESS_NS = 100000000,
	PROGRESS_FIRST_NS = 500000000,
};

static bool quiet, shown;
static char last[512];		/* begin of what was said last */
static uint64_t progress_began, progress_last;

static void say_put(const char *text, size_t n)
{
	while (n) {
		struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
		ssize_t done;

		if (poll(&p, 1, PATIENCE_MS) <= 0 || !(p.revents & POLLOUT))
			return;
		done = write(STDERR_FILENO, text, MIN(n, (size_t)512));
		if (done < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (done > 0) {
			text += done;
			n -= (size_t)done;
		}
	}
}

/* The bytes of the character at `p`, in UTF-8; 0 if it is none, or a command: U+0080 to U+009F are
 * commands, too, and so are their last bytes alone, for some terminals. */
static size_t shown_length(const char *p)
{
	const unsigned char *c = (const unsigned char *)p;
	size_t n = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 :
		c[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if (c[0] < 0x20 || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0))
		return 0;
	/* Longer than needed: some take it for what it would say. */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90))
		return 0;
	return n;
}

char *say_clean(const char *text, char *buf, size_t size)
{
	size_t n = 0;

	while (*text && n + 5 < size) {
		size_t length = shown_length(text);

		if (!length)
			n += (size_t)snprintf(buf + n, size - n, "\\x%02x",
					      (unsigned char)*text++);
		for (; length; length--)
			buf[n++] = *text++;
	}
	buf[n] = '\0';
	return buf;
}

static void line(const char *text, size_t n)
{
	auto_free char *copy = NULL, *clean = NULL;
	size_t size = 4 * n + 16;

	say_progress_end();
	copy = strndup(text, n);
	clean = malloc(size);
	if (!copy || !clean)
		return;
	memcpy(clean, "inject: ", 8);
	say_clean(copy, clean + 8, size - 9);
	n = strlen(clean);
	clean[n++] = '\n';
	say_put(clean, n);
}

const char *say_last(void)
{
	return last;
}

void say_lines(const char *text)
{
	snprintf(last, sizeof(last), "%.*s", (int)strcspn(text, "\n"), text);
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n)
			line(text, n);
		text += n + (text[n] == '\n');
	}
}

static void say_args(const char *fmt, va_list ap)
{
	auto_free char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		return;
	}
	say_lines(text);
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_args(fmt, ap);
	va_end(ap);
}

void say_hint(const char *fmt, ...)
{
	va_list ap;

	if (quiet)
		return;
	va_start(ap, fmt);
	say_args(fmt, ap);
	va_end(ap);
}

void say_quiet(bool on)
{
	quiet = on;
}

void say_progress(void *ctx, const char *what, size_t done, size_t total)
{
	uint64_t now = clock_monotonic();
	char text[160], clean[120];
	int n;

	if (quiet || !total || !output_draws(STDERR_FILENO))
		return;
	if (!progress_began)
		progress_began = now;
	if (now - progress_began < PROGRESS_FIRST_NS ||
	    now - progress_last < PROGRESS_NS)
		return;
	progress_last = now;
	shown = true;
	n = snprintf(text, sizeof(text), "\r\033[Kinject: %s %zu%%",
		     say_clean(what, clean, sizeof(clean)),
		     (size_t)((double)done * 100 / (double)total));
	say_put(text, (size_t)n);
}

void say_progress_end(void)
{
	if (shown)
		say_put("\r\033[K", 4);
	shown = false;
	progress_began = 0;
}
