#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fuzz_rust BUILD [-n PROGRAMS] [-s SEED] [-f FUNCTIONS] [-k]: programs of Rust with random types
and signatures, compiled by each rustc that is there at each level of optimisation: what read plans
bring of each call has to be what the program prints with {:?}, argument by argument. What is said
not to be known may be, but at level 0 only of functions whose convention is not told.

Debug of enums is written by hand here, for inject names the enum, too."""

import argparse
import os
import random
import re
import shutil
import sys
import tempfile

from fuzz import GONE, matches, run, split

PRELUDE = '''#![allow(dead_code, unused, non_camel_case_types, improper_ctypes_definitions)]
use std::fmt::{Debug, Formatter, Result as FmtResult};
#[inline(never)] fn sink<T: ?Sized>(t: &T)
{
    let n = std::mem::size_of_val(t);
    let p = t as *const T as *const u8;
    for i in 0..n { unsafe { HOLE ^= std::ptr::read_volatile(p.add(i)); } }
}
static mut HOLE: u8 = 0;
#[inline(never)] fn opaque<T>(t: T) -> T { sink(&t); t }
'''
INTS = [('i8', 8), ('u8', 8), ('i16', 16), ('u16', 16), ('i32', 32), ('u32', 32), ('i64', 64),
        ('u64', 64), ('isize', 64), ('usize', 64), ('i128', 128), ('u128', 128)]
WORDS = ['', 'a', 'text', 'two words', 'tab\\t', 'quote\\"', 'back\\\\', 'm\u00fcde', 'more of it']


class Type:
    """What Rust calls it, and an expression of a random value."""

    def __init__(self, name, make, plain=True, zero=False):
        self.name, self.make = name, make
        self.plain = plain          # C has it, too
        self.zero = zero            # it has no bytes


class World:
    def __init__(self, r, functions):
        self.r, self.n, self.text = r, 0, []
        self.structs = [self.struct() for _ in range(functions // 3)]
        self.enums = [self.enum() for _ in range(functions // 3)]
        self.calls = [self.function(i) for i in range(functions)]

    def number(self):
        self.n += 1
        return self.n

    # ---- types -------------------------------------------------------------

    def int(self):
        name, bits = self.r.choice(INTS)
        if bits == 128 and self.r.random() < 0.6:
            name, bits = 'i32', 32

        def make(r):
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if name[0] == 'i' else (
                0, (1 << bits) - 1)
            v = r.choice([0, 1, low, high, r.randint(low, high), r.randint(0, 100)])
            return f'({v}{name})' if v < 0 else f'{v}{name}'
        return Type(name, make)

    def scalar(self):
        p = self.r.random()
        if p < 0.1:
            return Type('bool', lambda r: r.choice(['true', 'false']))
        if p < 0.2:
            return Type('char', lambda r: r.choice(["'a'", "'0'", "'\\n'", "'\u00e9'", "'\u0416'"]))
        if p < 0.38:
            name = self.r.choice(['f32', 'f64'])
            return Type(name, lambda r: r.choice(['0.0', '1.0', '-2.5', '0.125', '1024.5', '3.0'])
                        + name)
        if p < 0.42:
            return Type('std::num::NonZeroU32',
                        lambda r: f'std::num::NonZeroU32::new({r.randint(1, 99)}).unwrap()')
        return self.int()

    def text_type(self):
        if self.r.random() < 0.5:
            return Type("&'static str", lambda r: f'"{r.choice(WORDS)}"', False)
        return Type('String', lambda r: f'"{r.choice(WORDS)}".to_string()', False)

    def list(self, depth):
        t = self.any(depth + 1)
        p = self.r.random()

        def items(r, most):
            return ', '.join(t.make(r) for _ in range(r.randint(0, most)))
        if p < 0.5:
            return Type(f'Vec<{t.name}>',
                        lambda r: f'{{ let v: Vec<{t.name}> = vec![{items(r, 5)}]; v }}', False)
        return Type(f"&'static [{t.name}]",
                    lambda r: f'{{ let v: Vec<{t.name}> = vec![{items(r, 4)}]; '
                    '&*Box::leak(v.into_boxed_slice()) }', False)

    def array(self, depth):
        t, n = self.any(depth + 1), self.r.choice([0, 1, 2, 3, 4, 5])
        return Type(f'[{t.name}; {n}]',
                    lambda r: '[' + ', '.join(t.make(r) for _ in range(n)) + ']', False,
                    not n or t.zero)

    def tuple(self, depth):
        ts = [self.any(depth + 1) for _ in range(self.r.choice([1, 2, 2, 2, 3, 4]))]
        return Type('(' + ''.join(t.name + ', ' for t in ts) + ')',
                    lambda r: '(' + ''.join(t.make(r) + ', ' for t in ts) + ')', False,
                    all(t.zero for t in ts))

    def option(self, depth):
        t = self.any(depth + 1)
        if self.r.random() < 0.6:
            name = f'Option<{t.name}>'
            return Type(name, lambda r: f'Some({t.make(r)})' if r.random() < 0.7 else 'None', False)
        e = self.any(depth + 1)
        name = f'Result<{t.name}, {e.name}>'
        return Type(name, lambda r: f'Ok({t.make(r)})' if r.random() < 0.6 else f'Err({e.make(r)})',
                    False)

    def pointer(self, depth):
        t = self.any(depth + 1)
        if self.r.random() < 0.2:
            name = self.r.choice(['std::rc::Rc', 'std::sync::Arc'])
            return Type(f'{name}<{t.name}>', lambda r: f'{name}::new({t.make(r)})')
        if self.r.random() < 0.5:
            return Type(f'Box<{t.name}>', lambda r: f'Box::new({t.make(r)})')
        return Type(f"&'static {t.name}", lambda r: f'&*Box::leak(Box::new({t.make(r)}))')

    def any(self, depth=0):
        p = self.r.random()
        if depth > 2 or p < 0.36:
            return self.scalar()
        if p < 0.48:
            return self.text_type()
        if p < 0.56:
            return self.option(depth)
        if p < 0.62:
            return self.list(depth)
        if p < 0.67:
            return self.tuple(depth)
        if p < 0.7:
            return self.array(depth)
        if p < 0.75:
            return self.pointer(depth)
        if p < 0.76:
            return Type('()', lambda r: '()', False, True)
        known = getattr(self, 'structs', []) + getattr(self, 'enums', [])
        return self.r.choice(known) if known else self.scalar()

    # ---- structures --------------------------------------------------------

    def members(self, named):
        ts = [self.any(1) for _ in range(self.r.choice([0, 1, 1, 2, 2, 3, 4]))]
        if named:
            return (' { ' + ', '.join(f'm{i}: {t.name}' for i, t in enumerate(ts)) + ' }', ts,
                    lambda r: ' { ' + ', '.join(f'm{i}: {t.make(r)}' for i, t in enumerate(ts))
                    + ' }')
        if not ts:
            return '', ts, lambda r: ''
        return ('(' + ', '.join(t.name for t in ts) + ')', ts,
                lambda r: '(' + ', '.join(t.make(r) for t in ts) + ')')

    def struct(self):
        name, r = f'S{self.number()}', self.r
        named = r.random() < 0.6
        body, ts, make = self.members(named)
        if named and not ts:
            named, body, make = False, '', lambda r: ''
        c = r.random() < 0.25 and bool(ts)
        # (C has no structure without members, and a size of 16 bytes has it own rules.)
        self.text.append(('#[repr(C)] ' if c else '') + '#[derive(Debug)] pub struct ' + name +
                         body + (';' if not named else ''))
        return Type(name, lambda r: name + make(r), all(t.plain for t in ts),
                    all(t.zero for t in ts))

    def enum(self):
        name, r = f'E{self.number()}', self.r
        n = r.choice([1, 2, 2, 3, 4, 6])
        if r.random() < 0.35:
            return self.plain_enum(name, n)
        variants, arms, makes = [], [], []
        for i in range(n):
            v, kind = f'V{i}', r.choice(['unit', 'tuple', 'tuple', 'named'])
            body, ts, make = self.members(kind == 'named') if kind != 'unit' else (
                '', [], lambda r: '')
            if not ts:
                kind, body, make = 'unit', '', lambda r: ''
            variants.append(v + body)
            makes.append((v, make))
            fields = [f'm{k}' for k in range(len(ts))]
            if kind == 'unit':
                arms.append(f'{name}::{v} => f.write_str("{name}::{v}")')
            elif kind == 'named':
                arms.append(f'{name}::{v} {{ {", ".join(fields)} }} => f.debug_struct('
                            f'"{name}::{v}")' + ''.join(f'.field("{m}", {m})' for m in fields)
                            + '.finish()')
            else:
                arms.append(f'{name}::{v}({", ".join(fields)}) => f.debug_tuple("{name}::{v}")'
                            + ''.join(f'.field({m})' for m in fields) + '.finish()')
        self.declare(name, variants, arms, '')
        return Type(name, lambda r: self.pick(r, name, makes), False, n == 1)

    @staticmethod
    def pick(r, name, makes):
        v, make = r.choice(makes)
        return f'{name}::{v}{make(r)}'

    def plain_enum(self, name, n):
        r = self.r
        repr_, low = r.choice([('', 0), ('', 0), ('#[repr(u8)] ', 0), ('#[repr(i16)] ', -300),
                               ('#[repr(u64)] ', 0)])
        values = sorted(r.sample(range(low, 200), n)) if r.random() < 0.5 else None
        if n == 1 and not repr_:
            values = None
        variants = [f'V{i}' + (f' = {values[i]}' if values else '') for i in range(n)]
        arms = [f'{name}::V{i} => f.write_str("{name}::V{i}")' for i in range(n)]
        self.declare(name, variants, arms, repr_)
        return Type(name, lambda r: f'{name}::V{r.randrange(n)}', True, n == 1)

    def declare(self, name, variants, arms, repr_):
        self.text.append(f'{repr_}pub enum {name} {{ {", ".join(variants)} }}')
        self.text.append(f'impl Debug for {name} {{ fn fmt(&self, f: &mut Formatter<\'_>) -> '
                         f'FmtResult {{ match self {{ {", ".join(arms)} }} }} }}')

    # ---- functions ---------------------------------------------------------

    def function(self, i):
        r = self.r
        foreign = r.random() < 0.12
        params = [self.any() for _ in range(r.choice([0, 1, 2, 2, 3, 3, 4, 5, 6, 8]))]
        result = self.any() if r.random() < 0.85 else None
        # (Newer versions do not tell a result without bytes.)
        result = None if result and result.zero else result
        foreign = foreign and all(t.plain for t in params + ([result] if result else []))
        how = r.choice(['#[no_mangle] pub ', 'pub ', '', ''])
        if foreign:
            how += 'extern "C" '
        name = f'test_f{i}_'
        # (What is not used, callers need not pass: then its place may hold anything.)
        body = ' '.join(f'sink(&p{k});' if r.random() < 0.5 else
                        f'{{ let c = p{k}; sink(&c); }}' for k in range(len(params)))
        ignored = r.random() < 0.2
        declared = ', '.join(f'p{k}: {t.name}' for k, t in enumerate(params))
        tail = f' -> {result.name}' if result else ''
        value = f' opaque({result.make(r)})' if result else ''
        if result and ignored:
            value = f' let x = {value}; println!(" = {{:?}}", x); x'
        self.text.append(f'#[inline(never)] {how}fn {name}({declared}){tail}\n'
                         f'{{ unsafe {{ HOLE ^= {i}u8; }} {body}{value} }}')
        lines = [f'let p{k}: {t.name} = opaque({t.make(r)});' for k, t in enumerate(params)]
        show = ' print!(", ");'.join(f' print!("p{k}={{:?}}", p{k});' for k in range(len(params)))
        lines.append(f'print!("{name}(");{show} print!(")");')
        call = f'{name}({", ".join(f"p{k}" for k in range(len(params)))})'
        lines.append(f'{call};' if result and ignored else
                     f'let x = {call}; println!(" = {{:?}}", x);' if result else
                     f'{call}; println!();')
        self.text.append(f'#[inline(never)] fn call_{i}() {{ {" ".join(lines)} }}')
        return f'call_{i}();'

    def source(self):
        return PRELUDE + '\n'.join(self.text) + f'\nfn main() {{ {" ".join(self.calls)} }}\n'


def same(got, want, count):
    # (Newer versions have no name for what has no bytes.)
    if got in (want, want.split('=', 1)[-1]):
        count['same'] += 1
        return True
    for word in GONE:
        if word in got and matches(got, want):
            count[word] += 1
            return True
    # What is behind a pointer may be too far away, or too much.
    if ('...' in got or '0x' in got) and matches_pointers(got, want):
        count['cut'] += 1
        return True
    return False


def matches_pointers(got, want):
    pattern = re.escape(re.sub(r'0x[0-9a-f]+', '\0', got)).replace('\0', '.*')
    pattern = pattern.replace(re.escape('...'), '.*')
    return re.fullmatch(pattern.replace('\\\0', '.*'), want, re.S)


def compare(printed, read, count):
    bad, want = [], {}
    for line in printed.splitlines():
        want[split(line)[0]] = split(line)
    for line in read.splitlines():
        name, params, result = split(line)
        if name not in want:
            bad.append(f'not printed: {line}')
            continue
        count['functions'] += 1
        _, params_printed, result_printed = want[name]
        if len(params) != len(params_printed):
            bad.append(f'{name}: {len(params)} parameters, not {len(params_printed)}: {line}')
            continue
        for got, expected in zip(params + [result], params_printed + [result_printed]):
            if not same(got, expected, count):
                bad.append(f'{name}: {got}\n   is not {expected}')
    return bad


def try_way(build, where, way, count):
    rustc, level = way
    program = 'p' + level
    made = run([rustc, '-g', '-C', f'opt-level={level}', '--cap-lints', 'allow', '-o', program,
                'p.rs'], where)
    if made.returncode:
        return [f'{way}: {made.stderr.decode()[-2000:]}']
    driver = os.path.abspath(os.path.join(build, 'tests/values/driver'))
    out = run([driver, program, 'test_f', 'printed'], where)
    if out.returncode:
        return [f'{way}: {out.stderr.decode()[-2000:]}']
    with open(os.path.join(where, 'printed'), encoding='utf-8') as f:
        printed = f.read()
    return [f'{" ".join(way)}: {b}' for b in compare(printed, out.stdout.decode('utf-8'), count)]


def compilers():
    return sorted({p for p in ('/usr/bin/rustc', shutil.which('rustc')) if p and os.path.exists(p)})


def main():
    p = argparse.ArgumentParser()
    p.add_argument('build')
    p.add_argument('-n', type=int, default=2)
    p.add_argument('-s', type=int, default=1)
    p.add_argument('-f', type=int, default=30)
    p.add_argument('-l', default='0123s', help='levels of optimisation')
    p.add_argument('-k', action='store_true', help='keep the programs')
    o = p.parse_args()
    ways = [(c, level) for c in compilers() for level in o.l]
    count = {k: 0 for k in ('functions', 'same', 'cut') + GONE}
    failed = 0
    for n in range(o.n):
        seed = o.s + n
        where = tempfile.mkdtemp(prefix='inject-values.')
        with open(os.path.join(where, 'p.rs'), 'w', encoding='utf-8') as f:
            f.write(World(random.Random(seed), o.f).source())
        bad = [b for way in ways for b in try_way(o.build, where, way, count)]
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
