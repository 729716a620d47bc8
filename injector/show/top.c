/* SPDX-License-Identifier: MIT */
/* top: which functions are called now, and which take the time? */
#include "injector/show/top.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "injector/log/say.h"
#include "injector/options/options_values.h"
#include "trace/output/columns.h"
#include "trace/output/put.h"
#include "trace/output/span.h"

#define UNKNOWN (-1.0)		/* as a value: it is less than any */
#define INTERVAL 1000000000ull	/* ns, between two tables */
#define PERCENT 100.0

enum { HEAD_LINES = 2, USUAL_LINES = 24, HELP_WIDE = 100 };

static const struct {
	char key;
	int width;
	const char *head;
} keys[TOP_KEYS] = {
	[TOP_RATE] = { 'r', 10, "CALLS/S" },
	[TOP_WALL] = { 'w', 9, "WALL" },
	[TOP_CALLS] = { 'c', 10, "CALLS" },
	[TOP_TOTAL] = { 't', 10, "TOTAL" },
	[TOP_SELF] = { 's', 10, "SELF" },
	[TOP_CPU] = { 'u', 10, "CPU" },
	[TOP_WAIT] = { 'o', 10, "WAIT" },
	[TOP_AVERAGE] = { 'a', 10, "AVG" },
	[TOP_P99] = { 'p', 10, "P99" },
	[TOP_MAX] = { 'm', 10, "MAX" },
};

/* Columns, a bit for each key: those that there are only where it is known when threads have
 * no processor. */
#define OFF_COLUMNS (1u << TOP_CPU | 1u << TOP_WAIT)

/* What a narrow terminal does without. */
static const int spare[TOP_KEYS] = { TOP_CALLS, TOP_TOTAL, TOP_SELF, TOP_P99, TOP_MAX, TOP_CPU,
				     TOP_AVERAGE, TOP_RATE, TOP_WAIT, TOP_WALL };

/* Of one function. The first two are of the time between two tables. */
struct line {
	double v[TOP_KEYS];
	const char *name;
};

/* What a function had at the table before. */
struct before {
	uint64_t calls, self;
};

struct table {
	struct line *lines;
	size_t n;
};

struct top {
	struct counts *counts;
	struct output *out;
	struct before *before;	/* by function id, `cap` of them */
	size_t cap;
	uint64_t taken;		/* ticks: when that was */
	uint64_t next;		/* ns */
	struct table table;	/* the last one */
	enum top_key key;
	bool typed;		/* it is to be drawn again */
	bool paused;
	bool held;		/* the terminal gives us each key as it is typed */
	struct termios was;
};

/* ---- the table ----------------------------------------------------------- */

static void top_fill(const struct counts *c, uint32_t id, const struct before *before, double ticks,
		     struct line *ret)
{
	const struct clock *clock = reader_clock(c->reader);
	const struct timing *t = &c->now.timings[id];
	double seconds = (double)clock_ns(clock, (uint64_t)ticks) / 1e9;

	ret->name = c->funcs[id].name;
	for (enum top_key k = 0; k < TOP_KEYS; k++)
		ret->v[k] = UNKNOWN;
	ret->v[TOP_RATE] = (double)(c->now.calls[id] - before->calls) / seconds;
	ret->v[TOP_CALLS] = (double)c->now.calls[id];
	if (!timing_ended(t))
		return;
	ret->v[TOP_WALL] = (double)(t->self - before->self) / ticks * PERCENT;
	ret->v[TOP_TOTAL] = (double)clock_ns(clock, t->total);
	ret->v[TOP_SELF] = (double)clock_ns(clock, t->self);
	if (c->now.off && c->now.off[id].calls) {
		ret->v[TOP_CPU] = (double)clock_ns(clock, c->now.off[id].cpu);
		ret->v[TOP_WAIT] = (double)clock_ns(clock, c->now.off[id].wait);
	}
	ret->v[TOP_AVERAGE] = (double)timing_average(t, clock);
	ret->v[TOP_P99] = (double)timing_percentile(t, clock, 99);
	ret->v[TOP_MAX] = (double)clock_ns(clock, t->most);
}

static int by_key(const void *x, const void *y, void *ctx)
{
	const struct line *a = x, *b = y;
	enum top_key key = *(const enum top_key *)ctx;

	if (a->v[key] != b->v[key])
		return a->v[key] > b->v[key] ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void table_sort(struct table *t, enum top_key key)
{
	qsort_r(t->lines, t->n, sizeof(*t->lines), by_key, &key);
}

/* What was called, since `taken`, when each function had what `before` has. */
static int table_make(const struct counts *c, const struct before *before, uint64_t taken,
		      struct table *ret)
{
	double ticks = c->now.ticks > taken ? (double)(c->now.ticks - taken) : 1;

	*ret = (struct table){ calloc(c->nfuncs + 1, sizeof(*ret->lines)), 0 };
	if (!ret->lines)
		return fail(ENOMEM, "sort %zu functions", c->nfuncs);
	for (size_t i = 0; i < c->nfuncs; i++)
		if (c->now.calls[i])
			top_fill(c, (uint32_t)i, &before[i], ticks, &ret->lines[ret->n++]);
	return 0;
}

/* The columns for a terminal that is so wide (0: not known), and sorts by `key`. */
static unsigned int columns_that_fit(const struct counts *c, size_t wide, enum top_key key)
{
	int width[TOP_KEYS];

	for (enum top_key k = 0; k < TOP_KEYS; k++)
		width[k] = keys[k].width;
	return columns_fit(&(struct columns){ TOP_KEYS, width, spare,
					      c->off_cpu ? 0 : OFF_COLUMNS }, wide, key);
}

static void print_cell(const struct line *l, enum top_key k, struct output *out)
{
	char span[SPAN_MOST + 1];

	if (l->v[k] == UNKNOWN) {
		output_printf(out, "  %*s", keys[k].width, "-");
	} else if (k == TOP_WALL) {
		output_printf(out, "  %7.1f %%", l->v[k]);
	} else if (k < TOP_TOTAL) {
		output_printf(out, "  %*.0f", keys[k].width, l->v[k]);
	} else {
		*put_span(span, (uint64_t)l->v[k], false) = '\0';
		output_printf(out, "  %s", span);
	}
}

static void print_line(const struct line *l, unsigned int shown, const char *end,
		       struct output *out)
{
	for (enum top_key k = 0; k < TOP_KEYS; k++)
		if (shown & 1u << k)
			print_cell(l, k, out);
	output_printf(out, "  %s%s\n", l->name, end);
}

static void print_head(unsigned int shown, const char *end, struct output *out)
{
	const char *gap = "# ";

	for (enum top_key k = 0; k < TOP_KEYS; k++)
		if (shown & 1u << k) {
			output_printf(out, "%s%*s", gap, keys[k].width, keys[k].head);
			gap = "  ";
		}
	output_printf(out, "  FUNCTION%s\n", end);
}

static enum top_key asked(const struct counts *c)
{
	enum top_key key = TOP_WALL;

	if (c->options->sort)
		options_top(c->options->sort, &key);
	return c->off_cpu || !(OFF_COLUMNS & 1u << key) ? key : TOP_WALL;
}

static void print_share(struct output *out, const char *key, double percent)
{
	if (percent == UNKNOWN)
		output_printf(out, ",\"%s\":null", key);
	else
		output_printf(out, ",\"%s\":%.2f", key, percent);
}

static void print_json(const struct counts *c, const struct before *none, struct output *out)
{
	for (size_t i = 0; i < c->nfuncs; i++) {
		struct line l;

		if (!c->now.calls[i])
			continue;
		top_fill(c, (uint32_t)i, none, (double)MAX(c->now.ticks - c->began, 1u), &l);
		timing_json(&c->funcs[i], "top", c->now.calls[i], &c->now.timings[i],
			    reader_clock(c->reader), out);
		output_printf(out, ",\"calls_per_s\":%.1f", l.v[TOP_RATE]);
		print_share(out, "wall_percent", l.v[TOP_WALL]);
		/* As it was called once. */
		print_share(out, "load_percent", l.v[TOP_WALL]);
		off_json(c->now.off ? &c->now.off[i] : NULL, reader_clock(c->reader), out);
		output_printf(out, "}\n");
	}
}

void top_print(struct counts *c, struct output *out)
{
	auto_free struct before *none = calloc(c->nfuncs + 1, sizeof(*none));
	unsigned int shown = columns_that_fit(c, 0, TOP_WALL);
	struct table t;

	if (!none || table_make(c, none, c->began, &t)) {
		say("the table does not fit into memory");
		fail_clear();
		return;
	}
	table_sort(&t, asked(c));
	if (c->options->json)
		print_json(c, none, out);
	else
		print_head(shown, "", out);
	for (size_t i = 0; i < t.n && !c->options->json; i++)
		print_line(&t.lines[i], shown, "", out);
	free(t.lines);
}

/* ---- live ---------------------------------------------------------------- */

/* Not while another job has the terminal, nor where a command of ours has it. */
static void hold(struct top *t)
{
	struct termios raw;

	if (t->held || t->counts->options->command || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
	    tcgetattr(STDIN_FILENO, &t->was) < 0)
		return;
	raw = t->was;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	t->held = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void top_release(struct top *t)
{
	if (t->held)
		tcsetattr(STDIN_FILENO, TCSANOW, &t->was);
	t->held = false;
}

void top_clear(struct top *t)
{
	top_release(t);
	output_printf(t->out, "\033[H\033[J");
}

int top_new(struct counts *c, struct output *out, struct top **ret)
{
	struct top *t = calloc(1, sizeof(*t));

	if (!t)
		return fail(ENOMEM, "draw a table");
	*t = (struct top){ .counts = c, .out = out, .taken = c->began, .key = asked(c) };
	output_printf(out, "\033[2J");
	*ret = t;
	return 0;
}

void top_free(struct top *t)
{
	if (!t)
		return;
	top_release(t);
	free(t->table.lines);
	free(t->before);
	free(t);
}

static bool make_room(struct top *t)
{
	size_t n = t->counts->nfuncs + 1;
	struct before *wide = n > t->cap ? realloc(t->before, n * sizeof(*wide)) : t->before;

	if (!wide)
		return false;
	if (n > t->cap)
		memset(wide + t->cap, 0, (n - t->cap) * sizeof(*wide));
	t->before = wide;
	t->cap = MAX(n, t->cap);
	return true;
}

/* The next table tells what is more by then. */
static void top_remember(struct top *t)
{
	const struct sums *now = &t->counts->now;

	for (size_t i = 0; i < t->counts->nfuncs; i++)
		t->before[i] = (struct before){ now->calls[i], now->timings[i].self };
	t->taken = now->ticks;
}

static void terminal_size(size_t *rows, size_t *columns)
{
	struct winsize size;
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row;

	*rows = known ? size.ws_row : USUAL_LINES;
	*columns = known ? size.ws_col : 0;
}

/* What is longer than a line of the terminal would be two. */
static void top_draw(struct top *t)
{
	const struct table *table = &t->table;
	size_t rows, columns;

	terminal_size(&rows, &columns);
	unsigned int shown = columns_that_fit(t->counts, columns, t->key);

	output_printf(t->out, "\033[?7l\033[H# by %s%s; %s\033[K\n", options_top_words[t->key],
		      t->paused ? ", held" : "", columns && columns < HELP_WIDE ?
		      "keys: r w c t s a p m sort, space holds it, q ends" :
		      t->counts->off_cpu ?
		      "r rate, w wall, c calls, t total, s self, u cpu, o wait, a avg, p p99, m max; "
		      "space, q" :
		      "r rate, w wall, c calls, t total, s self, a avg, p p99, m max; "
		      "space holds it, q ends");
	print_head(shown, "\033[K", t->out);
	for (size_t i = 0; i < table->n && i + HEAD_LINES + 1 < rows; i++)
		print_line(&table->lines[i], shown, "\033[K", t->out);
	output_printf(t->out, "\033[J\033[?7h");
}

/* What was called since the last one. */
static void renew(struct top *t)
{
	struct table table;

	counts_take(t->counts);
	if (!make_room(t) || table_make(t->counts, t->before, t->taken, &table)) {
		fail_clear();
		return;
	}
	free(t->table.lines);
	t->table = table;
	top_remember(t);
}

/* A terminal that is slow is shown fewer tables. */
void top_tick(struct top *t, uint64_t now)
{
	bool due = now >= t->next && !t->paused;

	hold(t);
	if ((!due && !t->typed) || output_pending(t->out))
		return;
	if (due) {
		t->next = now + INTERVAL;
		renew(t);
	}
	t->typed = false;
	table_sort(&t->table, t->key);
	top_draw(t);
}

int top_fd(const struct top *t)
{
	return t->held ? STDIN_FILENO : -1;
}

bool top_typed(struct top *t)
{
	char key;

	while (t->held && read(STDIN_FILENO, &key, 1) == 1) {
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (key == keys[i].key &&
			    (t->counts->off_cpu || !(OFF_COLUMNS & 1u << i)))
				t->key = (enum top_key)i;
		t->paused ^= key == ' ';
		if (key == 'q')
			return true;
		t->typed = true;
	}
	return false;
}
