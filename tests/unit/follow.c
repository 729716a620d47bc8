/* SPDX-License-Identifier: MIT */
/* Does following end for every reason that it has, at once, and print it all? */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/reader_world.h"

#include "injector/log/say.h"
#include "injector/proc/signals.h"
#include "injector/show/follow.h"

struct scene {
	struct world w;
	struct options options;
	struct follow f;
	struct summary s;
	char path[64];
	pid_t child;
};

/* A target: a process that lives until its pipe is closed. */
static pid_t start_child(int *ret)
{
	int p[2];
	char c;
	pid_t pid;

	CHECK_EQ(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		close(p[1]);
		_exit(read(p[0], &c, 1) != 0);
	}
	close(p[0]);
	*ret = p[1];
	return pid;
}

static void begin(struct scene *s, int *life)
{
	strcpy(s->path, "/tmp/inject-follow-XXXXXX");
	close(mkstemp(s->path));
	s->child = start_child(life);
	world_make(&s->w, 2, 4);
	world_read(&s->w, s->child);
	/* Its one thread calls net_read, and is in net_wait. */
	world_claim(&s->w, 0, s->child, 0);
	world_put(&s->w, 0, REC_ENTRY, READ, 10);
	world_put(&s->w, 0, REC_EXIT, READ, 20);
	world_put(&s->w, 0, REC_ENTRY, WAIT, 30);
	CHECK_EQ(output_open(s->path, &s->f.out), 0);
	s->f.reader = s->w.reader;
	s->f.funcs = world_funcs;
	s->f.options = &s->options;
	s->f.pid = s->child;
	CHECK_EQ(follow_begin(&s->f, &s->s), 0);
}

static void end(struct scene *s, int life, const char *wanted)
{
	char is[4096];
	ssize_t n;
	int fd;

	s->s.removed = s->s.verified = true;
	CHECK_EQ(follow_finish(&s->f, &s->s), 0);
	CHECK_EQ(s->s.lost, 0);
	follow_end(&s->f);
	output_close(s->f.out);
	fd = open(s->path, O_RDONLY);
	n = read(fd, is, sizeof(is) - 1);
	is[MAX(n, 0)] = '\0';
	close(fd);
	unlink(s->path);
	if (!strstr(is, wanted)) {
		failures++;
		printf("printed is\n%swithout\n%s", is, wanted);
	}
	close(life);
	waitpid(s->child, NULL, 0);
	world_end(&s->w);
}

static void test_duration(void)
{
	struct scene s = { .options.duration = 150000000 };
	uint64_t before = clock_monotonic(), took;
	int life;

	begin(&s, &life);
	CHECK_EQ(follow(&s.f), 0);
	took = clock_monotonic() - before;
	CHECK_EQ(s.f.why, FOLLOW_DURATION);
	CHECK(took >= 150000000 && took < 1000000000);
	/* What comes until the probes are out is printed, too. */
	world_put(&s.w, 0, REC_EXIT, WAIT, 1000);
	end(&s, life, "} /* net_wait */\n");
	CHECK_EQ(s.s.calls, 2);
	CHECK_EQ(s.s.events, 4);
}

static void test_calls(void)
{
	struct scene s = { .options.calls = 1 };
	int life;

	begin(&s, &life);
	CHECK_EQ(follow(&s.f), 0);
	CHECK_EQ(s.f.why, FOLLOW_CALLS);
	end(&s, life, "net_read();\n");
}

static void test_target_gone(void)
{
	struct scene s = { 0 };
	int life;

	begin(&s, &life);
	close(life);
	life = -1;
	CHECK_EQ(follow(&s.f), 0);
	CHECK_EQ(s.f.why, FOLLOW_GONE);
	s.s.gone = "the target has ended";
	end(&s, life, "net_read();\n");
	CHECK_EQ(s.s.calls, 2);
}

static bool left(void *ctx)
{
	return true;
}

static void test_target_left(void)
{
	struct scene s = { .f.left = left };
	int life;

	begin(&s, &life);
	CHECK_EQ(follow(&s.f), 0);
	CHECK_EQ(s.f.why, FOLLOW_GONE);
	end(&s, life, "net_wait: unwound */\n");
}

static void test_reader_of_results_gone(void)
{
	struct scene s = { 0 };
	int life, p[2];

	begin(&s, &life);
	output_close(s.f.out);
	CHECK_EQ(pipe(p), 0);
	dup2(p[1], STDOUT_FILENO);
	close(p[1]);
	CHECK_EQ(output_open(NULL, &s.f.out), 0);
	follow_end(&s.f);
	CHECK_EQ(follow_begin(&s.f, &s.s), 0);
	close(p[0]);
	CHECK_EQ(follow(&s.f), 0);
	CHECK_EQ(s.f.why, FOLLOW_CLOSED);
	end(&s, life, "");
	/* It is counted all the same. */
	CHECK_EQ(s.s.calls, 2);
}

/* Last, since signals are not forgotten. */
static void test_signals(void)
{
	struct scene s = { 0 };
	int life;

	CHECK(!signals_stop_wanted());
	begin(&s, &life);
	kill(getpid(), SIGTERM);
	CHECK_EQ(follow(&s.f), 0);
	CHECK_EQ(s.f.why, FOLLOW_SIGNAL);
	CHECK(signals_stop_wanted() && !signals_drop_wanted());
	kill(getpid(), SIGINT);
	CHECK(signals_drop_wanted());
	/* What is not printed yet is dropped; the counts are right. */
	end(&s, life, "");
	CHECK_EQ(s.s.calls, 2);
}

int main(void)
{
	/* One test gives standard output away. */
	int out = dup(STDOUT_FILENO);

	say_quiet(true);
	CHECK_EQ(signals_begin(), 0);
	test_duration();
	test_calls();
	test_target_gone();
	test_target_left();
	test_reader_of_results_gone();
	dup2(out, STDOUT_FILENO);
	test_signals();
	return failures != 0;
}
