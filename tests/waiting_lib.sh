# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# waiting_lib: all threads wait, and no code of ours may run any more. Sourced behind lib.sh.

code_mappings() { awk '$2 ~ /x/ { print $1 }' "/proc/$VICTIM/maps" | sort; }

all_sleep() { ! grep -qvE '^[0-9]+ \(.*\) S ' "/proc/$VICTIM/task/"*/stat; }

# What was mapped for us: nothing of it is needed.
forbid_ours()
{
	code_mappings | comm -13 before - >ours
	[ -s ours ] || die "no code of ours is mapped"
	while IFS=- read -r lo hi; do
		tell "forbid $lo $hi" '^forbidden$' >/dev/null
	done <ours
}

probes_gone() { has_line 'all probes removed, text verified' trace.err; }
