#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfetto_values JSON PERFETTO: has each call of a trace for Perfetto the arguments and the result
that `replay --json` tells of it?"""
import collections
import json
import sys

from protobuf import fields

PACKET, TIME, EVENT, INTERNED = 1, 8, 11, 12
NAMES, NAME_ID, NAME = 2, 1, 2
ANNOTATION, TYPE, FUNC, TRACK, BEGIN, END = 4, 9, 10, 11, 1, 2
KEY, TEXT = 10, 6


def annotations(event):
    ret = {}
    for number, value in event:
        if number == ANNOTATION:
            about = dict(fields(value))
            ret[about[KEY].decode()] = about[TEXT].decode()
    return ret


def calls_of_json(path):
    for line in open(path, encoding='utf-8'):
        call = json.loads(line)
        if call['type'] == 'call':
            args = call.get('args') or {}
            if 'ret' in call:
                args['return'] = call['ret']
            yield call['func'], args


def calls_of_perfetto(path):
    names, open_calls = {}, collections.defaultdict(list)
    for _, packet in fields(open(path, 'rb').read()):
        packet = list(fields(packet))
        for number, value in packet:
            if number == INTERNED:
                named = (dict(fields(v)) for n, v in fields(value) if n == NAMES)
                names.update((n[NAME_ID], n[NAME].decode()) for n in named)
        event = list(fields(dict(packet).get(EVENT, b'')))
        about = dict(event)
        if about.get(TYPE) == BEGIN:
            open_calls[about[TRACK]].append((names[about[FUNC]], annotations(event)))
        elif about.get(TYPE) == END:
            func, args = open_calls[about[TRACK]].pop()
            args.update(annotations(event))
            yield func, args
    assert not any(open_calls.values()), 'slices do not end'


def sorted_calls(calls):
    return sorted((func, sorted(args.items())) for func, args in calls)


want, got = sorted_calls(calls_of_json(sys.argv[1])), sorted_calls(calls_of_perfetto(sys.argv[2]))
for one, other in zip(want, got):
    assert one == other, f'{other}\nis not {one}'
assert len(want) == len(got), f'{len(got)} calls, not {len(want)}'
assert any(args for _, args in want), 'no values'
print(f'{len(want)} calls')
