/* SPDX-License-Identifier: MIT */
/*
 * rings PID: what do the rings of a session hold? One line:
 *
 *	state S claimed N full F begun B lost L most M
 *
 * S is enum session_state, N counts the rings that a thread has, F those of them
 * that have dropped something; B sub-buffers were begun and L words dropped in all,
 * and M sub-buffers in one ring.
 */
#include "tests/tools/session.h"

int main(int argc, char **argv)
{
	uint64_t claimed = 0, full = 0, begun = 0, lost = 0, most = 0;
	struct session s;
	struct ring r;

	if (argc != 2)
		return 2;
	uint64_t base = session_base(argv[1]);
	int fd = session_memory(argv[1]);
	if (pread(fd, &s, sizeof(s), (off_t)base) != sizeof(s))
		die("read the session");
	for (uint32_t i = 0; i < s.nrings; i++) {
		uint64_t at = base + s.rings_off + i * s.ring_stride;

		if (pread(fd, &r, sizeof(r), (off_t)at) != sizeof(r))
			die("read a ring");
		claimed += r.state == RING_CLAIMED;
		full += r.state == RING_CLAIMED && r.lost_entries + r.lost_exits > 0;
		begun += r.head;
		most = r.head > most ? r.head : most;
		lost += r.lost_entries + r.lost_exits;
	}
	printf("state %u claimed %llu full %llu begun %llu lost %llu most %llu\n", s.state,
	       (unsigned long long)claimed, (unsigned long long)full,
	       (unsigned long long)begun, (unsigned long long)lost,
	       (unsigned long long)most);
	return 0;
}
