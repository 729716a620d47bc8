# SPDX-License-Identifier: MIT
"""
instructions.py LIST LOG: of the last call of each function that LIST names how many
instructions LOG has, and how many of them reach memory (instructions.sh). Only the code
of the arena is in LOG: a call ends where another begins.
"""
import re
import sys

words, names = {}, {}
for line in open(sys.argv[1]):
    pc, what = line.rstrip("\n").split(" ", 1)
    if re.fullmatch("[0-9a-f]{8}", what):
        words[int(pc, 16)] = int(what, 16)
    else:
        names[int(pc, 16)] = names.get(int(pc, 16), []) + [what]

# In LOG: Trace 0: HOST [flags/PC/...
calls = []
for line in open(sys.argv[2]):
    pc = int(line.split("/")[1], 16)
    if pc in names:
        calls.append([pc])
    elif pc in words and calls:
        calls[-1].append(pc)


def reaches_memory(pc):
    """Loads and stores, by their class in the word (Arm ARM, C4.1)."""
    return words[pc] >> 25 & 5 == 4


seen = {}
for call in calls:
    seen.setdefault(call[0], []).append(call)
for entry, titles in names.items():
    for i, title in enumerate(titles):
        call = seen[entry][3 * i + 2]
        print(f"{title:<34} {len(call):4} instructions, {sum(map(reaches_memory, call)):3} of "
              "memory")
