/* SPDX-License-Identifier: MIT */
/*
 * own_answers: threads open a file, which waits until another thread of the same process permits
 * it; no stop ends that wait. The answer comes after some milliseconds, so that one of them waits
 * at almost any time. Where the kernel has no such permissions it says "absent WHY", then that it
 * is ready.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/fanotify.h>

#include "tests/victims/victim.h"

enum { OPENERS = 3, DELAY_US = 3000 };

static int group;
static char path[] = "answeredXXXXXX";

PROBED int open_answered(void)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		victim_wrong("open: errno %d", errno);
	return fd;
}

static void *opener(void *unused)
{
	for (;;) {
		close(open_answered());
		victim_count();
	}
	return unused;
}

PROBED void answer(int fd)
{
	const struct fanotify_response r = { .fd = fd, .response = FAN_ALLOW };

	if (write(group, &r, sizeof(r)) != sizeof(r))
		victim_wrong("answer: errno %d", errno);
	close(fd);
}

static void *answerer(void *unused)
{
	struct fanotify_event_metadata asked;

	for (;;) {
		/* Room for one. */
		ssize_t n = read(group, &asked, sizeof(asked));

		if (n != sizeof(asked) || asked.fd < 0)
			victim_wrong("asked: %zd, errno %d", n, errno);
		victim_sleep_us(DELAY_US);
		answer(asked.fd);
	}
	return unused;
}

static const char *begin(void)
{
	int fd = mkstemp(path);

	group = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || group < 0 ||
	    fanotify_mark(group, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, path))
		return "the kernel does not let a program permit what is opened";
	close(fd);
	return NULL;
}

int main(void)
{
	const char *absent = begin();
	pthread_t t;

	if (absent)
		victim_say("absent %s: errno %d", absent, errno);
	for (int i = 0; i < 1 + OPENERS && !absent; i++)
		if (pthread_create(&t, NULL, i ? opener : answerer, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(10, NULL))
		;
	_exit(0);
}
