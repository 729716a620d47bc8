/* SPDX-License-Identifier: MIT */
/* scribbler: a process that spoils the journal which inject keeps in it, while
 * it is traced: a wild pointer could do no worse.
 *
 *	scribble SEED	-> scribbled: random bytes over the whole journal
 *	split		-> split: the kernel shows the session as several mappings
 */
#include <sys/mman.h>

#include "tests/victims/session.h"
#include "tests/victims/victim.h"

PROBED uint64_t scribble_work(uint64_t x)
{
	return x * 31 + 7;
}

PROBED uint64_t scribble_more(uint64_t x)
{
	return scribble_work(x) ^ scribble_work(x + 1);
}

/* The slots, and how many there are: all that tells what was written where. */
static void scribble(unsigned int seed)
{
	struct session *s = find_session();

	if (!s) {
		victim_say("no session");
		return;
	}
	uint8_t *slots = (uint8_t *)s + s->slots_off;

	for (size_t i = 0; i < s->nslots * sizeof(struct slot); i++)
		slots[i] = (uint8_t)rand_r(&seed);
	if (seed & 1)
		s->nslots = (uint32_t)rand_r(&seed);
	victim_say("scribbled");
}

static void split(void)
{
	char *s = (char *)find_session();
	size_t page = (size_t)getpagesize();

	victim_say(s && !madvise(s + page, page, MADV_SEQUENTIAL) ? "split" : "no session");
}

static void command(const char *word)
{
	if (strcmp(word, "split") == 0) {
		split();
		return;
	}
	if (strncmp(word, "scribble ", 9) == 0)
		scribble((unsigned int)atoi(word + 9));
	else
		victim_say("what is %s?", word);
}

int main(void)
{
	victim_say("ready");
	for (uint64_t x = 1; victim_poll(1, command); x++) {
		for (int i = 0; i < 1000; i++)
			if (scribble_more(x) != ((x * 31 + 7) ^ ((x + 1) * 31 + 7)))
				victim_wrong("scribble_more");
		victim_count();
	}
	return victim_errors != 0;
}
