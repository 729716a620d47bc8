# SPDX-License-Identifier: MIT
"""program: one made-up program in assembly, in which control arrives at odd places.

It has a function F, which is what gets probed; G, which jumps as F may do itself; H and
others, which are there so that tables lead elsewhere, too. All are called with a number
from 1 on and return a sum of what they came past, so that a live run tells whether control
went where it should. Conventions within the code:

    %rdi    which target, from 0 on, at a dispatch; kept by it, for it may come again
    %eax    the sum, kept by every dispatch
    p.t     the register in which a dispatch has its target; p.b and p.c are its scratch

Labels of places are local to the assembler (.L...), so no file has them as symbols. The
truth about them is in a section of its own that is not loaded, .arrive: triples of
words (program, what, address). What is true:

    FUNC_F, FUNC_G, FUNC_H   where the function starts
    ARRIVE  control arrives here, and not only by falling in or by direct jumps
    STAYS   the jump that stands here stays in its function, so no call ends with it
    BRANCH  as ARRIVE, but by direct jumps, which a plan may lead elsewhere if it sees them
    LEAVES  control comes here, and its function ends with the instruction that stands here
    DATA    data stand here, in the code, up to the END that follows
    CERTAIN the function that starts here has nothing uncertain, nor has the module (rules only)
"""
FUNC_F, FUNC_G, FUNC_H, ARRIVE, STAYS, BRANCH, LEAVES, DATA, END, CERTAIN = range(10)

REGS = {"rcx": "ecx", "rdx": "edx", "rsi": "esi", "r9": "r9d", "r10": "r10d", "r11": "r11d"}
FIX = '"aw"'            # tables for a handler, to which the loader may have to write
FRAMES = {
    # how it is made, how it is taken down, how far the CFA is then
    "none": ([], [], []),
    "push": (["push %rbx"], ["pop %rbx"], [16]),
    "sub": (["sub $24, %rsp"], ["add $24, %rsp"], [32]),
    "rbp": (["push %rbp", "mov %rsp, %rbp"], ["pop %rbp"], [16, "rbp"]),
}
STEPS = (
    "inc %eax", "add ${k}, %eax", "lea {k}(%rax), %eax", "xor ${k}, %eax", "nop",
    "xchg %ax, %ax", "nopl (%rax)", "imul $3, %eax, %eax", "add ${big}, %eax", "not %eax",
    "nopl 0(%rax,%rax,1)", "add ${k}, %eax", "inc %eax",
)


WORDS = ("with", "oh", "a", "number", "what it was called with", "%d of %d", "no memory")
# What takes bytes of what follows, if it is read as an instruction.
OPEN_ENDS = ("0x48, 0xb8", "0xe8", "0xb8", "0x05", "0", "0x0f", "0xf", "0x81", "0x66, 0x3d",
             "0xf3", "0x66", "0x3e", "0x4c", "0x67", "0x03", "0x0f, 0xb6", "0xf0")


class Program:
    """What is chosen of one program, and its text as far as it is made."""

    def __init__(self, rng, number, kind):
        self.rng, self.n, self.kind = rng, number, kind    # kind: exec, pie, shared
        self.pic = kind != "exec"
        self.text, self.tabled, self.truth, self.calls = [], [], [], []
        self.inside = []            # data that the code is to step over, behind a jump
        self.labels = 0
        regs = list(REGS)
        rng.shuffle(regs)
        self.t, self.b, self.c, self.d = regs[:4]
        self.frame = rng.choice(["none", "none", "push", "sub", "rbp"])
        self.cfi = rng.random() < .6
        self.endbr = rng.random() < .3
        self.traits = {}
        self.globals, self.kept, self.made, self.first = set(), {}, None, 0
        self.between = False        # data may stand between instructions

    # --- writing ---

    def out(self, *lines):
        self.text += lines

    def label(self, what=""):
        self.labels += 1
        return f".L{self.n}_{what}{self.labels}"

    def name(self, what):
        return f"{what}_{self.n}"

    def e(self, reg):
        """The lower half of a register."""
        return REGS[reg]

    def note(self, what, at):
        self.truth.append((what, at))

    def here(self, what):
        at = self.label("h")
        self.out(f"{at}:")
        self.note(what, at)

    def table(self, lines, absolute=False, size=8, at=None, before=()):
        """A table somewhere; its label. Absolute words have to be where a loader can
        write to them."""
        rng = self.rng
        at = at or self.label("t")
        places = ["data", "data.rel.ro"]
        if not (absolute and self.pic):
            places += ["rodata", "rodata", "behind", "inside"]
        if absolute and not self.pic:
            places += ["note"]
        place = rng.choice(places)
        self.traits.setdefault("place", place)
        align = [f".balign {rng.choice([size, size, 1])}"]
        if rng.random() < .15:
            align.append(".byte 0")        # not aligned
        middle = []
        self.labels += 1
        for i, line in enumerate(lines):
            if i and rng.random() < .1:    # something of a name in its middle
                middle += [f"{self.name('name')}_{self.labels}_{i}:"] \
                    if not place.startswith(("behind", "inside")) else []
            middle.append(line)
        body = list(before) + [f"{at}:"] + middle
        if place in ("inside", "behind"):
            body = self.as_data(body)
        body = align + body
        if place == "inside":
            self.inside += body
        else:
            self.tabled.append((place, body))
        return at

    def as_data(self, lines):
        """What stands in the code and is none."""
        begin, end = self.label("data"), self.label("end")
        self.note(DATA, begin)
        self.note(END, end)
        return [f"{begin}:", *lines, f"{end}:"]

    def keep(self, what, make):
        """What is chosen once for a program, however many dispatches it has."""
        if what not in self.kept:
            self.kept[what] = make()
        return self.kept[what]

    def lea(self, at, reg):
        """The address of a label, in one of the ways there are."""
        if not self.pic and self.rng.random() < .5:
            self.out(self.rng.choice([f"mov ${at}, %{self.e(reg)}",
                                      f"movabs ${at}, %{reg}", f"mov ${at}, %{reg}"]))
        else:
            self.out(f"lea {at}(%rip), %{reg}")

    def slot(self, content=".quad 0"):
        at = self.label("s")
        self.tabled.append(("data", [".balign 8", f"{at}:", content]))
        return at

    # --- functions ---

    def begin(self, name, what, start=None):
        rng = self.rng
        if rng.random() < .6:
            self.out(f".p2align {rng.choice([4, 4, 4, 3, 5])}" + rng.choice(["", ", 0xcc"]))
        if rng.random() < .5:
            self.out(f".globl {name}")
            if rng.random() < .2:
                self.out(f".hidden {name}")
        self.out(f".type {name}, @function", f"{name}:")
        start = start or self.label("F")
        self.out(f"{start}:")
        self.note(what, start)
        if self.cfi:
            self.out(".cfi_startproc")
        if self.endbr:
            self.out("endbr64")
        return start

    def end(self, name):
        self.out(*self.inside)
        self.inside = []
        if self.cfi:
            self.out(".cfi_endproc")
        if self.rng.random() < .9:
            self.out(f".size {name}, . - {name}")

    def enter(self):
        make, _, cfa = FRAMES[self.frame]
        self.out(*make[:1])
        if self.cfi and cfa:
            self.out(f".cfi_def_cfa_offset {cfa[0]}")
        self.out(*make[1:])
        if self.cfi and "rbp" in cfa:
            self.out(".cfi_def_cfa_register %rbp")

    def leave(self, how="ret"):
        """The frame is taken down, and the function left."""
        _, down, cfa = FRAMES[self.frame]
        if self.cfi and cfa:
            self.out(".cfi_remember_state")
        self.out(*down)
        if self.cfi and cfa:
            self.out(".cfi_def_cfa %rsp, 8")
        # What it jumps to may pass for a piece of it, and be left there.
        self.out(f"{self.label('leave' if how == 'ret' else 'tail')}:", how)
        if self.cfi and cfa:
            self.out(".cfi_restore_state")

    def data(self):
        """Data as they may stand in code."""
        rng = self.rng
        lines = rng.choice([
            lambda: [f'.asciz "{rng.choice(WORDS)}"'],
            lambda: [".byte " + ", ".join(str(rng.randrange(256))
                                          for _ in range(rng.randint(1, 12)))],
            lambda: [f".long {rng.randrange(1 << 32)}"], lambda: [f".double {rng.random()}"],
            lambda: []])()
        if not lines or rng.random() < .5:
            lines.append(f".byte {rng.choice(OPEN_ENDS)}")
        return lines

    def jump_over(self):
        """Data, and control goes on behind them."""
        over = self.label("o")
        self.out(f"jmp {over}", *self.as_data(self.data()), f"{over}:")

    def steps(self, least, most, short=False):
        for _ in range(self.rng.randint(least, most)):
            if self.between and not short and self.rng.random() < .3:
                self.jump_over()
            pool = [s for s in STEPS if "big" not in s and "0(%rax," not in s] if short else STEPS
            self.out(self.rng.choice(pool).format(k=self.rng.randint(1, 99),
                                                  big=self.rng.randint(1000, 10 ** 6)))

    def function(self, name, what=FUNC_H):
        """One that does nothing remarkable."""
        start = self.begin(name, what)
        self.out("xor %eax, %eax")
        self.steps(0, 4)
        self.out("ret")
        self.end(name)
        return start

    def callable(self, name, most):
        """The driver may call it with 1 to `most`."""
        self.calls.append((name, most))

    # --- all of it ---

    def note_leaving(self):
        """Of what was left by leave(), what control comes to from a place where it arrives, with
        nothing between that ends or is no code. A G that jumps into F has not called that; and F
        that calls its own middle, or a helper that jumps there, does not look as if it did."""
        if self.traits.get("owner") != "F" or self.traits.get("jump", "") == "by_helper" or \
           self.traits.get("jump", "").startswith("call"):
            return
        arrived = {at for what, at in self.truth if what in (*range(4), BRANCH)}
        reached = False
        for line in self.text:
            at = line.partition(":")[0]
            if at in arrived:
                reached = True
            elif reached and at.startswith(f".L{self.n}_leave"):
                self.note(LEAVES, at)
            elif any(x in line for x in ("jmp", "ret", "ud2", "call", ".byte", ".asciz", ".long",
                                         ".double", ".org", ".skip", ".quad", ".word")):
                reached = False

    def sections(self):
        """Assembly of the whole program."""
        self.note_leaving()
        lines = [".text"]
        behind = []
        for place, body in self.tabled:
            if place == "behind":
                behind += body
        lines += [f".globl {x}" for x in sorted(self.globals)] + self.text + behind
        for place, body in self.tabled:
            if place != "behind":
                flags = {"rodata": '"a"', "data": '"aw"', "data.rel.ro": '"aw"',
                         "gcc_except_table": '"a"'}.get(place)
                dot = "." if flags else ""
                if place == "note":
                    lines += ['.section .note.tab, "a", @note', ".balign 4", ".long 4, 64, 1",
                              '.asciz "tab"'] + body
                    continue
                lines += [f".section {dot}{place}, {flags or FIX}, @progbits"] + body
        lines.append('.section .arrive, "", @progbits')
        lines += [f".quad {self.n}, {what}, {at}" for what, at in self.truth]
        return lines
