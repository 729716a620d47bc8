/* SPDX-License-Identifier: MIT */
/* Are rooms given back whose threads have ended, and no others? */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/proc/procfs.h"
#include "injector/session/rooms.h"

#define CHECK(x) ((x) ? (void)0 : die(__LINE__, #x))
#define STATE(x) ((uint64_t)(x) << 8 * ROOM_STATE)

enum { LIVES, ENDED, ASKED, NOBODYS, OF_C, BACK, FORGED, ROOMS };

static uint8_t rooms[ROOMS][ROOM_SIZE] __attribute__((aligned(8)));

static __attribute__((noreturn)) void die(int line, const char *what)
{
	fprintf(stderr, "rooms.c:%d: failed: %s (%s)\n", line, what, fail_text());
	exit(1);
}

static void *say_id(void *ret)
{
	*(pid_t *)ret = (pid_t)syscall(SYS_gettid);
	return NULL;
}

static uint64_t *owner(int i)
{
	return (uint64_t *)rooms[i];
}

static void fill(pid_t lives, pid_t ended)
{
	*owner(LIVES) = (uint64_t)lives;
	*owner(ENDED) = (uint64_t)ended;
	*owner(ASKED) = (uint64_t)ended | STATE(ROOM_ASKED);
	*owner(NOBODYS) = 0;
	*owner(OF_C) = (uint64_t)&rooms;
	*owner(BACK) = (uint64_t)ended | STATE(ROOM_BACK);
	*owner(FORGED) = STATE(0x80);
}

int main(void)
{
	struct session s = { .of_go = 1, .rooms = (uint64_t)&rooms, .nrooms = ROOMS };
	pid_t lives = (pid_t)syscall(SYS_gettid), ended;
	struct target t;
	struct rooms r;
	pthread_t thread;

	CHECK(!target_open(getpid(), &t));
	CHECK(!pthread_create(&thread, NULL, say_id, &ended));
	CHECK(!pthread_join(thread, NULL));
	while (!procfs_has_ended(getpid(), ended))
		usleep(1000);
	fill(lives, ended);
	rooms_begin(&t, &s, &r);
	rooms_tick(&r);
	CHECK(*owner(LIVES) == (uint64_t)lives);
	CHECK(*owner(ENDED) == ((uint64_t)ended | STATE(ROOM_BACK)));
	CHECK(*owner(ASKED) == ((uint64_t)ended | STATE(ROOM_BACK)));
	CHECK(!*owner(NOBODYS));
	CHECK(*owner(OF_C) == (uint64_t)&rooms);
	CHECK(*owner(FORGED) == STATE(0x80));
	CHECK(s.returns == 2);
	rooms_tick(&r);
	CHECK(s.returns == 2);
	rooms_end(&r);
	rooms_tick(&r);

	/* Where rooms are known by thread pointers, or there are more than can be. */
	for (int i = 0; i < 2; i++) {
		fill(lives, ended);
		s.of_go = i;
		s.nrooms = i ? UINT32_MAX : ROOMS;
		rooms_begin(&t, &s, &r);
		rooms_tick(&r);
		CHECK(*owner(ENDED) == (uint64_t)ended && s.returns == 2);
		rooms_end(&r);
	}
	target_close(&t);
	return 0;
}
