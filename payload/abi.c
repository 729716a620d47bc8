/* SPDX-License-Identifier: MIT */
/* abi: are offsets and sizes what assembly and the injector rely on? No code. */
#include "payload/abi.h"

#define ABI_ASSERT(x) _Static_assert(x, #x)
ABI_ASSERT(offsetof(struct thread, cur) == THREAD_CUR);
ABI_ASSERT(offsetof(struct thread, end) == THREAD_END);
ABI_ASSERT(offsetof(struct thread, limit) == THREAD_LIMIT);
ABI_ASSERT(offsetof(struct thread, bias) == THREAD_BIAS);
ABI_ASSERT(offsetof(struct thread, top) == THREAD_TOP);
ABI_ASSERT(offsetof(struct thread, lo) == THREAD_LO);
ABI_ASSERT(offsetof(struct thread, frames_end) == THREAD_FRAMES_END);
ABI_ASSERT(offsetof(struct thread, ring) == THREAD_RING);
ABI_ASSERT(offsetof(struct thread, full_tail) == THREAD_FULL_TAIL);
ABI_ASSERT(offsetof(struct thread, reader) == THREAD_READER);
ABI_ASSERT(offsetof(struct thread, tp) == THREAD_TP);
ABI_ASSERT(offsetof(struct thread, tid) == THREAD_TID);
ABI_ASSERT(offsetof(struct thread, goroutine) == THREAD_GOROUTINE);
ABI_ASSERT(offsetof(struct thread, counts) == THREAD_COUNTS);
ABI_ASSERT(offsetof(struct thread, counted) == THREAD_COUNTED);
ABI_ASSERT(offsetof(struct ring, tail) == RING_TAIL);
ABI_ASSERT(offsetof(struct ring, lost_entries) == RING_LOST_ENTRIES);
ABI_ASSERT(offsetof(struct ring, lost_exits) == RING_LOST_EXITS);
ABI_ASSERT(offsetof(struct arena_header, tls_offset) == ARENA_TLS);
ABI_ASSERT(offsetof(struct arena_header, slow_entry) == ARENA_SLOW_ENTRY);
ABI_ASSERT(offsetof(struct arena_header, slow_exit) == ARENA_SLOW_EXIT);
ABI_ASSERT(offsetof(struct arena_header, slow_mark) == ARENA_SLOW_MARK);
ABI_ASSERT(READER_GONE == READER_GONE_BIT << 8 * READER_GONE_BYTE);
ABI_ASSERT(offsetof(struct arena_header, tid_offset) == ARENA_TID);
ABI_ASSERT(offsetof(struct arena_header, threads) == ARENA_THREADS);
ABI_ASSERT(offsetof(struct arena_header, homes) == ARENA_HOMES);
ABI_ASSERT(offsetof(struct arena_header, places) == ARENA_PLACES);
ABI_ASSERT(offsetof(struct arena_header, slow_goroutine) == ARENA_SLOW_GOROUTINE);
ABI_ASSERT(offsetof(struct arena_header, slow_count) == ARENA_SLOW_COUNT);
ABI_ASSERT(offsetof(struct arena_header, slow_watch_entry) == ARENA_SLOW_WATCH_ENTRY);
ABI_ASSERT(offsetof(struct arena_header, slow_watch_exit) == ARENA_SLOW_WATCH_EXIT);
ABI_ASSERT(sizeof(struct watch) == 16);
ABI_ASSERT(offsetof(struct arena_header, slow_tight) == ARENA_SLOW_TIGHT);
ABI_ASSERT(offsetof(struct arena_header, slow_first) == ARENA_SLOW_FIRST);
ABI_ASSERT(offsetof(struct arena_header, first) == ARENA_FIRST);
ABI_ASSERT(offsetof(struct arena_header, slow_find) == ARENA_SLOW_FIND);
ABI_ASSERT(sizeof(struct arena_header) == ARENA_HEADER);
ABI_ASSERT(sizeof(struct session) <= LOADER_OFF);
ABI_ASSERT(LOADER_OFF + sizeof(struct loader) <= PAGE);
ABI_ASSERT(sizeof(struct slot) == 64);
ABI_ASSERT(sizeof(struct ring) <= PAGE);
ABI_ASSERT(sizeof(struct subbuf) == 64);
ABI_ASSERT(sizeof(struct thread) <= FRAMES_OFF);
ABI_ASSERT(sizeof(struct arena) == 40);
ABI_ASSERT(sizeof(struct trap_action) == 32);
