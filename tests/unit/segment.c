/* SPDX-License-Identifier: MIT */
/* Of a session that lies in a file or in a process: what is beyond its end, and what if
 * there is less than it says? */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "injector/session/segment.h"
#include "tests/unit/check.h"

int main(void)
{
	struct segment s = { .fd = memfd_create("segment", 0), .size = 200, .file = true };
	char buf[100] = "text", got[100];

	CHECK(s.fd >= 0);
	CHECK_EQ(segment_write(&s, 0, buf, sizeof(buf)), 0);
	CHECK_EQ(segment_read(&s, 0, got, sizeof(got)), 0);
	CHECK(!memcmp(got, buf, sizeof(got)));
	CHECK_EQ(segment_read(&s, 150, got, 51), -EBADMSG);
	CHECK_EQ(segment_write(&s, 150, got, 51), -EBADMSG);
	/* Cut off meanwhile. */
	CHECK_EQ(segment_read(&s, 50, got, sizeof(got)), -EBADMSG);
	/* A process that has ended. */
	s.file = false;
	CHECK_EQ(segment_read(&s, 50, got, sizeof(got)), -ESRCH);
	return failures != 0;
}
