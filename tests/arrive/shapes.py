# SPDX-License-Identifier: MIT
"""shapes: whole programs, of what program.py and codings.py have."""
import random

import bare  # noqa: F401  it adds to the codings
import beside  # noqa: F401  and it to special
import codings
import detours
import special
import sums  # noqa: F401  it adds to those
import vectors  # noqa: F401  and it to both
from program import ARRIVE, FUNC_F, FUNC_G, FUNC_H, STAYS, Program

# --- what becomes of a target between its making and the jump ---


def by_xmm(p):
    p.out(f"movq %{p.t}, %xmm0", f"movq %xmm0, %{p.t}")


def by_word(p):
    at = p.slot()
    p.out(f"mov %{p.t}, {at}(%rip)", f"mov {at}(%rip), %{p.t}")


def by_function(p):
    """As if a function had found it."""
    p.out(f"call {p.identity()}")


def by_flags(p):
    """Beside the flags, which go to the stack and back."""
    p.out(f"push %{p.t}", "pushf", f"pop %{p.d}", f"push %{p.d}", "popf", f"pop %{p.t}")


def by_other(p):
    """Where a vector is put elsewhere, by a register that looks like the stack pointer."""
    p.out("push %r12", "lea -128(%rsp), %r12", f"mov %{p.t}, -16(%rsp)",
          "vmovups %xmm7, -16(%r12)", f"mov -16(%rsp), %{p.t}", "pop %r12")


LAUNDER = {
    "none": lambda p: None,
    "moved": lambda p: p.out(f"mov %{p.t}, %{p.d}", f"mov %{p.d}, %{p.t}"),
    "popped": lambda p: p.out(f"push %{p.t}", "nop", f"pop %{p.t}"),
    "spilled": lambda p: p.out(f"mov %{p.t}, -16(%rsp)", f"mov -16(%rsp), %{p.t}"),
    "xmm": by_xmm,
    "stored": by_word,
    "negated": lambda p: p.out(f"neg %{p.t}", "nop", f"neg %{p.t}"),
    "turned": lambda p: p.out(f"rol $17, %{p.t}", f"ror $17, %{p.t}"),
    "summed": lambda p: p.out(f"lea 8(%{p.t}), %{p.t}", f"sub $8, %{p.t}"),
    "called": by_function,
    "flags": by_flags,
    "other": by_other,
    **detours.WASHES,
}

# --- how it jumps there ---


def stays(p):
    p.here(STAYS) if p.own else None


def jump(p):
    stays(p)
    p.out(f"jmp *%{p.t}")


def notrack(p):
    stays(p)
    p.out(f"notrack jmp *%{p.t}")


def bnd(p):
    stays(p)
    p.out(f"bnd jmp *%{p.t}")


def rex(p):
    """With a prefix that it does not need."""
    stays(p)
    p.out(f"rex64 jmp *%{p.t}" if p.t in ("rcx", "rdx", "rsi") else f"jmp *%{p.t}")


def return_of(p):
    """As the way back of a function that is jumped to."""
    p.out(f"push %{p.t}")
    stays(p)
    p.out(f"jmp {p.name('H')}")


def ret_more(p):
    """A return that takes more than its way back."""
    p.out("push %rdi", f"push %{p.t}")
    stays(p)
    p.out("ret $8")


def push_ret(p):
    p.out(f"push %{p.t}")
    stays(p)
    p.out("ret")


def put_ret(p):
    p.out("sub $8, %rsp", f"mov %{p.t}, (%rsp)")
    stays(p)
    p.out("ret")


def xchg_ret(p):
    p.out("push %rax" if p.rng.random() < .5 else "push %rdi", f"xchg %{p.t}, (%rsp)")
    stays(p)
    p.out("ret")


def add_ret(p):
    """A call's way back, and what it is away from the target."""
    here, back = p.label(), p.label()
    p.out(f"lea {back}(%rip), %{p.d}", f"sub %{p.d}, %{p.t}", f"call {here}", f"{back}: ud2",
          f"{here}: add %{p.t}, (%rsp)")
    stays(p)
    p.out("ret")


def over_ret(p):
    here = p.label()
    p.out(f"call {here}", "ud2", f"{here}: mov %{p.t}, (%rsp)")
    stays(p)
    p.out("ret")


def far_ret(p):
    p.out(f"mov %cs, %{p.e(p.d)}", f"push %{p.d}", f"push %{p.t}", "lretq")


def thunk(p):
    stays(p)
    p.out(f"jmp {p.thunk()}")


def thunk_here(p):
    here, trap = p.label(), p.label()
    p.out(f"call {here}", f"{trap}: pause", "lfence", f"jmp {trap}",
          f"{here}: mov %{p.t}, (%rsp)")
    stays(p)
    p.out("ret")


def by_memory(p):
    at = p.slot()
    p.out(f"mov %{p.t}, {at}(%rip)")
    stays(p)
    p.out(f"jmp *{at}(%rip)")


def by_stack(p):
    p.out(f"mov %{p.t}, -8(%rsp)")
    stays(p)
    p.out("jmp *-8(%rsp)")


def by_helper(p):
    p.out(f"jmp {p.jumper()}")


def call(p):
    """The place returns, and the caller goes on here."""
    p.out(f"call *%{p.t}")
    p.leave()


def call_by_hand(p):
    back = p.label()
    p.out(f"lea {back}(%rip), %{p.d}", f"push %{p.d}", f"jmp *%{p.t}", f"{back}:")
    p.note(ARRIVE, back)
    p.leave()


JUMPS = {f.__name__: f for f in (
    jump, jump, notrack, bnd, rex, return_of, ret_more, push_ret, put_ret,
    xchg_ret, add_ret, over_ret, far_ret, thunk, thunk_here, by_memory, by_stack, by_helper,
    call, call_by_hand)}
JUMPS.update(detours.JUMPS)
# Those that come back need a target that returns to them.
CALLS = ("call", "call_by_hand")
COMMON = ("jump", "jump", "jump", "jump", "jump")


class Made(Program):
    """A program with a dispatch, in F itself or in another function."""

    def __init__(self, rng, number, kind, encoding=None):
        super().__init__(rng, number, kind)
        names = [n for n, e in codings.ALL.items()
                 if not (e["exec_only"] and self.pic)]
        name = encoding if encoding in names else rng.choice(names)
        self.how = codings.ALL[name]
        self.own = rng.random() < .5
        self.form = rng.choice(COMMON + tuple(JUMPS))
        self.wash = rng.choice(["none"] * 12 + list(LAUNDER))
        if self.form in CALLS:
            self.frame = "none"
        self.count = rng.randint(2, 5)
        self.stride = rng.choice([16, 32]) if self.how["stride"] else 0
        self.traits.update(encoding=name, jump=self.form, wash=self.wash,
                           owner="F" if self.own else "G", frame=self.frame)
        if rng.random() < .3:
            self.traits["bound"] = rng.choice(["cmp", "and"])
        self.between = rng.random() < .1 and not self.stride and not self.how["near"]
        if self.between:
            self.traits["between"] = "data"
        self.after = []             # functions that the program has asked for
        self.helpers = {}

    def stays(self):
        stays(self)

    # --- functions that are asked for ---

    def asked(self, what, lines, symbol=True):
        if what not in self.helpers:
            at = self.name(what) if symbol else self.label(what)
            self.helpers[what] = at
            self.after.append([f".type {at}, @function"] * symbol + [f"{at}:"] + lines +
                              [f".size {at}, . - {at}"] * symbol)
        return self.helpers[what]

    def identity(self):
        return self.asked("identity", [f"mov %{self.t}, %{self.d}", f"mov %{self.d}, %{self.t}",
                                       "ret"], self.rng.random() < .5)

    def jumper(self):
        return self.asked("jumper", [f"jmp *%{self.t}"], self.rng.random() < .7)

    def thunk(self):
        here, trap = self.label(), self.label()
        return self.asked("thunk", [f"call {here}", f"{trap}: pause", "lfence", f"jmp {trap}",
                                    f"{here}: mov %{self.t}, (%rsp)", "ret"],
                          self.rng.random() < .7)

    # --- a dispatch ---

    def jump_by(self, memory):
        """An encoding that has what it goes by in memory."""
        if self.form == "call":
            self.out(f"call *{memory}")
            self.leave()
        elif self.form in ("jump", "notrack", "by_memory", "by_stack"):
            self.traits["jump"] = self.form = "jump"
            stays(self)
            self.out(("notrack " if self.notrack else "") + f"jmp *{memory}")
        else:
            self.out(f"mov {memory}, %{self.t}")
            return False
        return True

    def dispatch(self):
        if self.how["make"](self):
            return
        self.finish()

    def finish(self):
        """The target is known."""
        LAUNDER[self.wash](self)
        JUMPS[self.form](self)

    def bounded(self, default):
        bound = self.traits.get("bound")
        self.mask = 7
        if bound == "cmp":
            self.out(f"cmp ${self.count - 1}, %{'rdi' if self.rng.random() < .5 else 'edi'}",
                     f"ja {default}")

    # --- places ---

    def block(self, target, last, place):
        """Some steps, with a target among them, and an end."""
        rng = self.rng
        if self.stride:
            if target == self.base:
                self.out(f".balign {self.stride * 8}", f"{target}:")
            else:
                self.out(f".org {self.base} + {self.stride * place}, 0x90", f"{target}:")
            self.steps(0, 2, True)
        else:
            self.steps(0, 2)
            if self.how["align"]:
                self.out(f".p2align {self.how['align']}")
            self.out(f"{target}:")
            self.steps(0, 3)
        ends = ["ret"] * 5 + ["tail"]
        if not last:
            ends += ["on", "on"]
            if self.own and self.form not in CALLS and not self.stride and \
               not self.how["near"]:
                ends += ["again"]
        end = rng.choice(ends)
        if end == "ret":
            self.leave()
        elif end == "tail":
            self.leave(f"jmp {self.name('H')}")
        elif end == "again":
            self.out("dec %edi", f"js {self.default}")
            self.dispatch()

    def blocks(self, targets):
        """Those of F, behind each other, and a place that none of them is."""
        if self.stride:
            self.steps(0, 1)
        else:
            if self.how["align"]:
                self.out(f".p2align {self.how['align']}")
            self.out(f"{self.base}:")
        for i, x in enumerate(targets):
            self.block(x, i + 1 == len(targets), i)

    def begins(self):
        """What comes first, and may be come to again."""
        early = self.rng.random() < .6 and self.own and not self.stride and \
            self.form not in CALLS
        at = self.label("A") if early else None
        self.enter()
        self.out("xor %eax, %eax")
        if at:
            if self.how["align"]:
                self.out(f".p2align {self.how['align']}")
            self.out(f"{at}:")
        self.out("dec %edi")
        return at

    def make_own(self):
        """F jumps within itself."""
        f = self.name("F")
        self.start = self.begin(f, FUNC_F)
        early = self.begins()
        self.default = self.harmless = self.label("D")
        count = self.count - bool(early)
        blocks = [self.label("B") for _ in range(count)]
        self.base = blocks[0] if self.stride else self.label("b")
        self.targets = list(blocks)
        if early:
            self.targets.append(early)
        elif self.rng.random() < .3 and self.frame == "none" and not self.stride and \
                self.form not in CALLS and not self.how["near"]:
            self.targets.append(self.start_h)    # and one leaves, for a function
        if early and self.how["near"]:
            # The base is before all that it is the base of.
            self.base = early
        self.count = len(self.targets)
        self.steps(0, 2)
        self.bounded(self.default)
        self.dispatch()
        self.out(*self.inside)
        self.inside = []
        if self.base == early:
            for i, x in enumerate(blocks):
                self.block(x, i + 1 == count, i)
        else:
            self.blocks(blocks)
        self.out(f"{self.default}:")
        self.leave()
        self.end(f)
        for x in blocks + [early] * bool(early):
            self.note(ARRIVE, x)
        self.callable(f, self.count)

    def make_f(self):
        f = self.name("F")
        self.begin(f, FUNC_F, self.start)
        self.enter()
        self.out("xor %eax, %eax" if self.rng.random() < .6 else "lea 1(%rdi), %eax")
        if self.stride:
            self.steps(0, 1)
            self.out(f"jmp {self.targets[0]}")
        self.default = self.label("D")
        self.blocks(self.in_f)
        self.out(f"{self.default}:")
        self.leave()
        self.end(f)
        self.callable(f, 1)

    def make_g(self):
        g = self.name("G")
        self.begin(g, FUNC_G)
        self.enter()
        self.out("xor %eax, %eax", "dec %edi")
        self.harmless = self.label("D")
        self.steps(0, 2)
        self.bounded(self.harmless)
        self.dispatch()
        self.out(*self.inside)
        self.inside = []
        for x in self.in_g:
            self.out(f"{x}:")
            self.steps(0, 2)
            self.leave()
        self.out(f"{self.harmless}:")
        self.leave()
        self.end(g)
        self.callable(g, self.count)

    def make_other(self):
        """G jumps into F."""
        rng = self.rng
        self.own = False
        self.in_f = [self.label("B") for _ in range(self.count)]
        self.in_g = []
        if not self.stride and not self.how["near"] and rng.random() < .3:
            self.in_g = [self.label("B")]
        self.targets = self.in_g + self.in_f
        self.count = len(self.targets)
        if self.in_g:
            self.own = True     # for a jump may stay
        self.start = self.label("F")
        self.base = self.in_f[0] if self.stride else self.label("b")
        order = [self.make_f, self.make_g]
        rng.shuffle(order)
        for make in order:
            own, self.own = self.own, self.own and make == self.make_g
            make()
            self.own = own
            if rng.random() < .3:
                self.function(self.name(f"between{len(self.text)}"))
        for x in self.in_f + self.in_g:
            self.note(ARRIVE, x)

    def make(self):
        self.notrack = self.rng.random() < .2
        self.other = self.start_h = self.label("H")
        if self.rng.random() < .3:
            self.function(self.name("before"))
        (self.make_own if self.own else self.make_other)()
        self.begin(self.name("H"), FUNC_H, self.start_h)
        self.out("inc %eax", "ret")
        self.end(self.name("H"))
        for lines in self.after:
            self.out(".p2align 4" if self.rng.random() < .5 else "", *lines)
        return self


# Codings that add something to a word which they load; to a place in the code; to where an
# entry stands.
OF_WORDS = ("tagged", "base_kept", "distance_got", "kept_table")
OF_PLACES = ("base_text", "base8", "base16", "scaled8", "scaled16", "biased", "xored", "halves",
             "deltas", "distance", "multiplied", "shifted", "scaled_lea", "ored", "stepped",
             "negative", "number")
OF_ENTRIES = ("own_place", "walked")
OF_ADDRESSES = ("words_mem", "words_load", "words_back", "words_kept", "records", "unaligned",
                "words32", "packed32", "by_symbol", "tagged")


def residue(p):
    """What no plan can see of it, in the words of docs/sites.md ("Where control may arrive"); None:
    nothing."""
    t = p.traits
    if t.get("place") == "inside" and t["encoding"] in OF_ADDRESSES and not p.pic:
        return "addresses in code that goes by them, read as instructions"
    if t["encoding"] == "skip" and t.get("data") == "odd":
        return "data behind a call that do not end with an instruction"
    if t["encoding"] in OF_WORDS and t.get("jump") == "call":
        return "a call by a sum of a word, if it may be a word on another way"
    if t.get("wash") not in ("stored", "called") and \
            t.get("jump") not in ("by_memory", "by_helper", "return_of"):
        return None
    if t["encoding"] in OF_WORDS:
        return "a sum of a word, kept or passed on"
    if t["encoding"] in OF_PLACES and not p.pic and \
            (t["owner"] == "G" or t.get("number") == "apart"):
        return "a sum of a number that may be no address, kept or passed on"
    if t["encoding"] in ("words32", "packed32") and t.get("place") in ("inside", "behind"):
        return "addresses of four bytes in code, kept or passed on"
    if t["encoding"] == "biased" and t.get("place") in ("inside", "behind"):
        return "a table in code, far from what names it, whose sum is kept or passed on"
    if t["encoding"] in OF_ENTRIES:
        return "distances from where they stand, at odd places or in code, kept or passed on"
    return None


def make(seed, number, kind, encoding=None):
    """The program of this number."""
    rng = random.Random(f"{seed}.{number}")
    name = encoding or (rng.choice(list(special.ALL)) if rng.random() < .2 else None)
    p = special.ALL[name](rng, number, kind).make() if name in special.ALL else \
        Made(rng, number, kind, encoding).make()
    why = residue(p)
    if why:
        p.traits["residue"] = why
    return p


def assembly(programs, live=False):
    """A whole file; with a list of what the driver is to call, if it is to run."""
    lines = [".text", ".globl arrive_base", ".hidden arrive_base", "arrive_base:", ".Limage:"] \
        if live else [".text", ".Limage:"]
    for p in programs:
        lines += p.sections()
    calls = [c for p in programs for c in p.calls]
    lines += ['.section .data.rel.ro, "aw"', ".balign 8"]
    if live:
        lines += [".globl arrive_calls", ".hidden arrive_calls", "arrive_calls:"]
        for i, (name, most) in enumerate(calls):
            lines.append(f".quad {name}, {most}, .Lname{i}")
        lines += [".quad 0, 0, 0", ".section .rodata"]
        lines += [f'.Lname{i}: .asciz "{name}"' for i, (name, _) in enumerate(calls)]
        lines.append('.section .note.GNU-stack, "", @progbits')
    else:
        # What nothing leads to is no code of the program's.
        lines += [f".quad {name}" for name, _ in calls]
    return "\n".join(lines) + "\n"
