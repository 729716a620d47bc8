/* SPDX-License-Identifier: MIT */
/* hello: the injector's call, which begins a session. */
#include <asm/unistd.h>
#include "payload/payload.h"

static void hello_answer(struct session *s)
{
	if (claim_tid(s) != (int32_t)cpu_syscall(__NR_gettid, 0, 0, 0))
		s->tid_offset = 0;
	s->tls_offset = claim_tls_offset();
	s->slow_entry = (uint64_t)slow_entry;
	s->slow_exit = (uint64_t)slow_exit;
	s->slow_mark = (uint64_t)slow_mark;
	s->slow_goroutine = (uint64_t)slow_goroutine;
	s->slow_count = (uint64_t)slow_count;
	s->slow_watch_entry = (uint64_t)slow_watch_entry;
	s->slow_watch_exit = (uint64_t)slow_watch_exit;
	s->slow_values_entry = (uint64_t)slow_values_entry;
	s->slow_values_exit = (uint64_t)slow_values_exit;
	s->slow_guard = (uint64_t)slow_guard;
	s->slow_tight = (uint64_t)slow_tight;
	s->slow_first = (uint64_t)slow_first;
	s->slow_first_end = (uint64_t)slow_first_end;
	s->slow_stacks = (uint64_t)slow_stacks;
	s->slow_find = (uint64_t)slow_find;
	s->spills_offset = claim_spills_offset();
	payload_traps.handler = (uint64_t)payload_trap;
	s->traps = (uint64_t)&payload_traps;
}

/* Where the linker put the start of the file. */
extern const char payload_base[] __asm__("__ehdr_start")
	__attribute__((visibility("hidden")));

/*
 * Called by the injector, by way of the loader or of a hijacked thread, while
 * no probe is in. Sets the fields of the session that are the payload's, and
 * `hello_answer` last, which it leaves alone if it does not know the session's
 * layout. A second hello, with this or another session, makes every thread
 * claim anew at its next call; the regions of an earlier session must still be
 * mapped then, since a thread learns of it only on the slow path.
 */
void payload_hello(struct session *s)
{
	struct session *before = payload_session;

	if (s->magic != SESSION_MAGIC || s->abi != ABI_VERSION)
		return;
	s->payload = (uint64_t)payload_base;
	hello_answer(s);
	claim_mark(s);
	values_hello();
	publish(&payload_session, s);
	publish(&payload_visit, payload_visit + 1);
	if (before)
		claim_expire(before);
	publish(&s->state, SESSION_READY);
	publish(&s->answer, s->generation);
}
