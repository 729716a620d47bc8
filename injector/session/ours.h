/* SPDX-License-Identifier: MIT */
/* ours: which code of a process is inject's, as its session tells? Reads the session only. */
#ifndef INJECTOR_OURS_H
#define INJECTOR_OURS_H

#include "injector/session/session.h"

/* The recording routines, or the stubs, of the arena around `pc`; empty: it is in none. */
struct range ours_routines(const struct session *, raddr_t pc);
struct range ours_stubs(const struct session *, raddr_t pc);
bool ours_in_routines(const struct session *, raddr_t pc);
bool ours_in_stubs(const struct session *, raddr_t pc);
bool ours_in_payload(const struct session *, raddr_t pc);
/* Any of these. */
bool ours_has(const struct session *, raddr_t pc);

#endif
