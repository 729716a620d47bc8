/* SPDX-License-Identifier: MIT */
/*
 * export_pprof: the profile.proto of pprof: chains of calls, with their numbers and
 * times.
 *
 * Numbers of fields are those of perftools.profiles.Profile. Function N of the recording
 * is function and location N + 1; texts are numbered as they come: see `texts`. Values by which
 * calls are told are labels of samples: of the innermost call that has them.
 */
#include <string.h>

#include "trace/export/export.h"
#include "trace/output/protobuf.h"
#include "trace/read/tree.h"

enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5,
	PROFILE_TEXT = 6, PROFILE_TIME = 9, PROFILE_DURATION = 10, PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12, PROFILE_DEFAULT_TYPE = 14,
	TYPE_TYPE = 1, TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
	LABEL_KEY = 1, LABEL_TEXT = 2,
	LOCATION_ID = 1, LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4,
};

/* The first texts; those of functions follow, a name and a module each; then the names of values,
 * and of each function that is a group the texts of its values. */
static const char *const texts[] = { "", "calls", "count", "time", "nanoseconds" };

enum { TEXT_CALLS = 1, TEXT_COUNT, TEXT_TIME, TEXT_NANOSECONDS };

struct pprof {
	const struct view *view;
	const struct about *about;
	struct message line, label, message;
};

static int write_type(struct pprof *p, uint32_t field, uint64_t type, uint64_t unit,
		      struct output *out)
{
	message_clear(&p->message);
	message_number(&p->message, TYPE_TYPE, type);
	message_number(&p->message, TYPE_UNIT, unit);
	return message_write(&p->message, field, out);
}

static int write_text(struct pprof *p, const char *text, struct output *out)
{
	struct message m = { .bytes = (unsigned char *)text, .n = strlen(text) };

	return message_write(&m, PROFILE_TEXT, out) ?: output_flush(out);
}

static int write_function(struct pprof *p, size_t i, struct output *out)
{
	uint64_t name = ARRAY_SIZE(texts) + 2 * i;
	int err;

	message_clear(&p->message);
	message_number(&p->message, FUNCTION_ID, i + 1);
	message_number(&p->message, FUNCTION_NAME, name);
	message_number(&p->message, FUNCTION_SYSTEM_NAME, name);
	message_number(&p->message, FUNCTION_FILE, name + 1);
	err = message_write(&p->message, PROFILE_FUNCTION, out);
	message_clear(&p->line);
	message_number(&p->line, LINE_FUNCTION, i + 1);
	message_clear(&p->message);
	message_number(&p->message, LOCATION_ID, i + 1);
	message_add(&p->message, LOCATION_LINE, &p->line);
	return err ?: message_write(&p->message, PROFILE_LOCATION, out);
}

static int write_values(struct pprof *p, struct output *out)
{
	const char *const *by;
	size_t nby = view_by(p->view, &by);
	int err = 0;

	for (size_t j = 0; j < nby && !err; j++)
		err = write_text(p, by[j], out);
	for (size_t i = 0; nby && i <= p->about->nfuncs && !err; i++) {
		const struct group *g = view_group(p->view, &p->about->funcs[i]);
		const char *text = g && g->texts ? g->texts : NULL;

		for (size_t j = 0; j < nby && !err; j++) {
			err = write_text(p, text ? text : "", out);
			if (text)
				text += strlen(text) + 1;
		}
	}
	return err;
}

static int write_names(struct pprof *p, struct output *out)
{
	const struct reader_func *f = p->about->funcs;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(texts) && !err; i++)
		err = write_text(p, texts[i], out);
	for (size_t i = 0; i <= p->about->nfuncs && !err; i++)
		err = write_text(p, f[i].name, out) ?: write_text(p, f[i].module, out) ?:
		      write_function(p, i, out);
	return err ? err : write_values(p, out);
}

/* Value j of a group; NULL: its function has none. */
static const char *label_text(const struct group *g, size_t j)
{
	const char *text = g ? g->texts : NULL;

	while (text && j--)
		text += strlen(text) + 1;
	return text && *text ? text : NULL;
}

static void add_labels(struct pprof *p, const struct reader_func *const *path, size_t n)
{
	const char *const *by;
	size_t nby = view_by(p->view, &by);
	uint64_t first = ARRAY_SIZE(texts) + 2 * (p->about->nfuncs + 1);

	for (size_t j = 0; j < nby; j++)
		for (size_t i = n; i-- > 0; ) {
			if (!label_text(view_group(p->view, path[i]), j))
				continue;
			uint64_t func = (uint64_t)(path[i] - p->about->funcs);

			message_clear(&p->label);
			message_number(&p->label, LABEL_KEY, first + j);
			message_number(&p->label, LABEL_TEXT, first + nby * (1 + func) + j);
			message_add(&p->message, SAMPLE_LABEL, &p->label);
			break;
		}
}

/* Which function a place in the table is; of a group it is that of all its calls. */
static uint64_t location(const struct pprof *p, const struct reader_func *f)
{
	const struct group *g = view_group(p->view, f);

	return (uint64_t)((g ? &p->about->funcs[g->id] : f) - p->about->funcs) + 1;
}

/* The innermost function comes first. */
static int write_sample(void *ctx, const struct tree *t, const struct tree_node *node,
			struct output *out)
{
	const struct reader_func *path[TREE_DEPTH];
	uint64_t locations[TREE_DEPTH];
	struct pprof *p = ctx;
	uint64_t values[] = { node->calls, clock_ns(&p->about->clock, node->self) };
	size_t n = tree_path(t, node, path);

	for (size_t i = 0; i < n; i++)
		locations[i] = location(p, path[n - 1 - i]);
	message_clear(&p->message);
	message_numbers(&p->message, SAMPLE_LOCATION, locations, n);
	message_numbers(&p->message, SAMPLE_VALUE, values, ARRAY_SIZE(values));
	add_labels(p, path, n);
	return message_write(&p->message, PROFILE_SAMPLE, out);
}

static void write_number(uint32_t field, uint64_t value, struct output *out)
{
	struct message m = { 0 };

	message_number(&m, field, value);
	output_text(out, (const char *)m.bytes, m.n);
	message_free(&m);
}

static int write_head(struct pprof *p, const struct view *v, struct output *out)
{
	const struct clock *clock = &p->about->clock;
	int err = write_type(p, PROFILE_SAMPLE_TYPE, TEXT_CALLS, TEXT_COUNT, out);

	err = err ? err : write_type(p, PROFILE_SAMPLE_TYPE, TEXT_TIME, TEXT_NANOSECONDS, out);
	err = err ? err : write_type(p, PROFILE_PERIOD_TYPE, TEXT_TIME, TEXT_NANOSECONDS, out);
	write_number(PROFILE_PERIOD, 1, out);
	write_number(PROFILE_TIME, clock_realtime(clock, view_begin(v)), out);
	write_number(PROFILE_DURATION, clock_ns(clock, view_end(v) - view_begin(v)), out);
	write_number(PROFILE_DEFAULT_TYPE, TEXT_TIME, out);
	return err;
}

static int export_pprof(struct view *v, struct output *out)
{
	struct pprof p = { .view = v, .about = view_about(v) };
	struct tree *t = NULL;
	int err = tree_make(v, &t);

	err = err ? err : write_head(&p, v, out);
	err = err ? err : write_names(&p, out);
	err = err ? err : tree_walk(t, write_sample, &p, out);
	message_free(&p.line);
	message_free(&p.label);
	message_free(&p.message);
	tree_free(t);
	return err;
}

const struct export_format format_pprof = {
	"pprof", .run = export_pprof, .binary = true, .chains = true,
};
