/* SPDX-License-Identifier: MIT */
/*
 * pace: what goes first, inject or what else wants the processors?
 *
 * While it looks and plans, and when it compares code with files afterwards, only
 * its user waits for inject; so it takes what no other wants, and a server on the same
 * processors does not feel it. (What a stop needs is read at that pace too, before the stop,
 * as far as it can be known then.) While probes are put in or taken out, it works for some
 * milliseconds; but where hundreds of threads compete, an equal share of a processor
 * makes minutes of it, through which the target pays for its probes. So it takes a
 * larger share then; and an equal one while it reads and waits, which goes on as long
 * as the target makes calls.
 */
#ifndef INJECTOR_PACE_H
#define INJECTOR_PACE_H

enum pace {
	PACE_EQUAL,
	PACE_LEISURE,	/* where a processor has nothing else to do; a thread that
			 * finds none such for long gets an equal share, and then hurries */
	PACE_HASTE,
};

/*
 * Of this thread, and of those that it starts from now on; at leisure it starts none,
 * and is at another pace again before it ends. The pace that it had. A niceness and a
 * policy that we were given stay; where haste is not permitted, all is equal.
 */
enum pace pace_set(enum pace);
/* Haste, if this thread is at leisure. The pace that it had. */
enum pace pace_hurry(void);

#endif
