/* SPDX-License-Identifier: MIT */
/* Are areas given back whose threads have ended, and no others? */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/proc/procfs.h"
#include "injector/session/spills.h"
#include "tests/unit/check.h"

#define STATE(x) ((uint64_t)(x) << 8 * SPILL_AREA_STATE)

enum { LIVES, ENDED, ASKED, NOBODYS, OF_C, BACK, FORGED, AREAS };

static uint8_t areas[AREAS][SPILL_AREA_SIZE] __attribute__((aligned(8)));

static void *say_id(void *ret)
{
	*(pid_t *)ret = (pid_t)syscall(SYS_gettid);
	return NULL;
}

static uint64_t *owner(int i)
{
	return (uint64_t *)areas[i];
}

static void fill(pid_t lives, pid_t ended)
{
	*owner(LIVES) = (uint64_t)lives;
	*owner(ENDED) = (uint64_t)ended;
	*owner(ASKED) = (uint64_t)ended | STATE(SPILL_AREA_ASKED);
	*owner(NOBODYS) = 0;
	*owner(OF_C) = (uint64_t)&areas;
	*owner(BACK) = (uint64_t)ended | STATE(SPILL_AREA_BACK);
	*owner(FORGED) = STATE(0x80);
}

int main(void)
{
	struct session s = { .keeper = 1, .spills = (uint64_t)&areas, .nspills = AREAS };
	pid_t lives = (pid_t)syscall(SYS_gettid), ended;
	struct target t;
	struct spills r;
	pthread_t thread;

	MUST(!target_open(getpid(), &t));
	MUST(!pthread_create(&thread, NULL, say_id, &ended));
	MUST(!pthread_join(thread, NULL));
	while (!procfs_has_ended(getpid(), ended))
		usleep(1000);
	fill(lives, ended);
	spills_begin(&t, &s, &r);
	spills_tick(&r);
	MUST(*owner(LIVES) == (uint64_t)lives);
	MUST(*owner(ENDED) == ((uint64_t)ended | STATE(SPILL_AREA_BACK)));
	MUST(*owner(ASKED) == ((uint64_t)ended | STATE(SPILL_AREA_BACK)));
	MUST(!*owner(NOBODYS));
	MUST(*owner(OF_C) == (uint64_t)&areas);
	MUST(*owner(FORGED) == STATE(0x80));
	MUST(s.returns == 2);
	spills_tick(&r);
	MUST(s.returns == 2);
	spills_end(&r);
	spills_tick(&r);

	/* Where areas are known by thread pointers, or there are more than can be. */
	for (int i = 0; i < 2; i++) {
		fill(lives, ended);
		s.keeper = i;
		s.nspills = i ? UINT32_MAX : AREAS;
		spills_begin(&t, &s, &r);
		spills_tick(&r);
		MUST(*owner(ENDED) == (uint64_t)ended && s.returns == 2);
		spills_end(&r);
	}
	target_close(&t);
	return 0;
}
