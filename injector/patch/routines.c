/* SPDX-License-Identifier: MIT */
/*
 * routines: which recording routines does a probe's stub call?
 *
 * Those of the session's way to record; or C does it, where a function is watched, or values or
 * callers are read. Not all of a call whose values are read need be C's: an exit at which nothing
 * is read is recorded as any other, and what is read of registers alone a routine records.
 */
#include "injector/modules/valued.h"
#include "injector/patch/probes.h"
#include "injector/session/ways.h"

/* Is all that is read, of values and callers, read at the entry? Where calls are sifted C decides
 * at the exit, and so it does of those that are watched. */
static bool has_plain_exit(const struct session *s, const struct placed_probe *probe, bool moved)
{
	if (probe->planned->routines == ROUTINES_MOVED)
		return !moved;
	return s->counting == COUNT_NONE && !probe->watched && !valued_exit_calls_c(probe);
}

/* What is read, the kernel and other memory are not needed for: registers alone. */
static void keep_registers(const struct placed_probe *probe, bool seeks, struct routine_set *set)
{
	const struct read_plan *plan = &probe->valued->plan->plan;
	const struct arch *arch = arch_host();
	unsigned int entry = reads_registers(plan, false, arch->arguments, arch->narguments);
	unsigned int exit = reads_registers(plan, true, arch->results, arch->nresults);

	if (entry && !probe->callers && hot_table.reads[seeks].entry[entry - 1])
		set->entry = hot_table.reads[seeks].entry[entry - 1];
	if (exit && hot_table.reads[seeks].exit[exit - 1]) {
		set->exit = hot_table.reads[seeks].exit[exit - 1];
		set->leave = hot_table.reads[seeks].leave[exit - 1];
	}
}

static bool is_kept_by_routines(const struct session *s, const struct placed_probe *probe)
{
	return s->counting == COUNT_NONE && probe->planned->routines == ROUTINES_C &&
		!probe->watched && valued_is_read(probe) && !probe->valued->plan->condition;
}

/* Of a call that one register refuses C need not be asked; but it notes entries of those that are
 * watched. */
static void refuse_early(const struct session *s, const struct placed_probe *probe, bool seeks,
			 struct routine_set *set)
{
	if (s->counting != COUNT_SIFTED || probe->planned->routines != ROUTINES_C ||
	    probe->watched || !valued_is_read(probe) || !probe->valued->plan->condition)
		return;
	set->entry = hot_table.asks[seeks].entry;
	set->exit = hot_table.asks[seeks].exit;
}

/* May its calls come to have to pass a condition? Then what calls C for them tells it the
 * registers, and its words say what C has to know of them. */
static bool may_ask(const struct session *s, const struct placed_probe *probe)
{
	return s->counting == COUNT_SIFTED && s->plans_funcs &&
		probe->planned->routines == ROUTINES_C;
}

/* Those of a probe, and what it says of exits that are no returns: of these no result is known. */
struct chosen {
	struct routine_set set;
	uint32_t tail;
	uint64_t tail_word;
};

static struct chosen choose(const struct session *s, const struct way *way,
			    const struct placed_probe *probe, bool moved)
{
	enum plan_routines routines = probe->planned->routines;
	uint64_t tail = may_ask(s, probe) ? way_values.tail : way->tail;
	bool seeks = !s->tls_offset;
	struct routine_set plain = way_records.routines(hot_table.sets[seeks], routines);
	struct chosen ret = { .set = way->routines(hot_table.sets[seeks], routines) };
	uint32_t by_c;

	if (way == &way_values)
		refuse_early(s, probe, seeks, &ret.set);
	by_c = ret.set.exit;
	if (way == &way_values && has_plain_exit(s, probe, moved)) {
		ret.set.exit = plain.exit;
		ret.set.leave = plain.leave;
	}
	if (way == &way_values && is_kept_by_routines(s, probe))
		keep_registers(probe, seeks, &ret.set);
	if (way != &way_values || ret.set.exit == by_c) {
		ret.tail = ret.set.exit;
		ret.tail_word = tail;
	} else {
		ret.tail = plain.exit;
		ret.tail_word = way_records.tail;
	}
	return ret;
}

static const struct way *way_of(const struct session *s, const struct placed_probe *probe,
				bool calls_c)
{
	return probe->guards ? &way_guards : calls_c ? &way_values :
		probe->watched ? &way_watched : ways_of(s->counting);
}

static uint32_t mark_of(const struct session *s, const struct placed_probe *probe, uint32_t mark)
{
	bool seeks = !s->tls_offset;

	return probe->planned->place && mark == hot_table.sets[seeks][ROUTINES_C].mark ?
		hot_table.place[seeks][probe->planned->framed] : mark;
}

struct routines arena_routines(const struct session *s, const struct arena *a,
			       const struct module *m, const struct placed_probe *probe)
{
	bool asks = may_ask(s, probe);
	/* What values are read of the payload watches as well, if it is to. */
	bool calls_c = valued_calls_c(probe) || (asks && probe->watched);
	const struct way *way = way_of(s, probe, calls_c);
	enum plan_routines routines = probe->planned->routines;
	bool tight = routines == ROUTINES_TIGHT;
	bool moved = routines == ROUTINES_MOVED && valued_is_read(probe);
	struct chosen chosen = choose(s, way, probe, moved);
	const struct way *told = asks ? &way_values : way;	/* what its words say */
	raddr_t base = a->base - m->bias;

	return (struct routines){
		.entry = base + chosen.set.entry,
		.exit = base + chosen.set.exit,
		.tail = base + chosen.tail,
		.mark = base + (asks && !probe->guards ? hot_table.values_entry :
				mark_of(s, probe, chosen.set.mark)),
		.gates = s->base + GATES_OFF,
		.first = base + hot_table.tight_first,
		.spills = (int32_t)s->spills_offset,
		.late = base + (tight ? hot_table.tight_late : probe->guards ? hot_table.guard :
				calls_c || asks ? hot_table.values_entry :
				hot_table.watch_entry),
		.find = base + hot_table.find,
		.word = way->word | (moved ? (uint64_t)REC_MOVED << REC_TIME_SHIFT : 0),
		.late_word = told->late,
		.tail_word = chosen.tail_word,
		.marks_late = told->marks_late,
		/* What is recorded without a stack, or in C, is always returned from by the
		 * stub. */
		.leave = tight || !chosen.set.leave ? 0 : base + chosen.set.leave,
	};
}
