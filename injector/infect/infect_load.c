/* SPDX-License-Identifier: MIT */
/*
 * infect, continued: 4g, the payload is mapped, so that no thread of the target takes a
 * lock or waits for one. It knows its threads by the ids in their control blocks. Where
 * the place of these is not known, as where a C library has threads in a library of their
 * own that is not loaded, and there is but one thread, that calls dlopen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "injector/infect/infect_impl.h"
#include "injector/proc/procfs.h"

enum {
	CALL_BUDGET = 2000 * 1000 * 1000,	/* ns, dlopen */
};

static struct loader *loader_of(const struct infecting *in)
{
	return (void *)((char *)in->result->map.s + LOADER_OFF);
}

/* 4g. A path that no earlier dlopen had, for dlopen goes by the string: dots and
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

/* A memfd with the payload, and what the loader's code has to know. */
static int hand_over(struct infecting *in)
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
	l->fd = there;
	l->dlopen = in->libc.dlopen;
	l->dlerror = in->libc.dlerror;
	l->hello_off = in->payload.hello;
	l->session = in->result->base;
	return 0;
}

/* While the only thread is held no other can begin, and take a lock. */
static int check_alone(struct infecting *in)
{
	in->alone = infect_is_alone(in);
	return in->alone ? 0 :
		fail(EAGAIN, "%d (%s) has started a thread; try again", in->target->pid,
		     in->target->comm);
}

static int call_loader(struct infecting *in)
{
	struct loader *l = loader_of(in);
	int err = check_alone(in);

	err = err ? err : hand_over(in);

	err = err ? err : infect_use_stack(in);
	err = err ? err : remote_call(&in->remote, in->scratch, in->result->base + LOADER_OFF,
				      LOADER_LOAD, CALL_BUDGET);
	uint32_t status = __atomic_load_n(&l->status, __ATOMIC_ACQUIRE);

	/* A thread that was fetched out of dlopen has left it in the middle. */
	in->busy |= in->remote.ran && status == LOADER_IDLE;
	if (status != LOADER_IDLE)
		infect_forget_fd(in, l->fd);
	if (!err && status != LOADER_DONE)
		err = fail(0, "loading into %d (%s) failed: %.400s", in->target->pid,
			   in->target->comm, l->error);
	return err;
}

/* As a loader would, but for the word that says where its thread-local storage is: that
 * leads to room that the threads have, if they have any. */
static int map_payload(struct infecting *in)
{
	const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
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
	err = err ? err : target_write(in->target, in->payload_at + in->payload.tls_word,
				       &in->room, sizeof(in->room));
	return err ? err : infect_say_hello(in);
}

/* 4g. */
int infect_load(struct infecting *in)
{
	return in->bare ? infect_with_borrowed(in, LOAN_SYSCALLS, map_payload) :
		infect_with_borrowed(in, LOAN_LOAD, call_loader);
}
