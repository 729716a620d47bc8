#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/values.py BUILD: which values of calls do tracers show, of the same functions?

One program calls functions with values of each kind, and prints them itself. inject, gdb, uftrace
and bpftrace look at it, each with what its manual says for arguments and results by debug
information. A cell is "yes" if all that the program has printed of the call is there in its order,
"in part" if some is, "wrong" if a value is shown that is another one, "no" if none is. A tracer that
is not installed, or may not run here, is named as such.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Of each case: its title, the function, its call, what is in it; and what printf is given for its
# arguments, inside, and for its result, `r`: one value behind the other, with tabs between.
CASES = [
    ('integers, 8 bits to 64', 'long c_ints(signed char a, unsigned short b, long c)', 'c_ints(-3, 65535, 1l << 40)',
     'return a + b + c;', r'"%d\t%d\t%ld\n", a, b, c', r'"%ld\n", r'),
    ('enumerations, bool', 'enum colour c_enum(enum colour c, bool b)', 'c_enum(GREEN, true)',
     'return b ? BLUE : c;', r'"%s\t%s\n", colours[c], b ? "true" : "false"', r'"%s\n", colours[r]'),
    ('float and double', 'double c_reals(float f, double d)', 'c_reals(1.5f, -0.25)',
     'return f + d;', r'"%g\t%g\n", f, d', r'"%g\n", r'),
    ('long double', 'long double c_long(long double d)', 'c_long(2.5l)',
     'return d * 2;', r'"%Lg\n", d', r'"%Lg\n", r'),
    ('text', 'const char *c_text(const char *s)', r'c_text("a \"key\"")',
     'return s + 1;', r'"\"%s\"\n", s', r'"\"%s\"\n", r'),
    ('structure by value, 8 bytes', 'struct at c_small(struct at p)', 'c_small((struct at){ 3, -4 })',
     'return (struct at){ p.y, p.x };', r'"x=%d\ty=%d\n", p.x, p.y', r'"x=%d\ty=%d\n", r.x, r.y'),
    ('structure by value, 40 bytes', 'struct big c_big(struct big b)', 'c_big((struct big){ { 1, 2, 3, 4 }, 5.5 })',
     'struct big c = b; c.v[3] += 5; return c;', r'"%ld, %ld, %ld, %ld\t%g\n", b.v[0], b.v[1], b.v[2], b.v[3], b.d',
     r'"%ld, %ld, %ld, %ld\t%g\n", r.v[0], r.v[1], r.v[2], r.v[3], r.d'),
    ('structure behind a pointer', 'int c_behind(const struct request *q)',
     'c_behind(&(struct request){ "GET", -7 })', 'return q->method[0] + q->size;',
     r'"\"%s\"\t%d\n", q->method, q->size', r'"%d\n", r'),
    ('arguments on the stack', 'long c_stack(long a, long b, long c, long d, long e, long f, int g, const char *h)',
     'c_stack(11, 12, 13, 14, 15, 16, -17, "on the stack")', 'return a + b + c + d + e + f + g + !h;',
     r'"%ld\t%ld\t%ld\t%ld\t%ld\t%ld\t%d\t\"%s\"\n", a, b, c, d, e, f, g, h', r'"%ld\n", r'),
    ('what was written at the return', 'long c_out(int fd, char *to, long n)', 'c_out(3, buf, 32)',
     'memcpy(to, "GET / HT", 9); return 8 + 0 * (fd + n);', r'"%d\t\"%s\"\t%ld\n", 3, "GET / HT", n', r'"%ld\n", r'),
]
HEAD = r'''
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
enum colour { RED, GREEN, BLUE };
struct at { int x, y; };
struct big { long v[4]; double d; };
struct request { const char *method; int size; };
static const char *const colours[] = { "RED", "GREEN", "BLUE" };
static volatile long kept;
static char buf[32];
'''
BY_HAND = 'c_out(fd:i32, to:out(ret), n:i64, ret:i64)'


def program(way):
    """What it has printed: of each case the values of its arguments, and of its result."""
    calls = '\n'.join(f'\t{{ __auto_type r = {c[2]}; printf({c[5]}); }}' for c in CASES)
    text = HEAD + '\n'.join(f'__attribute__((noinline)) {c[1]}\n{{ kept++; printf({c[4]}); {c[3]} }}' for c in CASES)
    text += f'\nint main(void)\n{{\n{calls}\n\treturn 0;\n}}\n'
    open('v.c', 'w', encoding='utf-8').write(text)
    subprocess.run(['gcc', '-g', *way, '-o', 'v', 'v.c'], check=True)
    lines = [l.split('\t') for l in run('./v').splitlines()]
    return list(zip(lines[::2], lines[1::2]))


def name(case):
    return re.search(r'(c_\w+)\(', case[1]).group(1)


def run(*words, timeout=120, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8',
                          errors='replace', timeout=timeout, check=False, **more).stdout


def pattern(token):
    """The same value in the words of any of them: with or without escapes and spaces, 1 for true."""
    if token == 'true':
        return r'\b(true|1)\b'
    if token[0] == '"':
        return '"' + re.escape(token[1:-1]).replace('"', r'\\?"') + '"'
    return r'(?<![\w.-])' + re.escape(token).replace('=', ' ?= ?')


def found(tokens, text):
    """How many of them are there, one behind the other."""
    at = n = 0
    for t in tokens:
        m = re.compile(pattern(t)).search(text, at)
        if m:
            at, n = m.end(), n + 1
    return n


def verdict(tokens, text):
    if text is None:
        return 'no'
    # Addresses are no values of what is there; numbers may be hexadecimal.
    text = re.sub(r'0x[0-9a-f]{1,11}\b', lambda m: str(int(m.group(), 16)), text)
    text = re.sub(r'0x[0-9a-f]+|\\$\d+ = ', '', text)
    n = found(tokens, text)
    return 'yes' if n == len(tokens) else 'in part' if n else 'wrong' if re.search(r'\d|"', text) else 'no'


def with_inject(build):
    run(os.path.join(build, 'inject'), '-q', '-f', 'c_*', '-a', '--deep', '2', '-A', BY_HAND, '-o', 'inject.out', '--', './v')
    text = open('inject.out', encoding='utf-8').read()
    for c in CASES:
        m = re.search(name(c) + r'\((.*)\)(?: = (.*))?;', text)
        yield (m.group(1), m.group(2)) if m else (None, None)


def with_gdb(_build):
    for c in CASES:
        text = run('gdb', '-nx', '-batch', '-ex', f'break {name(c)}', '-ex', 'run', '-ex', 'echo ARGS\\n', '-ex', 'info args',
                   '-ex', 'print *q' if 'behind' in name(c) else 'echo', '-ex', 'echo FINISH\\n', '-ex', 'finish', './v')
        if 'ARGS' not in text:
            raise OSError(text.strip().splitlines()[-1] if text.strip() else 'it says nothing')
        args = text.split('ARGS\n')[-1].split('FINISH')[0]
        ret = re.search(r'Value returned is \$\d+ = (.*)', text, re.S)
        yield args, ret.group(1) if ret else None


def with_uftrace(_build):
    text = run('uftrace', 'record', '-a', '--no-libcall', '-d', 'u.data', './v')
    text = run('uftrace', 'replay', '-d', 'u.data', '--no-pager', '-F', 'main')
    if 'c_ints' not in text:
        raise OSError(text.strip().splitlines()[0] if text.strip() else 'it says nothing')
    for c in CASES:
        m = re.search(name(c) + r'\((.*?)\)(?: = (.*?))?;\s*$', text, re.M)
        yield (m.group(1), m.group(2)) if m else (None, None)


def with_bpftrace(_build):
    script = ''
    for c in CASES:
        params = [p.split()[-1].lstrip('*') for p in c[1][c[1].index('(') + 1:-1].split(',')]
        show = ', '.join(f'str(args.{p})' if re.search(rf'char \*{p}\b', c[1]) else f'args.{p}' for p in params)
        script += (f'uprobe:./v:{name(c)} {{ print(("{name(c)}", {show})); }}\n'
                   f'uretprobe:./v:{name(c)} {{ printf("ret {name(c)} %d\\n", retval); }}\n')
    text = run('bpftrace', '-c', './v', '-e', script)
    if '("' not in text and '(c_ints' not in text:
        lines = [l for l in text.splitlines() if l.strip()]
        raise OSError(lines[0] if lines else 'it says nothing')
    for c in CASES:
        m = re.search(r'\(' + name(c) + r', (.*)\)', text)
        r = re.search(f'ret {name(c)} (.*)', text)
        yield m.group(1) if m else None, r.group(1) if r else None


TOOLS = [('inject', with_inject, ['-O1']), ('gdb', with_gdb, ['-O1']), ('uftrace', with_uftrace, ['-O1', '-pg']),
         ('bpftrace', with_bpftrace, ['-O1'])]


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
    columns, missing = [], []
    with tempfile.TemporaryDirectory() as there:
        os.chdir(there)
        for tool, look, way in TOOLS:
            if tool != 'inject' and not shutil.which(tool):
                missing.append(f'{tool}: not installed')
                continue
            own = program(way)
            try:
                seen = list(look(build))
            except (OSError, subprocess.SubprocessError) as e:
                missing.append(f'{tool}: {e}')
                continue
            if os.environ.get('SHOW'):
                print(tool, *zip(own, seen), sep='\n', file=sys.stderr)
            columns.append((tool, [(verdict(wa, a), verdict(wr, r)) for (wa, wr), (a, r) in zip(own, seen)]))
        os.chdir('/')
    print('| arguments / result | ' + ' | '.join(t for t, _ in columns) + ' |')
    print('|---|' + '---|' * len(columns))
    for i, c in enumerate(CASES):
        cells = [' / '.join(v[i]) for _, v in columns]
        print(f'| {c[0]} | ' + ' | '.join(cells) + ' |')
    for line in missing:
        print(line)


if __name__ == '__main__':
    main()
