/* SPDX-License-Identifier: MIT */
#include "injector/verbs/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>

#include "injector/log/say.h"
#include "injector/proc/procfs.h"

enum {
	LINE = 2048,		/* of one record; a longer one is cut off */
	WORDS = 768,		/* of that, the command line */
	WHAT = 1024,		/* and with the process */
	ESCAPED = 6,		/* one byte at most, a space before it, and the end */
	NO_LOGIN = -1,
};

static struct {
	bool on;
	int file;		/* -1: none */
	char who[64], what[WHAT];
} audit = { .file = -1 };

static bool touches(const struct options *o)
{
	switch (o->verb) {
	case VERB_TRACE:
	case VERB_RECORD:
	case VERB_COUNT:
	case VERB_HIST:
	case VERB_TOP:
	case VERB_START:
	case VERB_ADD:
	case VERB_REMOVE:
	case VERB_FILTER:
	case VERB_SNAPSHOT:
	case VERB_STOP:
		return true;
	default:
		return false;
	}
}

/* The user that we run as and, as the kernel knows it, the one that has logged in:
 * sudo(8) changes the first only. By number: to ask for a name may take the network. */
static void find_who(char *ret, size_t size)
{
	uint64_t login;

	if (!procfs_number("/proc/self/loginuid", &login) || (int32_t)login == NO_LOGIN)
		snprintf(ret, size, "user %u", geteuid());
	else
		snprintf(ret, size, "user %u, logged in as %u", geteuid(), (uid_t)login);
}

/* Written as it is to be read: what has to be escaped takes no more room later. */
static size_t audit_add(char *to, size_t used, size_t size, const char *word)
{
	if (used + ESCAPED >= size)
		return used;
	if (used)
		to[used++] = ' ';
	say_clean(word, to + used, size - used);
	return used + strlen(to + used);
}

static void add_process(char *ret, size_t used, pid_t pid)
{
	char name[64], of[160];

	procfs_comm(pid, name, sizeof(name));
	snprintf(of, sizeof(of), "[process %d (%s) of user %d]", pid, name,
		 (int)procfs_status(pid, 0, "Uid", 10, -1));
	audit_add(ret, used, WHAT, of);
}

/* The command line as far as it is ours, and which process that is: however long the
 * one, there is room for the other, and for the result. */
static void find_what(const struct options *o, int argc, char **argv, char *ret)
{
	size_t n = 0;

	for (int i = 1; i < argc && argv + i != o->command; i++)
		n = audit_add(ret, n, WORDS, argv[i]);
	if (o->command) {
		audit_add(ret, n, WHAT, o->command[0]);
		return;
	}
	add_process(ret, n, o->pid);
}

/* Never waits, and is never told of: a system without a log is no failure. */
static void to_system(const char *text)
{
	struct sockaddr_un log = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };
	auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char line[LINE + 64], when[32];
	time_t now = time(NULL);
	struct tm tm;

	if (fd < 0 || !localtime_r(&now, &tm) ||
	    !strftime(when, sizeof(when), "%b %e %T", &tm))
		return;
	int n = snprintf(line, sizeof(line), "<%d>%s inject[%d]: %s", LOG_AUTHPRIV | LOG_NOTICE,
			 when, getpid(), text);
	sendto(fd, line, MIN((size_t)n, sizeof(line) - 1), MSG_NOSIGNAL, (struct sockaddr *)&log,
	       sizeof(log));
}

static int to_file(const char *text)
{
	char line[LINE + 64], when[32];
	time_t now = time(NULL);
	struct tm tm;

	if (audit.file < 0)
		return 0;
	if (!gmtime_r(&now, &tm) || !strftime(when, sizeof(when), "%FT%TZ", &tm))
		return fail(EOVERFLOW, "write the log");
	int n = snprintf(line, sizeof(line), "%s inject[%d]: %s\n", when, getpid(), text);
	/* In one write, at the end: others may write to it as well. */
	ssize_t done = write(audit.file, line, (size_t)n);
	return done == n ? 0 : fail(done < 0 ? errno : ENOSPC, "write the log");
}

/* One line, whatever the words hold. */
static int record(const char *text)
{
	char clean[LINE];

	say_clean(text, clean, sizeof(clean));
	to_system(clean);
	return to_file(clean);
}

static int audit_write_begin(void)
{
	auto_free char *text = base_printf("%s begins: %s", audit.who, audit.what);
	int err = text ? record(text) : fail(ENOMEM, "write the log");

	audit.on = !err;
	return err;
}

int audit_begin(const struct options *o, int argc, char **argv)
{
	if (!touches(o))
		return 0;
	if (o->log) {
		audit.file = open(o->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
				  O_NOCTTY | O_NONBLOCK, 0600);
		if (audit.file < 0)
			return fail(errno, "write the log %s", o->log);
	}
	find_who(audit.who, sizeof(audit.who));
	find_what(o, argc, argv, audit.what);
	return audit_write_begin();
}

int audit_other(pid_t pid)
{
	add_process(audit.what, strlen(audit.what), pid);
	return audit_write_begin();
}

void audit_end(int status)
{
	auto_free char *text = !audit.on ? NULL :
		base_printf("%s ended with status %d: %s: %s", audit.who, status, audit.what,
			    say_last());

	if (text && record(text) < 0)
		say("%s", fail_text());
	if (audit.file >= 0)
		close(audit.file);
	audit.file = -1;
	audit.on = false;
}
