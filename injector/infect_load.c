/* SPDX-License-Identifier: MIT */
/*
 * infect, continued: 7 and 8, the payload is loaded by the target's own loader,
 * or mapped by us where that cannot be: a target without one, one that holds its
 * lock for ever, one that sees no /proc, or may execute nothing of a memfd.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>

#include "injector/gothreads.h"
#include "injector/infect_impl.h"
#include "injector/namespace.h"
#include "injector/procfs.h"

enum {
	CALL_BUDGET = 2000 * 1000 * 1000,	/* ns, dlopen in place */
	START_BUDGET = 300 * 1000 * 1000,	/* ns, pthread_create */
	ANSWER_BUDGET = 1000,			/* tries of 5 ms */
	LOAD_TRIES = 10,			/* victims that slept over it */
};

static struct loader *loader_of(const struct infecting *in)
{
	return (void *)((char *)in->result->map.s + LOADER_OFF);
}

/* 7. A path that no earlier dlopen had, for dlopen goes by the string: dots and
 * slashes spell a random number. */
static void spell_path(int fd, char *path, size_t size)
{
	uint32_t nonce = 0;
	size_t n = (size_t)snprintf(path, size, "/proc/self/fd/");

	if (getrandom(&nonce, sizeof(nonce), 0) < 0)
		nonce = (uint32_t)now_ns();
	for (int bit = 0; bit < 24; bit++)
		n += (size_t)snprintf(path + n, size - n, "%s", nonce >> bit & 1 ? "./" : "/");
	snprintf(path + n, size - n, "%d", fd);
}

/*
 * Debuggers open every loaded file by its name, which for the payload will be
 * /proc/self/fd/N: in their own process, where N may be a pipe, on which they
 * then wait for ever. So N is the highest number for which the target's table
 * has room, which is hardly ever open; a larger table would cost a process of
 * several threads an RCU grace period, some 10 ms.
 */
static int move_up(struct infecting *in, int *fd)
{
	enum { FEW = 64 };
	uint64_t room = (uint64_t)procfs_status(in->target->pid, 0, "FDSize", 10, FEW);
	int64_t moved;

	int err = remote_try(&in->remote, "move a descriptor", &moved, SYS_fcntl, (uint64_t)*fd,
			     F_DUPFD_CLOEXEC, room - 1, 0, 0, 0);
	if (err == -EINVAL || err == -EMFILE) {	/* no room up there: as it is */
		fail_clear();
		return 0;
	}
	if (err)
		return err;
	infect_note_undo(in, SYS_close, (uint64_t)moved, 0);
	err = infect_close(in, *fd);
	*fd = (int)moved;
	return err;
}

int infect_hand_over(struct infecting *in)
{
	size_t size = (size_t)(blob_payload_end - blob_payload);
	struct loader *l = loader_of(in);
	int there = -1;
	auto_close int here = -1;
	int err = infect_memfd(in, PAYLOAD_NAME, &there, &here);

	if (!err && write(here, blob_payload, size) != (ssize_t)size)
		err = fail(errno, "write the payload");
	err = err ? err : move_up(in, &there);
	if (err)
		return err;
	spell_path(there, l->path, sizeof(l->path));
	l->fd = in->payload_fd = there;
	l->dlopen = in->libc.dlopen;
	l->dlerror = in->libc.dlerror;
	l->pthread_create = in->libc.pthread_create;
	l->pthread_detach = in->libc.pthread_detach;
	l->hello_off = in->payload.hello;
	l->session = in->result->base;
	return 0;
}

static int start_loader(struct infecting *in)
{
	/* Who holds what they slept over may do so until somebody looks at him, and then
	 * again: so each third try lasts longer, up to 1.2 s, and all 8 s. */
	uint64_t budget = in->in_place ? CALL_BUDGET : START_BUDGET * (1 + in->slept / 3);
	int err = infect_use_stack(in);

	err = err ? err : remote_call(&in->remote, in->scratch, in->result->base + LOADER_OFF,
				      in->in_place, budget);
	in->loaders += in->remote.ran;
	return err;
}

/* 8. The loader says how it went through a futex word of the session. */
static int await_loader(struct infecting *in)
{
	struct loader *l = loader_of(in);
	struct timespec tick = { 0, 5000000 };
	uint32_t status = 0;

	for (int i = 0; i < ANSWER_BUDGET; i++) {
		status = __atomic_load_n(&l->status, __ATOMIC_ACQUIRE);
		if (status >= LOADER_DONE || procfs_state(in->target->pid, 0) == 0)
			break;
		/* Who could not be given back stands still if he stops now. */
		target_settle(in->target, (uint64_t)tick.tv_nsec);
		syscall(SYS_futex, &l->status, FUTEX_WAIT, status, &tick, NULL, 0);
	}
	const char *comm = in->target->comm;
	pid_t pid = in->target->pid;
	in->loaders -= status >= LOADER_DONE;
	in->ending = status >= LOADER_DONE && !in->in_place;
	/* Without a thread nobody has closed it. */
	if (status == LOADER_DONE || status == LOADER_FAILED)
		infect_forget_fd(in, in->payload_fd);
	switch (status) {
	case LOADER_DONE:
		return 0;
	case LOADER_FAILED:
		return fail(0, "loading into %d (%s) failed: %.400s", pid, comm, l->error);
	case LOADER_NO_THREAD:
		return fail(l->result, "%d (%s) could not start a thread", pid, comm);
	default:
		if (procfs_state(pid, 0) == 0)
			return fail(ESRCH, "%d (%s) ended", pid, comm);
		return fail(ETIMEDOUT, "the loader in %d (%s) did not answer: another thread "
			    "holds the dynamic loader's lock", pid, comm);
	}
}

static int load_in_place(struct infecting *in)
{
	in->in_place = true;
	int err = infect_with_borrowed(in, VICTIM_LOAD, start_loader);

	return err ? err : await_loader(in);				/* 8 */
}

/*
 * A victim that sleeps over it stood in the wrong place after all: it is given
 * back at once, and another one tried; that the first may have started a loader
 * nevertheless does no harm (loader.c). Not one that could not be given back: it is on
 * the stack that the next would be given.
 */
static int load_in_thread(struct infecting *in)
{
	in->in_place = false;
	int err = infect_with_borrowed(in, VICTIM_THREAD, start_loader);

	for (int i = 0; i < LOAD_TRIES && err == -ETIMEDOUT && !in->remote.astray; i++) {
		if (__atomic_load_n(&loader_of(in)->status, __ATOMIC_ACQUIRE) != LOADER_IDLE)
			err = 0;
		fail_clear();
		in->slept++;
		if (err)
			err = infect_with_borrowed(in, VICTIM_THREAD, start_loader);
	}
	return err ? err : await_loader(in);				/* 8 */
}

/* Without the target's loader: as it would be mapped by one, but for the word
 * that would say where its thread-local storage is, unless Go's threads have room. */
static int map_payload(struct infecting *in)
{
	const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	const uint64_t room = GOTHREAD_ROOM_AT;
	raddr_t unused;
	int err = infect_map(in, "map the payload", 0, in->payload.span, PROT_NONE, anonymous,
			     -1, &in->payload_at);

	for (size_t i = 0; i < in->payload.nparts && !err; i++) {
		const struct payload_part *p = &in->payload.parts[i];

		err = infect_map(in, "map the payload", in->payload_at + p->page, p->pages,
				 p->prot, anonymous | MAP_FIXED, -1, &unused);
		err = err ? err : target_write(in->target, in->payload_at + p->at, p->bytes,
					       p->size);
	}
	if (!err && in->of_go)
		err = target_write(in->target, in->payload_at + in->payload.tls_word, &room,
				   sizeof(room));
	if (!err && in->payload_fd >= 0)
		err = infect_close(in, in->payload_fd);
	return err ? err : infect_say_hello(in);
}

/* The payload's own routines need neither a lock nor room on the stack: any
 * thread will do. */
static int load_bare(struct infecting *in)
{
	in->bare = true;
	return infect_with_borrowed(in, VICTIM_SYSCALLS, map_payload);
}

/* Is there nothing left of an attempt that has failed, and would the payload
 * find its threads without the loader's help? */
static bool can_be_bare(const struct infecting *in, int err)
{
	return err && err != -ESRCH && !in->loaders && in->tid_offset;
}

/*
 * 7. In a process of one thread that thread loads by itself: a second one, even
 * if it ends at once, would switch the C library to its slower, locking ways
 * for the rest of the process's life. Where there are several, one of them
 * starts a thread that loads. Where that cannot be we map the payload ourselves:
 * then a call costs hardly more (bench/hot_bare.c).
 */
int infect_load(struct infecting *in)
{
	int err;

	if (in->bare)
		return load_bare(in);
	err = in->nthreads == 1 ? load_in_place(in) : load_in_thread(in);
	if (can_be_bare(in, err)) {
		fail_clear();
		return load_bare(in);
	}
	if (err == -EAGAIN && in->in_place) {
		fail_clear();
		err = load_in_thread(in);
	}
	return err;
}

/* A list of threads may leave it out. */
static bool loader_has_ended(const struct infecting *in, const struct namespace *ids)
{
	pid_t pid = in->target->pid, tid = namespace_outer(ids, pid, loader_of(in)->tid);

	return !tid || (tid > 0 && procfs_has_ended(pid, tid));
}

/* The loader's thread has answered, but runs on in the scratch until it ends;
 * where we are preferred, it may well have been put aside in the very call that
 * woke us. False: it has not ended for long. */
bool infect_loader_has_left(struct infecting *in)
{
	struct namespace ids;
	bool ended = !in->ending;

	namespace_open(in->target->pid, &ids);
	for (int i = 0; !ended && i <= ANSWER_BUDGET; i++) {
		ended = loader_has_ended(in, &ids);
		if (!ended)
			nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
	}
	namespace_close(&ids);
	return ended;
}

