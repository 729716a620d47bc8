#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inlined_stacks: are the functions that --stack marks as inlined those that addr2line tells?

	inlined_stacks.py TRACE.json FILE [BASE]

FILE is the program, whose code is loaded BASE bytes (0) behind where it says. Prints how many frames
were compared, and how many are inlined."""
import json
import os
import re
import subprocess
import sys


def plain(name):
    """Without parameters, template arguments of the compiler's spelling, and Rust's hash."""
    return re.sub(r'::h[0-9a-f]{16}$', '', name)


def chains(path, addresses):
    """What addr2line has at each: the innermost first, and the function itself last."""
    ask = ['addr2line', '-a', '-i', '-f', '-e', path]
    said = subprocess.run(ask, input='\n'.join(map(hex, addresses)), text=True, check=True,
                          stdout=subprocess.PIPE).stdout.splitlines()
    ret, names = {}, None
    for line in said:
        if re.fullmatch(r'0x[0-9a-f]{16}', line):
            names = ret.setdefault(int(line, 16), [])
            odd = True
            continue
        if odd:
            names.append(line)
        odd = not odd
    return ret


def main():
    path, base = sys.argv[2], int((sys.argv[3:4] or ['0'])[0], 16)
    module = os.path.basename(path)
    told = {}
    for line in open(sys.argv[1], encoding='utf-8'):
        call = json.loads(line)
        inner = []
        for frame in call.get('stack', []):
            if frame.get('inlined'):
                inner.append(frame['func'])
                continue
            if frame['module'] == module:
                told[int(frame['addr'], 16) - base - 1] = inner
            inner = []
    said = chains(path, sorted(told))
    demangled = sorted({n for names in said.values() for n in names})
    text = subprocess.run(['c++filt', '-p'], input='\n'.join(demangled), text=True, check=True,
                          stdout=subprocess.PIPE).stdout.splitlines()
    names = dict(zip(demangled, map(plain, text)))
    bad = 0
    for at, inner in sorted(told.items()):
        want = [names[n] for n in said[at][:-1]]
        if want != inner:
            print(f'{at:#x}: addr2line has {want}, we {inner}')
            bad += 1
    marked = sum(map(len, told.values()))
    print(len(told), 'frames,', marked, 'inlined')
    sys.exit(1 if bad or not marked else 0)


main()
