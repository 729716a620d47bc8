/* SPDX-License-Identifier: MIT */
/*
 * sharing: does another process run on the memory of this one? A vfork's child
 * does until it executes a program, and any child that was cloned with CLONE_VM
 * but not as a thread. What is written into the text is written under its feet,
 * and it is not among the threads that are stopped.
 */
#ifndef INJECTOR_SHARING_H
#define INJECTOR_SHARING_H

#include <sys/types.h>

/*
 * Such a process, 0 if there is none. One of another user, which we may not
 * look at, is not found. Mostly they are gone soon, so it waits a little for that.
 */
pid_t sharing_process(pid_t pid);

#endif
