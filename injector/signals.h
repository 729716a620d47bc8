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
/* One of them came. From any thread, at any time. */
bool signals_stop_wanted(void);
/* Two came. */
bool signals_drop_wanted(void);
/* Readable when something came. */
int signals_fd(void);
/* If Ctrl-Z was typed: stop ourselves until the shell lets us go on. The
 * caller holds nothing of the target, and no lock. */
void signals_pause(void);

#endif
