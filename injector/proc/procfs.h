/* SPDX-License-Identifier: MIT */
/* procfs: what /proc says of a process. Reads only; stops nothing. */
#ifndef INJECTOR_PROCFS_H
#define INJECTOR_PROCFS_H

#include <stdio.h>
#include <sys/types.h>

#include "base/base.h"

/* One line of /proc/PID/maps. */
struct mapping {
	struct range range;
	uint64_t offset;	/* in the file */
	dev_t dev;
	ino_t ino;		/* 0: anonymous */
	bool read, write, exec, shared;
	char path[4096];	/* as printed, " (deleted)" included */
};

/*
 * Where the process is to be looked at: /proc/PID, or, when its main thread has
 * ended and others go on, /proc/PID/task/TID of one of them: the memory, root
 * and executable of a zombie are gone.
 */
void procfs_dir(pid_t pid, char *ret, size_t size);
/* A thread of it that has not ended; 0 if there is none. */
pid_t procfs_live_thread(pid_t pid);
/* The main thread, or, when that has ended, another one: by it memory and files of the
 * process are to be had. */
pid_t procfs_front(pid_t pid);
/* The file behind one of its mappings, a link. */
void procfs_map_file(pid_t pid, struct range, char *ret, size_t size);
/* A pidfd by which its descriptors are to be had; -1 with errno. Before Linux 6.9 there
 * is none of a process whose main thread has ended (PIDFD_THREAD). */
int procfs_pidfd(pid_t pid);
/* This thread has ended, or is not there at all. */
bool procfs_has_ended(pid_t pid, pid_t tid);

/* Call `each` for every mapping; nonzero from it ends the walk and is
 * returned. -errno with a message when the file cannot be read. */
int procfs_maps(pid_t pid, int (*each)(void *ctx, const struct mapping *),
		void *ctx);

/* The value of a "Name:" line of /proc/PID/task/TID/status as a number;
 * `otherwise` when there is none. tid 0: of the process. */
int64_t procfs_status(pid_t pid, pid_t tid, const char *name, int base,
		      int64_t otherwise);
/* A limit of the process, by its name in /proc/PID/limits. False: there is none, or
 * it is not known. (prlimit(2) wants CAP_SYS_RESOURCE for another user's process,
 * which root in a container does not have.) */
bool procfs_limit(pid_t pid, const char *name, uint64_t *ret);
/* Has it that capability, in effect? */
bool procfs_has_cap(pid_t pid, int cap);
/* The signals that a process handles: bit n - 1 for signal n. */
uint64_t procfs_caught(pid_t pid);
/* A thread is confined by seccomp, strictly or by a filter. */
bool procfs_filtered(pid_t pid, pid_t tid);
/* All threads of a process are. */
bool procfs_all_filtered(pid_t pid);
/* The ids of a thread in its PID namespaces: in ours, and in its own. How many
 * namespaces there are; 0 if it is gone. */
int procfs_ids(pid_t pid, pid_t tid, pid_t *outer, pid_t *inner);
/* What a process calls itself, which a filter may forbid it to ask; 0 if it is gone. */
pid_t procfs_own_id(pid_t pid);
/* Our id of the thread that calls itself `inner`; 0: none is listed that does; or
 * -errno: one that is listed cannot be asked. */
pid_t procfs_outer(pid_t pid, pid_t inner);
/* The state letter of a thread ('R', 'S', 'D', 'T', 't', 'Z', 'X'), 0 if it
 * does not exist, '?' if it cannot be looked at. */
char procfs_state(pid_t pid, pid_t tid);
/* For how long a thread has run, ns. 0: the kernel does not say. */
uint64_t procfs_time_run(pid_t pid, pid_t tid);
/* Clock ticks since boot at which the process started; 0 if it is gone or
 * cannot be looked at. */
uint64_t procfs_start_time(pid_t pid);
uint64_t procfs_thread_start(pid_t pid, pid_t tid);
/* A number that stays as long as the process executes one program; 0: unknown. */
uint64_t procfs_image(pid_t pid);
/* What its auxiliary vector says of that AT_...; 0: nothing. */
uint64_t procfs_aux(pid_t pid, uint64_t kind);
/* The clock of its timer (of timer_create) with that number; 0, CLOCK_REALTIME, too if it
 * cannot be told. */
int procfs_timer_clock(pid_t pid, int timer);
/* It was killed, or is on its way out, or has ended. */
bool procfs_is_ending(pid_t pid);
/* Wait until one that is ending has ended, with all its threads, and so holds nothing
 * any more: five seconds at most. False if it is not ending, or not in that time. */
bool procfs_await_end(pid_t pid);
/* Is it a thread of the kernel? */
bool procfs_is_kernel(pid_t pid);
/* Where its heap begins, whether it has one already or not; 0 if that is not
 * known to us. */
raddr_t procfs_heap(pid_t pid);
/* The command name of a process; "?" if it is gone. */
void procfs_comm(pid_t pid, char *ret, size_t size);
/* Thread ids, in ascending order, of those that run code of the process. Owned by the
 * caller. The count, or -errno without a message (-ESRCH: gone). */
int procfs_threads(pid_t pid, pid_t **ret);
/* Likewise, and faster, with those that the kernel has made for itself. */
int procfs_tasks(pid_t pid, pid_t **ret);
bool procfs_is_listed(const pid_t *tids, int n, pid_t tid);
/*
 * Not so a thread that the kernel has made for itself in the process, for io_uring or vhost,
 * which a tracer may hold as well; nor one that ends: it has run its last instruction, may have
 * been joined, and no tracer stops it any more, but it is listed until the kernel is done with
 * it. That takes as long as it gets no processor. One that is gone by now runs none either.
 */
bool procfs_runs_code(pid_t pid, pid_t tid);
/* Likewise the ids of all processes that we see. */
int procfs_processes(pid_t **ret);
/* The count alone. */
int procfs_count_threads(pid_t pid);
/* Has it a userfaultfd? True also if that cannot be told. */
bool procfs_serves_faults(pid_t pid);
/* The number in a one-number file ("max" reads as UINT64_MAX); false if the
 * file is not there. */
bool procfs_number(const char *path, uint64_t *ret);
/* What a sleeping thread waits in: system call number, first argument, sp, pc.
 * False if it runs, or may not be looked at. */
bool procfs_syscall(pid_t pid, pid_t tid, long *nr, uint64_t *arg, raddr_t *sp,
		    raddr_t *pc);

#endif
