# SPDX-License-Identifier: MIT
"""codings: how code keeps addresses of its places, and how it comes by them again.

Each function here writes code that has, of p.targets, the one of number %rdi in p.t; or,
if it says so by returning True, has jumped there. It is called again for a second
dispatch of the same program. `p.base` is a label before all targets in F.
"""

ALL = {}


def coding(exec_only=False, stride=False, near=False, align=0, single=False):
    def register(f):
        ALL[f.__name__] = {"make": f, "exec_only": exec_only, "stride": stride, "near": near,
                           "align": align, "single": single}
        return f
    return register


def entries(p, fmt, others=True):
    """A table's lines. Entries of others may come first, between and last: entries of
    H, which no number asks for, have to be behind or are at numbers that are not used."""
    lines = [fmt.format(x) for x in p.targets]
    p.first = 0
    if others and p.rng.random() < .35:
        p.first = p.rng.randint(1, 2)
        lines = [fmt.format(p.other) for _ in range(p.first)] + lines
        p.traits["holes"] = "first"
        if p.rng.random() < .05:    # very many
            lines[0:0] = [f".rept 1500; {lines[0]}; .endr"]
            p.first += 1500
    elif others and p.rng.random() < .2:
        # Behind each entry is one of another function: the number counts double.
        lines = [x for line in lines for x in (line, fmt.format(p.other))]
        p.traits["holes"] = "between"
    if p.rng.random() < .3:
        lines.append(fmt.format(p.other))
    return lines


def index(p, into=None):
    """The number of the entry, in p.c."""
    c = into or p.c
    if p.traits.get("holes") == "between":
        p.out(f"lea (%rdi,%rdi), %{p.e(c)}")
    elif p.first:
        p.out(f"lea {p.first}(%rdi), %{p.e(c)}")
    elif p.traits.get("bound") == "and":
        p.out(f"mov %edi, %{p.e(c)}", f"and ${p.mask}, %{p.e(c)}")
    else:
        p.out(f"mov %edi, %{p.e(c)}")
    return c


def make_table(p, fmt, absolute=False, size=8, others=True):
    """Once for a program: a second dispatch goes by the same table."""
    if p.made is None:
        lines = entries(p, fmt, others)
        p.made = p.table(lines, absolute, size)
    return p.made


def relative_table(p, fmt=".long {} - T", size=4):
    """The same, where T is the table itself, and begins with what is no entry, perhaps."""
    if p.made is None:
        p.made = p.label("T")
        lines = entries(p, fmt.replace("T", p.made))
        if not p.first and "holes" not in p.traits and p.rng.random() < .2:
            p.first = p.rng.randint(1, 3)
            word = fmt.split()[0]
            lines[0:0] = [f"{word} {p.rng.choice([0, 0, -1, len(lines)])}"] * p.first
            p.traits["holes"] = "count"
        p.table(lines, size=size, at=p.made)


def based_table(p):
    """The same, from p.origin, which is beside it."""
    if p.made is None:
        p.origin = p.label("O")
        p.made = p.label("T")
        p.table(entries(p, ".long {} - " + p.origin), size=4, at=p.made,
                before=[f"{p.origin}:", f".skip {p.rng.choice([4, 16, 64])}"])


# --- tables of distances ---

@coding()
def self32(p):
    """What compilers make of a switch: 32-bit distances from the table itself."""
    relative_table(p)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}", f"add %{p.b}, %{p.t}")


@coding()
def self32_lea(p):
    """The sum is made by lea."""
    relative_table(p)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}", f"lea (%{p.t},%{p.b}), %{p.t}")


@coding()
def self32_sub(p):
    """The distance is taken away: entries are the table minus the place."""
    relative_table(p)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}", f"neg %{p.t}", f"sub %{p.t}, %{p.b}",
          f"mov %{p.b}, %{p.t}")


@coding()
def self64(p):
    relative_table(p, ".quad {} - T", 8)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"mov (%{p.b},%{p.c},8), %{p.t}", f"add %{p.b}, %{p.t}")


@coding()
def self32_more(p):
    """A constant is added to the sum, too."""
    k = p.keep("k", lambda: p.rng.choice([1, 4, 8, 64, 4096]))
    relative_table(p, f".long {{}} - T - {k}")
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}", f"add %{p.b}, %{p.t}", f"add ${k}, %{p.t}")


@coding()
def own_place(p):
    """Each entry is the distance from itself."""
    make_table(p, ".long {} - .", size=4)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"lea (%{p.b},%{p.c},4), %{p.b}", f"movslq (%{p.b}), %{p.t}", f"add %{p.b}, %{p.t}")


@coding()
def base_text(p):
    """Distances of 32 bits from some place in the code."""
    make_table(p, ".long {} - " + p.base, size=4)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}")
    p.lea(p.base, p.d)
    p.out(f"add %{p.d}, %{p.t}")


@coding()
def base_function(p):
    """From the start of a function."""
    base = p.keep("base", lambda: p.rng.choice([p.start, p.start_h]))
    make_table(p, ".long {} - " + base, size=4)
    index(p)
    p.lea(base, p.d)
    p.lea(p.made, p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}", f"add %{p.d}, %{p.t}")


@coding()
def base_data(p):
    """From a datum."""
    based_table(p)
    index(p)
    p.lea(p.origin, p.d)
    p.lea(p.made, p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}", f"add %{p.d}, %{p.t}")


@coding()
def base_image(p):
    """From where the text begins, as images of other systems do."""
    make_table(p, ".long {} - .Limage", size=4)
    index(p)
    p.lea(".Limage", p.d)
    p.lea(p.made, p.b)
    p.out(f"mov (%{p.b},%{p.c},4), %{p.e(p.t)}", f"add %{p.d}, %{p.t}")


@coding()
def base_kept(p):
    """From a place that a word in memory tells."""
    kept = p.keep("kept", lambda: p.slot(f".quad {p.base}"))
    make_table(p, ".long {} - " + p.base, size=4)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}", f"add {kept}(%rip), %{p.t}")


@coding(near=True)
def base8(p):
    """One byte each."""
    make_table(p, ".byte {} - " + p.base, size=1, others=False)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movzbl (%{p.b},%{p.c}), %{p.e(p.t)}")
    p.lea(p.base, p.d)
    p.out(f"add %{p.d}, %{p.t}")


@coding()
def base16(p):
    make_table(p, ".word {} - " + p.base, size=2)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movswq (%{p.b},%{p.c},2), %{p.t}")
    p.lea(p.base, p.d)
    p.out(f"lea (%{p.d},%{p.t}), %{p.t}")


@coding(near=True, align=2)
def scaled8(p):
    """One byte each, in units of four bytes of code."""
    make_table(p, ".byte ({} - " + p.base + ") / 4", size=1, others=False)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movzbl (%{p.b},%{p.c}), %{p.e(p.t)}")
    p.lea(p.base, p.d)
    p.out(f"lea (%{p.d},%{p.t},4), %{p.t}")


@coding(near=True, align=3)
def scaled16(p):
    make_table(p, ".word ({} - " + p.base + ") / 8", size=2, others=False)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movzwl (%{p.b},%{p.c},2), %{p.e(p.t)}", f"shl $3, %{p.e(p.t)}")
    p.lea(p.base, p.d)
    p.out(f"add %{p.d}, %{p.t}")


@coding()
def two_level(p):
    """A byte says which entry of another table."""
    if p.made is None:
        p.made = p.label("T")
        p.traits.pop("holes", None)
        lines = [".long {} - {}".format(x, p.made) for x in [p.other] + p.targets]
        p.table(lines, size=4, at=p.made)
        p.bytes = p.table([f".byte {i + 1}" for i in range(len(p.targets))], size=1)
    p.lea(p.bytes, p.b)
    p.out(f"mov %edi, %{p.e(p.c)}", f"movzbl (%{p.b},%{p.c}), %{p.e(p.c)}")
    p.lea(p.made, p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}", f"add %{p.b}, %{p.t}")


@coding()
def negative(p):
    """The table is before the place that the code names."""
    if p.made is None:
        p.made = p.label("E")
        p.traits.pop("holes", None)
        lines = [".long {} - {}".format(x, p.made) for x in reversed(p.targets)]
        p.table(lines + [f"{p.made}:"], size=4)
    p.out("mov %rdi, %" + p.c, f"not %{p.c}")
    p.lea(p.made, p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}", f"add %{p.b}, %{p.t}")


@coding()
def biased(p):
    """The table is far from the place that the code names: numbers begin at 100."""
    k = p.keep("k", lambda: p.rng.choice([8, 100, 1000]))
    make_table(p, ".long {} - " + p.base, size=4)
    index(p)
    p.out(f"add ${k}, %{p.e(p.c)}")
    p.lea(f"{p.made} - {4 * k}", p.b)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}")
    p.lea(p.base, p.d)
    p.out(f"add %{p.d}, %{p.t}")


@coding()
def walked(p):
    """A pointer goes from entry to entry."""
    make_table(p, ".long {} - .", size=4)
    index(p)
    again, done = p.label(), p.label()
    p.lea(p.made, p.b)
    p.out(f"{again}: test %{p.e(p.c)}, %{p.e(p.c)}", f"je {done}", f"add $4, %{p.b}",
          f"dec %{p.e(p.c)}", f"jmp {again}", f"{done}:",
          f"movslq (%{p.b}), %{p.t}", f"add %{p.b}, %{p.t}")


@coding()
def spilled(p):
    """The table's address was on the stack meanwhile."""
    relative_table(p)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"mov %{p.b}, -24(%rsp)", f"mov -24(%rsp), %{p.b}" if p.rng.random() < .3 else
          f"xor %{p.e(p.b)}, %{p.e(p.b)}", f"mov -24(%rsp), %{p.d}",
          f"movslq (%{p.d},%{p.c},4), %{p.t}", f"add %{p.d}, %{p.t}")


@coding()
def kept_table(p):
    """Where the table is, a word in memory tells."""
    if p.made is None:
        relative_table(p)
        p.word = p.slot(f".quad {p.made}")
    index(p)
    p.out(f"mov {p.word}(%rip), %{p.b}", f"movslq (%{p.b},%{p.c},4), %{p.t}",
          f"add %{p.b}, %{p.t}")


@coding()
def cmov(p):
    """By one of two tables, and the targets alternate."""
    if p.made is None:
        p.made, p.second = p.label("T"), p.label("T")
        p.traits.pop("holes", None)
        for at, odd in ((p.made, 0), (p.second, 1)):
            lines = [".long {} - {}".format(x if i % 2 == odd else p.other, at)
                     for i, x in enumerate(p.targets)]
            p.table(lines, size=4, at=at)
    p.out(f"mov %edi, %{p.e(p.c)}")
    p.lea(p.made, p.b)
    p.lea(p.second, p.d)
    p.out("test $1, %dil", f"cmovne %{p.d}, %{p.b}", f"movslq (%{p.b},%{p.c},4), %{p.t}",
          f"add %{p.b}, %{p.t}")


@coding()
def two_jumps(p):
    """A table's jump that never goes, and another one by another table and base."""
    skip = p.label()
    if p.made is None:
        p.second = p.label("T")
        p.table([f".long {x} - {p.second}" for x in (p.harmless, p.harmless, p.other)],
                size=4, at=p.second)
    based_table(p)
    p.out("cmp $99, %edi", f"jne {skip}")
    p.lea(p.second, p.b)
    p.out(f"movslq (%{p.b}), %{p.t}", f"add %{p.b}, %{p.t}", f"jmp *%{p.t}", f"{skip}:")
    index(p)
    p.lea(p.made, p.b)
    p.lea(p.origin, p.d)
    p.out(f"movslq (%{p.b},%{p.c},4), %{p.t}", f"add %{p.d}, %{p.t}")


# --- tables of addresses ---

@coding()
def words_mem(p):
    """What the jump goes by is in memory."""
    make_table(p, ".quad {}", True)
    index(p)
    if not p.pic and p.rng.random() < .5:
        return p.jump_by(f"{p.made}(,%{p.c},8)")
    p.lea(p.made, p.b)
    return p.jump_by(f"(%{p.b},%{p.c},8)")


@coding()
def words_load(p):
    make_table(p, ".quad {}", True)
    index(p)
    if not p.pic and p.rng.random() < .5:
        p.out(f"mov {p.made}(,%{p.c},8), %{p.t}")
    else:
        p.lea(p.made, p.b)
        p.out(f"mov (%{p.b},%{p.c},8), %{p.t}")


@coding()
def words_back(p):
    """By a negative number."""
    if p.made is None:
        p.made = p.label("E")
        p.traits.pop("holes", None)
        p.table([f".quad {x}" for x in reversed(p.targets)] + [f"{p.made}:"], True)
    p.out(f"mov %rdi, %{p.c}", f"neg %{p.c}")
    p.lea(p.made, p.b)
    p.out(f"mov -8(%{p.b},%{p.c},8), %{p.t}")


@coding()
def words_kept(p):
    """Where they are, a word in memory tells."""
    make_table(p, ".quad {}", True)
    word = p.keep("word", lambda: p.slot(f".quad {p.made}"))
    index(p)
    p.out(f"mov {word}(%rip), %{p.b}")
    if p.rng.random() < .5:
        return p.jump_by(f"(%{p.b},%{p.c},8)")
    p.out(f"mov (%{p.b},%{p.c},8), %{p.t}")
    return False


@coding()
def records(p):
    """A member of structures, of which some are packed."""
    size = p.keep("size", lambda: p.rng.choice([16, 24, 9, 13]))
    pad = f".skip {size - 8}"
    make_table(p, pad + "; .quad {}", True, size=1)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"imul ${size}, %{p.e(p.c)}, %{p.e(p.c)}",
          f"mov {size - 8}(%{p.b},%{p.c}), %{p.t}")


@coding()
def tagged(p):
    """Pointers with a mark in them."""
    k = p.keep("k", lambda: p.rng.choice([1, 2, 5, 7, -3, 0x1000]))
    make_table(p, ".quad {} + " + str(k), True)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"mov (%{p.b},%{p.c},8), %{p.t}",
          f"sub ${k}, %{p.t}" if p.rng.random() < .5 else f"lea {-k}(%{p.t}), %{p.t}")


@coding()
def unaligned(p):
    """Words at odd places."""
    make_table(p, ".byte 7; .quad {}", True, size=1)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"lea (%{p.c},%{p.c},8), %{p.e(p.c)}", f"mov 1(%{p.b},%{p.c}), %{p.t}")


@coding()
def filled(p):
    """Words that are there only once code has filled them in."""
    n = len(p.targets)
    if p.made is None:
        p.made = p.label("T")
        p.tabled.append(("data", [".balign 8", f"{p.made}: .skip {8 * n}"]))
        p.traits.pop("holes", None)
        p.first = 0
        p.second = p.label("T")
        p.table([f".long {x} - {p.second}" for x in p.targets], size=4, at=p.second)
    fill = p.label("f")
    # It is cheap enough to be done each time: what fills them is no matter.
    p.lea(p.made, p.b)
    p.lea(p.second, p.d)
    p.out(f"xor %{p.e(p.c)}, %{p.e(p.c)}", f"{fill}: movslq (%{p.d},%{p.c},4), %{p.t}",
          f"add %{p.d}, %{p.t}", f"mov %{p.t}, (%{p.b},%{p.c},8)", f"inc %{p.e(p.c)}",
          f"cmp ${n}, %{p.e(p.c)}", f"jb {fill}")
    if p.rng.random() < .5:
        return p.jump_by(f"(%{p.b},%rdi,8)")
    p.out(f"mov (%{p.b},%rdi,8), %{p.t}")
    return False


@coding(exec_only=True)
def words32(p):
    """Four bytes each."""
    make_table(p, ".long {}", True, size=4)
    index(p)
    if p.rng.random() < .5:
        p.out(f"mov {p.made}(,%{p.c},4), %{p.e(p.t)}")
    else:
        p.lea(p.made, p.b)
        p.out(f"mov (%{p.b},%{p.c},4), %{p.e(p.t)}")


@coding(exec_only=True)
def packed32(p):
    """Four bytes each, among others."""
    make_table(p, ".byte 1; .long {}; .byte 2, 3", True, size=1)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"imul $7, %{p.e(p.c)}, %{p.e(p.c)}", f"mov 1(%{p.b},%{p.c}), %{p.e(p.t)}")


@coding()
def by_symbol(p):
    """A function's name and a distance: a relocation that names it, if others may have
    a function of that name."""
    p.globals.add(p.name("F"))
    make_table(p, f".quad {p.name('F')} + ({{}} - {p.start})", True, others=False)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"mov (%{p.b},%{p.c},8), %{p.t}")


# --- tables that are written otherwise than they are meant ---

@coding(near=True)
def xored(p):
    """Bytes that are no distances before something is done to them."""
    make_table(p, ".byte ({} - " + p.base + ") ^ 0x5a", size=1, others=False)
    index(p)
    p.lea(p.made, p.b)
    p.out(f"movzbl (%{p.b},%{p.c}), %{p.e(p.t)}", f"xor $0x5a, %{p.e(p.t)}")
    p.lea(p.base, p.d)
    p.out(f"add %{p.d}, %{p.t}")


@coding()
def halves(p):
    """Lower bytes, and behind them upper ones."""
    if p.made is None:
        p.traits.pop("holes", None)
        p.made = p.table([f".byte ({x} - {p.base}) & 0xff" for x in p.targets] +
                         [f".byte (({x} - {p.base}) >> 8) & 0xff" for x in p.targets], size=1)
    p.lea(p.made, p.b)
    p.out(f"movsbl {len(p.targets)}(%{p.b},%rdi), %{p.e(p.t)}", f"shl $8, %{p.e(p.t)}",
          f"movzbl (%{p.b},%rdi), %{p.e(p.c)}", f"or %{p.e(p.c)}, %{p.e(p.t)}",
          f"movslq %{p.e(p.t)}, %{p.t}")
    p.lea(p.base, p.d)
    p.out(f"add %{p.d}, %{p.t}")


@coding()
def deltas(p):
    """Each tells how far it is from the one before."""
    if p.made is None:
        p.traits.pop("holes", None)
        before = [p.base] + p.targets[:-1]
        p.made = p.table([f".word {x} - {y}" for x, y in zip(p.targets, before)], size=2)
    again = p.label()
    p.lea(p.base, p.t)
    p.lea(p.made, p.b)
    p.out(f"xor %{p.e(p.c)}, %{p.e(p.c)}", f"{again}: movswq (%{p.b},%{p.c},2), %{p.d}",
          f"add %{p.d}, %{p.t}", f"inc %{p.e(p.c)}", f"cmp %edi, %{p.e(p.c)}", f"jbe {again}")
