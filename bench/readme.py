# SPDX-License-Identifier: MIT
"""readme [FILE...]: the tables of docs/performance.md, in its form, of what `make bench` has printed.

    make bench | tee measured
    python3 bench/readme.py measured

What a run has not measured is shown as "-", and a table of which nothing was measured
is left out. Tables are those of docs/performance.md, in its order: a change of
one there is to be made here, too.
"""
import fileinput
import re
import sys

# How the lines begin that name a table, in bench/*.sh.
TITLES = ('one call', 'recursion:', 'depth:', 'a leaf under', 'functions that begin with',
          'one stop, ms', 'a plan (', 'ns of a call', 'a million calls', 'redis-benchmark',
          'pgbench', 'captured')
HOT = re.compile(r'(.+?) +([0-9.]+) ns +([0-9.]+) of the floor$')


def read(lines):
    """{title: {name: [cell...]}}; of two lines of one name the first counts."""
    tables, title = {}, ''
    for line in lines:
        hot = HOT.match(line)
        if hot:
            tables.setdefault('hot', {}).setdefault(hot[1], list(hot.groups()[1:]))
            continue
        known = [t for t in TITLES if line.startswith(t)]
        if known:
            title = known[0]
        cells = re.split(r' {2,}', line.strip())
        # A number as wide as its column has one blank before it.
        cells = cells[:1] + [c for cell in cells[1:] for c in
                             (cell.split(' ') if re.fullmatch(r'[-0-9. ]+', cell) else [cell])]
        tables.setdefault(title, {}).setdefault(cells[0], cells[1:])
    return tables


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def shown(text, digits=1):
    """With commas from 1,000 on, where fractions are noise."""
    value = number(text)
    if value is None:
        return '-'
    return f'{value:,.0f}' if value >= 1000 else f'{value:.{digits}f}'


def ratio(text):
    value = number(text)
    if value is None or '.' not in text:
        return '-' if value is None else text
    return shown(text, 2 if value < 2 else 1 if value < 10 else 0)


def cell(table, name, at):
    cells = table.get(name, [])
    return cells[at] if at < len(cells) else None


def hot(t):
    rows = (('not probed', 'plain call'), ('floor', 'two clock readings (the floor)'),
            ('entry and exit recorded',) * 2, ('entry only recorded',) * 2,
            ('ring full: dropped and counted', 'entry and exit dropped, ring full'),
            ('gate closed: not recorded', 'not recorded, gate closed'),
            ('counted (`inject count`)', 'counted'))
    h = t.get('hot', {})
    return ('one call', 'ns', 'of the floor'), [
        (label, shown(cell(h, name, 0)), shown(cell(h, name, 1), 2)) for label, name in rows]


def calls(t):
    rows = (('not traced',) * 2,
            ('floor: two time stamps, two stores', 'floor (2 time stamps, 2 stores)'),
            ('inject, entry and exit',) * 2, ('inject, entry only',) * 2, ('inject count',) * 2,
            ('inject hist, top', 'inject hist'), ('inject, flood', 'inject, flood of calls'),
            ('inject, flood, entry only',) * 2,
            ('inject hist, flood (none is lost)', 'inject hist, flood'),
            ('inject, after removal',) * 2, ('bpftrace, uprobe',) * 2,
            ('bpftrace, uprobe and uretprobe',) * 2, ('perf, uprobe',) * 2,
            ('perf, uprobe and uretprobe',) * 2,
            ('uftrace, built with `-pg`', 'uftrace, built with -pg'),
            ('uftrace, built with nops',) * 2, ('uftrace, fully dynamic',) * 2,
            ('LTTng-UST, compiled in',) * 2, ('ltrace',) * 2)
    c = dict(t.get('one call', {}))
    # The floor is the unit.
    if cell(c, rows[1][1], 0):
        c[rows[1][1]] = [c[rows[1][1]][0], '1']
    if cell(c, 'not traced', 0):
        c['not traced'] = [c['not traced'][0], '0']
    return ('one call of an empty function', 'ns', 'added, in floors'), [
        (label, shown(cell(c, name, 0)), ratio(cell(c, name, 1))) for label, name in rows]


def shapes(t):
    rows = (('flat', 'one call', 'floor (2 time stamps, 2 stores)'),
            ('recursion, two calls in each', 'recursion:', 'floor'),
            ('30 open at once', 'depth:', 'floor'),
            ('under 16 untraced callers', 'a leaf under', 'floor'))
    names = ('inject, entry and exit', 'uftrace, fully dynamic', 'bpftrace, uprobe and uretprobe')
    return ('one call', 'not traced', 'floor', 'inject', 'uftrace', 'uretprobe'), [
        (label,) + tuple(shown(cell(t.get(title, {}), name, 0))
                         for name in ('not traced', floor) + names)
        for label, title, floor in rows]


def scale(t):
    rows = (('1', 'functions 1'), ('100', 'functions 100'), ('1,000', 'functions 1000'),
            ('10,000', 'functions 10000'), ('100, of 10,000 probed', 'functions 100 of 10000 probed'),
            ('1, by 2 threads at a time', 'threads 2'),
            ('1, by 64 threads at a time', 'threads 64'))
    s = t.get('ns of a call', {})
    return ('functions called in turn', 'not traced', 'floor', 'compiled in', 'inject'), [
        (label,) + tuple(shown(cell(s, name, at)) for at in range(4)) for label, name in rows]


def stops(t):
    rows = (('threads that sleep: 1',) * 2, ('10', 'threads that sleep: 10'),
            ('100', 'threads that sleep: 100'), ('threads that all run: 1',) * 2,
            ('10', 'threads that all run: 10'), ('100', 'threads that all run: 100'),
            ('64 threads, mostly asleep', 'threads mostly asleep: 64'))
    s = t.get('one stop, ms', {})
    return ('longest stop of a visit, ms', 'functions', 'least', 'median', 'most'), [
        (label, shown(cell(s, name, 0), 0)) + tuple(shown(cell(s, name, at)) for at in (1, 2, 3))
        for label, name in rows]


def plans(t):
    p = t.get('a plan (', {})
    return ('planning (`inject list FILE`)', 'functions', 'processor s', 'MiB'), [
        (re.sub(r'(.*), ten of them$', r'ten functions of \1', re.sub(r'\.so\.\d+$', '', name)),
         shown(cells[0], 0), shown(cells[1], 2), shown(cells[2], 0))
        for name, cells in p.items() if len(cells) == 4 and number(cells[1]) is not None]


def captures(t):
    """What each kind of value adds, and beside it what bpftrace and LTTng-UST add for the same."""
    rows = (('nothing: recorded', 'a call, recorded', None),
            ('left out by `-t`', 'left out by -t', None),
            ('an integer', 'one integer', 'one integer'),
            ('an integer, and the result', 'one integer, and the result', None),
            ('two integers, and the result',) * 2 + (None,),
            ('32 bytes of text on the stack',) * 2 + (None,),
            ('32 bytes of text on the heap',) * 2 + ('32 bytes of text',),
            ('a condition on a number that fails', 'a condition that fails: number',
             'a condition that fails'),
            ('a condition on a number that holds', 'a condition that holds: number', None),
            ('a condition on a text that fails', 'one that fails: text, heap', None),
            ('a stack of 8 callers',) * 3, ('a place for tracers',) * 3)
    c = t.get('captured', {})
    return ('added to a call, ns', 'inject', 'in floors', 'bpftrace', 'LTTng-UST'), [
        (label, shown(cell(c, name, 0)), ratio(cell(c, name, 1)),
         shown(cell(c, 'bpftrace: ' + (peer or '-'), 0)),
         shown(cell(c, 'LTTng-UST: ' + (peer or '-'), 0))) for label, name, peer in rows]


def server(t, title, command):
    """The rows as they come, with what their notes say of functions and probes."""
    head, rows = '', []
    for name, cells in t.get(title, {}).items():
        if name.startswith(title):
            head = (name,) + tuple(c for c in cells if number(c) is None)
        # Throughput, share, CPU us, share, note.
        if not re.match('not traced|inject|bpftrace|uftrace', name) or name.startswith('inject -m'):
            continue
        note = cells[-1] if len(cells) > 4 else ''
        many = re.match(r'(\d+)( of \d+ probes)?', note)
        count = many and f'{int(many[1]):,}' + (many[2] or '')
        label = name.replace(command, f'all `{command}`') + (f' ({count})' if count else '')
        us = number(cells[2]) if len(cells) > 2 else None
        rows.append((label, shown(cells[0], 0) if cells else '-',
                     shown(cells[2], 0 if us and us >= 100 else 1) if us is not None else '-'))
    return head[:3] if len(head) > 2 else ('', '', ''), rows


def put(table):
    head, rows = table
    if not any(c != '-' for row in rows for c in row[1:]):
        return
    wide = [max(len(r[i]) for r in [head] + rows) for i in range(len(head))]

    def line(cells):
        return '| ' + ' | '.join(c.ljust(w) if i == 0 else c.rjust(w)
                                 for i, (c, w) in enumerate(zip(cells, wide))) + ' |'

    print(line(head))
    print('|' + '|'.join('-' * (w + 2) if i == 0 else '-' * (w + 1) + ':'
                         for i, w in enumerate(wide)) + '|')
    for row in rows:
        print(line(row))
    print()


def main():
    tables = read(line.rstrip('\n') for line in fileinput.input())
    for table in (hot, calls, shapes, captures, scale, stops, plans):
        put(table(tables))
    put(server(tables, 'redis-benchmark', '*Command'))
    put(server(tables, 'pgbench', 'Executor*'))
    return 0


sys.exit(main())
