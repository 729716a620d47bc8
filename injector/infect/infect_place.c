/* SPDX-License-Identifier: MIT */
/*
 * infect, continued: what has to be known before a thread is borrowed (the C library's
 * functions, stacks, limits, free memory), and the arenas of 4f.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/infect/infect_impl.h"
#include "injector/infect/limits.h"
#include "injector/proc/kernel.h"
#include "injector/proc/procfs.h"
#include "injector/session/arena.h"
#include "payload/stub.h"

enum {
	PLACE_TRIES = 64,
	REACH_MARGIN = 1 << 16,
	DEFAULT_STACK = 8 << 20,
	/* Open at one time: while the payload is loaded, while a file is lent. */
	LOADER_DESCRIPTORS = 2, LEND_DESCRIPTORS = 3,
};

/* A function of the C library, or of the libraries that it was before 2.34. */
static bool find_libc(struct modules *mods, const char *name, raddr_t *ret)
{
	for (size_t i = 0; i < mods->n; i++) {
		struct module *m = &mods->v[i];
		raddr_t at;

		if (!m->is_system || m->is_payload || strncmp(m->base, "ld-", 3) == 0)
			continue;
		if (module_symbols(m) == 0 && symbols_dynamic(m->symbols, name, &at) == 0) {
			*ret = at + m->bias;
			return true;
		}
		fail_clear();
	}
	return false;
}

static bool find_functions(struct infecting *in)
{
	return find_libc(in->mods, "dlopen", &in->libc.dlopen) &&
		find_libc(in->mods, "dlerror", &in->libc.dlerror);
}

/* From outside of that PID namespace it cannot be told where the link leads. */
static bool has_proc(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/root/proc/self", pid);
	return lstat(path, &st) == 0;
}

/* A program without one may have loaded libraries all the same, and with them another
 * C library, in which no thread was ever made. */
static bool has_loader(const struct infecting *in)
{
	bool found = false;

	for (size_t i = 0; i < in->mods->n; i++) {
		struct module *m = &in->mods->v[i];

		if (m->is_exe && !m->is_system && module_symbols(m) == 0 && !m->symbols->interp)
			return false;
		found |= m->is_system && !m->is_exe;
	}
	fail_clear();
	return found;
}

static const struct thread_runtime *find_loaded(struct infecting *in)
{
	const struct thread_runtime *r;
	raddr_t unused;

	for (uint32_t i = 1; (r = threads_by_number(i)); i++)
		if (r->loads_by && find_libc(in->mods, r->loads_by, &unused))
			return r;
	return NULL;
}

/* What dlopen needs: itself, that it takes thread-local storage, /proc, through which the
 * payload is handed over; and that no other thread holds its locks. */
static void look_loader(struct infecting *in)
{
	bool loader = has_loader(in);
	raddr_t unused;

	in->loaded = loader ? find_loaded(in) : NULL;
	in->spare = in->loaded && in->loaded->room_by &&
		find_libc(in->mods, in->loaded->room_by, &unused);
	if (!loader)
		in->no_loader = "it is statically linked";
	else if (!in->loaded || !find_functions(in))
		in->no_loader = threads_no_loader();
	else if (!has_proc(in->target->pid))
		in->no_loader = "it sees no /proc";
	else if (procfs_all_filtered(in->target->pid))
		in->no_loader = "its threads are under seccomp filters";
	else if (in->descriptors < LOADER_DESCRIPTORS)
		in->no_loader = "it has no file descriptor left";
}

/* The limit may be another one than when the addresses were given out: what is mapped below the
 * stack is none of it. */
static int look_stack(struct infecting *in)
{
	int err = layout_read(&in->target->layout, in->target->pid, NULL, NULL);
	struct range now = in->target->layout.main_stack;
	uint64_t limit;

	in->stack_max = DEFAULT_STACK;
	if (procfs_limit(in->target->pid, "Max stack size", &limit))
		in->stack_max = MAX(limit, (uint64_t)1 << 20);
	in->main_stack = now;
	in->main_stack.start = MIN(now.start, MAX(now.end - MIN(now.end, in->stack_max),
						  in->target->layout.below));
	return err;
}

/* Addresses cost nothing, unless there is a limit to them, or all that is mapped counts
 * as locked. Memory without a name is as large as its mapping. */
static bool is_roomy(const struct infecting *in)
{
	uint64_t limit;

	return !in->locks && !in->nameless && !in->crowded &&
		!procfs_limit(in->target->pid, "Max address space", &limit);
}

/* Of addresses, behind the earlier visit's session, as they were before a thread was held. */
static uint64_t free_behind(const struct infecting *in)
{
	const struct layout *l = &in->target->layout;
	raddr_t end = in->result->old.base + in->result->old.place;
	size_t i = 0;

	while (i < l->n && l->v[i].range.start < end)
		i++;
	return in->reuse && i < l->n ? l->v[i].range.start - end : 0;
}

struct session_wish infect_wish(const struct infecting *in, uint32_t slots)
{
	bool roomy = is_roomy(in), plans = roomy || !in->opt->spare_plans;

	/* Each function that is probed, or will be added, has a slot at least. */
	return (struct session_wish){
		.nthreads = in->nthreads, .buffer = in->opt->buffer, .max_slots = slots,
		.nfuncs = in->result->old.s.nfuncs + slots, .notes = in->opt->notes,
		.plans_funcs = plans ? in->opt->plans_funcs : 0, .plans = in->opt->plans,
		.callers_funcs = in->opt->plans_funcs,
		.callers = roomy || !in->opt->spare_callers ? in->opt->callers : 0,
		.sieve = in->opt->way == &way_sifted, .sparse = in->opt->sparse,
		.file = in->opt->file, .roomy = roomy,
		.most = in->crowded ? 0 : in->session_most, .behind = free_behind(in),
		.limit = in->crowded ? 0 : in->session_limit,
	};
}

bool infect_needs_spills(const struct infecting *in)
{
	bool any = false;

	for (size_t i = 0; i < in->opt->nneeds; i++)
		any |= in->opt->needs[i].spills;
	return any;
}

/* But for the session's memory. */
static struct needs needs_besides(const struct infecting *in, uint32_t nrings)
{
	struct needs n = { .memory = 1 << 20, .asked = in->opt->buffer };

	n.data = (uint64_t)nrings * THREAD_SIZE + (1 << 20);
	n.address_space = n.data + in->opt->islands->n * PAGE;
	n.memory += in->opt->islands->n * PAGE;
	if (infect_needs_spills(in))
		n.address_space += (uint64_t)nrings * SPILL_AREA_SIZE;
	for (size_t i = 0; i < in->opt->nneeds; i++) {
		n.address_space += MAX(in->opt->needs[i].bytes, (uint64_t)ARENA_LEAST) +
			kernel_page();
		n.memory += in->opt->needs[i].bytes;
	}
	return n;
}

/* Where addresses are limited the program keeps three quarters of what it has left, if that is
 * possible at all: what is mapped stays for as long as the visit takes. */
static int look_room(struct infecting *in)
{
	struct session_wish wish = infect_wish(in, in->opt->max_slots);
	struct session_shape shape;
	uint64_t left;

	if (in->reuse) {
		if (in->locks || in->nameless || !limits_addresses(in->target->pid, &left))
			return 0;
		struct needs arenas = needs_besides(in, 0);

		in->session_most = in->result->old.place + left / 4;
		in->session_limit = in->result->old.place + left - MIN(left, arenas.address_space);
		return 0;
	}
	int err = session_shape(&wish, NULL, &shape);
	if (err)
		return err;
	struct needs n = needs_besides(in, shape.nrings);
	if (limits_addresses(in->target->pid, &left)) {
		in->session_most = left / 4 > n.address_space ? left / 4 - n.address_space : 1;
		wish = infect_wish(in, in->opt->max_slots);
		err = session_shape(&wish, NULL, &shape);
	}
	n.address_space += shape.place;
	n.memory += (uint64_t)in->nthreads * (shape.nsub + shape.bank_subs) * shape.sub_size;
	return err ? err : limits_check(in->target->pid, &n);
}

bool infect_sees_locks(const struct infecting *in)
{
	return procfs_status(in->target->pid, procfs_front(in->target->pid), "VmLck", 10, 0) > 0;
}

/* May we open what is behind a mapping? That takes a capability, for our own as well. */
static int open_first(void *ctx, const struct mapping *m)
{
	char path[80];

	if (!m->ino || m->path[0] != '/')
		return 0;
	procfs_map_file(getpid(), m->range, path, sizeof(path));
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? 2 : 1;
}

/* The session needs one descriptor, unless its memory has no name. */
static int look_descriptors_left(struct infecting *in)
{
	pid_t pid = in->target->pid;

	in->descriptors = limits_descriptors(pid);
	if (in->opt->file)
		return in->descriptors >= LEND_DESCRIPTORS ? 0 :
			limits_refuse_descriptors(pid, "a session in a file");
	in->nameless = !in->descriptors;
	if (!in->nameless || procfs_maps(getpid(), open_first, NULL) == 2)
		return 0;
	return limits_refuse_descriptors(pid, "the session, and inject may not open memory "
					 "without one: that takes CAP_CHECKPOINT_RESTORE or "
					 "CAP_SYS_ADMIN");
}

int infect_look(struct infecting *in)
{
	auto_free pid_t *tids = NULL;

	in->nthreads = procfs_threads(in->target->pid, &tids);
	if (in->nthreads < 0)
		return fail(-in->nthreads, "list the threads of %d (%s)", in->target->pid,
			    in->target->comm);
	in->locks = infect_sees_locks(in);
	int err = look_descriptors_left(in);
	if (err)
		return err;
	if (!in->reuse)
		look_loader(in);
	err = look_stack(in);
	return err ? err : look_room(in);
}

static uint64_t header_size(void)
{
	return ALIGN_UP((uint64_t)(hot_end - hot_begin), (uint64_t)ROUTINES_ALIGN);
}

int infect_find_gaps(struct infecting *in)
{
	gaps_clear(&in->gaps);
	return in->opt->nneeds ? gaps_find(in->target->pid, GAPS_HEAP, NULL, NULL, &in->gaps) : 0;
}

/* An arena of so many bytes. need->arena stays -1 if there is no room for it. */
static int map_arena(struct infecting *in, struct arena_need *need, uint64_t bytes)
{
	uint64_t size = ALIGN_UP(MAX(bytes + header_size(), (uint64_t)ARENA_LEAST), kernel_page());
	struct session *s = in->result->map.s;
	struct range span = need->module->span;
	raddr_t at = 0, got;
	int err = -EEXIST;

	/* Another thread may map something there at the same moment. */
	for (int i = 0; i < PLACE_TRIES && err == -EEXIST; i++) {
		fail_clear();
		err = i ? infect_find_gaps(in) : 0;
		err = err ? err : arena_find(&in->gaps, span, size, in->opt->reach, at, &at);
		if (err == -ENOSPC) {
			fail_clear();
			return 0;
		}
		err = err ? err : infect_map(in, "map memory for stubs", at, size,
			PROT_READ | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, &got);
		/* Before Linux 4.17 the flag is unknown, and the address a hint. */
		if (!err && got != at)
			err = fail(EEXIST, "map memory for stubs");
	}
	if (err)
		return err;
	need->arena = (int)s->narenas;
	s->arenas[s->narenas++] = (struct arena){ got, size, 0, span.start, span.end };
	return 0;
}

/* All of the arena can refer to all of the module, and the other way round. */
static bool reaches(const struct arena *a, struct range span, int64_t reach)
{
	uint64_t up = MAX(a->base + a->size, span.end) - MIN(a->base, span.start);

	return up < (uint64_t)reach - REACH_MARGIN;
}

/* What modules from needs[i] on, which are not far from that one, want together. An arena
 * of so many bytes on either side of it reaches them all. */
static uint64_t wanted_near(const struct infecting *in, size_t i)
{
	struct range all = in->opt->needs[i].module->span;
	uint64_t bytes = in->opt->needs[i].bytes;

	for (size_t k = i + 1; k < in->opt->nneeds; k++) {
		const struct arena_need *n = &in->opt->needs[k];
		struct range both = { MIN(all.start, n->module->span.start),
				      MAX(all.end, n->module->span.end) };

		if (range_size(both) + bytes + n->bytes > (uint64_t)in->opt->reach / 2)
			continue;
		all = both;
		bytes += n->bytes;
	}
	return bytes;
}

static int new_arena(struct infecting *in, size_t i)
{
	struct arena_need *need = &in->opt->needs[i];
	uint64_t wanted = wanted_near(in, i);

	if (in->result->map.s->narenas >= SESSION_ARENAS)
		return 0;
	int err = map_arena(in, need, wanted);
	/* Between two modules there may be less room than for all. */
	if (!err && need->arena < 0 && wanted > need->bytes)
		err = map_arena(in, need, need->bytes);
	return err;
}

/*
 * What is promised to modules of this visit is not `used` yet. Arenas are shared,
 * for there is room for but so many in a session: a program of hundreds of libraries
 * has as many modules, all of them close together.
 */
int infect_arenas(struct infecting *in)
{
	uint64_t promised[SESSION_ARENAS] = { 0 };
	struct session *s = in->result->map.s;
	int err = 0;

	for (size_t i = 0; i < in->opt->nneeds && !err; i++) {
		struct arena_need *need = &in->opt->needs[i];

		need->arena = -1;
		if (!need->bytes)
			continue;
		for (uint32_t j = 0; j < s->narenas && j < SESSION_ARENAS; j++) {
			struct arena *a = &s->arenas[j];

			if (reaches(a, need->module->span, in->opt->reach) &&
			    a->size - MAX(a->used, header_size()) >= promised[j] + need->bytes)
				need->arena = (int)j;
		}
		if (need->arena < 0)
			err = new_arena(in, i);
		if (!err && need->arena >= 0)
			promised[need->arena] += need->bytes;
	}
	return err;
}

int infect_fill_arenas(struct infecting *in)
{
	struct session *s = in->result->map.s;
	uint32_t nrings = in->result->map.shape.nrings;
	struct arena_header h = arena_header_of(s, nrings);
	size_t size = (size_t)(hot_end - hot_begin);
	auto_free uint8_t *bytes = malloc(size);

	if (!bytes)
		return fail(ENOMEM, "write the recording routines");
	h.magic = ARENA_MAGIC;
	h.notes = header_size();
	memcpy(bytes, hot_begin, size);
	for (uint32_t i = 0; i < s->narenas && i < SESSION_ARENAS; i++) {
		struct arena *a = &s->arenas[i];

		if (a->used)
			continue;
		h.first = (a->base + hot_table.tight_first) << 16;
		h.size = a->size;
		memcpy(bytes, &h, sizeof(h));
		int err = target_write(in->target, a->base, bytes, size);
		if (err)
			return err;
		a->used = header_size();
	}
	return 0;
}
