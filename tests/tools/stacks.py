#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stacks: are the callers of probed(), as --stack tells them, those that the program prints?

	stacks.py SAID.txt TRACE.json [MOST [FUNCTION]]

Of tests/victims/callers.cc: each call's line there, and its object here, in the order of each
thread; of go_callers in the order of all. With MOST no more than so many callers are to be
there. MOST is `noted`: of tests/victims/chain.c, which prints those of its own code up to main."""
import collections
import json
import sys


def follows(got, want):
    """Do these begin so? A 0 there stands for as many as lie before what comes next."""
    for before, address in zip([1] + want, want):
        at = got.index(address) if address in got else -1
        if address and (at < 0 or (at > 0 and before)):
            return False
        got = got[at + 1:] if address else got
    return True


def main():
    said, told = collections.defaultdict(list), collections.defaultdict(list)
    noted = sys.argv[3:4] == ['noted']
    most = int(sys.argv[3]) if len(sys.argv) > 3 and not noted else 128
    func = sys.argv[4] if len(sys.argv) > 4 else 'probed'
    for line in open(sys.argv[1], encoding='utf-8'):
        tid, addresses = line.split(':')
        said[int(tid) if func == 'probed' else 0].append([int(a, 16) for a in addresses.split()])
    for line in open(sys.argv[2], encoding='utf-8'):
        call = json.loads(line)
        if call['type'] == 'call' and call['func'] == func:
            told[call['tid'] if func == 'probed' else 0].append(call)
    for tid, stacks in said.items():
        if len(stacks) != len(told[tid]):
            sys.exit(f'thread {tid}: {len(stacks)} calls, {len(told[tid])} told')
        for i, (want, call) in enumerate(zip(stacks, told[tid])):
            frames = [c for c in call['stack'] if not c.get('inlined')]
            if noted:
                if not follows([int(c['addr'], 16) for c in frames], want):
                    sys.exit(f'thread {tid}, call {i}: {[hex(a) for a in want]}, but {call}')
                continue
            got = [int(c['addr'], 16) for c in frames]
            cut = 'number' if len(want) > most else 'no'
            if got != want[:most] or call['stack_cut'] != cut:
                sys.exit(f'thread {tid}, call {i}: {want[:most]}, but {call}')
            if not all(c['module'] for c in call['stack']):
                sys.exit(f'thread {tid}, call {i}: no module: {call}')
    print(sum(map(len, said.values())), 'stacks')


main()
