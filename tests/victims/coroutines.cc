/* SPDX-License-Identifier: MIT */
/*
 * coroutines: calls on stacks of Boost.Context, of Boost.Coroutine2 and of ucontext,
 * begun in one thread and ended in another, some by a throw. Each stack lives for
 * one round only, and its memory is the next one's. Does a tracer see each call
 * begin and end once, as the coroutines themselves have counted?
 *
 * coroutines KIND [LARGE]: fiber, coroutine, ucontext, or tight, which is ucontext on
 * stacks that are used to their ends and lie side by side. With LARGE, some frames
 * have so many bytes more than others, and nothing is thrown. A command "run N" makes N rounds in
 * each of some places, and then answers with what was called: "made co_deep N
 * co_hop N co_leaf N co_throw N inside N unwound N moved N". "inside" adds up how
 * many calls each of them was in, "unwound" is how many of them a throw has left,
 * "moved" how often a round went on in another thread.
 */
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <boost/coroutine2/all.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <ucontext.h>
#include <vector>

#include "tests/victims/victim.h"

namespace {

constexpr int places = 6, threads = 3, depth = 6;
constexpr size_t stack_size = 64 * 1024;
size_t large;		/* bytes that some frames have, more than others */

struct Counts {
	uint64_t deep, hops, leaves, throws, inside, unwound, moved;
};

struct Job {
	std::function<void()> yield;
	Counts n = {};
	uint64_t open = 0, chance = 88172645463325252ull;

	unsigned below(unsigned limit)
	{
		chance ^= chance << 13;
		chance ^= chance >> 7;
		chance ^= chance << 17;
		return (unsigned)(chance >> 33) % limit;
	}
};

} // namespace

extern "C" {

PROBED void co_hop(Job *j)
{
	j->yield();
	asm volatile("" ::: "memory");
}

PROBED uint64_t co_leaf(uint64_t x)
{
	/* What the processor reads ahead is less: else it may read its clock twice at once. */
	for (int i = 0; i < 400; i++)
		asm volatile("" : "+r"(x) : : "memory");
	return x + 1;
}

PROBED void co_throw(Job *j)
{
	if (j->below(2)) {
		j->n.hops++;
		j->n.inside += j->open + 1;
		co_hop(j);
	}
	throw j->open;
}

} // extern "C"

/* Part of co_deep, as leaf() is: what they call has the same stack pointer, which
 * tells that the call before has been left. */
#define PART __attribute__((always_inline)) static inline

PART void thrown(Job *j)
{
	uint64_t at = j->open;

	j->n.throws++;
	j->n.unwound++;
	j->n.inside += at;
	try {
		co_throw(j);
	} catch (uint64_t &seen) {
		if (seen != at)
			victim_wrong("what was thrown");
	}
}

PART void leaf(Job *j)
{
	j->n.leaves++;
	j->n.inside += j->open;
	if (co_leaf(j->open) != j->open + 1)
		victim_wrong("co_leaf");
}

/* Frames of other sizes each time. */
extern "C" PROBED uint64_t co_deep(Job *j, unsigned left)
{
	size_t size = 48 + 80 * j->below(5) + (j->below(8) ? 0 : large);
	volatile char *room = (volatile char *)__builtin_alloca(size);
	uint64_t got = 0;

	room[0] = room[size - 1] = (char)left;
	j->n.deep++;
	j->n.inside += j->open++;
	if (j->below(2))
		leaf(j);
	if (left)
		got = 1 + co_deep(j, left - 1);
	if (!left || j->below(3) == 0) {
		j->n.hops++;
		j->n.inside += j->open;
		co_hop(j);
	}
	if (j->below(6) == 0 && !large)
		thrown(j);
	if (j->below(2))
		leaf(j);
	if (room[0] != (char)left)
		victim_wrong("room");
	j->open--;
	return got;
}

static void round_of(Job *j)
{
	unsigned n = j->below(depth);

	if (co_deep(j, n) != n || j->open)
		victim_wrong("co_deep");
}

/* A round that was begun: resume() until it is over. */
struct Round {
	virtual ~Round() = default;
	virtual bool resume() = 0;	/* false: it is over */
};

struct FiberRound : Round {
	boost::context::fiber fiber, back;

	explicit FiberRound(Job *j) :
		fiber(std::allocator_arg, boost::context::fixedsize_stack(stack_size),
		      [this, j](boost::context::fiber &&from) {
			      back = std::move(from);
			      j->yield = [this] { back = std::move(back).resume(); };
			      round_of(j);
			      return std::move(back);
		      })
	{
	}
	bool resume() override
	{
		fiber = std::move(fiber).resume();
		return (bool)fiber;
	}
};

struct CoroutineRound : Round {
	using source = boost::coroutines2::coroutine<int>::pull_type;
	using sink = boost::coroutines2::coroutine<int>::push_type;
	std::unique_ptr<source> in;

	explicit CoroutineRound(Job *j) :
		in(new source(boost::coroutines2::fixedsize_stack(stack_size), [j](sink &out) {
			j->yield = [&out] { out(0); };
			out(0);
			round_of(j);
		}))
	{
	}
	bool resume() override
	{
		(*in)();
		return (bool)*in;
	}
};

struct ContextRound : Round {
	ucontext_t context, back;
	std::unique_ptr<char[]> own;
	Job *job;
	bool over = false;

	static void start(unsigned hi, unsigned lo)
	{
		auto *self = (ContextRound *)((uintptr_t)hi << 32 | lo);

		round_of(self->job);
		self->over = true;
		swapcontext(&self->context, &self->back);
	}
	explicit ContextRound(Job *j) : own(new char[stack_size]), job(j)
	{
		prepare(own.get(), stack_size);
	}
	ContextRound(Job *j, char *stack, size_t size) : job(j)
	{
		prepare(stack, size);
	}
	void prepare(char *stack, size_t size)
	{
		getcontext(&context);
		context.uc_stack.ss_sp = stack;
		context.uc_stack.ss_size = size;
		makecontext(&context, (void (*)())start, 2, (unsigned)((uintptr_t)this >> 32),
			    (unsigned)(uintptr_t)this);
		job->yield = [this] { swapcontext(&context, &back); };
	}
	bool resume() override
	{
		swapcontext(&back, &context);
		return !over;
	}
};

static std::function<std::unique_ptr<Round>(Job *)> begin;

struct Place {
	std::mutex running;
	Job job;
	std::unique_ptr<Round> round;
	std::thread::id last;
	uint64_t rounds = 0, limit = 0;
};

static Place all[places];

/* Rather a round that another thread has run before. */
static bool step(Place &p, bool own)
{
	std::unique_lock<std::mutex> lock(p.running, std::try_to_lock);

	if (!lock || p.rounds == p.limit)
		return false;
	if (p.round && p.last == std::this_thread::get_id() && !own)
		return false;
	if (!p.round)
		p.round = begin(&p.job);
	else if (p.last != std::this_thread::get_id())
		p.job.n.moved++;
	p.last = std::this_thread::get_id();
	if (!p.round->resume()) {
		p.round.reset();
		p.rounds++;
	}
	return true;
}

static void run()
{
	for (unsigned pass = 0;; pass++) {
		bool any = false;

		for (auto &p : all)
			any |= step(p, pass % 8 == 0);
		victim_count();
		if (!any)
			victim_sleep_us(100);
	}
}

static void add(Counts &sum, const Counts &n, uint64_t times)
{
	sum.deep += times * n.deep;
	sum.hops += times * n.hops;
	sum.leaves += times * n.leaves;
	sum.throws += times * n.throws;
	sum.inside += times * n.inside;
	sum.unwound += times * n.unwound;
	sum.moved += times * n.moved;
}

/* Until all of the rounds are over. */
static void settle(Place &p, Counts &sum)
{
	for (;; victim_sleep_us(1000)) {
		std::lock_guard<std::mutex> lock(p.running);

		if (p.rounds != p.limit)
			continue;
		add(sum, p.job.n, 1);
		return;
	}
}

static void command(const char *line)
{
	Counts sum = {};
	uint64_t n = strtoull(line + 4, NULL, 10);

	if (strncmp(line, "run ", 4) != 0) {
		victim_say("what is %s?", line);
		return;
	}
	for (auto &p : all) {
		std::lock_guard<std::mutex> lock(p.running);

		add(sum, p.job.n, -1ull);
		p.limit += n;
	}
	for (auto &p : all)
		settle(p, sum);
	victim_say("made co_deep %llu co_hop %llu co_leaf %llu co_throw %llu "
		   "inside %llu unwound %llu moved %llu",
		   (unsigned long long)sum.deep, (unsigned long long)sum.hops,
		   (unsigned long long)sum.leaves, (unsigned long long)sum.throws,
		   (unsigned long long)sum.inside, (unsigned long long)sum.unwound,
		   (unsigned long long)sum.moved);
}

template<class T> static std::unique_ptr<Round> make(Job *j)
{
	return std::unique_ptr<Round>(new T(j));
}

static std::unique_ptr<Round> make_tight(Job *j)
{
	constexpr size_t size = 6 * 1024;
	static char stacks[places][size] __attribute__((aligned(64)));
	int i = 0;

	while (&all[i].job != j)
		i++;
	return std::unique_ptr<Round>(new ContextRound(j, stacks[i], size));
}

int main(int argc, char **argv)
{
	std::string kind = argc > 1 ? argv[1] : "";

	if (kind == "fiber")
		begin = make<FiberRound>;
	else if (kind == "coroutine")
		begin = make<CoroutineRound>;
	else if (kind == "ucontext")
		begin = make<ContextRound>;
	else if (kind == "tight")
		begin = make_tight;
	else
		return 2;
	large = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	for (int i = 0; i < places; i++)
		all[i].job.chance += (uint64_t)i;
	for (int i = 0; i < threads; i++)
		std::thread(run).detach();
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	_exit(victim_errors != 0);
}
