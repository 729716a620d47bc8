/* SPDX-License-Identifier: MIT */
/*
 * output: where do results go, and what if they are not read?
 *
 * Results are kept in memory and written as far as the other side takes them.
 * Nothing here blocks but output_finish(), which is for the time when the
 * probes are out. Results go to standard output or to a file; everything else
 * is said on standard error, by say.h.
 */
#ifndef TRACE_OUTPUT_H
#define TRACE_OUTPUT_H

#include "base/base.h"

struct output;

/* `path`, which outlives it, NULL or "-": standard output. A file is created as the shell's `>`
 * would, but a symbolic link is refused. SIGPIPE is ignored from here on. */
int output_open(const char *path, struct output **ret);
/* Frees; what is not written yet is dropped. NULL is legal. */
void output_close(struct output *);

bool output_is_terminal(const struct output *);
/* Characters of a line of the terminal; 0 if it is none, or does not tell. */
size_t output_width(const struct output *);
/* A terminal that knows more than to write line after line. */
bool output_draws(int fd);
bool output_can_draw(const struct output *);
/* Colours are wanted: a terminal that knows them, and no option against it. */
bool output_has_color(const struct output *, bool no_color);

/* Room for `n` bytes, to be filled and then taken; NULL when memory is out
 * (then output_write fails next time). */
char *output_room(struct output *, size_t n);
void output_take(struct output *, size_t n);
void output_text(struct output *, const char *text, size_t n);
void output_printf(struct output *, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Bytes that wait. */
size_t output_pending(const struct output *);
/* The descriptor to wait for, POLLOUT if something waits. */
int output_fd(const struct output *);
/* Write what can be written now. 0 also when nothing could; -EPIPE, without a
 * message, when the reader is gone; else -errno with one. */
int output_write(struct output *);
/* True if no process reads any more; asks also when nothing is to be written. */
bool output_is_closed(struct output *);
/* Write, waiting for its reader, if much is to be written: for a caller that makes long results
 * at once. As output_finish. */
int output_flush(struct output *);
/* Write all, waiting as long as it takes, or until `give_up` says so. Then the
 * rest is dropped. */
int output_finish(struct output *, bool (*give_up)(void));

#endif
