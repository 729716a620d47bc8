# SPDX-License-Identifier: MIT
"""special: programs whose ways to a place are no dispatch.

Each class here is a whole program, like those of shapes.py.
"""
from program import ARRIVE, FUNC_F, FUNC_G, REGS, STAYS, Program

ALL = {}


def special(cls):
    ALL[cls.__name__.lower()] = cls
    return cls


class Special(Program):
    def __init__(self, rng, number, kind):
        super().__init__(rng, number, kind)
        self.traits.update(encoding=type(self).__name__.lower(), owner="F", frame=self.frame)
        self.count = rng.randint(2, 4)

    def head(self, dec=True):
        """F, up to where its number is told."""
        self.start = self.begin(self.name("F"), FUNC_F)
        self.enter()
        self.out("xor %eax, %eax")
        if dec:
            self.out("dec %edi")

    def foot(self, most=None):
        self.end(self.name("F"))
        self.callable(self.name("F"), most or self.count)

    def helper(self, what, lines, kind=None):
        """Another function, with or without a name."""
        at = self.name(what)
        if kind is None and self.rng.random() < .3:
            self.out(f".L{at}:", *lines)
            return
        self.out(f".type {at}, @function", f"{at}:", f".L{at}:")
        if kind is not None:
            self.note(kind, f".L{at}")
        self.out(*lines, f".size {at}, . - {at}")

    def arrive(self, what="B"):
        """Here control arrives."""
        at = self.label(what)
        self.out(f"{at}:")
        self.note(ARRIVE, at)
        return at

    def place(self, least=0):
        """And here, and goes on."""
        at = self.arrive()
        self.steps(least, 2)
        return at

    def near(self, at, reg):
        """An address, often by way of another one."""
        how = self.rng.random()
        if how < .3:
            self.lea(at, reg)
        elif how < .65:
            self.out(f"lea {self.start}(%rip), %{reg}", f"add ${at} - {self.start}, %{reg}")
        else:
            here = self.label()
            self.out(f"lea {here}(%rip), %{reg}", f"{here}: lea {at} - {here}(%{reg}), %{reg}")


class Fix(Special):
    """A load may fault; a handler goes on where a table says."""

    def entry(self, fault, fix):
        raise NotImplementedError

    def make(self):
        self.traits["caught"] = True
        self.head()
        self.out("xor %esi, %esi")
        for i in range(self.count):
            fault, fix, skip = self.label("f"), self.label("R"), self.label()
            self.out(f"cmp ${i}, %edi", f"jne {skip}")
            self.out(f"{fault}: mov (%rsi), %{self.e(self.t)}" if self.rng.random() < .5 else
                     f"{fault}: mov %eax, (%rsi)")
            self.steps(0, 1)
            self.leave()
            self.steps(0, 1)
            self.out(f"{fix}:")
            self.note(ARRIVE, fix)
            self.steps(0, 2)
            self.leave()
            self.out(f"{skip}:")
            self.tabled.append((self.section, self.entry(fault, fix)))
        self.leave()
        self.foot()
        self.helper("reader", self.reader())
        self.slot(f".quad .L{self.name('reader')}")
        return self

    def reader(self):
        again, done, none = self.label(), self.label(), self.label()
        return [f"lea {self.start}(%rip), %rcx",
                f"lea {self.fixes}(%rip), %rdx", f"mov ${self.count}, %r8d",
                f"{again}: sub $1, %r8d", f"js {none}", *self.fault(), "cmp %rax, %rdi",
                f"je {done}", f"add ${self.size}, %rdx", f"jmp {again}",
                f"{done}:", *self.fixed(), "mov %rax, 168(%rsi)", f"{none}: ret"]

    def named(self, lines):
        """Of the first entry it is known where it is."""
        if not hasattr(self, "fixes"):
            self.fixes = self.label("X")
            return [f"{self.fixes}:"] + lines
        return lines


@special
class FixWord(Fix):
    section, size = "fix_word", 16

    def entry(self, fault, fix):
        return self.named([f".quad {fault}, {fix}"])

    def fault(self):
        return ["mov (%rdx), %rax"]

    def fixed(self):
        return ["mov 8(%rdx), %rax"]


@special
class FixPlace(Fix):
    section, size = "fix_place", 8

    def entry(self, fault, fix):
        return [".balign 4"] + self.named([f".long {fault} - .", f".long {fix} - ."])

    def fault(self):
        return ["movslq (%rdx), %rax", "add %rdx, %rax"]

    def fixed(self):
        return ["movslq 4(%rdx), %rax", "lea 4(%rdx,%rax), %rax"]


@special
class FixBase(Fix):
    section, size = "fix_base", 8

    def entry(self, fault, fix):
        return self.named([f".long {fault} - .Limage", f".long {fix} - .Limage"])

    def fault(self):
        return ["lea .Limage(%rip), %rcx", "movslq (%rdx), %rax", "add %rcx, %rax"]

    def fixed(self):
        return ["movslq 4(%rdx), %rax", "add %rcx, %rax"]


@special
class Skip(Special):
    """Data stand behind a call, and the function that is called comes back behind them."""

    def make(self):
        rng = self.rng
        how = rng.choice(["add", "pop", "told", "text"])
        self.traits["wash"] = how
        data = rng.choice([".byte 0x48", ".long 0x12345678", ".quad -1", ".skip 3, 0xe8"])
        self.traits["data"] = "odd" if data != ".quad -1" else "even"
        self.head()
        self.steps(0, 2)
        behind, end = self.label(), self.label("B")
        self.out(f"call .L{self.name('skip')}", f"{behind}:")
        if how == "told":
            self.out(f".long {end} - {behind}", data)
        elif how == "text":
            self.out('.asciz "%s"' % rng.choice(["a", "number", "what it was called with"]))
        else:
            self.out(data)
        self.out(f"{end}:")
        self.note(ARRIVE, end)
        self.steps(0, 2)
        self.leave()
        self.foot()
        t, d = self.t, self.d
        self.helper("skip", {
            "add": [f"addq ${end} - {behind}, (%rsp)", "ret"],
            "pop": [f"pop %{t}", f"add ${end} - {behind}, %{t}", f"jmp *%{t}"],
            "told": [f"pop %{t}", f"movslq (%{t}), %{d}", f"add %{d}, %{t}", f"jmp *%{t}"],
            "text": [f"pop %{t}", f"1: cmpb $0, (%{t})", f"lea 1(%{t}), %{t}", "jne 1b",
                     f"push %{t}", "ret"],
        }[how])
        return self


@special
class Retry(Special):
    """The function that is called comes back to the call."""

    def make(self):
        self.head(False)
        self.steps(0, 1)
        self.arrive()
        self.out(f"call .L{self.name('again')}")
        self.steps(0, 2)
        self.leave()
        self.foot()
        self.helper("again", ["inc %eax", "dec %edi", "js 1f", "subq $5, (%rsp)", "1: ret"])
        return self


@special
class Saved(Special):
    """One function says where to go on, and another one goes."""

    def make(self):
        slot, at = self.slot(), self.label("B")
        self.head()
        self.near(at, self.t)
        self.out(f"mov %{self.t}, {slot}(%rip)")
        self.steps(0, 1)
        self.out(f"call .L{self.name('G')}", "inc %eax")
        self.leave()
        self.steps(0, 2)
        self.out(f"{at}:")
        self.note(ARRIVE, at)
        self.steps(0, 2)
        self.leave()
        self.foot()
        go = [[f"jmp *{slot}(%rip)"], [f"mov {slot}(%rip), %{self.d}", f"jmp *%{self.d}"],
              [f"push {slot}(%rip)", "ret"]]
        self.helper("G", ["test $1, %dil", "jne 1f", "add $8, %rsp", *self.rng.choice(go),
                          "1: ret"], FUNC_G)
        return self


@special
class Chain(Special):
    """Ways back are pushed, and each return leads to the next."""

    def make(self):
        self.frame = self.traits["frame"] = "none"
        self.head()
        at = [self.label("B") for _ in range(self.count)]
        for x in reversed(at):
            self.near(x, self.t)
            self.out(f"push %{self.t}")
        self.here(STAYS)
        self.out("ret")
        for i, x in enumerate(at):
            self.steps(0, 1)
            self.out(f"{x}:")
            self.note(ARRIVE, x)
            self.steps(0, 3)
            if i + 1 < len(at):
                self.here(STAYS)
            self.out("ret")
        self.foot()
        return self


@special
class Threaded(Special):
    """Words of memory are the program, and each leads to a piece of code."""

    def make(self):
        rng = self.rng
        code, word = self.label("T"), rng.choice(["quad", "long", "byte"])
        size = {"quad": 8, "long": 4, "byte": 1}[word]
        ops = [self.label("B") for _ in range(self.count)]
        program = [rng.randrange(self.count - 1) for _ in range(rng.randint(1, 5))] + \
            [self.count - 1]
        self.head()
        table = self.label("T")
        t = self.t if self.t != "rsi" else "r9"
        base = ops[0]
        if word == "quad":
            fetch = [f"mov (%rsi), %{t}"]
            lines = [f".quad {ops[i]}" for i in program]
        elif word == "long":
            fetch = [f"movslq (%rsi), %{t}", f"add %r8, %{t}"]
            lines = [f".long {ops[i]} - {base}" for i in program]
        else:
            fetch = [f"movzbl (%rsi), %{REGS[t]}", f"mov (%r8,%{t},8), %{t}"]
            lines = [f".byte {i}" for i in program]
            self.table([f".quad {x}" for x in ops], True, at=table)
        self.traits["wash"] = word
        fetch += [f"add ${size}, %rsi"]
        self.table(lines, word == "quad", size, at=code)
        self.out(f"lea {code}(%rip), %rsi",
                 f"lea {base if word == 'long' else table if word == 'byte' else code}(%rip), %r8")
        self.out(*fetch)
        self.here(STAYS)
        self.out(f"jmp *%{t}", *self.inside)
        self.inside = []
        for i, x in enumerate(ops):
            self.out(f"{x}:")
            if word == "byte" or i in program:
                self.note(ARRIVE, x)
            self.steps(0, 2)
            if i + 1 == len(ops):
                self.leave()
            else:
                self.out(*fetch)
                self.here(STAYS)
                self.out(f"jmp *%{t}")
        self.foot()
        return self


@special
class Behind(Special):
    """Another function comes to F behind what F begins with."""

    def make(self):
        self.frame, self.traits["frame"] = "none", "none"
        self.traits["owner"] = "G"
        f = self.name("F")
        self.start = self.begin(f, FUNC_F)
        lead = [] if self.endbr else [self.rng.choice(
            ["nop", "xchg %ax, %ax", "nopl (%rax)", "mov %edi, %edi"])]
        self.out(*lead)
        at = self.arrive()
        self.out("lea 3(%rdi), %eax")
        self.steps(0, 3)
        self.out("ret")
        self.foot()
        self.begin(self.name("G"), FUNC_G)
        how = self.rng.choice(["sum", "got", "word", "base"])
        self.traits["wash"] = how
        if how == "sum":
            self.near(at, self.t)
        elif how == "got":
            self.globals.add(f)
            self.out(f"mov {f}@GOTPCREL(%rip), %{self.t}",
                     f"add ${at} - {self.start}, %{self.t}")
        elif how == "word":
            self.globals.add(f)
            slot = self.slot(f".quad {f} + ({at} - {self.start})")
            self.out(f"mov {slot}(%rip), %{self.t}")
        else:
            slot = self.slot(f".quad {self.start}")
            self.out(f"mov {slot}(%rip), %{self.t}",
                     f"lea {at} - {self.start}(%{self.t}), %{self.t}")
        self.out(self.rng.choice([f"jmp *%{self.t}", f"jmp *%{self.t}", f"call *%{self.t}; ret",
                                  f"push %{self.t}; ret"]))
        self.end(self.name("G"))
        self.callable(self.name("G"), 2)
        return self


@special
class Cold(Special):
    """A piece of F, elsewhere, leads back into it by a table."""

    def make(self):
        cold = self.name("F") + ".cold"
        self.head()
        self.out(f"jmp {cold}")
        at = []
        for _ in range(self.count):
            self.steps(0, 1)
            at.append(self.place())
            self.leave()
        self.foot()
        table = self.label("T")
        self.table([f".long {x} - {table}" for x in at], size=4, at=table)
        self.function(self.name("H"))
        self.out(f".type {cold}, @function", f"{cold}:", f"mov %edi, %{self.e(self.c)}")
        self.lea(table, self.b)
        self.out(f"movslq (%{self.b},%{self.c},4), %{self.t}", f"add %{self.b}, %{self.t}")
        self.here(STAYS)
        self.out(f"jmp *%{self.t}", *self.inside)
        self.inside = []
        self.out(f".size {cold}, . - {cold}")
        return self


@special
class Objects(Special):
    """Places are members of objects, which are found by pointers."""

    def make(self):
        self.traits["owner"] = "G"
        offset = self.rng.choice([0, 8, 16, 40])
        self.start = self.begin(self.name("F"), FUNC_F)
        self.enter()
        self.out("xor %eax, %eax")
        at = []
        for _ in range(self.count):
            self.steps(0, 1)
            at.append(self.place())
            self.leave()
        self.foot(1)
        objects = []
        for x in at:
            o = self.label("o")
            self.tabled.append(("data", [".balign 8", f"{o}:", *[f".skip {offset}"][:offset],
                                        f".quad {x}"]))
            objects.append(o)
        table = self.table([f".quad {o}" for o in objects], True)
        self.begin(self.name("G"), FUNC_G)
        self.enter()
        self.out("xor %eax, %eax", "dec %edi", f"mov %edi, %{self.e(self.c)}")
        self.lea(table, self.b)
        self.out(f"mov (%{self.b},%{self.c},8), %{self.d}", f"jmp *{offset}(%{self.d})",
                 *self.inside)
        self.inside = []
        self.end(self.name("G"))
        self.callable(self.name("G"), self.count)
        return self


@special
class Vectors(Special):
    """A row of small pieces, each of which says its number, as for interrupts."""

    def make(self):
        rng = self.rng
        self.count = rng.randint(3, 8)
        self.traits.update(owner="G", frame="none")
        self.frame, self.endbr = "none", False
        size = rng.choice([4, 4, 8])
        common = self.label("c")
        self.start = self.begin(self.name("F"), FUNC_F)
        for i in range(self.count):
            self.out(f".org {self.start} + {size * i}, 0x90")
            if i:
                self.arrive(f"v{i}")
            self.out(f"push ${i + 3}", f"jmp {common}")
        self.out(f"{common}: pop %rax")
        self.steps(0, 2)
        self.out("ret")
        self.foot(1)
        self.begin(self.name("G"), FUNC_G)
        self.out("dec %edi")
        self.lea(self.start, self.t)
        self.out(f"lea (%{self.t},%rdi,{size}), %{self.t}",
                 rng.choice([f"jmp *%{self.t}", f"call *%{self.t}; ret", f"push %{self.t}; ret"]))
        self.end(self.name("G"))
        self.callable(self.name("G"), self.count)
        return self


@special
class Unrolled(Special):
    """A loop written out, of which as much is run as is asked for."""

    def make(self):
        rng = self.rng
        self.count = rng.randint(4, 12)
        one, size = rng.choice([("inc %eax", 2), ("add $5, %eax", 3), ("imul $3, %eax, %eax", 3),
                                ("inc %eax; nop; nop", 4)])
        end = self.label("e")
        self.head(False)
        # From 1 to as many as there are, counted from the end.
        self.out(f"imul ${-size}, %rdi, %{self.c}")
        self.lea(end, self.t)
        self.out(f"add %{self.c}, %{self.t}")
        self.here(STAYS)
        self.out(f"jmp *%{self.t}")
        for _ in range(self.count):
            at = self.label("B")
            self.out(f"{at}:", one)
            self.note(ARRIVE, at)
        self.out(f"{end}:")
        self.steps(0, 1)
        self.leave()
        self.foot()
        return self


@special
class Listed(Special):
    """Addresses of many places are put into a list first, and gone by elsewhere."""

    def make(self):
        rng = self.rng
        how = rng.choice(["stepped", "back", "started", "vectors", "doubles", "framed", "moved"] +
                         ["numbered"] * (not self.pic))
        self.count = rng.choice([4, 8, 16, 24])
        self.frame, self.endbr = "none", False
        self.traits.update(owner="G", frame="none", wash=how)
        self.start = self.begin(self.name("F"), FUNC_F)
        self.out("xor %eax, %eax")
        at = [self.label("B") for _ in range(self.count)]
        for x in at:
            self.out(f"{x}:", "inc %eax")
            self.note(ARRIVE, x)
        self.out("ret")
        self.foot(1)
        words = self.slot("\n".join(f".quad {x} - {at[0]}" for x in at) if how == "moved" else
                          f".skip {8 * self.count}")
        fill = self.label("G")
        self.out(f".type {self.name('fill')}, @function", f"{self.name('fill')}:", f"{fill}:")
        self.out(*getattr(self, how)(at, words), "ret", f".size {self.name('fill')}, . - {fill}")
        if rng.random() < .3:
            self.function(self.name("between"))
        self.begin(self.name("G"), FUNC_G)
        self.out("push %rdi", f"call {fill}", "pop %rdi", "dec %edi", "xor %eax, %eax",
                 f"lea {words}(%rip), %{self.b}", f"jmp *(%{self.b},%rdi,8)")
        self.end(self.name("G"))
        self.callable(self.name("G"), self.count)
        return self

    def stepped(self, at, words):
        """From place to place."""
        again = self.label()
        return [f"lea {at[0]}(%rip), %rdx", f"lea {words}(%rip), %rcx",
                f"lea {words} + {8 * len(at)}(%rip), %rsi", f"{again}: mov %rdx, (%rcx)",
                "add $2, %rdx", "add $8, %rcx", "cmp %rsi, %rcx", f"jne {again}"]

    def back(self, at, words):
        again = self.label()
        return [f"lea {at[-1]}(%rip), %rdx", f"mov ${len(at) - 1}, %ecx",
                f"lea {words}(%rip), %rsi", f"{again}: mov %rdx, (%rsi,%rcx,8)",
                "lea -2(%rdx), %rdx", "dec %rcx", f"jns {again}"]

    def started(self, at, words):
        """From where the function begins, by a number."""
        again = self.label()
        return ["xor %ecx, %ecx", f"lea {words}(%rip), %rsi",
                f"{again}: lea {self.start}(%rip), %rdx",
                "lea 2(%rdx,%rcx,2), %rdx", "mov %rdx, (%rsi,%rcx,8)", "inc %ecx",
                f"cmp ${len(at)}, %ecx", f"jne {again}"]

    def moved(self, at, words):
        """In its place, by an addition to each, once: the first distance is 0."""
        again, done = self.label(), self.label()
        return [f"cmpq $0, {words}(%rip)", f"jne {done}", f"lea {at[0]}(%rip), %rdx",
                f"lea {words}(%rip), %rcx", f"mov ${len(at)}, %esi",
                f"{again}: add %rdx, (%rcx)", "add $8, %rcx", "dec %esi", f"jne {again}",
                f"{done}:"]

    def numbered(self, at, words):
        """The sum names the start itself."""
        again = self.label()
        return ["xor %ecx, %ecx", f"{again}: lea (%rcx,%rcx), %rax", "mov %rax, %rdx",
                self.rng.choice([f"lea {self.start}(%rax), %rdx", f"add ${self.start}, %rdx"]),
                "add $2, %rdx", f"mov %rdx, {words}(,%rcx,8)", "inc %ecx",
                f"cmp ${len(at)}, %ecx", f"jne {again}"]

    def framed(self, at, words):
        """As compilers have it that do not optimise: all of it is in the frame."""
        table, again, test = self.distances(at), self.label(), self.label()
        return ["push %rbp", "mov %rsp, %rbp", f"lea {at[0]}(%rip), %rax", "mov %rax, -8(%rbp)",
                "movl $0, -12(%rbp)", f"jmp {test}", f"{again}: mov -12(%rbp), %eax", "cltq",
                f"lea {table}(%rip), %rdx", "mov (%rdx,%rax,8), %rdx", "mov -8(%rbp), %rax",
                "add %rax, %rdx", "mov -12(%rbp), %eax", "cltq", f"lea {words}(%rip), %rcx",
                "mov %rdx, (%rcx,%rax,8)", "addl $1, -12(%rbp)",
                f"{test}: cmpl ${len(at) - 1}, -12(%rbp)", f"jle {again}", "pop %rbp"]

    def distances(self, at):
        return self.table([f".quad {x} - {at[0]}" for x in at], size=16)

    def vectors(self, at, words):
        """Two sums at a time."""
        table = self.distances(at)
        lines = [f"lea {at[0]}(%rip), %rdx", "movq %rdx, %xmm1", "punpcklqdq %xmm1, %xmm1"]
        for i in range(0, len(at), 2):
            lines += [f"movdqu {table} + {8 * i}(%rip), %xmm0", "paddq %xmm1, %xmm0",
                      f"movups %xmm0, {words} + {8 * i}(%rip)"]
        return lines

    def doubles(self, at, words):
        """The same, as compilers have them in a loop, and of later instructions."""
        table, again = self.distances(at), self.label()
        return [f"lea {at[0]}(%rip), %rdx", "movq %rdx, %xmm0", "pshufd $68, %xmm0, %xmm9",
                f"lea {table}(%rip), %rsi", f"lea {words}(%rip), %rcx", "xor %edx, %edx",
                f"{again}: movdqu (%rsi,%rdx,8), %xmm1", "paddq %xmm9, %xmm1",
                "movups %xmm1, (%rcx,%rdx,8)", "add $2, %rdx", f"cmp ${len(at)}, %rdx",
                f"jne {again}"]


@special
class Large(Special):
    """A switch of very many numbers, of which the last are near each other."""

    def make(self):
        many = self.rng.choice([4000, 65534, 70000])
        self.traits["wash"] = many
        self.count = 6
        self.head()
        table, default = self.label("T"), self.label("D")
        at = [self.label("B") for _ in range(self.count)]
        self.out(f"lea {many}(%rdi), %{self.e(self.c)}", f"cmp ${many + self.count - 1}, %edi",
                 f"ja {default}", f"lea {table}(%rip), %{self.b}",
                 f"movslq (%{self.b},%{self.c},4), %{self.t}", f"add %{self.b}, %{self.t}")
        self.here(STAYS)
        self.out(f"jmp *%{self.t}", *self.inside)
        self.inside = []
        for x in at:
            self.out(f"{x}:", "inc %eax")
            self.note(ARRIVE, x)
        self.out(f"{default}:")
        self.leave()
        self.foot()
        self.tabled.append(("rodata", [".balign 4", f"{table}:", f".rept {many}",
                                       f".long {default} - {table}", ".endr"] +
                            [f".long {x} - {table}" for x in at]))
        return self
