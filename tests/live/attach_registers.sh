#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_registers: no register changes, vector and x87 state included, by a
# probe, an attach or a removal; nor of a thread that is borrowed while it computes,
# because there is no other.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "${PATIENCE:-1}" -lt 10 ] && cycles=20 || cycles=6
victim registers
for _ in $(seq "$cycles"); do
	status 0 "$INJECT" -p "$VICTIM" -f 'regs_probed*' -d 0.05
	removed
done
victim_quit
victim registers alone
for _ in $(seq $((cycles / 2))); do
	status 0 "$INJECT" -p "$VICTIM" -f 'regs_probed*' -d 0.02
	removed
done
