/* SPDX-License-Identifier: MIT */
/* output: where do results go, and what if they are not read? */
#include "trace/output/output.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
	FILE_CHUNK = 1 << 16,	/* a file takes what it is given */
	KEEP = 1 << 20,		/* memory that an empty buffer may keep */
	FLUSH_ABOVE = 1 << 18,	/* bytes that output_flush keeps */
	WAIT_MS = 100,		/* between two looks at give_up */
	PRINTED = 256,		/* bytes; what is printed is rarely longer */
};

struct output {
	const char *name;
	int fd;
	bool owned, terminal, regular, socket;
	bool closed;		/* the reader is gone */
	bool broken;		/* memory ran out: something is missing */
	char *buf;
	size_t start, end, cap;	/* what waits is buf[start, end) */
};

/*
 * A description of our own: O_NONBLOCK on standard output's would hold for
 * every program that shares it. Where that is not possible (a socket, a
 * terminal of another user), poll() and small writes have to do.
 */
static void reopen(struct output *o)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", o->fd);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (o->owned)
		close(o->fd);
	o->fd = fd;
	o->owned = true;
}

/* A program or a recording, which a user named by mistake, to read it? */
static bool is_precious(const char *path)
{
	static const char *const starts[] = {
		ELFMAG, "/* CTF 1.", "\xc1\x1f\xfc\xc1", "\x28\xb5\x2f\xfd"
	};
	auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	char start[16];
	ssize_t n = fd < 0 ? 0 : read(fd, start, sizeof(start));

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (n >= (ssize_t)strlen(starts[i]) &&
		    !memcmp(start, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static int open_path(const char *path, int *ret)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && is_precious(path))
		return fail(0, "cannot write to %s: it is a program or a part of a recording; "
			    "name another file, or remove this one", path);
	/* Without O_NONBLOCK a FIFO that has no reader would hold us up. */
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NOCTTY |
			    O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0 && errno == ELOOP)
		return fail(0, "cannot write to %s: it is a symbolic link; name the file itself",
			    path);
	if (fd < 0 && errno == ENXIO)
		return fail(0, "cannot write to %s: no process reads it; start its reader first",
			    path);
	if (fd < 0)
		return fail(errno, "cannot write to %s", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0) {
		int err = errno;

		close(fd);
		return fail(err, "cannot empty %s", path);
	}
	*ret = fd;
	return 0;
}

static int inspect(struct output *o)
{
	struct stat st;

	if (fstat(o->fd, &st) < 0)
		return fail(errno, "cannot write to %s", o->name);
	o->regular = S_ISREG(st.st_mode);
	o->socket = S_ISSOCK(st.st_mode);
	o->terminal = isatty(o->fd);
	if (!o->owned && (o->terminal || S_ISFIFO(st.st_mode)))
		reopen(o);
	return 0;
}

int output_open(const char *path, struct output **ret)
{
	struct output *o = calloc(1, sizeof(*o));
	int err = 0;

	if (!o)
		return fail(ENOMEM, "open the output");
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	o->name = "standard output";
	o->fd = STDOUT_FILENO;
	if (path && strcmp(path, "-")) {
		o->name = path;
		o->fd = -1;
		err = open_path(path, &o->fd);
		o->owned = true;
	}
	err = err ?: inspect(o);
	if (err) {
		output_close(o);
		return err;
	}
	*ret = o;
	return 0;
}

void output_close(struct output *o)
{
	if (!o)
		return;
	if (o->owned && o->fd >= 0)
		close(o->fd);
	free(o->buf);
	free(o);
}

bool output_is_terminal(const struct output *o)
{
	return o->terminal;
}

size_t output_width(const struct output *o)
{
	struct winsize size;

	return o->terminal && ioctl(o->fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool output_draws(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

bool output_can_draw(const struct output *o)
{
	return output_draws(o->fd);
}

bool output_has_color(const struct output *o, bool no_color)
{
	const char *never = getenv("NO_COLOR");

	return output_can_draw(o) && !no_color && !(never && *never);
}

static bool output_grow(struct output *o, size_t n)
{
	size_t cap = MAX(o->cap * 2, (size_t)4096);
	char *buf;

	while (cap - o->end < n)
		cap *= 2;
	buf = realloc(o->buf, cap);
	if (!buf) {
		o->broken = true;
		return false;
	}
	o->buf = buf;
	o->cap = cap;
	return true;
}

char *output_room(struct output *o, size_t n)
{
	/* Move what waits to the front when that costs less than it gains. */
	if (o->start > o->cap / 2) {
		memmove(o->buf, o->buf + o->start, o->end - o->start);
		o->end -= o->start;
		o->start = 0;
	}
	if (o->cap - o->end < n && !output_grow(o, n))
		return NULL;
	return o->buf + o->end;
}

void output_take(struct output *o, size_t n)
{
	o->end += n;
}

void output_text(struct output *o, const char *text, size_t n)
{
	char *room = output_room(o, n);

	if (!room)
		return;
	memcpy(room, text, n);
	output_take(o, n);
}

void output_printf(struct output *o, const char *fmt, ...)
{
	size_t size = PRINTED;
	va_list ap;
	char *room;

	while ((room = output_room(o, size))) {
		va_start(ap, fmt);
		int n = vsnprintf(room, size, fmt, ap);
		va_end(ap);
		if (n < 0)
			o->broken = true;
		else if ((size_t)n < size)
			output_take(o, (size_t)n);
		if (n < 0 || (size_t)n < size)
			return;
		size = (size_t)n + 1;
	}
}

size_t output_pending(const struct output *o)
{
	return o->end - o->start;
}

int output_fd(const struct output *o)
{
	return o->fd;
}

bool output_is_closed(struct output *o)
{
	struct pollfd p = { .fd = o->fd };

	/* For a pipe POLLERR says that no reader is left; POLLHUP is a
	 * terminal's or socket's way to say so. */
	if (!o->regular && poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP)))
		o->closed = true;
	return o->closed;
}

static bool is_writable(const struct output *o)
{
	struct pollfd p = { .fd = o->fd, .events = POLLOUT };

	return o->regular || (poll(&p, 1, 0) > 0 && (p.revents & POLLOUT));
}

/* Whole lines, if there are any: other processes may write to the same. */
static size_t up_to_line(const char *from, size_t n)
{
	const char *end = memrchr(from, '\n', n);

	return end ? (size_t)(end - from) + 1 : n;
}

/* After poll() said yes, a pipe takes PIPE_BUF bytes without waiting. */
static ssize_t write_some(struct output *o)
{
	const char *from = o->buf + o->start;
	size_t n = up_to_line(from, MIN(output_pending(o),
					(size_t)(o->regular ? FILE_CHUNK : PIPE_BUF)));

	if (o->socket)
		return send(o->fd, from, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(o->fd, from, n);
}

static void output_forget(struct output *o)
{
	o->start = o->end = 0;
	if (o->cap <= KEEP)
		return;
	free(o->buf);
	o->buf = NULL;
	o->cap = 0;
}

static int write_failed(struct output *o, int err)
{
	if (err == EAGAIN || err == EINTR)
		return 0;
	output_forget(o);
	o->closed = true;
	if (err == EPIPE || err == ECONNRESET || err == EIO)
		return -EPIPE;
	return fail(err, "cannot write the results to %s", o->name);
}

int output_write(struct output *o)
{
	if (o->broken)
		return fail(ENOMEM, "keep the results");
	if (output_is_closed(o)) {
		output_forget(o);
		return -EPIPE;
	}
	while (output_pending(o) && is_writable(o)) {
		ssize_t n = write_some(o);

		if (n < 0)
			return write_failed(o, errno);
		o->start += (size_t)n;
	}
	if (!output_pending(o))
		output_forget(o);
	return 0;
}

int output_finish(struct output *o, bool (*give_up)(void))
{
	while (output_pending(o)) {
		struct pollfd p = { .fd = o->fd, .events = POLLOUT };
		int err = output_write(o);

		if (err)
			return err;
		if (give_up && give_up()) {
			output_forget(o);
			return 0;
		}
		if (output_pending(o) && poll(&p, 1, WAIT_MS) < 0 && errno != EINTR)
			return fail(errno, "wait for the output");
	}
	return o->broken ? fail(ENOMEM, "keep the results") : 0;
}

int output_flush(struct output *o)
{
	return output_pending(o) > FLUSH_ABOVE ? output_finish(o, NULL) : 0;
}
