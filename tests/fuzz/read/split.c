/* SPDX-License-Identifier: MIT */
/*
 * split: the input is the number of a unit, a version of DWARF, and a file to which units were
 * split. The unit is looked for in it, as in a package and as in a file of one unit.
 */
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "symbols/elf/splitfile.h"
#include "tests/fuzz/read/read.h"
#include "tests/unit/check.h"

enum { MOST = 1 << 20 };

static char dir[] = "./split.XXXXXX", package[64];

static void clean_up(void)
{
	unlink(package);
	rmdir(dir);
}

static void write_file(const struct input *in)
{
	if (!package[0]) {
		MUST(mkdtemp(dir));
		snprintf(package, sizeof(package), "%s/p.dwp", dir);
		atexit(clean_up);
	}
	auto_close int fd = open(package, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	MUST(fd >= 0 && write(fd, in->at, in->left) == (ssize_t)in->left);
}

/* What libdw finds in it. */
static void use(int fd)
{
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		;
	dwarf_end(dwarf);
}

static void look(const char *program, const struct split_unit *u)
{
	struct split_places places = { .path = program, .dir = "/nonexistent",
				       .machine = EM_X86_64 };
	uint64_t left = MOST;
	int fd = splitfile_open(&places, u, &left);

	MUST(left <= MOST && (fd >= 0 || fd == -ENOENT || fd == -EFBIG));
	if (fd >= 0)
		use(fd);
	if (fd >= 0)
		close(fd);
	splitfile_close(&places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct split_unit u = { .id = input_number(&in, 8), .name = "/nonexistent" };
	char program[64];

	u.version = (int)input_number(&in, 1) % 8;
	write_file(&in);
	snprintf(program, sizeof(program), "%s/p", dir);
	look(program, &u);
	auto_free char *alone = realpath(package, NULL);

	u.name = alone;
	look("/nonexistent", &u);
	return 0;
}
