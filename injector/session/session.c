/* SPDX-License-Identifier: MIT */
#include "injector/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "injector/proc/procfs.h"
#include "injector/session/session_shape.h"

static int size_memfd(int fd, uint64_t size)
{
	/* Sized and sealed here, not there: a remote ftruncate would be under
	 * the target's RLIMIT_FSIZE, whose signal kills. */
	return ftruncate(fd, (off_t)size) < 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0 ? -1 : 0;
}

static int no_room(const struct session_shape *shape)
{
	return fail(errno, "size the session to %lu MiB", (unsigned long)(shape->total >> 20));
}

/* But for the gates that no function of this session can have, for want of slots. */
int session_take_room(int file, const struct session_shape *shape)
{
	return ftruncate(file, (off_t)shape->total) < 0 ||
		fallocate(file, 0, 0, (off_t)(GATES_OFF + shape->gates)) < 0 ||
		fallocate(file, 0, ISLANDS_OFF, (off_t)(shape->total - ISLANDS_OFF)) < 0 ?
		fail(errno, "take %lu MiB on the disk of -o (-m takes less)",
		     (unsigned long)(shape->total >> 20)) : 0;
}

/* It was made of that size: of another, it is other memory. */
static int check_size(int fd, uint64_t size)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size == size)
		return 0;
	return fail(EBADMSG, "the session's memory is not as large as it was made");
}

int session_create(int fd, const struct session_shape *shape, enum session_kind kind,
		   struct session_map *ret)
{
	uint64_t size = shape->total;
	int err = kind == SESSION_NAMELESS ? check_size(fd, size) : 0;

	*ret = (struct session_map){ .fd = fd, .shape = *shape, .file = kind == SESSION_FILE };
	if (kind == SESSION_MEMFD && size_memfd(fd, size) < 0)
		err = no_room(shape);
	if (!err) {
		void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			       fd, 0);
		ret->s = p == MAP_FAILED ? NULL : p;
		err = ret->s ? 0 : fail(errno, "map the session");
	}
	if (err) {
		close(fd);
		ret->fd = -1;
		return err;
	}
	ret->slots = (void *)((char *)ret->s + SLOTS_OFF);
	struct session *s = ret->s;
	s->abi = ABI_VERSION;
	s->size = size;
	s->slots_off = SLOTS_OFF;
	s->max_slots = shape->max_slots;
	s->notes_off = session_notes_at(shape);
	s->notes_size = shape->notes;
	s->rings_off = session_rings_at(shape);
	s->ring_stride = session_ring_stride(shape);
	s->nrings = shape->nrings;
	s->nsub = shape->nsub;
	s->sub_size = shape->sub_size;
	s->banks_off = session_banks_at(shape);
	s->plans_off = session_plans_at(shape);
	s->plans_size = shape->plans;
	s->plans_funcs = shape->plans_funcs;
	s->captures_off = session_captures_at(shape);
	s->callers_off = session_callers_at(shape);
	s->callers_size = shape->callers;
	s->walks_off = session_walks_at(shape);
	s->sides_off = session_sides_at(shape);
	ret->plans = (uint8_t *)s + session_plans_at(shape);
	ret->callers = (uint8_t *)s + session_callers_at(shape);
	ret->plans_used = 2 * shape->plans_funcs * sizeof(uint32_t);
	s->nbanks = shape->nbanks;
	s->bank_subs = shape->bank_subs;
	s->next_ring = 0;
	s->holder_pid = getpid();
	s->holder_start = procfs_start_time(getpid());
	return 0;
}

static uint8_t *gates(struct session_map *m)
{
	return (uint8_t *)m->s + GATES_OFF;
}

void session_open_gate(struct session_map *m, uint32_t func, bool guards)
{
	if (func < 1u << REC_FUNC_BITS)
		__atomic_store_n(&gates(m)[func], guards ? GATE_GUARDS : GATE_OPEN,
				 __ATOMIC_RELEASE);
}

void session_close(struct session_map *m)
{
	__atomic_store_n(&m->s->state, SESSION_CLOSED, __ATOMIC_RELEASE);
	memset(gates(m), 0, MIN(m->s->nfuncs, 1u << REC_FUNC_BITS));
}

void session_empty(struct session_map *m)
{
	uint64_t from = session_rings_at(&m->shape);

	/* There may be no room for it again. */
	if (m->file)
		return;
	fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
		  (off_t)(m->shape.total - from));
}

void session_keep_islands(struct session_map *m, const struct old_session *old)
{
	uint64_t *list = (void *)((char *)m->s + ISLANDS_OFF);
	uint32_t n = 0;

	for (uint32_t i = 0; old->found && i < old->s.nislands; i++)
		if (old->islands[i] % PAGE == ISLAND_MAPPED)
			list[n++] = old->islands[i];
	m->s->nislands = n;
}

void session_unmap(struct session_map *m)
{
	if (m->s)
		munmap(m->s, m->shape.total);
	if (m->fd >= 0)
		close(m->fd);
	m->s = NULL;
	m->fd = -1;
}

/* Everything that is used later is checked here, once, on our own copy. */
bool session_is_sane(const struct session *s, uint64_t mapped)
{
	return s->magic == SESSION_MAGIC && s->abi == ABI_VERSION &&
		s->slots_off == SLOTS_OFF && s->nslots <= s->max_slots &&
		s->nislands <= ISLANDS_MOST &&
		s->max_slots <= SESSION_SLOTS && s->nrings <= SESSION_RINGS &&
		s->narenas <= SESSION_ARENAS && s->notes_size <= mapped &&
		s->notes_off <= mapped - s->notes_size && s->notes_size % PAGE == 0 &&
		s->slots_off + (uint64_t)s->max_slots * sizeof(struct slot) <= mapped &&
		s->size <= mapped && s->nfuncs < 1u << REC_FUNC_BITS;
}

#define MEMFD "/memfd:" SESSION_NAME

static bool is_nameless(const struct mapping *m)
{
	return strcmp(m->path, "/dev/zero (deleted)") == 0;
}

/* What is smaller is not looked into: to read a page that was not used yet makes it. */
static bool says_so(pid_t pid, const struct mapping *m)
{
	enum { LEAST = 64 << 10 };
	struct session s = { 0 };
	char path[80], dir[64];

	if (!m->shared || m->offset || range_size(m->range) < LEAST)
		return false;
	procfs_dir(pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/mem", dir);
	auto_close int mem = open(path, O_RDONLY | O_CLOEXEC);
	/* One that is elsewhere than it says is not complete (infect_session.c). */
	return mem >= 0 && pread(mem, &s, sizeof(s), (off_t)m->range.start) == sizeof(s) &&
		s.magic == SESSION_MAGIC && s.base == m->range.start;
}

static bool has_name(const struct mapping *m)
{
	const char *base = strrchr(m->path, '/');
	const size_t n = sizeof(SESSION_NAME) - 1;

	if (strncmp(m->path, MEMFD, sizeof(MEMFD) - 1) == 0)
		return true;
	return base && strncmp(base + 1, SESSION_NAME, n) == 0 &&
		(!base[n + 1] || strcmp(base + n + 1, " (deleted)") == 0);
}

bool session_may_be(const struct mapping *m)
{
	return is_nameless(m) || has_name(m);
}

bool session_is_mapping(pid_t pid, const struct mapping *m)
{
	return is_nameless(m) ? says_so(pid, m) : has_name(m);
}

struct finding {
	pid_t pid;
	struct old_session *at;
	bool begun;
};

/* One mapping may be shown as several: advice to the kernel about a part of it, or a
 * lock of one, splits it there. */
static bool goes_on(const struct old_session *old, const struct mapping *m)
{
	return m->ino == old->ino && old->place == old->mapped;
}

/* What is left of a larger session that was there before, or what one that was about to be
 * has got as far: each begins where this one does, and so its offsets are the same. */
static bool is_ours(const struct old_session *old, const struct mapping *m)
{
	return m->shared && m->range.start == old->base + old->place && m->offset == old->place &&
		session_may_be(m);
}

static int note_session(void *ctx, const struct mapping *m)
{
	struct finding *f = ctx;
	struct old_session *old = f->at;

	if (f->begun && is_ours(old, m)) {
		old->mapped += goes_on(old, m) ? range_size(m->range) : 0;
		old->place += range_size(m->range);
		return 0;
	}
	if (f->begun)
		return 1;
	/* Newer visits map over the old place; if one did not fit there, the
	 * one with the later generation counts, which the caller compares. */
	if (old->base >= m->range.start || m->offset || !m->shared ||
	    !session_is_mapping(f->pid, m))
		return 0;
	old->base = m->range.start;
	old->first = old->mapped = old->place = range_size(m->range);
	old->ino = m->ino;
	old->nameless = is_nameless(m);
	old->file = !old->nameless && strncmp(m->path, MEMFD, sizeof(MEMFD) - 1) != 0;
	f->begun = true;
	return 0;
}

static int next_session(const struct target *t, struct old_session *at)
{
	struct finding f = { t->pid, .at = at };
	int err = procfs_maps(t->pid, note_session, &f);

	return err < 0 ? err : f.begun;
}

/* Journals are read whole, so that the rest works on a stable copy. */
static int copy_journal(const struct target *t, struct old_session *old)
{
	size_t size = old->s.nslots * sizeof(struct slot);
	size_t words = old->s.nislands * sizeof(*old->islands);

	old->slots = malloc(size + 1);
	old->islands = malloc(words + 1);
	if (!old->slots || !old->islands)
		return fail(ENOMEM, "read the journal of %d", t->pid);
	int err = target_read(t, old->base + SLOTS_OFF, old->slots, size);

	return err ? err : target_read(t, old->base + ISLANDS_OFF, old->islands, words);
}

/* -EIO: no memory is behind it. No one failed read decides: a session that is not seen
 * would be followed by one that counts its visits anew, and pass for the newer one. */
static int read_head(const struct target *t, struct old_session *at)
{
	int err = target_read(t, at->base, &at->s, sizeof(at->s));

	if (!err || err == -ESRCH)
		return err;
	fail_clear();
	return target_read(t, at->base, &at->s, sizeof(at->s));
}

int session_find(const struct target *t, struct old_session *ret)
{
	struct old_session best = { 0 }, at = { 0 };
	int err;

	*ret = best;
	while ((err = next_session(t, &at)) == 1) {
		err = read_head(t, &at);
		if (err && err != -EIO)
			return err;
		if (err) {
			fail_clear();
			continue;
		}
		if (at.s.magic == SESSION_MAGIC &&
		    (!best.found || at.s.generation > best.s.generation)) {
			best = at;
			best.found = true;
		}
	}
	*ret = best;
	if (!best.found)
		ret->ino = at.ino;
	if (err < 0 || !best.found)
		return err;
	if (best.s.abi != ABI_VERSION)
		return fail(0, "%d (%s) holds a session of another version of inject "
			    "(format %u, this one knows %u); use that one's stop",
			    t->pid, t->comm, best.s.abi, ABI_VERSION);
	if (!session_is_sane(&best.s, best.mapped))
		return fail(EBADMSG, "the session in %d (%s) is damaged", t->pid, t->comm);
	return copy_journal(t, ret);
}

void session_forget(struct old_session *old)
{
	free(old->slots);
	free(old->islands);
	*old = (struct old_session){ 0 };
}

bool session_is_pending(const struct slot *s)
{
	return s->state == SLOT_PLANNED || s->state == SLOT_ACTIVE;
}

size_t session_pending(const struct old_session *old)
{
	size_t n = 0;

	for (size_t i = 0; old->found && i < old->s.nslots; i++)
		n += session_is_pending(&old->slots[i]);
	return n;
}

static bool session_stands(const struct target *t, const struct slot *s)
{
	uint8_t is[sizeof(s->old)];

	return s->len <= sizeof(is) && target_read(t, s->addr, is, s->len) == 0 &&
		memcmp(is, s->old, s->len) != 0;
}

size_t session_standing(const struct target *t, const struct old_session *old)
{
	size_t n = 0;

	for (size_t i = 0; old->found && i < old->s.nslots; i++)
		n += session_is_pending(&old->slots[i]) && old->slots[i].kind != SLOT_SEMAPHORE &&
			session_stands(t, &old->slots[i]);
	fail_clear();
	return n;
}

bool session_is_unused(const struct old_session *old)
{
	return old->found && !old->s.payload && !old->s.threads;
}

bool session_reusable(const struct old_session *old, const uint8_t build_id[20])
{
	return old->found && old->s.payload && old->s.threads &&
		memcmp(old->s.build_id, build_id, sizeof(old->s.build_id)) == 0;
}

bool session_is_started(const struct old_session *old)
{
	return old->found && old->s.started && old->s.state == SESSION_READY &&
		!(old->s.reader & READER_GONE) && session_pending(old);
}

bool session_is_of(const struct session *s, pid_t pid)
{
	pid_t outer = 0, inner = 0;

	return !procfs_ids(pid, pid, &outer, &inner) || inner == s->pid;
}

pid_t session_holder(const struct session *s)
{
	if (s->holder_pid <= 0 || !s->holder_start ||
	    procfs_start_time(s->holder_pid) != s->holder_start ||
	    procfs_is_ending(s->holder_pid))
		return 0;
	return s->holder_pid;
}

/* A user that is not root may have no descriptor of it. */
static void give_back_rings(const struct target *t, const struct old_session *old)
{
	char path[96];

	procfs_map_file(t->pid, (struct range){ old->base, old->base + old->first }, path,
			sizeof(path));
	/* Of a file, there may be no room for it again. */
	auto_close int fd = old->file ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && old->s.rings_off < old->mapped)
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)old->s.rings_off, (off_t)(old->mapped - old->s.rings_off));
}

static void close_gates(const struct target *t, const struct old_session *old)
{
	static const uint8_t none[PAGE];

	for (uint64_t at = 0; at < old->s.nfuncs; at += PAGE)
		target_write(t, old->base + GATES_OFF + at, none, MIN(old->s.nfuncs - at, PAGE));
}

void session_end(const struct target *t)
{
	const uint32_t closed = SESSION_CLOSED, no = 0;
	struct old_session old;

	if (session_find(t, &old) == 0 && old.found) {
		target_write(t, old.base + offsetof(struct session, state), &closed,
			     sizeof(closed));
		target_write(t, old.base + offsetof(struct session, started), &no, sizeof(no));
		close_gates(t, &old);
		give_back_rings(t, &old);
	}
	session_forget(&old);
	fail_clear();
}

/* Each store leaves a head that is sane, and none changes what the payload reads: forked children
 * share it, and may be later. */
int session_keep(const struct target *t, const struct old_session *old, uint64_t size)
{
	const struct session *s = &old->s;
	const struct {
		size_t off, n;
		uint64_t value;
	} stores[] = {
		{ offsetof(struct session, notes_size), sizeof(s->notes_size), 0 },
		{ offsetof(struct session, notes_off), sizeof(s->notes_off), 0 },
		{ offsetof(struct session, max_slots), sizeof(s->max_slots), s->nslots },
		{ offsetof(struct session, size), sizeof(s->size), size },
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(stores) && !err; i++)
		err = target_write(t, old->base + stores[i].off, &stores[i].value, stores[i].n);
	return err;
}

int session_mark(const struct target *t, const struct old_session *old, size_t slot,
		 enum slot_state state)
{
	uint8_t byte = (uint8_t)state;

	return target_write(t, old->base + SLOTS_OFF + slot * sizeof(struct slot) +
			    offsetof(struct slot, state), &byte, 1);
}
