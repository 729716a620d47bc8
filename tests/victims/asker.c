/* SPDX-License-Identifier: MIT */
/*
 * asker: waits for each line inside of stdio, as an interpreter at its prompt does, in its
 * only thread.
 *
 *	ping	-> alive PROGRESS ERRORS
 *	quit	-> bye
 */
#include "tests/victims/victim.h"

PROBED uint64_t ask_answer(uint64_t x)
{
	return x * 2862933555777941757u + 3037000493u;
}

int main(void)
{
	char line[256];
	uint64_t sum = 0, calls = 0;

	victim_say("ready");
	while (fgets(line, sizeof(line), stdin)) {
		sum = ask_answer(sum);
		calls++;
		if (!strcmp(line, "quit\n"))
			break;
		if (!strcmp(line, "ping\n"))
			victim_say("alive %lu %lu", (unsigned long)calls, 0ul);
		else
			victim_say("asked %lu", (unsigned long)sum);
	}
	victim_say("bye");
	return 0;
}
