/* SPDX-License-Identifier: MIT */
/*
 * Where does a recording find its place, and does what is not ours stay? The same when
 * whichever call fails while a directory is made and an older one replaced, or is the
 * last of the process.
 */
#include <dlfcn.h>
#include <sys/wait.h>

#include "trace/output/place.h"

#include "tests/unit/trace_world.h"

/* The calls of place.c come by here: the `fatal`-th fails, or is never made. */
static int calls, fatal;
static bool deadly;

static bool fails(void)
{
	if (++calls != fatal)
		return false;
	if (deadly)
		_exit(0);
	errno = EIO;
	return true;
}

#define REAL(name) ((typeof(&(name)))dlsym(RTLD_NEXT, #name))

struct dirent *readdir(DIR *d)
{
	return fails() ? NULL : REAL(readdir)(d);
}

int unlinkat(int dir, const char *name, int flags)
{
	return fails() ? -1 : REAL(unlinkat)(dir, name, flags);
}

int rename(const char *from, const char *to)
{
	return fails() ? -1 : REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode)
{
	return fails() ? -1 : REAL(mkdir)(path, mode);
}

int rmdir(const char *path)
{
	return fails() ? -1 : REAL(rmdir)(path);
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

static void make_trace(const char *dir)
{
	char name[64];

	CHECK(mkdir(dir, 0700) == 0);
	snprintf(name, sizeof(name), "%s/metadata", dir);
	put(name, "tracer_name = \"inject\"");
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s/stream_%d", dir, i);
		put(name, "events");
	}
}

static void make_world(void)
{
	calls = fatal = 0;
	CHECK(system("rm -rf t t.old") == 0);
	make_trace("t");
	make_trace("t.old");
}

/* place_make with its n-th call fatal; the number that it makes, or -1 if it is
 * said to have succeeded though one failed. */
static int try(int n, bool kill)
{
	int dir = -1, status = 0;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		calls = 0;
		fatal = n;
		deadly = kill;
		int err = place_make("t", &dir);

		_exit(calls < n ? 2 : err ? 0 : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void check_next(int n, bool kill)
{
	int dir = -1;

	calls = fatal = 0;
	if (place_check("t") == 0 && place_make("t", &dir) == 0) {
		close(dir);
		return;
	}
	failures++;
	printf("after call %d was %s: %s\n", n, kill ? "the last" : "failed", fail_text());
	fail_clear();
}

static void sweep(bool kill)
{
	for (int n = 1;; n++) {
		make_world();
		int how = try(n, kill);

		if (how == 2) {
			CHECK(n > 15);
			break;
		}
		CHECK(how == 0);
		check_next(n, kill);
	}
}

/* A file that is not ours is there: nothing is touched, whatever fails. */
static void sweep_foreign(void)
{
	for (int n = 1;; n++) {
		make_world();
		put("t/mine", "precious");
		int how = try(n, false);

		CHECK(access("t/mine", F_OK) == 0 && access("t/metadata", F_OK) == 0);
		CHECK(access("t/stream_0", F_OK) == 0 && access("t.old/stream_0", F_OK) == 0);
		if (how == 2)
			break;
		CHECK(how == 0);
	}
}

/* One older directory is kept, and nothing is replaced but what is ours. */
static void test_kept(void)
{
	struct stat st;
	int dir = -1;

	make_world();
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(place_make("t", &dir), 0);
		close(dir);
		CHECK_EQ(stat("t.old/stream_0", &st), 0);
		CHECK_EQ(rmdir("t"), 0);
		make_trace("t");
	}
	/* Neither with a file more in it, nor of this name. */
	put("t.old/notes.txt", "mine");
	CHECK(place_check("t") < 0 && strstr(fail_text(), "nothing else is replaced"));
	fail_clear();
	CHECK(place_make("t", &dir) < 0 && stat("t.old/notes.txt", &st) == 0);
	fail_clear();
	unlink("t.old/notes.txt");
	CHECK_EQ(place_check("t"), 0);
	world_remove("t");
	put("t", "mine");
	CHECK(place_check("t") < 0);
	fail_clear();
	unlink("t");
	CHECK_EQ(symlink("t.old", "t"), 0);
	CHECK(place_check("t") < 0);
	fail_clear();
	unlink("t");
	/* An empty directory is as good as none, and one with what a kill has left. */
	CHECK_EQ(mkdir("t", 0700), 0);
	put("t/" PLACE_METADATA_NEW, "tracer");
	CHECK_EQ(place_check("t"), 0);
	unlink("t/" PLACE_METADATA_NEW);
	CHECK_EQ(place_make("t", &dir), 0);
	close(dir);
}

static void test_names(void)
{
	CHECK(place_is_stream("stream_0") && place_is_stream("stream_12_345"));
	CHECK(place_is_stream("stream_0.zst") && place_is_stream("stream_12_345.zst"));
	CHECK(!place_is_stream("stream_") && !place_is_stream("stream_1_") &&
	      !place_is_stream("stream_1x") && !place_is_stream("xstream_1") &&
	      !place_is_stream("stream_1_2_3") && !place_is_stream("stream_.zst") &&
	      !place_is_stream("stream_1.zst_2") && !place_is_stream("stream_1.zstd"));
}

int main(void)
{
	char world[] = "/tmp/place.XXXXXX";

	if (!mkdtemp(world) || chdir(world) < 0) {
		perror(world);
		return 1;
	}
	sweep(false);
	sweep(true);
	sweep_foreign();
	test_kept();
	test_names();
	CHECK(system("rm -rf t t.old") == 0 && chdir("/") == 0);
	world_remove(world);
	return failures != 0;
}
