/* SPDX-License-Identifier: MIT */
/* loader.h: what the injector shares with the loader's code. Part of abi.h. */
#ifndef PAYLOAD_LOADER_H
#define PAYLOAD_LOADER_H

#include <stdint.h>

/* What the loader's code is given: lives in the session's first page, at
 * LOADER_OFF. See payload/loader.c. */
#define LOADER_OFF 3072

enum loader_status {
	LOADER_IDLE = 0,
	LOADER_DONE = 1,	/* payload loaded, hello answered */
	LOADER_FAILED = 2,	/* dlopen failed: see error */
};

/* Which pages of the list are to be mapped, or unmapped, in one loan of a thread. */
struct loan {
	uint64_t list;		/* address of the first of them in the list */
	uint32_t n;
	uint32_t turn;		/* whose loan it is. A thread that finds another's leaves off.
				 * [release] of the injector, which comes by a system call */
	uint64_t ticks;		/* after which no further page is begun with */
	uint64_t linger;	/* ns in which a thread that is done waits to be fetched */
	uint32_t done;		/* turn of the last loan that has come to its end [release] of
				 * the thread, behind the words of the list */
	int32_t error;		/* -errno of what no other page would be spared */
};

struct loader {
	uint32_t status;	/* enum loader_status */
	int32_t fd;		/* the payload's memfd, to be closed; -1: none */
	uint64_t dlopen, dlerror;
	uint64_t hello_off;	/* of payload_hello in the payload */
	uint64_t session;	/* the target's address of the session */
	struct loan loan;
	char path[256];		/* what to dlopen */
	char error[512];	/* what dlerror said */
};

/* What the loader's code is called for. */
enum loader_use {
	LOADER_LOAD,		/* load the payload */
	LOADER_ISLANDS,		/* see struct loan */
};

#endif
