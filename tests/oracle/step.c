/* SPDX-License-Identifier: MIT */
/*
 * The plugin's log without an emulator, one instruction at a time: for what none can do,
 * the variants of glibc's string functions for AVX-512.
 *
 * step OUT COMMAND...: of one thread, and not of its children. The kernel says where
 * each step ends; sizes are the project's own decoder's, but an instruction of the
 * wrong size would be an arrival too many, not one too few, unless it is a branch that
 * skips as much as the decoder is wrong by.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plan/plan.h"

enum { CACHE = 1 << 16, MAPS = 256, FILES = 64 };

struct known {
	raddr_t pc;
	raddr_t to;		/* link-time address, 0: of no file */
	int16_t file;
	uint8_t size;
	char kind;		/* d, i; 0: no branch */
	raddr_t last;		/* where it led the last time */
};

static struct known cache[CACHE];
static struct map { struct range range; raddr_t bias; int16_t file; } maps[MAPS];
static size_t nmaps;
static struct { char *path; struct symbols *syms; } files[FILES];
static size_t nfiles;
static const struct arch *arch;
static FILE *out;

static int16_t file_open(const char *path)
{
	size_t i = 0;

	for (; i < nfiles; i++)
		if (!strcmp(files[i].path, path))
			return (int16_t)i;
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (i == FILES || fd < 0 || symbols_open(fd, path, &files[i].syms)) {
		fail_clear();
		return -1;
	}
	files[i].path = strdup(path);
	return (int16_t)nfiles++;
}

static void read_maps(pid_t pid)
{
	char line[4400], path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");

	nmaps = 0;
	while (f && nmaps < MAPS && fgets(line, sizeof(line), f)) {
		uint64_t start, end, offset;
		int at = 0;
		char x;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64 " %*s %*s %n",
			   &start, &end, &x, &offset, &at) < 4 || x != 'x')
			continue;
		struct map *m = &maps[nmaps++];

		*m = (struct map){ { start, end }, 0, -1 };
		if (!at || line[at] != '/')
			continue;
		int16_t file = file_open(line + at);
		const struct symbols *s = file < 0 ? NULL : files[file].syms;

		/* A segment's first page may begin before it does. */
		for (size_t i = 0; s && i < s->ntexts; i++)
			if (offset <= s->texts[i].offset &&
			    s->texts[i].offset < offset + (end - start)) {
				m->file = file;
				m->bias = s->texts[i].range.start - s->texts[i].offset +
					offset - start;
			}
	}
	if (f)
		fclose(f);
}

static const struct map *map_at(raddr_t pc)
{
	for (size_t i = 0; i < nmaps; i++)
		if (range_has(maps[i].range, pc))
			return &maps[i];
	return NULL;
}

static struct known *know(pid_t pid, raddr_t pc)
{
	struct known *k = &cache[pc % CACHE];
	uint8_t bytes[16];
	struct iovec to = { bytes, sizeof(bytes) }, from = { (void *)(uintptr_t)pc, 16 };
	struct insn in;

	if (k->pc == pc && pc)
		return k;
	*k = (struct known){ .pc = pc, .file = -1 };
	const struct map *m = map_at(pc);

	if (!m) {
		read_maps(pid);
		m = map_at(pc);
	}
	if (m && m->file >= 0) {
		k->file = m->file;
		k->to = pc + m->bias;
	}
	ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0);

	if (n > 0 && !arch->measure(bytes, (size_t)n, pc, &in)) {
		k->size = in.size;
		k->kind = in.kind == INSN_JUMP || in.kind == INSN_BRANCH ||
			in.kind == INSN_CALL ? 'd' : 'i';
	}
	return k;
}

static void arrive(const struct known *from, const struct known *k)
{
	bool same = from->file == k->file;

	/* Most repeat what they did the last time; sort -u has the rest. */
	if (k->file < 0 || from->last == k->pc)
		return;
	fprintf(out, "%s\t%" PRIx64 "\t%" PRIx64 "\t%c\n", files[k->file].path, k->to,
		same ? from->to : 0, from->kind ? from->kind : 'k');
}

static int follow(pid_t pid)
{
	struct known *last = NULL;
	uint64_t steps = 0;
	int status, sig = 0;

	while (!ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(uintptr_t)sig) &&
	       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		errno = 0;
		raddr_t pc = (raddr_t)ptrace(PTRACE_PEEKUSER, pid,
					     (void *)offsetof(struct user_regs_struct, rip), 0);
		struct known was = last ? *last : (struct known){ 0 };
		struct known *k = know(pid, pc);

		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		/* A step that ends where it began is a repeated instruction's. */
		if (was.pc && was.pc != pc && was.pc + was.size != pc) {
			arrive(&was, k);
			if (last->pc == was.pc)	/* not k, in its place */
				last->last = pc;
		}
		last = k;
		steps++;
	}
	fprintf(stderr, "%" PRIu64 " steps\n", steps);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 3) {
		fprintf(stderr, "usage: step OUT COMMAND...\n");
		return 2;
	}
	arch = arch_host();
	out = fopen(argv[1], "ae");
	if (!out) {
		perror(argv[1]);
		return 2;
	}
	/* To take turns on one processor is faster than to wake up another. */
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 2;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
	status = follow(pid);
	return fclose(out) ? 2 : status;
}
