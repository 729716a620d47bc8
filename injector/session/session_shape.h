/* SPDX-License-Identifier: MIT */
/* session_shape: where in a session of that shape does what lie? For session.c. Bytes, in the order
 * of payload/abi.h; session_shape itself is in session.h. */
#ifndef INJECTOR_SESSION_SHAPE_H
#define INJECTOR_SESSION_SHAPE_H

#include "injector/session/session.h"

enum { SESSION_SLOTS = 1 << 22, SESSION_RINGS = 8192 };	/* at most */

uint64_t session_notes_at(const struct session_shape *);
uint64_t session_plans_at(const struct session_shape *);
uint64_t session_captures_at(const struct session_shape *);
uint64_t session_callers_at(const struct session_shape *);
uint64_t session_walks_at(const struct session_shape *);
uint64_t session_sides_at(const struct session_shape *);
uint64_t session_rings_at(const struct session_shape *);
uint64_t session_banks_at(const struct session_shape *);
/* From one ring to the next. */
uint64_t session_ring_stride(const struct session_shape *);

#endif
