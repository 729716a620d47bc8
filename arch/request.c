/* SPDX-License-Identifier: MIT */
/* request: a ptrace request is made again if it fails; arch/regs.h says why. */
#include "arch/regs.h"

#include <sys/ptrace.h>

int regs_request(int request, pid_t tid, uintptr_t addr, void *data)
{
	enum { TRIES = 3 };
	long err = -1;

	for (int i = 0; err < 0 && i < TRIES; i++)
		err = ptrace(request, tid, addr, data);
	return err < 0 ? -1 : 0;
}
