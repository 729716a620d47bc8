# SPDX-License-Identifier: MIT
"""beside: programs like those of special.py, in which data stand beside code, or other data."""
from program import ARRIVE, BRANCH, FUNC_F, FUNC_G, FUNC_H, STAYS
from special import Special, special


@special
class Hidden(Special):
    """Data stand before a branch, or what leads to it, and might be read as a part of that."""

    def make(self):
        rng = self.rng
        self.how = rng.choice(["jump", "named", "call", "beside", "case", "word"])
        self.traits["wash"] = self.how
        if self.how == "beside":
            self.frame = self.traits["frame"] = "none"
        self.head(False)
        self.steps(0, 1)
        self.back = self.label("B")
        self.out(f"{self.back}:", f"add ${rng.randint(1, 9)}, %eax", "dec %edi")
        self.note(BRANCH, self.back)
        self.steps(0, 2)
        getattr(self, self.how)()
        return self

    def again(self):
        """The branch back."""
        self.out(*[self.rng.choice(["inc %eax", "add $300, %eax"])][:self.rng.randint(0, 1)],
                 "test %edi, %edi", f"jg {self.back}")

    def end_here(self):
        self.again()
        self.steps(0, 1)
        self.leave()
        self.foot()

    def jump(self):
        self.jump_over()
        self.end_here()

    def named(self):
        """The code names the data."""
        at, over = self.label("d"), self.label("o")
        self.out(f"lea {at}(%rip), %{self.d}", f"jmp {over}", f"{at}:", *self.data(), f"{over}:")
        self.end_here()

    def call(self):
        """They stand behind a call that never returns."""
        over, never = self.label("o"), self.name("never")
        self.out("cmp $1000, %edi", f"{self.rng.choice(['jl', 'jne'])} {over}",
                 f"call .L{never}", *self.data(), f"{over}:")
        self.end_here()
        self.helper("never", ["ud2"])

    def helper_of(self, at):
        self.out(*self.data(), f"{at}:")
        self.again()
        self.out("ret")

    def beside(self):
        """Behind the function, in code that has no name."""
        at = self.label("h")
        self.out("test $1, %dil", f"{self.rng.choice(['jne', 'je'])} {at}", "inc %eax",
                 f"jmp {at}" if self.rng.random() < .5 else "ret")
        self.foot()
        self.helper_of(at)

    def case(self):
        """A table leads behind them."""
        self.by_table(self.table, ".long {0} - {1}", 4)

    def word(self):
        self.by_table(lambda *a, **k: self.table(*a, absolute=True, **k), ".quad {0}", 8)

    def by_table(self, make, fmt, size):
        table, end = self.label("T"), self.label("D")
        at = [self.label("c") for _ in range(self.count)]
        make([fmt.format(x, table) for x in at], size=size, at=table)
        self.out(f"cmp ${self.count - 1}, %edi", f"ja {end}", f"mov %edi, %{self.e(self.c)}")
        self.lea(table, self.b)
        if size == 4:
            self.out(f"movslq (%{self.b},%{self.c},4), %{self.t}", f"add %{self.b}, %{self.t}")
        else:
            self.out(f"mov (%{self.b},%{self.c},8), %{self.t}")
        self.here(STAYS)
        self.out(f"jmp *%{self.t}", *self.inside)
        self.inside = []
        for x in at:
            self.out(*self.data(), f"{x}:")
            self.note(ARRIVE, x)
            self.again()
            self.leave()
        self.out(f"{end}:")
        self.leave()
        self.foot()


@special
class BesideTable(Special):
    """Distances from themselves stand right behind a switch's table, and are gone by elsewhere."""

    def make(self):
        rng = self.rng
        self.traits["owner"] = "G"
        self.start = self.begin(self.name("F"), FUNC_F)
        self.enter()
        self.out("xor %eax, %eax")
        at = []
        for _ in range(self.count):
            self.steps(0, 1)
            at.append(self.place())
            self.leave()
        self.foot(1)
        word, fill = self.slot(), self.name("fill")
        table, words, again = self.label("T"), self.label("X"), self.label()
        self.helper("fill", [f"lea {words}-4(%rip), %rdx", f"{again}: add $4, %rdx", "dec %edi",
                             f"jne {again}", "movslq (%rdx), %rcx", "add %rdx, %rcx",
                             f"mov %rcx, {word}(%rip)", "ret"], FUNC_H)
        self.begin(self.name("G"), FUNC_G)
        self.out("push %rdi", f"call .L{fill}", "pop %rdi", f"call {self.name('S')}")
        self.enter()
        self.out("xor %eax, %eax", f"jmp *{word}(%rip)")
        self.end(self.name("G"))
        self.callable(self.name("G"), self.count)
        self.switch(table, words, at, rng.choice(["and", "cmp"]))
        return self

    def switch(self, table, words, at, bound):
        cases = [self.label("c") for _ in range(4)]
        default = self.label("D")
        self.traits["bound"] = bound
        self.begin(self.name("S"), FUNC_H)
        self.out("and $3, %edi" if bound == "and" else f"cmp $3, %edi; ja {default}",
                 f"lea {table}(%rip), %{self.b}",
                 f"movslq (%{self.b},%rdi,4), %{self.t}", f"add %{self.b}, %{self.t}",
                 f"jmp *%{self.t}")
        for x in cases:
            self.out(f"{x}:")
            self.steps(0, 2)
            self.out("ret")
        self.out(f"{default}: ret")
        self.end(self.name("S"))
        self.tabled.append(("rodata", [".balign 4", f"{table}:"] +
                            [f".long {x} - {table}" for x in cases] + [f"{words}:"] +
                            [f".long {x} - ." for x in at]))


@special
class Base(Special):
    """Addresses are told by how far they are from what is no code, and kept."""

    def make(self):
        rng = self.rng
        self.traits["owner"] = "G"
        how = rng.choice(["low", "end", "pointer"])
        self.frame, self.endbr = "none", False
        self.traits.update(frame="none", wash=how)
        self.start = self.begin(self.name("F"), FUNC_F)
        self.out("xor %eax, %eax")
        at = [self.label("B") for _ in range(self.count + 2)]
        for x in at:
            self.out(f"{x}:", "inc %eax")
            self.note(ARRIVE, x)
        self.out("ret")
        self.foot(1)
        word = self.slot()
        self.helper("fill", [*getattr(self, f'by_{how}')(at), f"mov %rax, {word}(%rip)", "ret"], FUNC_H)
        self.begin(self.name("G"), FUNC_G)
        self.out("dec %edi", f"call .L{self.name('fill')}", "xor %eax, %eax", f"jmp *{word}(%rip)")
        self.end(self.name("G"))
        self.callable(self.name("G"), len(at))
        return self

    def by_low(self, at):
        """The least index is added to the base."""
        bias = self.rng.choice([0x3000, 0x10000, 0x123456])
        lines = [f"add ${bias // 2}, %edi", f"lea {at[0]} - {bias}(%rip), %{self.d}",
                 f"lea (%{self.d},%rdi,2), %rax"]
        return lines[:-1] + [f"mov %rdi, %rax; add %rax, %rax; add %{self.d}, %rax"] \
            if self.rng.random() < .3 else lines

    def by_end(self, at):
        """From zeros behind the code."""
        far = self.label("E")
        self.tabled.append(("behind", [f".skip {self.rng.choice([64, 128])}", f"{far}:",
                                       ".skip 300"]))
        table = self.table([f".quad {x} - {far}" for x in at])
        return [f"lea {table}(%rip), %{self.b}", f"mov (%{self.b},%rdi,8), %rax",
                f"lea {far}(%rip), %{self.d}", f"add %{self.d}, %rax"]

    def by_pointer(self, at):
        """Rows have a distance from a datum, and are found by a pointer."""
        origin, fix, rows = self.label("O"), self.name("fixup"), self.label("X")
        offset = self.rng.choice([0, 4, 8])
        self.helper("fixup", [f"movslq {offset}(%rdi), %rax", f"lea {origin}(%rip), %{self.d}",
                              f"add %{self.d}, %rax", "ret"], FUNC_H)
        self.tabled.append(("rodata", [f"{origin}:", '.ascii "the beginning of what is read"',
                                       ".balign 4", f"{rows}:"] +
                            [f".skip {offset}; .long {x} - {origin}; .skip {12 - offset}"
                             for x in at]))
        return [f"lea {rows}(%rip), %rcx", "shl $4, %rdi", "add %rcx, %rdi", f"call .L{fix}"]


@special
class Unwound(Special):
    """An unwinder goes on where a routine of the program's own says."""

    def make(self):
        rng = self.rng
        self.cfi, self.traits["cfi"] = True, "own"
        routine, area = self.name("routine"), self.label("A")
        self.helper("routine", ["mov $8, %eax", "ret"], FUNC_H)
        self.head(False)
        self.out(f".cfi_personality 0x1b, .L{routine}", f".cfi_lsda 0x1b, {area}")
        self.out("push %rdi", f"call .L{self.name('thrower')}", "pop %rdi", "xor %eax, %eax")
        at = []
        for _ in range(self.count):
            at.append(self.place(1))
        self.leave()
        self.foot()
        self.helper("thrower", ["ret"], FUNC_H)
        word = rng.choice(["byte", "short", "long"])
        self.tabled.append(("gcc_except_table", [f"{area}: .{word} {len(at)}"] +
                            [f".{word} {x} - {self.start}" for x in at]))
        return self


@special
class Written(Special):
    """A number is written to memory, and gone by elsewhere."""

    def make(self):
        self.traits["owner"] = "G"
        self.start = self.begin(self.name("F"), FUNC_F)
        self.enter()
        self.out("xor %eax, %eax")
        at = []
        for _ in range(self.count):
            self.steps(0, 1)
            at.append(self.place())
            self.leave()
        self.foot(1)
        word, fill = self.slot(), self.name("fill")
        lines = []
        for i, x in enumerate(at):
            next_ = self.label()
            write = f"movq ${x}, {word}(%rip)" if not self.pic else \
                f"lea {x}(%rip), %rdx; mov %rdx, {word}(%rip)"
            lines += [f"cmp ${i + 1}, %edi", f"jne {next_}", write, f"{next_}:"]
        self.helper("fill", lines + ["ret"], FUNC_H)
        self.begin(self.name("G"), FUNC_G)
        self.out("push %rdi", f"call .L{fill}", "pop %rdi")
        self.enter()
        self.out("xor %eax, %eax", f"jmp *{word}(%rip)")
        self.end(self.name("G"))
        self.callable(self.name("G"), self.count)
        return self
