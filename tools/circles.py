#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""circles [BUILD]: do two files need each other in a circle, or what is above them?

Asks the object files of a build: nm tells which object defines a symbol, and which needs
it. That is an arrow between two source files; a call through a table of functions is none.
The payload's objects (.po) are a graph of their own. Prints each circle with the symbols
that make its arrows, and each arrow to a floor or a room above. Exit 1 if there are any.
"""
import os
import re
import subprocess
import sys

# As tools/layers.sh has it for includes: a directory needs only itself and those below.
FLOORS = [('base',), ('values',), ('arch', 'symbols', 'payload'), ('plan', 'trace'), ('injector',)]


def objects(build, ending):
    """Source file without its ending -> object, for all that have a source."""
    found = {}
    for top in (top for floor in FLOORS for top in floor):
        for where, _, names in os.walk(os.path.join(build, top)):
            for name in sorted(names):
                path = os.path.join(where, name)
                source = os.path.relpath(path, build)[:-len(ending)]
                if name.endswith(ending) and any(
                        os.path.exists(source + end) for end in ('.c', '.S')):
                    found[source] = path
    return found


def arrows(objs):
    """(file, file that it needs) -> symbols"""
    of_path = {path: source for source, path in objs.items()}
    out = subprocess.run(['nm', '-A', '-P', *of_path], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    home, needs = {}, []
    for line in out.splitlines():
        path, symbol, kind = re.match(r'(.*): (\S+) (\S)', line).groups()
        if kind in 'Uw':
            needs.append((of_path[path], symbol))
        elif kind.isupper():
            home[symbol] = of_path[path]
    graph = {}
    for source, symbol in needs:
        if home.get(symbol, source) != source:
            graph.setdefault((source, home[symbol]), []).append(symbol)
    return graph


def circles(graph):
    """Tarjan's strongly connected components of more than one file."""
    below = {}
    for a, b in graph:
        below.setdefault(a, []).append(b)
    number, low, stack, found = {}, {}, [], []

    def visit(a):
        number[a] = low[a] = len(number)
        stack.append(a)
        for b in below.get(a, ()):
            if b not in number:
                visit(b)
            if b in stack:
                low[a] = min(low[a], low[b])
        if low[a] == number[a]:
            part = set(stack[stack.index(a):])
            del stack[stack.index(a):]
            if len(part) > 1:
                found.append(part)

    for a in sorted(below):
        if a not in number:
            visit(a)
    return found


def show(title, graph, wanted):
    print(title)
    for (a, b), symbols in sorted(graph.items()):
        if wanted(a, b):
            print(f'  {a} -> {b}: {" ".join(sorted(symbols))}')


def check_circles(what, graph):
    bad = 0
    for part in circles(graph):
        show(f'circles: {len(part)} files of {what} need each other', graph,
             lambda a, b, part=part: a in part and b in part)
        bad = 1
    return bad


def rooms():
    """Of each folder that has some, from the bottom up, as tools/layers.sh has them."""
    with open('tools/layers.sh') as f:
        cases = re.search(r"^rooms_of\(\).*?^}", f.read(), re.M | re.S).group(0)
    return {top: ' '.join(re.findall(r"'([^']*)'", names)).split()
            for top, names in re.findall(r'^\t(\w+)\) echo (.*?);;', cases, re.M | re.S)}


def check_floors(graph):
    """The payload is none of this: it and the assembly of arch/ make one object."""
    floor_of = {top: n for n, floor in enumerate(FLOORS) for top in floor}
    room_of = {top: {room: n for n, room in enumerate(names)}
               for top, names in rooms().items()}

    def room(path):
        return room_of[path[0]][path[1] if len(path) > 2 else '.']

    def climbs(a, b):
        a, b = a.split('/'), b.split('/')
        if a[0] != b[0]:
            return floor_of[b[0]] >= floor_of[a[0]]
        return a[0] in room_of and room(b) > room(a)

    if not any(climbs(*arrow) for arrow in graph):
        return 0
    show('circles: files need what is not below them', graph, climbs)
    return 1


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    build = sys.argv[1] if len(sys.argv) > 1 else 'build'
    program, payload = objects(build, '.o'), objects(build, '.po')
    if not program or not payload:
        print(f'circles: there are no object files in {build}: make comes first')
        return 1
    program, payload = arrows(program), arrows(payload)
    bad = check_circles('the program', program) | check_circles('the payload', payload)
    return bad | check_floors(program)


if __name__ == '__main__':
    sys.exit(main())
