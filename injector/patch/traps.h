/* SPDX-License-Identifier: MIT */
/*
 * traps: breakpoints where no jump has room (--trap): may this process have
 * any, and what handles their signal?
 *
 * A breakpoint ends the process if the thread that runs into it blocks SIGTRAP,
 * or if the signal is ignored. What blocks it now, or will in a handler that is
 * installed now, is seen, and then nothing traps. What the program does later is
 * not: hence the option.
 */
#ifndef INJECTOR_TRAPS_H
#define INJECTOR_TRAPS_H

#include "injector/modules/modules.h"
#include "injector/ptrace/sigframes.h"
#include "injector/session/session.h"

/* Before anything is planned. False: it is said what speaks against it. */
bool traps_allowed(pid_t pid);
/* Before the first one of a visit is added: while nothing handles breakpoints none
 * of an earlier visit's stands, and the program may have one of its own there. */
int traps_forget(const struct target *, const struct session *);
/*
 * A thread that runs into a breakpoint at `addr` is to go on at `stub`. To be called
 * before it stands. -ERANGE if there is no room for another one.
 */
int traps_add(const struct target *, const struct session *, raddr_t addr, raddr_t stub);
/* Does a thread that is stopped now block SIGTRAP, or will when the signal handler returns
 * that it runs? Its id; 0: none does. */
pid_t traps_blocker(struct target *, const struct sigframes *);
/*
 * Make the payload the handler of SIGTRAP, before the application's own one.
 * *hooked: it was not before. -EPERM if the application ignores the signal, or
 * blocks it while it handles another one.
 */
int traps_hook(struct target *, struct modules *, const struct session *, bool *hooked);
/* Is our handler the process's? */
bool traps_hooked(const struct target *, const struct session *);
/*
 * Give SIGTRAP back, once no breakpoint stands any more; what the application
 * has made of it since then stays. Nothing to do, and 0, if it was never taken.
 * -EAGAIN: a thread has yet to be told of a breakpoint.
 */
int traps_unhook(struct target *, struct modules *, const struct session *);

#endif
