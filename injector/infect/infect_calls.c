/* SPDX-License-Identifier: MIT */
/*
 * infect, continued: what a loan is made of: single calls of a borrowed thread, and notes of
 * what undoes them, which `undo` in infect.c works off. All steps stand on these.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "injector/infect/infect_impl.h"
#include "injector/infect/limits.h"
#include "injector/proc/procfs.h"

enum { HELLO_BUDGET = 300 * 1000 * 1000 };	/* ns */

/* 4b. */
int infect_with_borrowed(struct infecting *in, enum loan_use use,
			 int (*what)(struct infecting *))
{
	int err = loan_borrow(in->target, in->mods, use, LOAN_TRIES, &in->gadgets,
				&in->remote);

	if (err)
		return err;
	err = loan_give_back(&in->remote, what(in));
	if (in->remote.borrowed_stack && !in->remote.astray)
		in->result->map.s->scratch = in->scratch;
	/* A thread that could not be fetched comes home by itself, when it gets a processor:
	 * until then it needs what is mapped. */
	in->busy |= in->remote.astray;
	return err;
}

void infect_note_undo(struct infecting *in, long nr, uint64_t a0, uint64_t a1)
{
	if (in->nundo < ARRAY_SIZE(in->undo))
		in->undo[in->nundo++] = (struct undoing){ nr, { a0, a1 } };
}

void infect_forget_undo(struct infecting *in, long nr, uint64_t a0)
{
	size_t kept = 0;

	for (size_t i = 0; i < in->nundo; i++)
		if (in->undo[i].nr != nr || in->undo[i].args[0] != a0)
			in->undo[kept++] = in->undo[i];
	in->nundo = kept;
}

/* A descriptor that is closed by now. */
void infect_forget_fd(struct infecting *in, int fd)
{
	infect_forget_undo(in, SYS_close, (uint64_t)fd);
}

int infect_take_gap(struct infecting *in, raddr_t at, uint64_t size)
{
	return gaps_take(&in->gaps, (struct range){ at - MIN(at, (raddr_t)GAPS_BESIDE),
						    at + size + GAPS_BESIDE });
}

int infect_map(struct infecting *in, const char *what, raddr_t at, uint64_t size,
	       int prot, int flags, int fd, raddr_t *ret)
{
	int64_t got;
	int err = remote_try(&in->remote, what, &got, SYS_mmap, at, size, (uint64_t)prot,
			     (uint64_t)flags, (uint64_t)(int64_t)fd, 0);

	if (err)
		return limits_refused_map(in->target->pid, size, err);
	*ret = (raddr_t)got;
	if (flags & MAP_FIXED)
		return 0;
	infect_note_undo(in, SYS_munmap, *ret, size);
	return infect_take_gap(in, *ret, size);
}

int infect_unlock(struct infecting *in, const char *what, raddr_t at, uint64_t size)
{
	int64_t unused;
	int err = remote_try(&in->remote, what, &unused, SYS_munlock, at, size, 0, 0, 0, 0);

	return err ? err : remote_try(&in->remote, what, &unused, SYS_mprotect, at, size,
				      PROT_READ | PROT_WRITE, 0, 0, 0);
}

/* In a process that locks all its future mappings a plain mmap would bring every page of
 * it into memory at once; one without access cannot, and is unlocked before it gets any. */
int infect_map_sparse(struct infecting *in, const char *what, raddr_t at, uint64_t size,
		      int flags, int fd, raddr_t *ret)
{
	const int access = PROT_READ | PROT_WRITE;

	if (!in->locks)
		return infect_map(in, what, at, size, access, flags, fd, ret);
	int err = infect_map(in, what, at, size, PROT_NONE, flags, fd, ret);
	return err ? err : infect_unlock(in, what, *ret, size);
}

/* A core of the target is no larger, and takes no longer, for what we keep there:
 * to write the rings out, the kernel would fill all of them with memory first. */
int infect_keep_from_cores(struct infecting *in, raddr_t at, uint64_t size)
{
	int64_t unused;

	return remote_try(&in->remote, "keep memory from core dumps", &unused, SYS_madvise, at,
			  size, MADV_DONTDUMP, 0, 0, 0);
}

/* No other thread is sent there before the one that was is home; nor by a later visit, should
 * it not come home in this one, or we die: that visit maps another stack. */
int infect_use_stack(struct infecting *in)
{
	__atomic_store_n(&in->result->map.s->scratch, 0, __ATOMIC_RELEASE);
	return remote_use_stack(&in->remote, scratch_stack(in->scratch) + SCRATCH_STACK);
}

/* Strings that a remote call reads lie at the far end of its stack. */
raddr_t infect_name_at(const struct infecting *in)
{
	return scratch_stack(in->scratch);
}

/* A memfd of the target that we have open too; *there is its number there. */
int infect_memfd(struct infecting *in, const char *name, int *there, int *here)
{
	char path[96], dir[64];
	int64_t fd;

	int err = target_write(in->target, infect_name_at(in), name, strlen(name) + 1);
	err = err ? err : remote_try(&in->remote, "create shared memory", &fd, SYS_memfd_create,
				     infect_name_at(in), MFD_CLOEXEC | MFD_ALLOW_SEALING,
				     0, 0, 0, 0);
	if (err)
		return err;
	*there = (int)fd;
	infect_note_undo(in, SYS_close, (uint64_t)fd, 0);
	procfs_dir(in->target->pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/fd/%d", dir, *there);
	*here = open(path, O_RDWR | O_CLOEXEC);
	return *here < 0 ? fail(errno, "open %s", path) : 0;
}

int infect_close(struct infecting *in, int fd)
{
	int64_t unused;
	int err = remote_try(&in->remote, "close a descriptor", &unused, SYS_close,
			     (uint64_t)fd, 0, 0, 0, 0, 0);

	if (!err)
		infect_forget_fd(in, fd);
	return err;
}

int infect_say_hello(struct infecting *in)
{
	int err = infect_use_stack(in);

	return err ? err : remote_call(&in->remote, in->payload_at + in->payload.hello,
				       in->result->base, 0, HELLO_BUDGET);
}
