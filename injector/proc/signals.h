/* SPDX-License-Identifier: MIT */
/*
 * signals: does the user want us to stop?
 *
 * From signals_begin on, INT, TERM, HUP and QUIT are counted and interrupt
 * nothing: the first one means "stop", the second one "and drop what is not
 * printed yet"; no number of them keeps a probe in. Ctrl-Z waits until nothing
 * is in the making: see signals_pause.
 */
#ifndef INJECTOR_SIGNALS_H
#define INJECTOR_SIGNALS_H

#include "base/base.h"

/* To be called before any thread is made, and before the attach. */
int signals_begin(void);
/* In a child that is about to execute another program: the mask and the
 * dispositions that we were started with. Async-signal-safe. */
void signals_restore(void);
/*
 * From now on a signal that a process has sent to us goes on to the child behind
 * `pidfd`, too: a process that ends the program that it has started means the command.
 * Not what the terminal has sent, which the child has got already, nor what the
 * child itself or a descendant of it sends (kill 0). -1: no longer.
 */
void signals_relay(int pidfd, pid_t child);
/* One of them came. From any thread, at any time. */
bool signals_stop_wanted(void);
/* How many came. */
unsigned int signals_stops(void);
/* Two came. */
bool signals_drop_wanted(void);
/* Readable when something came. */
int signals_fd(void);
/* Ctrl-Z was typed. */
bool signals_pause_wanted(void);
/* If Ctrl-Z was typed: stop ourselves until the shell lets us go on. The
 * caller holds nothing of the target, and no lock. */
void signals_pause(void);

#endif
