/* SPDX-License-Identifier: MIT */
/* Is the call graph printed to the letter, and is the JSON one line per call? */
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/unit/reader_world.h"

#include "trace/read/frames.h"
#include "trace/show/graph.h"
#include "trace/show/json.h"

/* One tick is one nanosecond, and tick 0 was at noon of some day. */
static struct reader *ideal_reader(void)
{
	struct reader *r = calloc(1, sizeof(*r));

	r->clock.run_ticks = r->clock.run_ns = 1;
	r->clock.realtime = 1700000000ull * 1000000000;
	return r;
}

struct scene {
	struct reader *reader;
	struct output *out;
	struct graph *graph;
	struct json *json;
	struct frames *frames;
	char path[64];
	uint64_t tsc;
};

static void begin(struct scene *s, struct frames_options o, bool json, bool time)
{
	struct sink sink;

	*s = (struct scene){ .reader = ideal_reader() };
	strcpy(s->path, "/tmp/inject-graph-XXXXXX");
	close(mkstemp(s->path));
	CHECK_EQ(output_open(s->path, &s->out), 0);
	if (json) {
		CHECK_EQ(json_new(reader_clock(s->reader), s->out, &s->json), 0);
		sink = json_sink(s->json);
	} else {
		CHECK_EQ(graph_new(reader_clock(s->reader), s->out, time, false, &s->graph), 0);
		graph_header(s->graph);
		sink = graph_sink(s->graph);
	}
	CHECK_EQ(frames_new(reader_clock(s->reader), reader_now(), world_funcs, &o, &sink,
			    &s->frames), 0);
}

static struct event event(struct scene *s, uint32_t thread, enum event_kind kind,
			  uint32_t func, uint64_t tsc)
{
	s->tsc = tsc;
	return (struct event){
		.tsc = tsc, .func = func, .pid = 41, .tid = 4123 + (int32_t)thread,
		.thread = thread, .kind = (uint8_t)kind,
	};
}

static void feed(struct scene *s, uint32_t thread, enum event_kind kind,
		 uint32_t func, uint64_t tsc)
{
	struct event e = event(s, thread, kind, func, tsc);

	CHECK_EQ(frames_event(s->frames, &e), 0);
}

static void feed_lost(struct scene *s, uint64_t n, uint64_t tsc)
{
	struct event e = event(s, 0, EVENT_LOST, 0, tsc);

	e.lost = n;
	CHECK_EQ(frames_event(s->frames, &e), 0);
}

static void finish(struct scene *s, const char *what, const char *wanted)
{
	static char is[65536];
	ssize_t n;
	int fd;

	frames_finish(s->frames, s->tsc);
	CHECK_EQ(output_finish(s->out, NULL), 0);
	fd = open(s->path, O_RDONLY);
	n = read(fd, is, sizeof(is) - 1);
	is[n < 0 ? 0 : n] = '\0';
	close(fd);
	unlink(s->path);
	if (strcmp(is, wanted) != 0) {
		failures++;
		printf("%s is\n%s\nnot\n%s\n", what, is, wanted);
	}
	frames_free(s->frames);
	graph_free(s->graph);
	json_free(s->json);
	output_close(s->out);
	free(s->reader);
}

#define NO_OPTIONS ((struct frames_options){ 0 })
#define HEADER "# DURATION     TID      FUNCTION\n"

/* The example of the manual. */
static void test_manual(void)
{
	struct scene s;

	begin(&s, NO_OPTIONS, false, false);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 1000);
	feed(&s, 0, EVENT_ENTRY, READ, 2000);
	feed(&s, 0, EVENT_EXIT, READ, 3834);
	feed(&s, 0, EVENT_EXIT, ACCEPT, 14456);
	feed(&s, 2, EVENT_ENTRY, WAIT, 20000);
	frames_tick(s.frames, 20000 + 99000000);
	CHECK(output_pending(s.out) > 0);
	frames_tick(s.frames, 20000 + 100000000);
	finish(&s, "manual", HEADER
	       "            [   4123] | net_accept() {\n"
	       "   1.834 us [   4123] |   net_read();\n"
	       "  13.456 us [   4123] | } /* net_accept */\n"
	       "            [   4125] | net_wait() {\n"
	       "            [   4125] | } /* net_wait: still open */\n");
}

/* What a damaged recording may have: ends that are missing, and begins. */
static void test_gaps(void)
{
	struct scene s;

	begin(&s, NO_OPTIONS, false, false);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 100);
	feed(&s, 0, EVENT_ENTRY, READ, 200);
	feed(&s, 0, EVENT_EXIT, ACCEPT, 700);
	feed(&s, 0, EVENT_EXIT, WAIT, 750);
	feed(&s, 0, EVENT_ENTRY, WAIT, 800);
	feed(&s, 0, EVENT_STACK_END, 0, 900);
	finish(&s, "gaps", HEADER
	       "            [   4123] | net_accept() {\n"
	       "            [   4123] |   net_read() {\n"
	       "            [   4123] |   } /* net_read: exit lost */\n"
	       "   0.600 us [   4123] | } /* net_accept */\n"
	       "            [   4123] | } /* net_wait: began before */\n"
	       "            [   4123] | net_wait() {\n"
	       "            [   4123] | } /* net_wait: exit lost */\n");
}

static void test_ends(void)
{
	struct scene s;

	begin(&s, NO_OPTIONS, false, false);
	feed(&s, 0, EVENT_BEFORE, WAIT, 10);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 100);
	feed(&s, 0, EVENT_ENTRY, READ, 200);
	feed(&s, 0, EVENT_UNWOUND, READ, 700);
	feed(&s, 0, EVENT_BEFORE, WAIT, 750);
	feed(&s, 0, EVENT_MARK, LOG, 800);
	feed_lost(&s, 123, 900);
	feed(&s, 0, EVENT_EXIT_LOST, ACCEPT, 900);
	finish(&s, "ends", HEADER
	       "            [   4123] | } /* net_wait: began before */\n"
	       "            [   4123] | net_accept() {\n"
	       "            [   4123] |   net_read() {\n"
	       "   0.500 us [   4123] |   } /* net_read: unwound */\n"
	       "            [   4123] |   } /* net_wait: began before */\n"
	       "            [   4123] |   net_log();\n"
	       "# 123 events lost\n"
	       "            [   4123] | } /* net_accept: exit lost */\n");
}

/* Of what was lost behind the last event of a thread may be the ends of its calls. */
static void test_lost_ends(void)
{
	struct scene s;

	begin(&s, NO_OPTIONS, false, false);
	feed(&s, 1, EVENT_ENTRY, WAIT, 50);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 100);
	feed(&s, 0, EVENT_ENTRY, READ, 200);
	feed_lost(&s, 5, 900);
	finish(&s, "lost ends", HEADER
	       "            [   4123] | net_accept() {\n"
	       "# 5 events lost\n"
	       "            [   4123] |   net_read() {\n"
	       "            [   4123] |   } /* net_read: exit lost */\n"
	       "            [   4123] | } /* net_accept: exit lost */\n"
	       "            [   4124] | net_wait() {\n"
	       "            [   4124] | } /* net_wait: still open */\n");

	begin(&s, NO_OPTIONS, false, false);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 100);
	feed_lost(&s, 5, 900);
	feed(&s, 0, EVENT_ENTRY, READ, 1000);
	feed(&s, 0, EVENT_EXIT, READ, 1100);
	finish(&s, "lost within", HEADER
	       "# 5 events lost\n"
	       "            [   4123] | net_accept() {\n"
	       "   0.100 us [   4123] |   net_read();\n"
	       "            [   4123] | } /* net_accept: still open */\n");
}

static void test_threads_interleave(void)
{
	struct scene s;

	begin(&s, NO_OPTIONS, false, false);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 1000);
	feed(&s, 1, EVENT_ENTRY, ACCEPT, 1100);
	feed(&s, 0, EVENT_ENTRY, READ, 1200);
	feed(&s, 1, EVENT_EXIT, ACCEPT, 2100);
	feed(&s, 0, EVENT_EXIT, READ, 2200);
	feed(&s, 0, EVENT_EXIT, ACCEPT, 3000);
	finish(&s, "threads", HEADER
	       "            [   4123] | net_accept() {\n"
	       "   1.000 us [   4124] | net_accept();\n"
	       "   1.000 us [   4123] |   net_read();\n"
	       "   2.000 us [   4123] | } /* net_accept */\n");
}

static void test_spans(void)
{
	static const uint64_t ns[] = {
		0, 1, 999, 1000, 999999, 1000000, 123456789, 999999999,
		1000000000, 59999000000, 60000000000, 999999999999,
		1000000000000, 3599000000000, 3600000000000,
		86400000000000,
	};
	struct scene s;

	begin(&s, NO_OPTIONS, false, false);
	for (size_t i = 0; i < ARRAY_SIZE(ns); i++) {
		feed(&s, 0, EVENT_ENTRY, READ, 100);
		feed(&s, 0, EVENT_EXIT, READ, 100 + ns[i]);
	}
	finish(&s, "spans", HEADER
	       "   0.000 us [   4123] | net_read();\n"
	       "   0.001 us [   4123] | net_read();\n"
	       "   0.999 us [   4123] | net_read();\n"
	       "   1.000 us [   4123] | net_read();\n"
	       " 999.999 us [   4123] | net_read();\n"
	       "   1.000 ms [   4123] | net_read();\n"
	       " 123.456 ms [   4123] | net_read();\n"
	       " 999.999 ms [   4123] | net_read();\n"
	       "   1.000  s [   4123] | net_read();\n"
	       "  59.999  s [   4123] | net_read();\n"
	       "  60.000  s [   4123] | net_read();\n"
	       " 999.999  s [   4123] | net_read();\n"
	       "  16min 40s [   4123] | net_read();\n"
	       "  59min 59s [   4123] | net_read();\n"
	       "   1h 00min [   4123] | net_read();\n"
	       "  24h 00min [   4123] | net_read();\n");
}

/* Long calls with their ancestors; short ones are not there at all. */
static void test_min_duration(void)
{
	struct scene s;

	begin(&s, (struct frames_options){ .min_ns = 1000 }, false, false);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 100);
	feed(&s, 0, EVENT_ENTRY, READ, 200);
	feed(&s, 0, EVENT_EXIT, READ, 300);
	feed(&s, 0, EVENT_ENTRY, WAIT, 400);
	feed(&s, 0, EVENT_ENTRY, READ, 500);
	feed(&s, 0, EVENT_EXIT, READ, 1500);
	feed(&s, 0, EVENT_EXIT, WAIT, 1600);
	feed(&s, 0, EVENT_MARK, LOG, 1650);
	feed(&s, 0, EVENT_EXIT, ACCEPT, 1700);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 2000);
	feed(&s, 0, EVENT_ENTRY, READ, 2100);
	feed(&s, 0, EVENT_EXIT, READ, 2200);
	feed(&s, 0, EVENT_EXIT, ACCEPT, 3000);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 4000);
	finish(&s, "-t", HEADER
	       "            [   4123] | net_accept() {\n"
	       "            [   4123] |   net_wait() {\n"
	       "   1.000 us [   4123] |     net_read();\n"
	       "   1.200 us [   4123] |   } /* net_wait */\n"
	       "   1.600 us [   4123] | } /* net_accept */\n"
	       "   1.000 us [   4123] | net_accept();\n");
}

static void test_depth_and_tid(void)
{
	struct scene s;

	begin(&s, (struct frames_options){ .depth = 1, .tid = 4123 }, false, false);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 1000);
	feed(&s, 1, EVENT_ENTRY, WAIT, 1000);
	feed(&s, 0, EVENT_ENTRY, READ, 1100);
	feed(&s, 0, EVENT_EXIT, READ, 1200);
	feed(&s, 0, EVENT_MARK, LOG, 1300);
	feed(&s, 1, EVENT_EXIT, WAIT, 1500);
	feed(&s, 0, EVENT_EXIT, ACCEPT, 2000);
	finish(&s, "-D --tid", HEADER
	       "   1.000 us [   4123] | net_accept();\n");
}

static void test_calls(void)
{
	struct scene s;

	begin(&s, (struct frames_options){ .calls = 2 }, false, false);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 1000);
	for (uint64_t t = 2000; t < 9000; t += 1000) {
		CHECK_EQ(frames_full(s.frames), t >= 3000);
		feed(&s, 0, EVENT_ENTRY, READ, t);
		feed(&s, 0, EVENT_EXIT, READ, t + 500);
	}
	feed(&s, 0, EVENT_EXIT, ACCEPT, 10000);
	feed(&s, 0, EVENT_ENTRY, READ, 11000);
	finish(&s, "-n", HEADER
	       "            [   4123] | net_accept() {\n"
	       "   0.500 us [   4123] |   net_read();\n"
	       "   9.000 us [   4123] | } /* net_accept */\n");
}

static void test_time(void)
{
	struct scene s;

	setenv("TZ", "UTC", 1);
	begin(&s, NO_OPTIONS, false, true);
	feed(&s, 0, EVENT_ENTRY, ACCEPT, 1000);
	feed(&s, 0, EVENT_ENTRY, READ, 2000);
	feed(&s, 0, EVENT_EXIT, READ, 3000);
	feed(&s, 0, EVENT_EXIT, ACCEPT, 1000001000);
	finish(&s, "--time",
	       "# TIME           DURATION     TID      FUNCTION\n"
	       "22:13:20.000001            [   4123] | net_accept() {\n"
	       "22:13:20.000002   1.000 us [   4123] |   net_read();\n"
	       "22:13:21.000001   1.000  s [   4123] | } /* net_accept */\n");
}

#define PREFIX "{\"type\":\"call\",\"ts_ns\":"
#define NET_READ ",\"func\":\"net_read\",\"module\":\"srv\"}\n"

static void test_json(void)
{
	struct scene s;

	begin(&s, NO_OPTIONS, true, false);
	feed(&s, 0, EVENT_ENTRY, READ, 1);
	feed(&s, 0, EVENT_ENTRY, READ, 2);
	feed(&s, 0, EVENT_EXIT, READ, 12);
	feed(&s, 0, EVENT_UNWOUND, READ, 21);
	feed_lost(&s, 7, 30);
	feed(&s, 0, EVENT_BEFORE, WAIT, 31);
	feed(&s, 0, EVENT_MARK, LOG, 32);
	feed(&s, 0, EVENT_ENTRY, READ, 33);
	finish(&s, "JSON",
	       PREFIX "1700000000000000002,\"dur_ns\":10,\"end\":\"return\""
		      ",\"pid\":41,\"tid\":4123,\"depth\":1" NET_READ
	       PREFIX "1700000000000000001,\"dur_ns\":20,\"end\":\"unwound\""
		      ",\"pid\":41,\"tid\":4123,\"depth\":0" NET_READ
	       "{\"type\":\"lost\",\"ts_ns\":1700000000000000030,\"pid\":41"
	       ",\"tid\":4123,\"events\":7}\n"
	       PREFIX "null,\"dur_ns\":null,\"end\":\"open\",\"pid\":41"
		      ",\"tid\":4123,\"depth\":0,\"func\":\"net_wait\""
		      ",\"module\":\"srv\",\"began_before\":true}\n"
	       PREFIX "1700000000000000032,\"dur_ns\":null,\"end\":\"open\""
		      ",\"pid\":41,\"tid\":4123,\"depth\":0,\"func\":\"net_log\""
		      ",\"module\":\"libnet.so\",\"entry_only\":true}\n"
	       PREFIX "1700000000000000033,\"dur_ns\":null,\"end\":\"open\""
		      ",\"pid\":41,\"tid\":4123,\"depth\":0,\"func\":\"net_read\""
		      ",\"module\":\"srv\",\"seen_ns\":0}\n");
}

static void test_json_strings(void)
{
	struct scene s;

	begin(&s, NO_OPTIONS, true, false);
	json_string(s.out, "a\"b\\c\n\x1b[31m\x7f");
	json_string(s.out, "\xc3\xa4 \xf0\x9f\x98\x80 \xe2\x82\xac");
	json_string(s.out, "\xff \xc3 \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82");
	finish(&s, "strings",
	       "\"a\\\"b\\\\c\\u000a\\u001b[31m\\u007f\""
	       "\"\xc3\xa4 \xf0\x9f\x98\x80 \xe2\x82\xac\""
	       "\"\\ufffd \\ufffd \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd "
	       "\\ufffd\\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\"");
}

/* By whatever a function is told from others where it is printed. */
static void test_json_names(void)
{
	static const struct reader_func funcs[] = {
		{ .name = "read@srv", .module = "srv" }, { .name = "read@plt", .module = "srv" },
		{ .name = "fn_1f@lib@2.so", .module = "2.so" }, { .name = "@srv", .module = "srv" },
	};
	struct scene s;

	begin(&s, NO_OPTIONS, true, false);
	for (size_t i = 0; i < ARRAY_SIZE(funcs); i++)
		json_func(s.out, &funcs[i]);
	finish(&s, "names",
	       "\"func\":\"read\",\"module\":\"srv\"\"func\":\"read@plt\",\"module\":\"srv\""
	       "\"func\":\"fn_1f@lib\",\"module\":\"2.so\"\"func\":\"@srv\",\"module\":\"srv\"");
}

/* Threads come and go; what is kept of them goes, too. */
static void test_stack_end(void)
{
	struct scene s;

	begin(&s, NO_OPTIONS, false, false);
	for (uint32_t i = 0; i < 100000; i++) {
		feed(&s, i, EVENT_ENTRY, READ, i);
		feed(&s, i, EVENT_UNWOUND, READ, i);
		feed(&s, i, EVENT_STACK_END, 0, i);
	}
	output_close(s.out);
	CHECK_EQ(output_open(s.path, &s.out), 0);
	finish(&s, "churn", "");
}

int main(void)
{
	test_manual();
	test_ends();
	test_lost_ends();
	test_gaps();
	test_threads_interleave();
	test_spans();
	test_min_duration();
	test_depth_and_tid();
	test_calls();
	test_time();
	test_json();
	test_json_strings();
	test_json_names();
	test_stack_end();
	return failures != 0;
}
