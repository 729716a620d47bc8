# SPDX-License-Identifier: MIT
"""vectors: addresses in constants of vectors, by half an address, and through words that are found
by a register, another one and a number."""
from codings import coding, make_table, index
from special import special
from sums import Computed


@special
class Constants(Computed):
    """What is added to is a constant of two addresses, or of one that is doubled."""

    ways = ("loaded_pair", "added_pair", "doubled_word", "moved_word", "halves", "taken", "avx",
            "narrow")

    def pair(self):
        at = self.label("K")
        first = self.at[0]
        self.tabled.append((self.rng.choice(["data.rel.ro", "data"]),
                            [".balign 16", f"{at}: .quad {first}, {first}"]))
        return at

    def distances(self):
        """From the first place: two for each."""
        at = self.label("D")
        self.tabled.append(("rodata", [".balign 16", f"{at}:"] +
                            [f".quad {x} - {self.at[0]}, 0" for x in self.at]))
        return at

    def vector(self, i, reg):
        return [f"lea {self.distances()}(%rip), %{i}", "shl $4, %rdi",
                f"movdqa (%{i},%rdi), %{reg}"]

    def loaded_pair(self, a, i, _):
        load = self.rng.choice(["movdqa", "movdqu", "movaps", "movups", "lddqu"])
        return [f"{load} {self.pair()}(%rip), %xmm1"] + self.vector(i, "xmm0") + \
            self.rng.choice([["paddq %xmm1, %xmm0"],
                             ["paddq %xmm0, %xmm1", "movdqa %xmm1, %xmm0"]]) + \
            [f"movq %xmm0, %{a}"]

    def added_pair(self, a, i, _):
        return self.vector(i, "xmm2") + [f"paddq {self.pair()}(%rip), %xmm2", f"movq %xmm2, %{a}"]

    def doubled_word(self, a, i, _):
        return [f"movddup {self.pair()}(%rip), %xmm7"] + self.vector(i, "xmm0") + \
            ["paddq %xmm7, %xmm0", f"movq %xmm0, %{a}"]

    def moved_word(self, a, i, _):
        how = self.rng.choice(["movq", "movsd", "movlps"])
        return ["pxor %xmm3, %xmm3", f"{how} {self.pair()}(%rip), %xmm3"] + \
            self.vector(i, "xmm0") + ["paddq %xmm3, %xmm0", f"movq %xmm0, %{a}"]

    def halves(self, a, i, _):
        pair = self.pair()
        return [f"movlps {pair}(%rip), %xmm4", f"movhps {pair}+8(%rip), %xmm4",
                "pshufd $0x4e, %xmm4, %xmm5"] + self.vector(i, "xmm0") + \
            ["paddq %xmm0, %xmm5", f"movq %xmm5, %{a}"]

    def taken(self, a, i, _):
        """Taken away from what is known."""
        return [f"movdqa {self.pair()}(%rip), %xmm1"] + self.vector(i, "xmm0") + \
            ["pxor %xmm2, %xmm2", "psubq %xmm0, %xmm2", "psubq %xmm2, %xmm1", f"movq %xmm1, %{a}"]

    def narrow(self, a, i, _):
        """Of less than eight bytes at a time: places differ in the lowest only."""
        load = self.named(a) + [f"movq %{a}, %xmm1"]
        if self.kind in ("pie", "shared") and self.rng.random() < .5:
            load = [f"movdqa {self.pair()}(%rip), %xmm1"]
        op = self.rng.choice(["paddd", "paddw", "paddb"])
        return load + self.vector(i, "xmm0") + [f"{op} %xmm1, %xmm0", f"movq %xmm0, %{a}"]

    def avx(self, a, i, _):
        return self.vector(i, "xmm0") + [f"vpaddq {self.pair()}(%rip), %xmm0, %xmm9",
                                         f"vmovq %xmm9, %{a}"]


@special
class Half(Computed):
    """Names and sums of four bytes, where addresses have no more; else of eight."""

    ways = ("half_name", "half_sum", "half_both", "half_load")

    def half(self, at, a):
        if self.kind != "exec":
            return [f"lea {at}(%rip), %{a}"]
        return self.rng.choice([[f"lea {at}(%rip), %{self.e(a)}"], [f"lea {at}(%eip), %{a}"],
                                [f"lea {at}(%eip), %{self.e(a)}"]])

    def sum_of(self, a, i):
        short = self.kind == "exec"
        e = self.e if short else lambda r: r
        return self.rng.choice([[f"lea (%{e(a)},%{e(i)}), %{e(a)}"],
                                [f"lea 2(%{e(a)},%{e(i)}), %{a}", f"sub $2, %{a}"],
                                [f"add %{e(i)}, %{e(a)}"]])

    def half_name(self, a, i, _):
        return self.half(self.at[0], a) + self.distance(i) + [f"add %{i}, %{a}"]

    def half_sum(self, a, i, _):
        return self.named(a) + self.distance(i) + self.sum_of(a, i)

    def half_both(self, a, i, _):
        return self.half(self.at[0], a) + self.distance(i) + self.sum_of(a, i)

    def half_load(self, a, i, j):
        """A table that is reached by half an address."""
        at = self.label("T")
        self.tabled.append(("rodata", [".balign 4", f"{at}:"] +
                            [f".long {x} - {at}" for x in self.at]))
        by = f"(%{self.e(j)},%edi,4)" if self.kind == "exec" else f"(%{j},%rdi,4)"
        return self.named(j, at) + [f"movslq {by}, %{a}", f"add %{j}, %{a}"]


@coding()
def eacall(p):
    """What it goes by is in memory that is found by two registers and a number."""
    scale = p.keep("scale", lambda: p.rng.choice([1, 2, 4, 8]))
    bias = p.keep("bias", lambda: p.rng.choice([0, 8, 0x18, 0x1238, -0x40]))
    make_table(p, ".quad {}", True)
    index(p)
    p.out(f"shl ${(8 // scale).bit_length() - 1}, %{p.e(p.c)}")
    p.lea(p.made, p.b)
    if bias:
        p.out(f"sub ${bias}, %{p.b}" if p.rng.random() < .5 else f"lea {-bias}(%{p.b}), %{p.b}")
    if p.rng.random() < .2:        # by the stack pointer
        p.out(f"lea ({','.join(['%' + p.b, '%' + p.c, str(scale)])}), %{p.d}",
              f"mov {bias}(%{p.d}), %{p.t}", f"mov %{p.t}, -16(%rsp)")
        return p.jump_by("-16(%rsp)")
    return p.jump_by(f"{bias}(%{p.b},%{p.c},{scale})")
