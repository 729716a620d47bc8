/* SPDX-License-Identifier: MIT */
/*
 * client [-c CONNECTIONS] [-r RATE] [-s SECONDS] [-g GREETING] [-o FILE] PORT REQUEST
 * BEGIN END:
 * how long does a server take to answer?
 *
 * Sends REQUEST, RATE times a second, until SIGTERM or for SECONDS, at times that do not
 * depend on the answers: a server that stands still for a while keeps all requests waiting
 * whose turn came meanwhile, and each of these is counted from its turn. An answer is whole
 * with END, and right if it begins with BEGIN. Each connection opens with GREETING, if there
 * is one, which is answered so that it ends with END. All may have \r, \n, \\ and \xNN.
 *
 * Prints: requests, failed ones, and percentiles of their times in microseconds (50,
 * 99, 99.9, 100). A connection that is lost is a failed request, and is made again.
 * FILE gets a line for each answer: when it was asked for, in seconds since 1970, and
 * how many microseconds it took.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	MOST = 64,		/* connections */
	ROOM = 16384,		/* bytes of an answer */
	LAST_ANSWERS = 60,	/* seconds for those that are under way at the end */
};

static const int64_t SECOND = 1000000000;

struct text {
	char *s;
	size_t n;
};

static struct text greeting, request, begin, end;

struct connection {
	int fd;
	bool waits;		/* for an answer */
	bool greets;		/* and it is the greeting's */
	int64_t due;		/* when the next request is */
	int64_t asked;		/* what the answer's time counts from */
	size_t got;
	char answer[ROOM];
};

static struct connection conn[MOST];
static struct sockaddr_in server = { .sin_family = AF_INET };
static struct answer {
	int64_t asked, took;
} *answers;
static size_t nanswers, failed;
static volatile sig_atomic_t told_to_end;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static int64_t now(void) { return clock_ns(CLOCK_MONOTONIC); }

static void on_term(int signal) { told_to_end = signal; }

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* In place: an escape is longer than what it stands for. */
static struct text unescape(char *s)
{
	char *to = s;

	for (char *from = s; *from; from++) {
		if (*from != '\\') {
			*to++ = *from;
			continue;
		}
		switch (*++from) {
		case 'r': *to++ = '\r'; break;
		case 'n': *to++ = '\n'; break;
		case 'x':
			*to++ = (char)strtol((char[]){ from[1], from[2], 0 }, NULL, 16);
			from += 2;
			break;
		default: *to++ = *from;
		}
	}
	return (struct text){ s, (size_t)(to - s) };
}

static bool ask(struct connection *c, const struct text *what)
{
	c->got = 0;
	c->waits = true;
	return send(c->fd, what->s, what->n, MSG_NOSIGNAL) == (ssize_t)what->n;
}

static void open_one(struct connection *c)
{
	int one = 1;

	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(c->fd, (void *)&server, sizeof(server)) ||
	    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die("connect");
	c->waits = c->greets = false;
	if (greeting.n) {
		c->greets = true;
		ask(c, &greeting);
	}
}

static void lose(struct connection *c, const char *why)
{
	if (failed++ < 5)
		fprintf(stderr, "client: %s: %s\n", why, strerror(errno));
	close(c->fd);
	open_one(c);
}

static bool is_whole(const struct connection *c)
{
	return c->got >= end.n && memcmp(c->answer + c->got - end.n, end.s, end.n) == 0;
}

static bool is_right(const struct connection *c)
{
	return c->got >= begin.n && memcmp(c->answer, begin.s, begin.n) == 0;
}

static void hear(struct connection *c)
{
	ssize_t n = recv(c->fd, c->answer + c->got, ROOM - c->got, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		lose(c, "no whole answer");
		return;
	}
	c->got += (size_t)n;
	if (!is_whole(c))
		return;
	c->waits = false;
	if (!c->greets && !is_right(c))
		lose(c, "a wrong answer");
	else if (!c->greets)
		answers[nanswers++] = (struct answer){ c->asked, now() - c->asked };
	c->greets = false;
}

/*
 * One whose turn came while the server was at the one before has waited for that. If
 * it was free, and we are late ourselves, that is not the server's time.
 */
static void take_turn(struct connection *c, int64_t every, bool was_free)
{
	c->asked = was_free ? now() : c->due;
	c->due += every;
	if (!ask(c, &request))
		lose(c, "cannot ask");
}

/* Until `until`, or SIGTERM, each takes its turns; then only answers are waited for. */
static void run(int n, int64_t every, int64_t until)
{
	struct pollfd p[MOST];
	bool was_free[MOST];

	for (;;) {
		int64_t t = now(), next = t + SECOND;
		int waiting = 0;

		if (told_to_end && until > t)
			until = t;
		for (int i = 0; i < n; i++) {
			struct connection *c = &conn[i];

			was_free[i] = !c->waits;
			if (!c->waits && c->due <= t && c->due < until)
				take_turn(c, every, true);
			if (!c->waits && c->due < until && c->due < next)
				next = c->due;
			waiting += c->waits || c->due < until;
			p[i] = (struct pollfd){ c->fd, POLLIN, 0 };
		}
		if (!waiting || t > until + LAST_ANSWERS * SECOND)
			break;
		t = now();
		int64_t rest = next > t ? next - t : 0;
		struct timespec wait = { rest / SECOND, rest % SECOND };

		if (ppoll(p, (nfds_t)n, &wait, NULL) <= 0)
			continue;
		for (int i = 0; i < n; i++) {
			struct connection *c = &conn[i];

			if (p[i].revents)
				hear(c);
			if (!was_free[i] && !c->waits && c->due <= now() && c->due < until)
				take_turn(c, every, false);
		}
	}
	for (int i = 0; i < n; i++)
		failed += conn[i].waits;
}

static int compare(const void *a, const void *b)
{
	const struct answer *x = a, *y = b;

	return (x->took > y->took) - (x->took < y->took);
}

static double percentile(double share)
{
	size_t i = (size_t)((double)nanswers * share);

	return nanswers ? (double)answers[i < nanswers ? i : nanswers - 1].took / 1000 : 0;
}

static void write_answers(const char *path)
{
	FILE *f = fopen(path, "w");
	int64_t began = clock_ns(CLOCK_REALTIME) - now();

	if (!f)
		die(path);
	for (size_t i = 0; i < nanswers; i++) {
		int64_t at = began + answers[i].asked;

		fprintf(f, "%" PRId64 ".%09" PRId64 " %.3f\n", at / SECOND, at % SECOND,
			(double)answers[i].took / 1000);
	}
	if (fclose(f))
		die(path);
}

int main(int argc, char **argv)
{
	long n = 8, rate = 1000, seconds = 10;
	const char *file = NULL;

	for (int opt; (opt = getopt(argc, argv, "c:r:s:g:o:")) > 0;)
		switch (opt) {
		case 'c': n = atol(optarg); break;
		case 'r': rate = atol(optarg); break;
		case 's': seconds = atol(optarg); break;
		case 'o': file = optarg; break;
		case 'g': greeting = unescape(optarg); break;
		default: return 2;
		}
	if (argc - optind != 4 || n < 1 || n > MOST || rate < 1 || seconds < 1)
		return 2;
	server.sin_port = htons((uint16_t)atoi(argv[optind]));
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	request = unescape(argv[optind + 1]);
	begin = unescape(argv[optind + 2]);
	end = unescape(argv[optind + 3]);
	answers = calloc((size_t)(rate * seconds + n), sizeof(*answers));
	if (!answers)
		die("calloc");
	prctl(PR_SET_TIMERSLACK, 1);
	signal(SIGTERM, on_term);

	int64_t start = now() + SECOND / 10;

	for (int i = 0; i < n; i++) {
		conn[i].due = start + i * SECOND / rate;
		open_one(&conn[i]);
	}
	run((int)n, n * SECOND / rate, start + seconds * SECOND);
	if (file)
		write_answers(file);
	qsort(answers, nanswers, sizeof(*answers), compare);
	printf("%zu %zu %.0f %.0f %.0f %.0f\n", nanswers + failed, failed, percentile(.5),
	       percentile(.99), percentile(.999), percentile(1));
	return 0;
}
