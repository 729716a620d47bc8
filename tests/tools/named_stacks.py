#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""named_stacks: are the functions of each stack, those that are inlined too, the ones that the
program prints?

	named_stacks.py SAID.txt TRACE.json

Of tests/victims/callers.rs: of each call a line "probed" and one for each function, from probed()
itself up to the C function main; in the order of all calls."""
import json
import sys


def main():
    said, told = [], []
    for line in open(sys.argv[1], encoding='utf-8'):
        if line == 'probed\n':
            said.append([])
        else:
            said[-1].append(line.rstrip('\n'))
    for line in open(sys.argv[2], encoding='utf-8'):
        call = json.loads(line)
        if call['type'] == 'call':
            told.append(call['stack'])
    if not said or len(said) != len(told):
        sys.exit(f'{len(said)} calls, {len(told)} told')
    inlined = 0
    for i, (want, stack) in enumerate(zip(said, told)):
        # The C library's are called otherwise, and have no names where its debug file is missing.
        own = [c for c in stack if c['module'] == stack[0]['module'] and c['func'] != '_start']
        got = [c['func'] for c in own]
        inlined += sum(1 for c in own if c.get('inlined'))
        behind = want[len(got) + 1]
        if got != want[1:len(got) + 1] or not behind.startswith(
                ('__libc_start', 'start_thread', '<unknown>')):
            sys.exit(f'call {i}: {want}, but {got}')
    print(len(said), 'stacks,', inlined, 'functions are inlined')


main()
