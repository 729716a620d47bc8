#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fuzz.py BUILD [-n PROGRAMS] [-s SEED] [-f FUNCTIONS]: are values read as programs have them?

Makes C programs with functions of random signatures, compiles each in many ways, and runs it under
tests/values/driver, which reads arguments and results by read plans. The program prints each call
by itself, from what it passes and gets; both texts have to be the same, argument by argument, but
for what the debug information does not have ("<optimised out>"), which at -O0 is nothing. Prints
what differs, the program's directory, and at the end how much was compared.
"""
import argparse
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile

PRELUDE = r'''
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void pr_byte(unsigned char c, char quote)
{
	const char *from = "\a\b\t\n\v\f\r\\", *to = "abtnvfr\\", *at = c ? strchr(from, c) : NULL;
	if (at) printf("\\%c", to[at - from]);
	else if (c == (unsigned char)quote) printf("\\%c", c);
	else if (c >= 0x20 && c < 0x7f) printf("%c", c);
	else printf("\\x%02x", c);
}
static void pr_text(const char *s, size_t most)
{
	size_t n = strnlen(s, most);
	printf("\"");
	for (size_t i = 0; i < n; i++) pr_byte(s[i], '"');
	printf("\"");
}
static void pr_char(char c) { printf("'"); pr_byte(c, '\''); printf("'"); }
static void pr_str(const char *s)
{
	if (!s) { printf("NULL"); return; }
	if ((uintptr_t)s < 4096) { printf("%#lx (unreadable)", (unsigned long)s); return; }
	pr_text(s, 64);
	if (strlen(s) > 64) printf("...");
}
static void pr_bool(bool b) { printf(b ? "true" : "false"); }
static void pr_ptr(const void *p) { if (p) printf("%#lx", (unsigned long)p); else printf("NULL"); }
/* The fewest digits that are read as the same, six at least, and no exponent below 10^16. */
static void pr_float(double v, bool is_float)
{
	char t[48];
	int n = 6;
	while (snprintf(t, sizeof t, "%.*g", n, v),
	       n < 17 && (is_float ? strtof(t, NULL) != (float)v : strtod(t, NULL) != v))
		n++;
	while (v < 1e16 && v > -1e16 && strstr(t, "e+"))
		snprintf(t, sizeof t, "%.*g", ++n, v);
	printf("%s", t);
}
static void pr_u128(unsigned __int128 v)
{
	char t[48], *p = t + 47;
	*p = 0;
	do *--p = '0' + (int)(v % 10); while (v /= 10);
	printf("%s", p);
}
static void pr_i128(__int128 v) { if (v < 0) { printf("-"); pr_u128(-(unsigned __int128)v); } else pr_u128(v); }
'''

INTS = [('signed char', 8, True), ('unsigned char', 8, False), ('short', 16, True),
        ('unsigned short', 16, False), ('int', 32, True), ('unsigned', 32, False),
        ('long', 64, True), ('unsigned long', 64, False), ('long long', 64, True),
        ('size_t', 64, False), ('uint8_t', 8, False), ('int16_t', 16, True),
        ('uint32_t', 32, False), ('int64_t', 64, True)]


class Type:
    """A type of C: how it is declared, a random value of its, code that prints one."""
    size = 8
    pointer = False

    def declare(self, name):
        return f'{self.name} {name}'

    def printer(self, expr):
        raise NotImplementedError


class Int(Type):
    def __init__(self, name, bits, signed):
        self.name, self.bits, self.signed, self.size = name, bits, signed, bits // 8

    def value(self, r):
        low = -(1 << self.bits - 1) if self.signed else 0
        high = (1 << self.bits - (1 if self.signed else 0)) - 1
        v = r.choice([0, 1, low, high, high - 1, r.randint(low, high), r.randint(0, min(high, 9999))])
        if v == -(1 << 63):
            return '(-9223372036854775807ll - 1)'
        return f'{v}' + ('' if self.bits < 32 else 'll' if self.signed else 'ull')

    def printer(self, e):
        if self.signed:
            return f'printf("%lld", (long long)({e}));'
        return f'printf("%llu", (unsigned long long)({e}));'


class Wide(Type):
    size = 16

    def __init__(self, signed):
        self.signed, self.name = signed, '__int128' if signed else 'unsigned __int128'

    def value(self, r):
        v = f'((unsigned __int128){r.getrandbits(64)}ull << 64 | {r.getrandbits(64)}ull)'
        return r.choice([v, '5', '-7' if self.signed else '7'])

    def printer(self, e):
        return f'pr_{"i" if self.signed else "u"}128({e});'


class Char(Type):
    name, size = 'char', 1

    def value(self, r):
        return f'(char){r.choice([0, 10, 34, 39, 92, 65, 200, r.randint(0, 255)])}'

    def printer(self, e):
        return f'pr_char({e});'


class Bool(Type):
    name, size = 'bool', 1

    def value(self, r):
        return r.choice(['true', 'false'])

    def printer(self, e):
        return f'pr_bool({e});'


class Float(Type):
    def __init__(self, name, size):
        self.name, self.size = name, size

    def value(self, r):
        suffix = {4: 'f', 8: '', 16: 'L'}[self.size]
        return r.choice(['0.0', '-0.0', '1.5', '-2.25', '1e10', '3.14159265', '1e-7', '65536.0',
                         f'{r.uniform(-1000, 1000):.6f}']) + suffix

    def printer(self, e):
        return f'pr_float({e}, {int(self.size == 4)});'


class Complex(Type):
    def __init__(self, name, size):
        self.name, self.size = name + ' _Complex', size

    def value(self, r):
        return f'({r.randint(-9, 9)}.5 + {r.randint(1, 9)}.25 * I)'

    def printer(self, e):
        return f'printf("%g+%gi", (double)creall({e}), (double)cimagl({e}));'


class Text(Type):
    pointer = True
    name = 'const char *'

    def value(self, r):
        text = ''.join(r.choice('abc /\\"\n\t\x01xyzGETHP09') for _ in range(
            r.choice([0, 1, 5, 20, 63, 64, 65, 200])))
        quoted = ''.join({'\\': '\\\\', '"': '\\"', '\n': '\\n', '\t': '\\t',
                          '\x01': '\\001'}.get(c, c) for c in text)
        return r.choice([f'"{quoted}"'] * 8 + ['(const char *)0', '(const char *)16'])

    def printer(self, e):
        return f'pr_str({e});'

    def within(self, e):
        return f'pr_ptr({e});'


class Void(Type):
    """A pointer to what has no type."""
    pointer = True
    name = 'void *'

    def value(self, r):
        return r.choice(['(void *)0', f'(void *){r.getrandbits(47):#x}', '(void *)stdout_like'])

    def printer(self, e):
        return f'pr_ptr({e});'


class Code(Type):
    name = 'handler'

    def value(self, r):
        return r.choice(['0', 'some_handler'])

    def printer(self, e):
        return f'pr_ptr((void *)({e}));'


class Enum(Type):
    def __init__(self, world, r):
        self.name = f'enum e{world.number()}'
        self.names = [f'{self.name[5:].upper()}_{i}' for i in range(r.randint(1, 5))]
        kind = r.choice(['plain', 'bits', 'negative', 'wide'])
        if kind == 'plain':
            values = r.sample(range(0, 50), len(self.names))
        elif kind == 'bits':
            values = [1 << i for i in range(len(self.names))]
        elif kind == 'negative':
            values = r.sample(range(-300, 50), len(self.names) - 1) + [-1000]
        else:
            values = r.sample(range(0, 1 << 40), len(self.names) - 1) + [1 << 40]
        self.values, self.kind = values, kind
        self.size = 8 if kind == 'wide' else 4
        world.text.append(self.name + ' { ' + ', '.join(
            f'{n} = {v}{"ll" if kind == "wide" else ""}' for n, v in zip(self.names, values)) + ' };')
        cases = ' '.join(f'case {n}: printf("{n}"); break;' for n in self.names)
        unknown = 'printf("%lld", (long long)v);'
        if kind == 'bits':
            unknown = f'if (v <= 0 || v >= {1 << len(values)}) printf("%lld", (long long)v); else ' \
                '{ const char *bar = ""; ' + ' '.join(
                    f'if (v & {v}) {{ printf("%s{n}", bar); bar = "|"; }}'
                    for n, v in zip(self.names, values)) + ' }'
        world.text.append(f'static void pr_{self.name[5:]}({self.name} e) {{ long long v = e; '
                          f'switch (e) {{ {cases} default: {unknown} }} }}')

    def value(self, r):
        if self.kind == 'bits' and r.random() < 0.5:
            return str(r.randint(0, 2 * sum(self.values)))
        return r.choice(self.names)

    def printer(self, e):
        return f'pr_{self.name[5:]}({e});'


class Pointer(Type):
    """To something that is shown behind it."""
    pointer = True

    def __init__(self, world, to, r):
        self.to, self.name, self.world = to, to.name + ' *', world

    def value(self, r):
        if r.random() < 0.15:
            return r.choice([f'({self.name})0', f'({self.name})16'])
        name = f'to{self.world.number()}'
        self.world.globals.append(f'{self.to.declare(name)} = {self.to.value(r)};')
        return '&' + name

    def printer(self, e):
        inner = self.to.within if hasattr(self.to, 'within') else self.to.printer
        return (f'if (!({e})) printf("NULL"); else if ((uintptr_t)({e}) < 4096) '
                f'printf("%#lx (unreadable)", (unsigned long)({e})); else {{ printf("&"); '
                + inner(f'(*({e}))') + ' }')

    def within(self, e):
        return f'pr_ptr({e});'


class Struct(Type):
    """Or a union, of members of the same size."""

    def __init__(self, world, r, depth=0):
        self.union = r.random() < 0.08
        self.packed = not self.union and r.random() < 0.1
        self.tag = f's{world.number()}'
        word = 'union' if self.union else 'struct'
        self.name = f'{word} {self.tag}'
        target = r.randint(1, 40)
        members, size, has_text = [], 0, False
        if self.union:
            n = r.choice([1, 2, 4, 8])
            for i in range(r.randint(1, 3)):
                t = r.choice([Int(*x) for x in INTS if x[1] == 8 * n] +
                             ([Float('float', 4)] if n == 4 else []) +
                             ([Float('double', 8)] if n == 8 else []))
                members.append((t, f'm{i}', None, None))
        while not self.union and size < target and len(members) < 12:
            t, count, bits = world.member(r, depth, target - size), None, None
            if isinstance(t, Int) and r.random() < 0.2 and t.size > 1:
                bits = r.randint(1, t.bits)
            elif isinstance(t, (Int, Char, Float)) and r.random() < 0.15:
                count = r.randint(1, 6)
            members.append((t, f'm{len(members)}', count, bits))
            size += t.size * (count or 1)
        self.members, self.size = members, size or 8
        fields = ' '.join(t.declare(n) + (f'[{c}]' if c else '') + (f' : {b}' if b else '') + ';'
                          for t, n, c, b in members)
        packed = ' __attribute__((packed))' if self.packed else ''
        world.text.append(f'{self.name} {{ {fields} }}{packed};')
        for kind, inner in ('', False), ('w', True):
            body = ' printf(", "); '.join(
                f'printf("{n}="); ' + self.print_member(t, f's.{n}', c, inner)
                for t, n, c, b in members)
            world.text.append(f'static void pr{kind}_{self.tag}({self.name} s) '
                              f'{{ printf("{{"); {body} printf("}}"); }}')

    def print_member(self, t, e, count, inner):
        one = t.within if inner and hasattr(t, 'within') else t.printer
        if self.union and t.pointer:
            return f'pr_ptr({e});'
        if count and isinstance(t, Char):
            # (Without a NUL all of it is text, and it is not known to be cut.)
            return f'{{ char copy[{count}]; memcpy(copy, {e}, {count}); pr_text(copy, {count}); }}'
        if count:
            return 'printf("["); ' + ' printf(", "); '.join(
                one(f'{e}[{i}]') for i in range(count)) + ' printf("]");'
        return one(e)

    def value(self, r):
        parts = []
        for t, n, count, bits in self.members[:1 if self.union else None]:
            if bits:
                low = -(1 << bits - 1) if t.signed else 0
                high = (1 << bits - (1 if t.signed else 0)) - 1
                v = r.randint(low, high)
                parts.append('(-9223372036854775807ll - 1)' if v == -(1 << 63) else
                             f'{v}{"ll" if t.signed else "ull"}')
            elif count:
                parts.append('{ ' + ', '.join(t.value(r) for _ in range(count)) + ' }')
            else:
                parts.append(t.value(r))
        return '{ ' + ', '.join(parts) + ' }'

    def printer(self, e):
        return f'pr_{self.tag}({e});'

    def within(self, e):
        return f'prw_{self.tag}({e});'


class World:
    """One program: its types and functions."""

    def __init__(self, r, functions):
        self.r, self.n, self.text, self.globals = r, 0, [], []
        self.main, self.enums, self.structs = [], [], []
        self.text.append('typedef void (*handler)(int); static void some_handler(int x) { (void)x; }')
        self.text.append('static char stdout_like[4];')
        self.plain = [Int(*x) for x in INTS] + [Char(), Bool(), Float('float', 4),
                                                Float('double', 8), Code(), Void()]
        for _ in range(4):
            self.enums.append(Enum(self, r))
        for _ in range(functions // 2):
            self.structs.append(Struct(self, r))
        self.bodies = [self.function(i) for i in range(functions)]

    def number(self):
        self.n += 1
        return self.n

    def member(self, r, depth, left):
        p = r.random()
        if p < 0.1 and depth < 2 and left > 4:
            return Struct(self, r, depth + 1)
        if p < 0.18:
            return r.choice(self.enums)
        if p < 0.26:
            return Text()
        if p < 0.3 and left >= 16:
            return r.choice([Float('long double', 16), Wide(True), Complex('float', 8),
                             Complex('double', 16)])
        return r.choice(self.plain)

    def any(self, r):
        p = r.random()
        if p < 0.2:
            return r.choice(self.structs)
        if p < 0.3:
            return r.choice(self.enums)
        if p < 0.4:
            return Text()
        if p < 0.45:
            return r.choice([Float('long double', 16), Wide(True), Wide(False)])
        if p < 0.48:
            return r.choice([Complex('float', 8), Complex('double', 16),
                             Complex('long double', 32)])
        if p < 0.58:
            return Pointer(self, r.choice([t for t in self.plain if t.size > 1] + self.enums + self.structs), r)
        return r.choice(self.plain)

    def params(self, r):
        n = r.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 14])
        out, shown = [], 0
        while len(out) < n:
            t = self.any(r)
            # What is behind pointers has room for so much only.
            shown += 1 if t.pointer else sum(
                1 for m in getattr(t, 'members', []) if m[0].pointer or isinstance(m[0], Struct))
            if shown <= 5:
                out.append(t)
            else:
                shown -= 1
        return out

    def function(self, i):
        r, name = self.r, f'f{i}_'
        params = self.params(r)
        result = self.any(r) if r.random() < 0.85 else None
        static = r.random() < 0.25
        for k, t in enumerate(params):
            self.globals.append(f'{t.declare(f"g{i}_{k}")} = {t.value(r)};')
        # (What is in memory and not used, clang's callers need not fill in.)
        used = [k for k, t in enumerate(params) if r.random() < 0.85 or t.size > 16]
        body = ' '.join(f'sink(&p{k}, sizeof(p{k}));' if r.random() < 0.4 else
                        f'{{ __typeof__(p{k}) c = p{k}; sink(&c, sizeof(c)); }}' for k in used)
        if result:
            self.globals.append(f'{result.declare(f"r{i}")} = {result.value(r)};')
            body += f' return r{i};'
        declared = ', '.join(t.declare(f'p{k}') for k, t in enumerate(params)) or 'void'
        kind = 'static ' if static else ''
        text = f'{kind}__attribute__((noinline)) {result.name if result else "void"} ' \
            f'{name}({declared})\n{{ extra++; {body} }}'
        call = f'{name}({", ".join(f"g{i}_{k}" for k in range(len(params)))})'
        show = ' printf(", "); '.join(f'printf("p{k}="); ' + t.printer(f'g{i}_{k}')
                                      for k, t in enumerate(params))
        lines = [f'printf("{name}("); {show} printf(")");']
        if result:
            # A result that is not used may be taken away.
            lines.append(f'{{ {result.declare("x")} = {call}; printf(" = "); '
                         f'{result.printer("x")} }}')
        else:
            lines.append(call + ';')
        lines.append('printf("\\n");')
        self.main.append(f'static void call_{i}(void) {{ ' + ' '.join(lines) + ' }')
        return text

    def source(self):
        sink = ('static long extra; static volatile unsigned char hole;\n'
                '__attribute__((noinline)) void sink(const void *p, size_t n)\n'
                '{ const unsigned char *c = p; for (size_t i = 0; i < n; i++) hole ^= c[i]; }')
        calls = ' '.join(f'call_{i}();' for i in range(len(self.bodies)))
        return '\n'.join([PRELUDE] + self.text + [sink] + self.globals + self.bodies + self.main +
                         [f'int main(void) {{ {calls} return 0; }}']) + '\n'


def split(text):
    """The arguments of a call, and its result: commas in quotes and brackets are no ends."""
    name, rest = text.split('(', 1)
    parts, depth, quote, at, i = [], 0, '', 0, 0
    while i < len(rest):
        c = rest[i]
        if quote:
            if c == '\\':
                i += 1
            elif c == quote:
                quote = ''
        elif c in '"\'':
            quote = c
        elif c in '([{':
            depth += 1
        elif c in ')]}':
            if depth == 0:
                break
            depth -= 1
        elif c == ',' and depth == 0:
            parts.append(rest[at:i].strip())
            at = i + 1
        i += 1
    parts.append(rest[at:i].strip())
    return name, parts, rest[i + 1:]


WAYS = [(cc, o, d) for cc in ('gcc', 'clang') for o in ('-O0', '-O1', '-O2', '-O3', '-Og')
        for d in ('-gdwarf-4', '-gdwarf-5')]
WAYS += [(cc, o, d + ' -gsplit-dwarf') for cc in ('gcc', 'clang') for o in ('-O0', '-O2')
         for d in ('-gdwarf-4', '-gdwarf-5')]
# Where gcc does not follow variables, as in very large functions.
WAYS += [('gcc', '-O1', '-gdwarf-5 -fno-var-tracking'),
         ('gcc', '-O2', '-gdwarf-4 --param max-vartrack-size=1')]
GONE = ('<optimised out>', '<unknown>')


def may_be_gone(want, way):
    """The words by which it may be said that this is not told. At -O0 all is; but by clang on arm64
    a structure that is passed by its address only where the prologue has stored that."""
    if way[1] != '-O0':
        return GONE
    by_address = way[0] == 'clang' and platform.machine() == 'aarch64' and '={' in want
    return GONE[:1] if by_address else ()


def same(got, want, way, count):
    """May this be said of that?"""
    if got == want:
        count['same'] += 1
        return True
    # Parts of a structure may be gone, too; of what is behind a pointer the end is cut off.
    for word in may_be_gone(want, way):
        if word in got and matches(got, want):
            count[word] += 1
            return True
    if '&{' in got and '...' in got and matches(got, want):
        count['cut'] += 1
        return True
    return False


def matches(got, want):
    """Are they the same but for what is not told?"""
    pattern = re.escape(got)
    for word in GONE + ('...',):
        pattern = pattern.replace(re.escape(word), '.*')
    return re.fullmatch(pattern, want, re.S)


def compare(printed, read, own_ways, way, count):
    """Texts of what is not the same."""
    bad = []
    want = {}
    for line in printed.splitlines():
        want[split(line)[0]] = split(line)
    for line in read.splitlines():
        name, params, result = split(line)
        base = name.split('.')[0]
        if base not in want:
            bad.append(f'not printed: {line}')
            continue
        count['functions'] += 1
        _, params_printed, result_printed = want[base]
        if '.' in name:
            count['clones'] += 1
        if len(params) != len(params_printed):
            bad.append(f'{name}: {len(params)} parameters, not {len(params_printed)}: {line}')
            continue
        # Of a clone, and of what clang may have given a convention of its own, the result is
        # not known, and then nothing is said.
        if not result and ('.' in name or base in own_ways):
            count['<unknown>'] += 1
            result = result_printed
        for got, expected in zip(params + [result], params_printed + [result_printed]):
            if not same(got, expected, way, count):
                bad.append(f'{name}: {got}\n   is not {expected}')
    return bad


def run(argv, cwd):
    return subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120 * int(os.environ.get('PATIENCE', '1')))


def by_driver(build, where, program):
    """What a driver, which stops the program at each function, has it print and reads itself."""
    driver = os.path.abspath(os.path.join(build, 'tests/values/driver'))
    out = run([driver, program, 'f', 'printed'], where)
    if out.returncode:
        return None, None, out.stderr.decode()[-2000:]
    with open(os.path.join(where, 'printed'), encoding='latin-1') as f:
        return f.read(), out.stdout.decode('latin-1'), ''


def by_trace(build, where, program):
    """The same of inject -a."""
    inject = os.path.abspath(os.path.join(build, 'inject'))
    out = run([inject, '-q', '-f', 'f[0-9]*_*@exe', '-a', '-s', '64', '-o', 'traced', '--',
               './' + program], where)
    if out.returncode:
        return None, None, out.stderr.decode()[-2000:]
    with open(os.path.join(where, 'traced'), encoding='latin-1') as f:
        lines = [line.split('] | ', 1)[1].rstrip('\n').removesuffix(';') for line in f
                 if '] | ' in line]
    return out.stdout.decode('latin-1'), '\n'.join(lines), ''


def try_way(build, where, way, count, read):
    cc, level, dwarf = way
    program = f'p{cc}{level}{dwarf}'.replace(' ', '')
    made = run([cc, '-w', '-g', *dwarf.split(), level, '-o', program, 'p.c'], where)
    if made.returncode:
        return [f'{way}: {made.stderr.decode()[-2000:]}']
    with open(os.path.join(where, 'p.c'), encoding='latin-1') as f:
        own_ways = set(re.findall(r'^static __attribute__\(\(noinline\)\) [^(]*?(\w+)\(', f.read(),
                                 re.M)) if level != '-O0' else set()
    printed, values, error = read(build, where, program)
    if error:
        return [f'{way}: {error}']
    return [f'{" ".join(way)}: {b}' for b in compare(printed, values, own_ways, way, count)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument('build')
    p.add_argument('-n', type=int, default=2)
    p.add_argument('-s', type=int, default=1)
    p.add_argument('-f', type=int, default=30)
    p.add_argument('-w', type=int, default=1, help='one way to compile in so many')
    p.add_argument('-t', action='store_true', help='by inject -a, not by the driver')
    p.add_argument('-k', action='store_true', help='keep the programs')
    o = p.parse_args()
    ways = [w for w in WAYS if shutil.which(w[0])]
    count = {k: 0 for k in ('functions', 'same', 'clones', 'cut') + GONE}
    failed = 0
    for n in range(o.n):
        seed = o.s + n
        where = tempfile.mkdtemp(prefix='inject-values.')
        with open(os.path.join(where, 'p.c'), 'w', encoding='ascii') as f:
            f.write(World(random.Random(seed), o.f).source())
        bad = [b for way in ways[seed % o.w::o.w] for b in try_way(
                   o.build, where, way, count, by_trace if o.t else by_driver)]
        failed += len(bad)
        for line in bad[:20]:
            print(f'seed {seed}: {line}')
        if bad or o.k:
            print(f'seed {seed}: {len(bad)} in {where}')
        else:
            shutil.rmtree(where)
    print(', '.join(f'{v} {k}' for k, v in count.items()) + f'; {failed} failures')
    sys.exit(failed != 0)


if __name__ == '__main__':
    main()
