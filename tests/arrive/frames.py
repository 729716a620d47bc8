#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""frames.py CHECK: functions that move a computed address about in their frame, and go by it.

Each program is one function of random instructions on words of its frame, general registers and
vectors, with branches, calls and labels that only an address leads to. What each word holds is
followed here by every way, so that it is known which may be the computed address of a place
within F; the function ends with a jump by one of those. CHECK (check.c) says whether the plan of
F leaves that place alone: it does not, if the analysis took the word for a whole one. What
docs/sites.md takes not to be is not made: no register has the frame's address by one way to a label
and not by another, and what a call may change is not gone by.

    frames.py build/tests/arrive/check -n 10000 -s 1 -j 2
    frames.py build/tests/arrive/check -s 1 --only 4711    that program, whose files are left here

Exit status 0 if none failed, else 1.
"""
import argparse
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile

import rule
from static import LINK

BATCH = 100
FRAME = 1024            # bytes; the words in use are the lowest, and FILLED others
FILLED = 512
WORDS = 12
WAYS_MOST = 16
REGISTERS = ("rbx", "r9", "r10", "r11", "r12", "rbp")
LOST_BY_CALLS = ("r9", "r10", "r11", "rsi", "rdi")

# What a word may hold. An address of the frame is its distance from the lowest word of that.
COMPUTED, WHOLE, NUMBER, PARTS = "computed", "whole", "number", "parts"


class Dull(Exception):
    """Nothing computed is left to go by, or the ways are too many, or differ too much."""


class Way:
    """What is where, if control came by one way."""

    def __init__(self):
        self.sp = 0
        self.regs = dict.fromkeys(REGISTERS, WHOLE)
        self.regs.update(rdx=COMPUTED, rsi=WHOLE, rdi=NUMBER)
        self.words = {}
        self.vectors = [[WHOLE] * 4 for _ in range(3)]

    def copy(self):
        other = Way()
        other.sp, other.regs, other.words = self.sp, dict(self.regs), dict(self.words)
        other.vectors = [list(v) for v in self.vectors]
        return other

    def load(self, at):
        return self.words.get(at, WHOLE)

    def store(self, at, value):
        self.words[at] = PARTS if isinstance(value, int) else value

    def value(self, reg):
        """Of a register, as a vector gets it."""
        return PARTS if isinstance(self.regs[reg], int) else self.regs[reg]

    def where(self, reg):
        return self.sp if reg == "rsp" else self.regs[reg]


class Program:
    """Its lines, and all ways to where they end."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.vex = self.rng.random() < .5
        self.told = self.rng.random() < .5
        self.scarce = self.rng.random() < .4
        self.ways, self.lines, self.labels, self.branched = [Way()], [], 0, False
        self.labelled = False

    def line(self, text):
        self.lines.append(text)

    def each(self, what):
        for w in self.ways:
            what(w)

    def same(self, of):
        """What is the same by all ways."""
        found = {of(w) for w in self.ways}
        if len(found) > 1:
            raise Dull
        return found.pop()

    def move_stack(self, by):
        if self.told:
            self.line(f".cfi_adjust_cfa_offset {-by}")

        def moved(w):
            w.sp += by
        self.each(moved)

    def memory(self, at=None):
        """A word of the frame, by any register that is known to reach it."""
        at = 8 * self.rng.randrange(WORDS) if at is None else at
        bases = ["rsp"] * 3 + [r for r in REGISTERS if isinstance(self.ways[0].regs[r], int) and
                               len({w.regs[r] for w in self.ways}) == 1]
        base = self.rng.choice(bases)
        return f"{at - self.same(lambda w: w.where(base))}(%{base})", at

    # ---- operations: each writes its lines, and says what they do

    def op_store(self):
        """mov to a word; a part of one; by an exchange"""
        (text, at), reg = self.memory(), self.rng.choice(REGISTERS + ("rdx",) * 6 + ("rsi",) * 4)
        how = self.rng.randrange(12)
        if how == 0:
            self.line(self.rng.choice(("movl $7, ", "movb $1, ", "movw $1, ")) + text)
            self.each(lambda w: w.store(at, PARTS))
        elif how == 1 and not text.endswith(f"(%{reg})"):
            self.line(f"xchg %{reg}, {text}")

            def exchange(w):
                had = w.regs[reg]
                w.regs[reg] = w.load(at)
                w.store(at, had)
            self.each(exchange)
        elif how == 2 and reg in ("rdx", "rsi"):
            self.line(f"lea {text}, %rdi\nmov %{reg}, %rax\nstosq")

            def string(w):
                w.regs["rdi"] = NUMBER
                w.store(at, w.regs[reg])
            self.each(string)
        else:
            self.line(f"mov %{reg}, {text}")
            self.each(lambda w: w.store(at, w.regs[reg]))

    def op_set(self):
        """a register, by what is not memory of the frame"""
        reg = self.rng.choice(REGISTERS)
        text, value = self.rng.choice((("mov (%r8), %{0}", WHOLE), ("xor %{0}, %{0}", NUMBER),
                                       ("mov $5, %{0}", NUMBER)))
        self.line(text.format(reg))
        self.each(lambda w: w.regs.update({reg: value}))

    def op_move(self):
        """from a register to another, or both ways"""
        a, b = self.rng.choice(REGISTERS), self.rng.choice(REGISTERS + ("rdx", "rsi"))
        if self.rng.random() < .3:
            self.line(f"xchg %{a}, %{b}")
            self.each(lambda w: w.regs.update({a: w.regs[b], b: w.regs[a]}))
        else:
            self.line(f"mov %{b}, %{a}")
            self.each(lambda w: w.regs.update({a: w.regs[b]}))

    def op_load(self):
        (text, at), reg = self.memory(), self.rng.choice(REGISTERS)
        self.line(f"mov {text}, %{reg}")
        self.each(lambda w: w.regs.update({reg: w.load(at)}))

    def op_address(self):
        (text, at), reg = self.memory(), self.rng.choice(REGISTERS)
        self.line(f"lea {text}, %{reg}")
        self.each(lambda w: w.regs.update({reg: at}))

    def op_maybe(self):
        """a move that is made or not"""
        reg, other = self.rng.choice(REGISTERS), self.rng.choice(REGISTERS + ("rdx", "rsi"))
        text, at = self.memory()
        loads = self.rng.random() < .5
        self.line(f"test %edi, %edi\ncmovne {text if loads else '%' + other}, %{reg}")
        more = [w.copy() for w in self.ways]
        for w in more:
            w.regs[reg] = w.load(at) if loads else w.regs[other]
        self.meet(more)

    def op_push(self):
        reg = self.rng.choice(REGISTERS + ("rdx", "rsi"))
        if self.same(lambda w: w.sp) < -32:
            return
        self.line(f"push %{reg}")
        self.move_stack(-8)
        self.each(lambda w: w.store(w.sp, w.regs[reg]))

    def op_pop(self):
        if self.same(lambda w: w.sp) >= 0:
            return
        reg, at = self.rng.choice(REGISTERS), self.ways[0].sp
        if self.rng.random() < .3:
            to = 8 * self.rng.randrange(WORDS)
            self.line(f"popq {to - at - 8}(%rsp)")
            self.each(lambda w: w.store(to, w.load(at)))
        else:
            self.line(f"pop %{reg}")
            self.each(lambda w: w.regs.update({reg: w.load(at)}))
        self.move_stack(8)

    def op_call(self):
        self.line("call none")

        def called(w):
            w.store(w.sp - 8, WHOLE)
            w.regs.update(dict.fromkeys(LOST_BY_CALLS, NUMBER), rdx=WHOLE)
            w.vectors = [[NUMBER] * 4 for _ in w.vectors]
        self.each(called)

    def op_label(self):
        """a place that only an address leads to. Any of those jumps may lead to any label: so what is
        an address of the frame before one of them is none there (rules_goto.py has some)"""
        self.labels += 1
        self.labelled = True
        self.each(lambda w: w.regs.update({r: PARTS for r, v in w.regs.items()
                                           if isinstance(v, int)}))
        self.line(f"lea .Lg{self.labels}(%rip), %rax\njmp *%rax\nud2\n.Lg{self.labels}:")

    def op_branch(self):
        if self.branched:
            return
        self.labels += 1
        label, before = self.labels, [w.copy() for w in self.ways]
        self.branched = True
        self.line(f"test %edi, %edi\njne 7{label}f")
        self.some(self.rng.randrange(1, 5))
        if self.rng.random() < .5:
            self.line(f"jmp 8{label}f\n7{label}:")
            before, self.ways = self.ways, before
            if self.told and before[0].sp != self.ways[0].sp:
                raise Dull
            self.some(self.rng.randrange(1, 5))
            self.line(f"8{label}:")
        else:
            self.line(f"7{label}:")
        self.branched = False
        self.meet(before)

    def meet(self, more):
        self.ways += more
        if len(self.ways) > WAYS_MOST:
            raise Dull
        self.same(lambda w: w.sp)

    # ---- of vectors: `v` says what xmm{x} holds, of the lowest two words

    def vector(self, text, x, words):
        """Lines that set xmm{x}, of which the rest is kept, or cleared by the VEX form."""
        self.line(text)
        vex = self.vex

        def sets(w):
            w.vectors[x] = words(w) + ([NUMBER] * 2 if vex else w.vectors[x][2:])
        self.each(sets)

    def op_vector_load(self):
        (text, at), x, y = self.memory(), self.rng.randrange(3), self.rng.randrange(3)
        v, form = "v" if self.vex else "", self.rng.randrange(8)
        if form == 0 and self.vex:
            self.line(f"vmovdqu {text}, %ymm{x}")
            self.each(lambda w: w.vectors.__setitem__(
                x, [w.load(at + 8 * i) for i in range(4)]))
        elif form == 1:
            self.vector(f"{v}{self.rng.choice(('movq', 'movsd'))} {text}, %xmm{x}", x,
                        lambda w: [w.load(at), NUMBER])
        elif form == 2:
            low = y if self.vex else x
            other = f"%xmm{y}, " if self.vex else ""
            self.vector(f"{v}movhps {text}, {other}%xmm{x}", x,
                        lambda w: [w.vectors[low][0], w.load(at)])
        else:
            self.vector(f"{v}{self.rng.choice(('movups', 'movdqu', 'movupd'))} {text}, %xmm{x}", x,
                        lambda w: [w.load(at), w.load(at + 8)])

    def op_vector_store(self):
        (text, at), x, v = self.memory(), self.rng.randrange(3), "v" if self.vex else ""
        form = self.rng.randrange(8)
        if form == 0 and self.vex:
            self.line(f"vmovdqu %ymm{x}, {text}")
            words = range(4)
        elif form < 3:
            name, first = self.rng.choice((("movhps", 1), ("movlps", 0), ("movq", 0),
                                           ("movsd", 0), ("movhpd", 1)))
            self.line(f"{v}{name} %xmm{x}, {text}")
            words = range(first, first + 1)
        elif form == 3:
            first = self.rng.randrange(2)
            self.line(f"{v}pextrq ${first}, %xmm{x}, {text}")
            words = range(first, first + 1)
        else:
            self.line(f"{v}{self.rng.choice(('movups', 'movdqu', 'movupd'))} %xmm{x}, {text}")
            words = range(2)

        def stores(w):
            for i in words:
                w.store(at + 8 * (i - words[0]), w.vectors[x][i])
        self.each(stores)

    def op_vector_general(self):
        """to and from a general register"""
        x, reg, v = self.rng.randrange(3), self.rng.choice(REGISTERS), "v" if self.vex else ""
        form, word = self.rng.randrange(3), self.rng.randrange(2)
        own = f", %xmm{x}" if self.vex else ""
        if form == 0:
            self.vector(f"{v}movq %{reg}, %xmm{x}", x, lambda w: [w.value(reg), NUMBER])
        elif form == 1:
            self.line(f"{v}movq %xmm{x}, %{reg}")
            self.each(lambda w: w.regs.update({reg: w.vectors[x][0]}))
        else:
            self.vector(f"{v}pinsrq ${word}, %{reg}, %xmm{x}{own}", x,
                        lambda w: [w.value(reg) if i == word else w.vectors[x][i]
                                   for i in range(2)])

    def op_vector_mix(self):
        """from vectors to another"""
        x, y, v = self.rng.randrange(3), self.rng.randrange(3), "v" if self.vex else ""
        own = f", %xmm{x}" if self.vex else ""
        n = self.rng.randrange(4)
        low, high = self.rng.choice(((0, 0), (0, 1), (1, 0), (1, 1)))
        unpack = self.rng.choice((("punpcklqdq", 0), ("unpcklpd", 0), ("punpckhqdq", 1),
                                  ("unpckhpd", 1)))
        text, words = self.rng.choice((
            (f"{unpack[0]} %xmm{y}, %xmm{x}{own}", lambda w: [w.vectors[x][unpack[1]],
                                                              w.vectors[y][unpack[1]]]),
            (f"shufpd ${n}, %xmm{y}, %xmm{x}{own}", lambda w: [w.vectors[x][n & 1],
                                                               w.vectors[y][n >> 1]]),
            (f"pshufd ${0x44 + 0xa * low + 0xa0 * high}, %xmm{y}, %xmm{x}",
             lambda w: [w.vectors[y][low], w.vectors[y][high]]),
            (f"psrldq $8, %xmm{x}{own}", lambda w: [w.vectors[x][1], NUMBER]),
            (f"pslldq $8, %xmm{x}{own}", lambda w: [NUMBER, w.vectors[x][0]]),
            (f"movddup %xmm{y}, %xmm{x}", lambda w: [w.vectors[y][0]] * 2),
            (f"pxor %xmm{x}, %xmm{x}{own}", lambda w: [NUMBER] * 2)))
        self.vector(v + text, x, words)

    def op_carry(self):
        """the computed address, by a vector, while the word that it comes from is set anew"""
        at, to, x = 8 * self.rng.randrange(6), 8 * self.rng.randrange(6, WORDS), self.rng.randrange(3)
        word, v = self.rng.randrange(2), "v" if self.vex else ""
        self.line(f"mov %rdx, {self.memory(at + 8 * word)[0]}")
        self.each(lambda w: w.store(at + 8 * word, w.regs["rdx"]))
        self.vector(f"{v}movups {self.memory(at)[0]}, %xmm{x}", x,
                    lambda w: [w.load(at), w.load(at + 8)])
        for _ in range(self.rng.randrange(4)):
            if self.rng.random() < .5:
                self.line(f"mov %rsi, {self.memory(at + 8 * word)[0]}")
                self.each(lambda w: w.store(at + 8 * word, w.regs["rsi"]))
            else:
                self.some(1)
        self.line(f"{v}movups %xmm{x}, {self.memory(to)[0]}")
        for i in range(2):
            self.each(lambda w, i=i: w.store(to + 8 * i, w.vectors[x][i]))

    def some(self, n):
        for _ in range(n):
            self.rng.choice((
                self.op_store, self.op_store, self.op_store, self.op_store, self.op_set,
                self.op_move, self.op_load, self.op_load, self.op_address, self.op_address,
                self.op_maybe, self.op_push, self.op_pop, self.op_call, self.op_label,
                self.op_branch, self.op_vector_load, self.op_vector_load, self.op_vector_store,
                self.op_vector_store, self.op_vector_general, self.op_vector_mix,
                self.op_carry, self.op_carry, self.op_carry))()

    def leave(self):
        """By a register, a word that is loaded, or one of the frame. Where there are labels the
        frame is gone then: else the jump might lead to one of them, with another stack."""
        down = FRAME - self.same(lambda w: w.sp)
        regs = [r for r in REGISTERS if any(w.regs[r] == COMPUTED for w in self.ways)]
        words = sorted({at for w in self.ways for at, v in w.words.items()
                        if v == COMPUTED and at >= w.sp})
        if not regs + words:
            raise Dull
        chosen = self.rng.choice(regs + words)
        if chosen in regs:
            self.line(f"mov %{chosen}, %rax\nadd ${down}, %rsp\njmp *%rax")
        elif self.labelled or self.rng.random() < .5:
            self.line(f"mov {self.memory(chosen)[0]}, %rax\nadd ${down}, %rsp\njmp *%rax")
        else:
            self.line(f"jmp *{self.memory(chosen)[0]}")

    def make(self):
        self.line(f"sub ${FRAME}, %rsp" + (f"\n.cfi_adjust_cfa_offset {FRAME}" if self.told else ""))
        for i in range(self.rng.choice((58, 60)) if self.scarce else 0):
            self.line(f"mov {FILLED + 8 * i}(%rsp), %rax\nmov %rax, (%r8)")
        self.some(self.rng.randrange(2, 10))
        self.leave()
        return rule.HEAD + "VICTIM\n" + rule.BARE_COMPUTED.format(
            lines="\n".join(self.lines), begin=".cfi_startproc" if self.told else "",
            end=".cfi_endproc" if self.told else "")


def program(seed, n):
    """The n-th; what turns out dull is made anew."""
    for again in range(1000):
        try:
            return Program(f"{seed}.{n}.{again}").make()
        except Dull:
            pass
    raise AssertionError(f"-s {seed}: program {n} is dull")


def link(name, lines):
    with open(name + ".s", "w", encoding="ascii") as f:
        f.write(lines)
    subprocess.run(["as", "-o", name + ".o", name + ".s"], check=True)
    subprocess.run(["ld", "-o", name, name + ".o"] + LINK["pie"], check=True)


def batch(job):
    """What CHECK says of programs first to last; their files go."""
    check, seed, first, last = job
    names = [f"frame.{n}" for n in range(first, last)]
    for n, name in zip(range(first, last), names):
        link(name, program(seed, n))
    r = subprocess.run([check], input="".join(f"{x}\n" for x in names), text=True,
                       stdout=subprocess.PIPE, check=False, timeout=600)
    lines = r.stdout.splitlines()
    if sum(x.startswith("done\t") for x in lines) != len(names) or r.returncode not in (0, 1):
        raise AssertionError(f"check ended with {r.returncode} for programs from {first} on")
    if last - first > 1:
        for name in names:
            for path in (name, name + ".s", name + ".o"):
                os.unlink(path)
    return [x for x in lines if not x.startswith("done\t")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("check")
    parser.add_argument("-n", type=int, default=2000, help="programs")
    parser.add_argument("-s", "--seed", default="1")
    parser.add_argument("-j", type=int, default=1, help="processes")
    parser.add_argument("--only", type=int, help="only this program")
    args = parser.parse_args()
    check = os.path.abspath(args.check)
    if args.only is not None:
        wrong = batch((check, args.seed, args.only, args.only + 1))
        print("\n".join(wrong) or "nothing is wrong")
        return 1 if wrong else 0
    jobs = [(check, args.seed, i, min(i + BATCH, args.n)) for i in range(0, args.n, BATCH)]
    with tempfile.TemporaryDirectory(dir=".") as where:
        os.chdir(where)
        with multiprocessing.Pool(args.j) as pool:
            wrong = sorted(x for found in pool.imap_unordered(batch, jobs) for x in found)
        os.chdir("..")
    failed = {}
    for line in wrong:
        failed.setdefault(line.split("\t")[1], line)
    for name, line in list(failed.items())[:20]:
        print(f"{line}\n\tagain: -s {args.seed} --only {name.split('.')[1]}")
    print(f"{args.n} programs of seed {args.seed}: {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
