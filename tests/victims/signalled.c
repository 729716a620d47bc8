/* SPDX-License-Identifier: MIT */
/*
 * signalled: a process of one thread to which a child sends signals all the
 * time, each with a number of its own. Every one must arrive once, with all that
 * it tells, whatever the thread is made to do meanwhile.
 *
 *	signals	-> signals N: of each kind, so many have arrived or more
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "tests/victims/victim.h"

static const int kinds[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGUSR1,
			     SIGUSR2, SIGURG };
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* Shared with the child. By kind: the last number that was sent and got. */
static struct {
	int sent[KINDS], got[KINDS];
	pid_t sender;
} *shared;

PROBED uint64_t signalled_work(uint64_t x)
{
	return x * 5 + 3;
}

static int kind_of(int sig)
{
	int k = 0;

	while (kinds[k] != sig)
		k++;
	return k;
}

static void arrive(int sig, siginfo_t *info, void *context)
{
	int k = kind_of(sig), want = shared->got[k] + 1;

	(void)context;
	if (info->si_code != SI_QUEUE || info->si_pid != shared->sender)
		victim_wrong("signal %d: code %d of %d", sig, info->si_code, info->si_pid);
	else if (info->si_value.sival_int != want)
		victim_wrong("signal %d: number %d, not %d", sig, info->si_value.sival_int, want);
	__atomic_store_n(&shared->got[k], want, __ATOMIC_RELEASE);
}

/* The next of a kind when the last one has arrived. */
static void send_for_ever(pid_t to)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->sender = getpid();
	for (;;) {
		for (int k = 0; k < KINDS; k++) {
			union sigval v = { .sival_int = shared->sent[k] + 1 };

			if (__atomic_load_n(&shared->got[k], __ATOMIC_ACQUIRE) !=
			    shared->sent[k])
				continue;
			shared->sent[k]++;
			if (sigqueue(to, kinds[k], v))
				_exit(1);
		}
		usleep(100);
	}
}

static int least(void)
{
	int n = shared->got[0];

	for (int k = 1; k < KINDS; k++)
		n = shared->got[k] < n ? shared->got[k] : n;
	return n;
}

static void command(const char *word)
{
	if (strcmp(word, "signals") == 0)
		victim_say("signals %d", least());
	else
		victim_say("what is %s?", word);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = arrive, .sa_flags = SA_SIGINFO | SA_RESTART };
	pid_t me = getpid();

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	for (int k = 0; k < KINDS; k++)
		sigaction(kinds[k], &sa, NULL);
	pid_t sender = fork();
	if (sender == 0)
		send_for_ever(me);
	victim_say("ready");
	for (uint64_t x = 1; victim_poll(0, command); x = signalled_work(x))
		victim_count();
	kill(sender, SIGKILL);
	return victim_errors != 0;
}
