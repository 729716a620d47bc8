/* SPDX-License-Identifier: MIT */
/* Do results arrive whole, and is a reader that does not read them not waited for? */
#include "trace/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "injector/log/say.h"
#include "tests/unit/check.h"

static char dir[] = "/tmp/inject-output-XXXXXX";

static char *in_dir(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* Make `fd` the standard output, and open it. */
static struct output *open_on(int fd)
{
	struct output *o = NULL;

	dup2(fd, STDOUT_FILENO);
	close(fd);
	CHECK(output_open(NULL, &o) == 0);
	return o;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void fill(struct output *o, size_t n)
{
	static const char line[] = "0123456789abcdef0123456789abcde\n";

	for (size_t i = 0; i < n; i += sizeof(line) - 1)
		output_text(o, line, sizeof(line) - 1);
}

static void test_file(void)
{
	struct output *o;
	struct stat st;
	char *path = in_dir("file");
	FILE *f = fopen(path, "w");

	fputs("what stood there before, and was longer", f);
	fclose(f);
	CHECK(output_open(path, &o) == 0);
	CHECK(!output_is_terminal(o) && !output_has_color(o, false));
	output_printf(o, "%d calls\n", 42);
	CHECK(output_pending(o) == 9);
	CHECK(output_write(o) == 0 && output_pending(o) == 0);
	fill(o, 1 << 22);
	CHECK(output_finish(o, NULL) == 0);
	output_close(o);
	CHECK(stat(path, &st) == 0 && st.st_size == (1 << 22) + 9);
}

/* Results are for their user alone, whatever the umask is. */
static void test_private(void)
{
	struct output *o;
	struct stat st;
	mode_t before = umask(0);

	CHECK(output_open(in_dir("private"), &o) == 0);
	output_close(o);
	CHECK(stat(in_dir("private"), &st) == 0 && (st.st_mode & 0777) == 0600);
	umask(before);
}

/* What was to be read, and was named behind -o. */
static void test_precious(void)
{
	static const char *const starts[] = { "\177ELF\2\1\1", "/* CTF 1.8 */", "\xc1\x1f\xfc\xc1" };
	char *path = in_dir("precious");
	struct output *o;
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		FILE *f = fopen(path, "w");

		fputs(starts[i], f);
		fclose(f);
		CHECK(output_open(path, &o) < 0);
		CHECK(strstr(fail_text(), "name another file"));
		CHECK(stat(path, &st) == 0 && st.st_size == (off_t)strlen(starts[i]));
		fail_clear();
	}
}

/* Our own limit of a file's size, whose signal would end us. */
static void test_limit(void)
{
	struct rlimit was, now;
	struct output *o;

	getrlimit(RLIMIT_FSIZE, &was);
	now = was;
	now.rlim_cur = 1 << 16;
	CHECK(output_open(in_dir("limited"), &o) == 0);
	CHECK(setrlimit(RLIMIT_FSIZE, &now) == 0);
	fill(o, 1 << 20);
	CHECK(output_finish(o, NULL) == -EFBIG);
	CHECK(strstr(fail_text(), "cannot write the results"));
	fail_clear();
	output_close(o);
	CHECK(setrlimit(RLIMIT_FSIZE, &was) == 0);
}

static void test_refused(void)
{
	struct output *o;

	CHECK(symlink("/etc/passwd", in_dir("link")) == 0);
	CHECK(output_open(in_dir("link"), &o) < 0);
	CHECK(strstr(fail_text(), "symbolic link"));
	fail_clear();
	CHECK(output_open(dir, &o) < 0);
	fail_clear();
	CHECK(output_open(in_dir("no/such"), &o) < 0);
	fail_clear();
	CHECK(mkfifo(in_dir("fifo"), 0600) == 0);
	CHECK(output_open(in_dir("fifo"), &o) < 0);
	CHECK(strstr(fail_text(), "no process reads it"));
	fail_clear();
}

/* A pipe that is not read: what fits goes in, the rest waits, at once. */
static void test_full_pipe(bool sock)
{
	struct output *o;
	double before;
	int p[2];

	CHECK((sock ? socketpair(AF_UNIX, SOCK_STREAM, 0, p) : pipe(p)) == 0);
	o = open_on(p[1]);
	fill(o, 1 << 22);
	before = seconds();
	CHECK(output_write(o) == 0);
	CHECK(output_pending(o) > 0 && output_pending(o) < 1 << 22);
	CHECK(output_write(o) == 0);
	CHECK(seconds() - before < 1);
	/* Our writes do not wait; those of other processes still would. */
	CHECK(!(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK));
	close(p[0]);
	CHECK(output_is_closed(o));
	CHECK(output_write(o) == -EPIPE);
	CHECK(output_pending(o) == 0);
	output_close(o);
}

static void test_reader_leaves_an_idle_pipe(void)
{
	struct output *o;
	int p[2];

	CHECK(pipe(p) == 0);
	o = open_on(p[1]);
	CHECK(!output_is_closed(o));
	CHECK(output_write(o) == 0);
	close(p[0]);
	CHECK(output_write(o) == -EPIPE);
	output_close(o);
}

static void *slow_reader(void *arg)
{
	char buf[65536];
	size_t total = 0;
	ssize_t n;

	while ((n = read(*(int *)arg, buf, sizeof(buf))) > 0) {
		total += (size_t)n;
		usleep(1000);
	}
	return (void *)total;
}

static void test_slow_pipe(void)
{
	struct output *o;
	pthread_t t;
	void *total;
	int p[2], null;

	CHECK(pipe(p) == 0);
	CHECK(pthread_create(&t, NULL, slow_reader, &p[0]) == 0);
	o = open_on(p[1]);
	fill(o, 1 << 22);
	CHECK(output_finish(o, NULL) == 0);
	output_close(o);
	null = open("/dev/null", O_WRONLY);
	dup2(null, STDOUT_FILENO);
	close(null);
	pthread_join(t, &total);
	CHECK((size_t)total == 1 << 22);
	close(p[0]);
}

static bool at_once(void)
{
	return true;
}

static void test_give_up(void)
{
	struct output *o;
	int p[2];

	CHECK(pipe(p) == 0);
	o = open_on(p[1]);
	fill(o, 1 << 22);
	CHECK(output_finish(o, at_once) == 0);
	CHECK(output_pending(o) == 0);
	close(p[0]);
	output_close(o);
}

static void test_full_disk(void)
{
	struct output *o;

	CHECK(output_open("/dev/full", &o) == 0);
	fill(o, 100);
	CHECK(output_write(o) == -ENOSPC);
	CHECK(strstr(fail_text(), "cannot write the results"));
	fail_clear();
	output_close(o);
}

static void test_clean(void)
{
	char buf[64], tight[9];

	CHECK(strcmp(say_clean("a\tb\x1b[1m\xc2\x9b!", buf, sizeof(buf)),
		     "a\\x09b\\x1b[1m\\xc2\\x9b!") == 0);
	/* For some terminals it is a command without the byte before it, too. */
	CHECK(strcmp(say_clean("\x9b" "31m\xc3\xff\xe2\x82", buf, sizeof(buf)),
		     "\\x9b31m\\xc3\\xff\\xe2\\x82") == 0);
	CHECK(strcmp(say_clean("\xc3\xa4\xc2\xb5s", buf, sizeof(buf)), "\xc3\xa4\xc2\xb5s") == 0);
	CHECK(strlen(say_clean("0123456789", tight, sizeof(tight))) < sizeof(tight));
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_file();
	test_private();
	test_precious();
	test_limit();
	test_refused();
	test_full_pipe(false);
	test_full_pipe(true);
	test_reader_leaves_an_idle_pipe();
	test_slow_pipe();
	test_give_up();
	test_full_disk();
	test_clean();
	for (const char *const *n = (const char *const[]){ "file", "private", "link", "fifo",
							    "limited", "precious", NULL }; *n; n++)
		unlink(in_dir(*n));
	rmdir(dir);
	return failures != 0;
}
