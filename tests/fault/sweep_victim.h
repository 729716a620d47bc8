/* SPDX-License-Identifier: MIT */
/* sweep_victim: what is asked of sweep.c, and how is the victim that it judges? */
#ifndef TESTS_SWEEP_VICTIM_H
#define TESTS_SWEEP_VICTIM_H

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include "tests/fault/failing.h"

enum {
	UNREACHED = 4,		/* runs in a row without an n-th call: the end */
	MOST_SHORT = 100,	/* runs that had no n-th call, nor all that follows */
	MOST_HARM = 20,		/* complaints, then no more is learned */
	MOST_ARGS = 32,
	MOST_CHILDREN = 32,
};

enum state { FRESH, AGAIN, PROBED, STARTED };

static struct {
	bool do_kill;
	enum state state;
	char *victim[MOST_ARGS];
	char **inject;
	const char *textcheck;
	long stride;
	long first;		/* the first point, up to the stride */
	long only;		/* 0: every call counts */
	bool from_thread;
	int err;		/* 0: in turn */
	const char *tell, *afterwards;	/* the victim; NULL: nothing */
	int programs;		/* that a whole run puts probes in, at least */
	FILE *log;
} sweep = { .stride = 1 };

static struct {
	pid_t pid;
	int in, out;		/* its standard input and output */
	int threads, files;	/* what it had before inject came */
	bool visited;		/* by a whole trace */
	char text[32];		/* /proc/PID */
} victim = { .pid = 0, .in = -1, .out = -1 };

static struct {
	long points, harm, victims;
	long early;		/* before it looked at the victim: see wrong_status */
	long by_status[256];
} total;

static void give_up(const char *why)
{
	printf("sweep: %s: %s\n", why, strerror(errno));
	if (victim.pid)
		kill(victim.pid, SIGKILL);
	exit(1);
}

/* A line of the victim; false when there is none in time, or it has ended. */
static bool read_line(char *line, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		struct pollfd p = { victim.out, POLLIN, 0 };

		if (poll(&p, 1, failing_patience() * 1000) <= 0 ||
		    read(victim.out, line + n, 1) != 1)
			return false;
		if (line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	return true;
}

static int entries(const char *what)
{
	char path[64];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/%s", victim.pid, what);
	d = opendir(path);
	while (d && (e = readdir(d)))
		n += isdigit((unsigned char)e->d_name[0]) != 0;
	if (d)
		closedir(d);
	return n;
}

static void victim_child(int in, int out)
{
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	/* It has a processor whenever no other wants it. */
	setpriority(PRIO_PROCESS, 0, 19);
	execv(sweep.victim[0], sweep.victim);
	_exit(127);
}

static void victim_start(void)
{
	int in[2], out[2];
	char line[64] = "";

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		give_up("pipe");
	victim.pid = fork();
	if (victim.pid < 0)
		give_up("fork");
	if (victim.pid == 0)
		victim_child(in[0], out[1]);
	close(in[0]);
	close(out[1]);
	victim.in = in[1];
	victim.out = out[0];
	victim.visited = false;
	snprintf(victim.text, sizeof(victim.text), "/proc/%d", victim.pid);
	if (!read_line(line, sizeof(line)) || strcmp(line, "ready") != 0)
		give_up("the victim is not ready");
	victim.threads = entries("task");
	victim.files = entries("fd");
	total.victims++;
}

static void victim_end(void)
{
	if (!victim.pid)
		return;
	close(victim.in);
	close(victim.out);
	kill(victim.pid, SIGKILL);
	waitpid(victim.pid, NULL, 0);
	victim.pid = 0;
}

/* Its progress; -1 if it does not answer, -2 if it has computed nonsense. */
static long long ping(void)
{
	char line[256];
	long long progress, errors;

	if (write(victim.in, "ping\n", 5) != 5)
		return -1;
	do {
		if (!read_line(line, sizeof(line)))
			return -1;
		if (strncmp(line, "WRONG", 5) == 0)
			return -2;
	} while (sscanf(line, "alive %lld %lld", &progress, &errors) != 2);
	return errors ? -2 : progress;
}

static void tell_victim(void)
{
	dprintf(victim.in, "%s\n", sweep.tell);
}

/* Its children, as many as there is room for; how many. */
static int children(pid_t *ret, int most)
{
	char path[64];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/task/%d/children", victim.text, victim.pid);
	f = fopen(path, "re");
	while (f && n < most && fscanf(f, "%d", &ret[n]) == 1)
		n++;
	if (f)
		fclose(f);
	return n;
}

static const char *does_not_work(void)
{
	long long first = ping(), now = first;

	for (time_t end = time(NULL) + failing_patience(); now >= 0 && now == first;) {
		if (time(NULL) > end)
			return "the victim stands still";
		usleep(500);
		now = ping();
	}
	return now == -1 ? "the victim does not answer" :
		now < 0 ? "the victim computed something wrong" : NULL;
}

/* Has inject ever mapped anything there that stayed? */
static bool is_mapped(void)
{
	char path[64], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/maps", victim.text);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, "/memfd:inject") || strstr(line, "/dev/zero (deleted)");
	if (f)
		fclose(f);
	return found;
}

#endif
