/* SPDX-License-Identifier: MIT */
/*
 * textcheck PID: is every executable mapping of this process, byte for byte,
 * what its file holds, and is it not traced? A memfd that only root could open is
 * said and passed over.
 *
 * Written apart from the program that it judges: it shares no code with it.
 * Exit status: 0 equal, 1 different (the first difference is printed), 2 could
 * not tell, 77 the process is gone.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mapping {
	uint64_t start, end, off;
	char perms[5];
	char path[4096];
};

enum { EQUAL, DIFFERENT, UNKNOWN, GONE = 77 };

/* Where a mapping was last seen to differ. */
struct difference {
	uint64_t at;	/* from its start */
	size_t n;	/* bytes shown */
	uint8_t mem[16], file[16];
};

static uint64_t compared;
static struct difference last;

static int no_process(const char *pid)
{
	fprintf(stderr, "textcheck: %s: no such process\n", pid);
	return GONE;
}

/* Through map_files, which finds deleted files and other mount namespaces. */
static int open_mapped(const char *pid, const struct mapping *m)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/map_files/%" PRIx64 "-%" PRIx64,
		 pid, m->start, m->end);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* By path if the user may not. */
static int open_file(const char *pid, const struct mapping *m)
{
	int fd = open_mapped(pid, m);

	return fd >= 0 ? fd : open(m->path, O_RDONLY | O_CLOEXEC);
}

/* A file that no directory holds has no path for such a user. */
static bool is_out_of_reach(const char *pid, const struct mapping *m)
{
	int fd;

	if (strncmp(m->path, "/memfd:", 7) != 0)
		return false;
	fd = open_mapped(pid, m);
	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EPERM;
}

static void print_bytes(const char *what, const uint8_t *p, size_t n)
{
	printf("  %s", what);
	for (size_t i = 0; i < n; i++)
		printf(" %02x", p[i]);
	putchar('\n');
}

static void print_difference(const struct mapping *m)
{
	printf("textcheck: %s: differs at %#" PRIx64 " (file offset %#" PRIx64
	       ")\n", m->path, m->start + last.at, m->off + last.at);
	print_bytes("memory:", last.mem, last.n);
	print_bytes("file:  ", last.file, last.n);
}

static int differ(uint64_t at, const uint8_t *mem, const uint8_t *file,
		  size_t n)
{
	last.at = at;
	last.n = n < sizeof(last.mem) ? n : sizeof(last.mem);
	memcpy(last.mem, mem, last.n);
	memcpy(last.file, file, last.n);
	return DIFFERENT;
}

static int compare_block(uint64_t at, const uint8_t *mem, const uint8_t *file,
			 size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (mem[i] != file[i])
			return differ(at + i, mem + i, file + i, n - i);
	return EQUAL;
}

static bool is_mapped(const char *pid, const struct mapping *m)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/map_files/%" PRIx64 "-%" PRIx64,
		 pid, m->start, m->end);
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
		errno != ENOENT;
}

/* What lies behind the end of the file reads as zeros in memory. */
static int compare_mapping(int mem, int file, const struct mapping *m)
{
	static uint8_t a[1 << 16], b[1 << 16];
	uint64_t size = m->end - m->start;

	for (uint64_t at = 0; at < size; at += sizeof(a)) {
		size_t n = size - at < sizeof(a) ? size - at : sizeof(a);
		int result;

		memset(b, 0, n);
		if (pread(mem, a, n, m->start + at) != (ssize_t)n ||
		    pread(file, b, n, m->off + at) < 0) {
			return UNKNOWN;
		}
		result = compare_block(at, a, b, n);
		if (result)
			return result;
		compared += n;
	}
	return EQUAL;
}

/* What a program has mapped of a file of another kind is its own to write. */
static bool is_elf(int file)
{
	char magic[4];

	return pread(file, magic, sizeof(magic), 0) == sizeof(magic) &&
		memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

static int try_mapping(const char *pid, int mem, const struct mapping *m)
{
	int file = open_file(pid, m), result = UNKNOWN;

	if (file >= 0) {
		result = is_elf(file) ? compare_mapping(mem, file, m) : EQUAL;
		close(file);
	}
	return result;
}

/*
 * Tried again, because a live process may unmap what maps has just listed, put
 * other memory there (a thread's stack, say, which reads as zeros) and map it
 * once more. What a patch leaves behind differs every time.
 */
static int retry_mapping(const char *pid, int mem, const struct mapping *m)
{
	enum { UNREADABLE = 50, UNEQUAL = 10 };
	int result = EQUAL;

	for (int i = 0, unequal = 0; i < UNREADABLE && unequal < UNEQUAL; i++) {
		result = try_mapping(pid, mem, m);
		if (result == EQUAL || !is_mapped(pid, m))
			return EQUAL;
		unequal += result == DIFFERENT;
		usleep(2000 + 100 * i);
	}
	return result;
}

static int check_mapping(const char *pid, int mem, const struct mapping *m)
{
	int result;

	if (m->perms[2] != 'x' || m->path[0] != '/')
		return EQUAL;
	if (is_out_of_reach(pid, m)) {
		printf("textcheck: %s: only root can compare it\n", m->path);
		return EQUAL;
	}
	result = retry_mapping(pid, mem, m);
	if (result == DIFFERENT)
		print_difference(m);
	else if (result == UNKNOWN)
		fprintf(stderr, "textcheck: %s: cannot be read\n", m->path);
	return result;
}

static int check_text(const char *pid)
{
	struct mapping m;
	char path[64], line[4400];
	int mem, result = EQUAL;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "re");
	/* One that has ended, and was not waited for yet, has no memory any more. */
	if (!maps || mem < 0)
		return errno == ENOENT || errno == ESRCH ? no_process(pid) : UNKNOWN;
	while (result == EQUAL && fgets(line, sizeof(line), maps)) {
		m.path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64
			   " %*s %*s %4095[^\n]", &m.start, &m.end, m.perms,
			   &m.off, m.path) >= 4)
			result = check_mapping(pid, mem, &m);
	}
	fclose(maps);
	close(mem);
	return result;
}

/* One thread's state and tracer. */
static int check_task(const char *pid, const char *tid)
{
	char path[600], line[256], state = '?';
	int tracer = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/status", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return EQUAL;	/* it ended meanwhile */
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "TracerPid: %d", &tracer);
	}
	fclose(f);
	if (tracer == 0 && state != 'T' && state != 't')
		return EQUAL;
	printf("textcheck: thread %s: state %c, tracer %d\n", tid, state,
	       tracer);
	return DIFFERENT;
}

static int check_tasks(const char *pid)
{
	struct dirent *e;
	char path[64];
	int result = EQUAL;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	d = opendir(path);
	if (!d)
		return no_process(pid);
	while ((e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]) && result == EQUAL)
			result = check_task(pid, e->d_name);
	closedir(d);
	return result;
}

int main(int argc, char **argv)
{
	bool text_only = argc == 3 && strcmp(argv[1], "-t") == 0;
	const char *pid = argv[argc - 1];
	int result;

	if ((argc != 2 && !text_only) || !isdigit((unsigned char)pid[0])) {
		fprintf(stderr, "usage: textcheck [-t] PID\n"
				"-t: compare the text only; a tracer and a "
				"stopped thread are allowed\n");
		return UNKNOWN;
	}
	result = check_text(pid);
	if (result == EQUAL && !text_only)
		result = check_tasks(pid);
	if (result == EQUAL)
		printf("textcheck: %s: %" PRIu64 " bytes of code equal their "
		       "files\n", pid, compared);
	return result;
}
