#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usdt.py INJECT BUILD [-n PROGRAMS] [-s SEED]: are arguments of USDT read as programs have them?

Makes C programs with places for tracers (sys/sdt.h), each with random arguments: parameters,
members, elements, variables of each kind, constants and addresses, of each type. Compiles each in
many ways, so that all forms of operands come up, and traces it from its start. The program prints
what it hands to each place, and a sum of what it computes around them; both have to be the same as
without inject, and as what inject prints. Prints what differs, and how much was compared.
"""
import argparse
import os
import random
import re
import subprocess
import sys

INTS = [('signed char', '%d', 'a_sc'), ('unsigned char', '%u', 'a_uc'), ('short', '%d', 'a_s'),
        ('unsigned short', '%u', 'a_us'), ('int', '%d', 'a_i'), ('unsigned', '%u', 'a_u'),
        ('long', '%ld', 'a_l'), ('unsigned long', '%lu', 'a_ul')]
FLOATS = [('float', '%g', 'a_f'), ('double', '%g', 'a_d')]
FLAGS = [['-O0'], ['-O1'], ['-O2'], ['-O2', '-fPIE', '-pie'], ['-O2', '-no-pie', '-fno-pie'],
         ['-O3', '-fomit-frame-pointer'], ['-Os'], ['-O2', '-fno-omit-frame-pointer'],
         ['-O2', '-DSTAP_SDT_ARG_CONSTRAINT=norx'], ['-O1', '-DSTAP_SDT_ARG_CONSTRAINT=rx'],
         ['-O2', '-mavx2', '-DSTAP_SDT_ARG_CONSTRAINT=norx']]

HEAD = r'''
#include <sys/sdt.h>
#include <stdio.h>
#include <stdint.h>
'''
TYPES = ''.join(f'typedef {c} {t};\n' for c, _, t in INTS + FLOATS)


class Value:
    """An expression, how it is printed, and its type by hand if the note tells another one."""

    def __init__(self, text, form, cast='', hand=None):
        self.text, self.form, self.cast, self.hand = text, form, cast, hand


def struct_of(kinds):
    return 'struct all {\n' + ''.join(f'\t{t} m_{t};\n' for _, _, t in kinds) + '};\n'


def globals_of(rng):
    out = []
    for _, _, t in INTS + FLOATS:
        value = rng.randrange(-100, 100) if t[2] != 'u' else rng.randrange(200)
        for prefix in ('', 'static '):
            name = ('s' if prefix else 'g') + t[1:]
            out.append(f'{prefix}{t} {name} = {value};\n{prefix}{t} {name}_v[8] = '
                       f'{{{", ".join(str(k * 3 + 1) for k in range(8))}}};\n')
    return ''.join(out)


def value_of(rng):
    c, form, t = rng.choice(INTS * 3 + FLOATS)
    s = rng.choice('gs')
    if rng.random() < 0.15:
        return Value(rng.choice(['text', 'word(i)', 'static_text']), '\\"%s\\"', hand='str')
    if rng.random() < 0.05:
        return Value('(void *)0', 'NULL', hand='ptr')
    if rng.random() < 0.08:
        return Value('&g' + t[1:], '%p', hand='ptr')
    if t[2:] in ('f', 'd'):
        text = rng.choice([f'p_{t}', f'p->m_{t}', f'{s}{t[1:]}', f'{s}{t[1:]}_v[i & 7]',
                           f'x->m_{t}', f'({t})(p_{t} * 2)'])
        return Value(text, form)
    if rng.random() < 0.12:
        return Value(f'({t}){rng.randrange(100)}', form)
    text = rng.choice([f'p_{t}', f'p->m_{t}', f'{s}{t[1:]}', f'{s}{t[1:]}_v[i & 7]', f'x->m_{t}',
                       f'{s}{t[1:]}_v[3]', f'v_{t}[i & 7]', f'({t})(p_{t} + i)',
                       f'({t})(p->m_{t} * 3)'])
    return Value(text, form)


def place_of(rng, name, nargs):
    """The call of the macro, what prints the same, and the types by hand or ''."""
    values = [value_of(rng) for _ in range(nargs)]
    by_hand = []
    for k, v in enumerate(values):
        if v.hand:
            by_hand.append(f'n{k}:{v.hand}')
    hand = ''
    if by_hand and len(by_hand) == nargs:
        hand = f'gen:{name}({", ".join(by_hand)})'
    elif by_hand:
        # Before a type by hand all have one: those that have none there are left out.
        values = [v if not v.hand else Value('p_a_i', '%d') for v in values]
    if nargs == 0:
        return f'STAP_PROBE(gen, {name});', f'EXPECT("gen:{name}()\\n");', ''
    shown = ', '.join((f'n{k}=' if hand else '') + v.form for k, v in enumerate(values))
    args = ''.join(f', {v.text}' for v in values if v.form != 'NULL')
    return (f'STAP_PROBE{nargs}(gen, {name}, {", ".join(v.text for v in values)});',
            f'EXPECT("gen:{name}({shown})\\n"{args});', hand)


def function_of(rng, index):
    params = ', '.join(f'{t} p_{t}' for _, _, t in INTS + FLOATS)
    body, hands = [], []
    for k in range(5):
        name = f'f{index}_{k}'
        probe, print_, hand = place_of(rng, name, rng.randrange(0, 9))
        hands += [hand] if hand else []
        body.append(f'\t{{ {probe} sum = sum * 31 + (uint64_t)(p_a_l + p->m_a_i + i);\n'
                    f'\t  d += p_a_d * i + p->m_a_f; {print_} }}\n')
    loads = ''.join(f'\t{t} v_{t}[8]; for (int k = 0; k < 8; k++) v_{t}[k] = ({t})(k * i);\n'
                    for _, _, t in INTS)
    uses = ''.join(f'\tsum += (uint64_t)v_{t}[i & 7];\n' for _, _, t in INTS)
    return (f'__attribute__((noinline)) static uint64_t f{index}(int i, const char *text, '
            f'struct all *p, {params})\n{{\n\tstruct all local = *p, *x = &local;\n'
            '\tuint64_t sum = 1;\n\tdouble d = 0;\n' + loads +
            '\t__asm__ volatile("" : : "r"(x), "r"(v_a_i) : "memory");\n' +
            ''.join(body) + uses + '\treturn sum + (uint64_t)(int64_t)d;\n}\n'), hands


def program_of(rng, nfuncs, rounds):
    funcs, hands, calls = [], [], []
    for n in range(nfuncs):
        text, hand = function_of(rng, n)
        funcs.append(text)
        hands += hand
        args = ', '.join(f'({t})(i * {rng.randrange(1, 9)} - {rng.randrange(9)})'
                         for _, _, t in INTS + FLOATS)
        calls.append(f'\t\tsum = sum * 7 + f{n}(i, word(i), &all, {args});\n')
    words = '"zero", "one \\\\two", "", "a longer word than others"'.replace('\\\\', '')
    fill = ''.join(f'\t\tall.m_{t} = ({t})(i * 5 - 7);\n' for _, _, t in INTS + FLOATS)
    return (HEAD + TYPES + struct_of(INTS + FLOATS) + globals_of(rng) +
            'static FILE *expected;\n#define EXPECT(...) fprintf(expected, __VA_ARGS__)\n'
            'static const char static_text[] = "static text";\n'
            f'static const char *const words[] = {{ {words} }};\n'
            'static const char *word(int i) { return words[i & 3]; }\n' + ''.join(funcs) +
            'int main(int argc, char **argv)\n{\n\tstruct all all;\n\tuint64_t sum = 0;\n'
            '\texpected = fopen(argv[1], "w");\n'
            f'\tfor (int i = 0; i < {rounds}; i++) {{\n' + fill + ''.join(calls) + '\t}\n'
            '\tfclose(expected);\n\tprintf("%lu\\n", (unsigned long)sum);\n\treturn argc - 2;\n}\n',
            hands)


def names_of(inject, program):
    """Names with a place that is refused, those with a constant that has no symbol, and the forms
    of arguments."""
    listed = subprocess.run([inject, 'list', '--usdt', program], capture_output=True, text=True,
                            check=True).stdout
    refused, forms = set(), set()
    with open(program, 'rb') as f:
        notes = re.findall(rb'(gen)\0(\w+)\0([^\0]*)\0', f.read())
    nameless = {f'{p.decode()}:{n.decode()}' for p, n, text in notes if b'.L' in text}
    for line in listed.splitlines():
        fields = line.split('\t')
        if fields[4] == 'refused':
            refused.add(fields[3])
        for arg in filter(None, fields[7].split(', ')):
            arg = re.sub(r'\.?[A-Za-z_]\w*(\.\d+)?([+-]\d+)?\(', 'symbol(', arg)
            forms.add(re.sub(r'%r?[a-ds][xipl]?l?\b|%e[a-ds][xip]\b|%r\d+[bwd]?\b', '%R',
                             re.sub(r'(?<![%r\dm])-?\d+', 'N', arg)))
    return refused, nameless, forms


def is_told(want, got, nameless):
    """Where a constant has no symbol it is said that it is not known."""
    if got.split('(')[0] not in nameless:
        return want == got
    return re.fullmatch(re.escape(got).replace(re.escape('<unknown>'), '.*'), want)


def lines_of(path, refused):
    with open(path, encoding='utf-8') as f:
        lines = [re.sub(r'^.*\| *', '', line.strip()).rstrip(';') for line in f
                 if 'gen:' in line]
    return [re.sub(r'0x0*(?=[0-9a-f])', '0x', line) for line in lines
            if line.split('(')[0] not in refused]


def run_one(args, directory, compiler, flags, source, hands, totals):
    program = os.path.join(directory, 'program')
    built = subprocess.run([compiler, *flags, '-g0', '-w', '-o', program, source],
                           capture_output=True, text=True, check=False)
    if built.returncode:
        totals['not compiled'] += 1
        return True
    refused, nameless, forms = names_of(args.inject, program)
    totals['forms'] |= forms
    want, got = os.path.join(directory, 'want'), os.path.join(directory, 'got')
    alone = subprocess.run([program, want], capture_output=True, text=True, check=True).stdout
    command = [args.inject, '--usdt', 'gen:*', '-o', got, '--no-color']
    for hand in hands:
        if hand.split('(')[0] not in refused:
            command += ['-A', hand]
    traced = subprocess.run([*command, '--', program, want], capture_output=True, text=True,
                            check=False)
    if traced.returncode or traced.stdout != alone:
        print(f'{compiler} {flags}: {traced.returncode}, {traced.stdout!r}, not {alone!r}\n'
              f'{traced.stderr}')
        return False
    expected, seen = lines_of(want, refused), lines_of(got, refused)
    totals['compared'] += len(expected)
    totals['refused'] += len(refused)
    for w, g in zip(expected, seen):
        if not is_told(w, g, nameless):
            print(f'{compiler} {flags}: {g}\n  is not {w}')
            return False
    if len(expected) != len(seen):
        print(f'{compiler} {flags}: {len(seen)} lines, not {len(expected)}')
        return False
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('inject')
    parser.add_argument('build')
    parser.add_argument('-n', type=int, default=2)
    parser.add_argument('-s', type=int, default=1)
    parser.add_argument('-w', type=int, default=1, help='one way to compile in so many')
    args = parser.parse_args()
    rng = random.Random(args.s)
    compilers = [c for c in ('gcc', 'clang') if subprocess.run(
        ['sh', '-c', f'command -v {c}'], capture_output=True, check=False).returncode == 0]
    totals = {'compared': 0, 'refused': 0, 'not compiled': 0, 'forms': set()}
    good = True
    directory = os.path.join(args.build, 'usdt_values')
    os.makedirs(directory, exist_ok=True)
    for n in range(args.n):
        text, hands = program_of(rng, 6, 20)
        source = os.path.join(directory, f'program{n}.c')
        with open(source, 'w', encoding='utf-8') as f:
            f.write(text)
        ways = [(compiler, flags) for compiler in compilers for flags in FLAGS]
        for compiler, flags in ways[n % args.w::args.w]:
            good &= run_one(args, directory, compiler, flags, source, hands, totals)
    for form in sorted(totals['forms']):
        print(' ', form)
    print(f'{totals["compared"]} hits, {len(totals["forms"])} forms of arguments, '
          f'{totals["refused"]} names without room, {totals["not compiled"]} not compiled')
    sys.exit(0 if good and totals['compared'] else 1)


if __name__ == '__main__':
    main()
