# SPDX-License-Identifier: MIT
"""sums: programs that compute an address of a place, keep it, and go by it elsewhere.

Each way of a class here has, of places that are two bytes apart in F, that of number %rdi in
register A; I and J are its scratch. A function keeps that in a word, by which G jumps.
"""
from program import ARRIVE, FUNC_F, FUNC_G, REGS
from special import Special, special

LOW = {"rcx": "cl", "rdx": "dl", "rsi": "sil", "r9": "r9b", "r10": "r10b", "r11": "r11b"}


class Computed(Special):
    ways = ()

    def make(self):
        rng = self.rng
        how = rng.choice(self.ways)
        self.count = rng.choice([2, 3, 6, 8])
        self.frame = "none"
        self.traits.update(owner="G", frame="none", wash=how)
        regs = list(REGS)
        rng.shuffle(regs)
        a, i, j = regs[:3]
        self.regs = a, i, j
        self.out(".p2align 8")      # the places of F differ in their low byte only
        self.endbr, self.cfi = False, self.cfi and rng.random() < .5
        self.start = self.begin(self.name("F"), FUNC_F)
        self.out("xor %eax, %eax")
        self.at = [self.label("B") for _ in range(self.count)]
        for x in self.at:
            self.out(f"{x}:", "inc %eax")
            self.note(ARRIVE, x)
        self.out("ret")
        self.foot(1)
        self.word = self.slot()
        lines = getattr(self, how)(a, i, j)
        fill = self.label("G")
        self.out(f".type {self.name('fill')}, @function", f"{self.name('fill')}:", f"{fill}:")
        self.out(*lines, *self.keeps(a, j), "ret", f".size {self.name('fill')}, . - {fill}")
        if rng.random() < .3:
            self.function(self.name("between"))
        self.begin(self.name("G"), FUNC_G)
        self.out("dec %edi", f"call {fill}", "xor %eax, %eax")
        self.out(*rng.choice([[f"jmp *{self.word}(%rip)"],
                              [f"mov {self.word}(%rip), %rcx", "jmp *%rcx"]]))
        self.end(self.name("G"))
        self.callable(self.name("G"), self.count)
        return self

    def keeps(self, a, j):
        return self.rng.choice([[f"mov %{a}, {self.word}(%rip)"],
                                [f"lea {self.word}(%rip), %{j}", f"mov %{a}, (%{j})"],
                                [f"mov %{a}, %{j}", f"mov %{j}, {self.word}(%rip)"]])

    def named(self, a, at=None):
        return [f"lea {at or self.at[0]}(%rip), %{a}"]

    def distance(self, i):
        """Of the place from the first."""
        return self.rng.choice([[f"lea (%rdi,%rdi), %{i}"],
                                [f"mov %edi, %{self.e(i)}", f"add %{self.e(i)}, %{self.e(i)}"]])


@special
class Sums(Computed):
    """The sum is made otherwise than by a lea or an add of what is surely named."""

    ways = ("framed", "rounds", "loaded", "pushed", "memory", "pointer", "exchanged", "less",
            "low_byte", "byte_sum", "halved", "negated", "multiplied", "far", "many", "lazy",
            "vector", "doubled", "kept_vector", "vector_stored", "unread", "swapped")

    def frame_slot(self):
        """A word of the frame: how it is made, its name, and how it is undone."""
        return self.rng.choice([
            ([], "-8(%rsp)", []), ([], "-40(%rsp)", []),
            (["sub $24, %rsp"], "8(%rsp)", ["add $24, %rsp"]),
            (["push %rbp", "mov %rsp, %rbp"], "-16(%rbp)", ["pop %rbp"]),
            (["push %rbp", "mov %rsp, %rbp", "sub $32, %rsp"], "-16(%rbp)", ["leave"])])

    def framed(self, a, i, _):
        before, s, after = self.frame_slot()
        return before + self.named(a) + [f"mov %{a}, {s}"] + self.distance(i) + \
            [f"add %{i}, {s}", f"mov {s}, %{a}"] + after

    def rounds(self, a, i, _):
        before, s, after = self.frame_slot()
        again, done = self.label(), self.label()
        return before + self.named(a) + [
            f"mov %{a}, {s}", f"mov %edi, %{self.e(i)}", f"test %{self.e(i)}, %{self.e(i)}",
            f"je {done}", f"{again}: addq $2, {s}", f"dec %{self.e(i)}", f"jne {again}",
            f"{done}: mov {s}, %{a}"] + after

    def loaded(self, a, i, _):
        before, s, after = self.frame_slot()
        return before + self.named(a) + [f"mov %{a}, {s}"] + self.distance(i) + \
            [f"add {s}, %{i}", f"mov %{i}, %{a}"] + after

    def pushed(self, a, i, j):
        return self.named(a) + [f"push %{a}"] + self.distance(i) + \
            [f"add (%rsp), %{i}", f"pop %{j}", f"mov %{i}, %{a}"]

    def memory(self, a, i, _):
        w = self.slot()
        return self.named(a) + [f"mov %{a}, {w}(%rip)"] + self.distance(i) + \
            [f"add %{i}, {w}(%rip)", f"mov {w}(%rip), %{a}"]

    def pointer(self, a, i, j):
        w = self.slot(".skip 32")
        n = self.rng.choice(["", "8", "24"])
        return self.named(a) + [f"lea {w}(%rip), %{j}", f"mov %{a}, {n}(%{j})"] + \
            self.distance(i) + [f"add %{i}, {n}(%{j})", f"mov {n}(%{j}), %{a}"]

    def exchanged(self, a, i, _):
        before, s, after = self.rng.choice([self.frame_slot(), ([], self.slot() + "(%rip)", [])])
        return before + self.named(a) + [f"mov %{a}, {s}"] + self.distance(i) + \
            [f"lock xadd %{i}, {s}", f"mov {s}, %{a}"] + after

    def less(self, a, i, _):
        return self.named(a, self.at[-1]) + [
            f"mov ${len(self.at) - 1}, %{self.e(i)}", f"sub %edi, %{self.e(i)}",
            f"add %{self.e(i)}, %{self.e(i)}", f"sub %{i}, %{a}"]

    def low_byte(self, a, i, _):
        """It is put into the start of a function, or into another place of it."""
        base = self.rng.choice([self.start, self.at[0]])
        return self.named(a, base) + [f"lea {self.at[0]} - {self.start}(%rdi,%rdi), %{self.e(i)}",
                                      f"mov %{LOW[i]}, %{LOW[a]}"]

    def byte_sum(self, a, i, _):
        return self.named(a) + self.distance(i) + self.rng.choice([
            [f"add %{LOW[i]}, %{LOW[a]}"],
            [f"add %{LOW[a]}, %{LOW[i]}", f"mov %{LOW[i]}, %{LOW[a]}"]])

    def halved(self, a, i, _):
        k = self.rng.choice([1, 1, 3])
        if k == 1:
            return self.named(a) + [f"shr %{a}" if self.rng.random() < .5 else f"sar %{a}",
                                    f"add %rdi, %{a}",
                                    self.rng.choice([f"add %{a}, %{a}", f"shl $1, %{a}"])]
        return self.named(a) + self.distance(i) + [f"ror $8, %{a}", f"shl $56, %{i}",
                                                   f"add %{i}, %{a}", f"rol $8, %{a}"]

    def negated(self, a, i, _):
        return self.named(a) + self.distance(i) + [f"neg %{a}", f"sub %{i}, %{a}", f"neg %{a}"]

    def multiplied(self, a, i, j):
        return self.named(j) + self.distance(i) + [f"imul $1, %{j}, %{a}", f"add %{i}, %{a}"]

    def far(self, a, i, _):
        steps = self.rng.choice(["inc %eax", "nopl (%rax)", "xor $7, %eax"])
        return self.named(a) + [f".rept {self.rng.choice([2100, 3000])}; {steps}; .endr"] + \
            self.distance(i) + [f"add %{i}, %{a}"]

    def many(self, a, i, _):
        done = self.label()
        lines = []
        for n in range(self.rng.choice([9, 12])):
            self.helper(f"many{n}", ["ret"])
            lines += self.named(a, ".L" + self.name(f"many{n}")) + [f"cmp ${n + 1000}, %edi",
                                                                   f"je {done}"]
        return lines + self.named(a) + [f"{done}:"] + self.distance(i) + \
            [f"lea (%{a},%{i}), %{a}"]

    def lazy(self, a, i, _):
        w, done = self.slot(), self.label()
        return [f"mov {w}(%rip), %{a}", f"test %{a}, %{a}", f"jne {done}"] + self.named(a) + \
            [f"mov %{a}, {w}(%rip)", f"{done}:"] + self.distance(i) + [f"add %{i}, %{a}"]

    def vector(self, a, i, _):
        load = self.rng.choice([[f"push %{a}", "movq (%rsp), %xmm0", f"pop %{a}"],
                                [f"mov %{a}, -16(%rsp)", "movq -16(%rsp), %xmm0"]])
        return self.named(a) + load + self.distance(i) + \
            [f"movq %{i}, %xmm1", "paddq %xmm1, %xmm0", f"movq %xmm0, %{a}"]

    def doubled(self, a, i, _):
        return self.named(a) + [f"mov %{a}, -24(%rsp)", "movddup -24(%rsp), %xmm2"] + \
            self.distance(i) + [f"movq %{i}, %xmm3", "paddq %xmm3, %xmm2", f"movq %xmm2, %{a}"]

    def kept_vector(self, a, i, _):
        self.helper("none", ["ret"])
        return self.named(a) + [f"movq %{a}, %xmm5", f"call .L{self.name('none')}"] + \
            self.distance(i) + [f"movq %{i}, %xmm1", "paddq %xmm5, %xmm1", f"movq %xmm1, %{a}"]

    def vector_stored(self, a, i, _):
        return self.named(a) + [f"movq %{a}, %xmm4", "movups %xmm4, -48(%rsp)"] + \
            self.distance(i) + [f"add %{i}, -48(%rsp)", f"mov -48(%rsp), %{a}"]

    def unread(self, a, i, _):
        """Behind a byte that is no instruction, which a jump passes."""
        on = self.label()
        return [f"jmp {on}", ".byte 0x06", f"{on}:"] + self.named(a) + self.distance(i) + \
            [f"add %{i}, %{a}"]

    def swapped(self, a, i, j):
        before, s, after = self.frame_slot()
        return before + self.named(j) + [f"mov %{j}, {s}"] + self.distance(i) + \
            [f"xchg %{i}, {s}", f"add %{i}, {s}", f"mov {s}, %{a}"] + after


@special
class Rows(Computed):
    """Distances from a place that lie otherwise than one behind the other, or behind what is
    none."""

    ways = ("named_rows", "packed_rows", "masked_rows", "before", "behind_holes")

    def rows(self, each, first=()):
        at = self.label("T")
        self.tabled.append((self.rng.choice(["rodata", "data"]), [".balign 4", *first, f"{at}:"] +
                            [each.format(f"{x} - {self.at[0]}") for x in self.at]))
        return at

    def sum(self, a, j):
        return self.named(j) + self.rng.choice([[f"add %{j}, %{a}"], [f"lea (%{a},%{j}), %{a}"]])

    def named_rows(self, a, i, j):
        """Each with a text behind it."""
        k = self.rng.choice([28, 60, 21])
        at = self.rows('.long {}; .fill ' + f"{k}, 1, 0x6e")
        return self.named(i, at) + [f"imul ${k + 4}, %rdi, %{j}",
                                    f"movslq (%{i},%{j}), %{a}"] + self.sum(a, j)

    def packed_rows(self, a, i, j):
        at = self.rows(".byte 0x90; .long {}")
        return self.named(i, at) + [f"lea (%rdi,%rdi,4), %{j}",
                                    f"movslq 1(%{i},%{j}), %{a}"] + self.sum(a, j)

    def masked_rows(self, a, i, j):
        """The same, and it is known how many there are."""
        at = self.rows(".byte 0x90; .long {}")
        return self.named(i, at) + [f"mov %edi, %{self.e(j)}", f"and $7, %{self.e(j)}",
                                    f"lea (%{j},%{j},4), %{j}",
                                    f"movslq 1(%{i},%{j}), %{a}"] + self.sum(a, j)

    def before(self, a, i, j):
        """A text stands where the code names them."""
        k = self.rng.choice([64, 128])
        at = self.rows(".long {}", [f".fill {k}, 1, 0x6e"])
        return self.named(i, f"{at} - {k}") + [f"lea {k // 4}(%rdi), %{self.e(j)}",
                                               f"movslq (%{i},%{j},4), %{a}"] + self.sum(a, j)

    def behind_holes(self, a, i, j):
        k = self.rng.choice([5, 9])
        at = self.label("T")
        self.rows(".long {}", [f"{at}: .long 0", f".fill {k}, 4, 0x70000000"])
        return self.named(i, at) + [f"lea {k + 1}(%rdi), %{self.e(j)}",
                                    f"movslq (%{i},%{j},4), %{a}"] + self.sum(a, j)
