/* SPDX-License-Identifier: MIT */
/*
 * fault_places: reads where there is nothing, and its handler decides by the place of
 * the instruction, as runtimes do: in the functions that may fault it goes on with
 * another value, anywhere else it is WRONG. Does the handler find each fault where
 * the program has made it?
 *
 *	handle	-> handling	from now on; until then nothing faults
 *	crash	-> handling	with a handler that is called once, and nothing faults
 */
#include <signal.h>

#include "tests/machine.h"
#include "tests/victims/victim.h"

enum { NONE = 77 };

/* The load is the first instruction. */
PROBED uint64_t place_entry(const uint64_t *p)
{
	return *(volatile const uint64_t *)p;
}

PROBED uint64_t place_plain(uint64_t x)
{
	return x * 3 + 1;
}

/* There is no room for a jump before it. */
PROBED uint64_t place_pushed(const uint64_t *p)
{
	uint64_t y = *(volatile const uint64_t *)p;

	return place_plain(1) + (y == UINT64_MAX);
}

/* The load is the last one before the return, or near it. */
PROBED uint64_t place_exit(const uint64_t *p, uint64_t x)
{
	uint64_t y = place_plain(x);

	return *(volatile const uint64_t *)p + 0 * y;
}

/* All of it may fault. It never does. */
struct methods {
	uint64_t (*triple)(uint64_t x);
};

PROBED uint64_t place_method(uint64_t x, const struct methods *const *object)
{
	return (*object)->triple(x);
}

static bool is_in(const void *function, uint64_t pc)
{
	return pc - (uint64_t)function < 32;
}

#if defined(__x86_64__)
/* The quotient of what was given. */
PROBED uint32_t place_divide(uint32_t x, uint32_t y)
{
	return x / y;
}

static bool divide_works(uint32_t x, bool handled)
{
	return place_divide(x, !handled) == (handled ? NONE : x);
}

static bool divides(uint64_t pc)
{
	return is_in(place_divide, pc);
}

/*
 * late_zero may fault up to its return, and is recorded at its start by the nearer one of
 * two holes, or, where late_taker has that, at its return by the other. No other padding
 * is in reach.
 */
void late_zero(uint64_t *p);
uint64_t late_taker(void);
__asm__(".balign 512\n"
	".type late_before, @function\n"
	"late_before: .rept 47; lea 1(%rax), %eax; .endr; ret\n"
	".size late_before, . - late_before\n"
	".globl late_taker, late_zero\n"
	".type late_taker, @function\n"
	"late_taker: xor %eax, %eax; ret\n"
	".size late_taker, . - late_taker\n"
	".type late_zero, @function\n"
	"late_zero: pxor %xmm0, %xmm0; movups %xmm0, 0x10(%rdi); movups %xmm0, 0x20(%rdi); ret\n"
	".size late_zero, . - late_zero\n"
	"nopl (%rax)\n"
	".type late_near, @function\n"
	"late_near: .rept 20; lea 1(%rax), %eax; .endr; ret\n"
	".size late_near, . - late_near\n"
	".byte 0x0f, 0x1f, 0x44, 0, 0\n"
	".type late_far, @function\n"
	"late_far: .rept 16; lea 1(%rax), %eax; .endr; ret\n"
	".size late_far, . - late_far\n"
	".byte 0x0f, 0x1f, 0x44, 0, 0\n"
	".type late_behind, @function\n"
	"late_behind: .rept 47; lea 1(%rax), %eax; .endr; ret\n"
	".size late_behind, . - late_behind\n");

static bool late_works(void)
{
	uint64_t words[6] = { 1, 2, 3, 4, 5, 6 };

	late_zero(words);
	return !words[2] && !words[5] && words[1] == 2 && !late_taker();
}

/* All loads are 3 bytes long at most: the next instruction is found by trying. Both that fault
 * are a prefix, or none, an opcode and a ModRM byte. */
static void pass_over(ucontext_t *u, const uint8_t *code)
{
	CONTEXT_PC(u) += (*code & 0xf0) == 0x40 ? 3 : 2;
	CONTEXT_RESULT(u) = NONE;
}

#else

/* Division by 0 is no fault here, and there is no padding to jump by. */
static bool divides(uint64_t pc)
{
	return false;
}

static bool divide_works(uint32_t x, bool handled)
{
	return true;
}

static bool late_works(void)
{
	return true;
}

/* Its lowest bits are the register that it loads. */
static void pass_over(ucontext_t *u, const uint8_t *code)
{
	CONTEXT_PC(u) += 4;
	u->uc_mcontext.regs[*code & 31] = NONE;
}

#endif

static void on_fault(int sig, siginfo_t *info, void *context)
{
	uint64_t pc = (uint64_t)CONTEXT_PC((ucontext_t *)context);

	if (!is_in(place_entry, pc) && !is_in(place_pushed, pc) && !is_in(place_exit, pc) &&
	    !divides(pc)) {
		victim_wrong("signal %d at %#llx", sig, (unsigned long long)pc);
		_exit(3);
	}
	pass_over(context, (const uint8_t *)pc);
}

static bool handles;

static void command(const char *word)
{
	bool once = strcmp(word, "crash") == 0;
	struct sigaction act = { .sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | (once ? (int)SA_RESETHAND : 0) };
	bool set = (once || strcmp(word, "handle") == 0) &&
		sigaction(SIGSEGV, &act, NULL) == 0 && sigaction(SIGBUS, &act, NULL) == 0 &&
		sigaction(SIGFPE, &act, NULL) == 0;

	handles = set && !once;
	victim_say(set ? "handling" : "what is %s?", word);
}

int main(void)
{
	const struct methods methods = { place_plain }, *const object = &methods;
	const uint64_t there = 5;

	victim_say("ready");
	for (uint64_t x = 1; victim_poll(1, command); x++) {
		const uint64_t *p = handles && x % 2 ? NULL : &there;
		uint64_t want = p ? there : NONE;

		if (place_entry(p) != want || place_exit(p, x) != want ||
		    place_pushed(p) != 4 || place_method(x, &object) != 3 * x + 1 ||
		    !late_works() || !divide_works((uint32_t)x, !p))
			victim_wrong("a value");
		victim_count();
	}
	return victim_errors != 0;
}
