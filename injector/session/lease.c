/* SPDX-License-Identifier: MIT */
#include "injector/session/lease.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "payload/abi.h"

_Static_assert(READER_GONE == FUTEX_OWNER_DIED, "the bit is the kernel's");

/*
 * What the kernel walks at the thread's end: the head, and one entry whose futex
 * lies at a distance from it. Both are ours alone; only the futex is shared, so
 * that no other process can lead the kernel, or us, anywhere. (The C library's own list is
 * for robust mutexes, of which we have none.)
 */
static struct robust_list_head head = { .list = { &head.list } };
static struct robust_list entry = { &head.list };

int lease_begin(void)
{
	if (syscall(SYS_set_robust_list, &head, sizeof(head)) < 0)
		return fail(errno, "announce our end");
	return 0;
}

/* Killed anywhere in here, we leave a word that names no thread, or ours. */
void lease_give(uint32_t *reader)
{
	__atomic_store_n(&head.list.next, &head.list, __ATOMIC_SEQ_CST);
	if (!reader)
		return;
	__atomic_store_n(&head.futex_offset, (long)((char *)reader - (char *)&entry),
			 __ATOMIC_SEQ_CST);
	__atomic_store_n(&head.list.next, &entry, __ATOMIC_SEQ_CST);
	__atomic_store_n(reader, (uint32_t)getpid(), __ATOMIC_SEQ_CST);
}
