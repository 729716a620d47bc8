# SPDX-License-Identifier: MIT
"""bare: codings of codings.py that need no table."""
from codings import coding


def by_number(p, place):
    """Compares the number, and goes to where one place is told."""
    done = p.label()
    for i in range(len(p.targets)):
        next_ = p.label()
        if i + 1 < len(p.targets):
            p.out(f"cmp ${i}, %edi", f"jne {next_}")
        place(i)
        if i + 1 < len(p.targets):
            p.out(f"jmp {done}", f"{next_}:")
    p.out(f"{done}:")


@coding()
def named(p):
    """Each place is named."""
    by_number(p, lambda i: p.lea(p.targets[i], p.t))


@coding()
def distance(p):
    """One place is named, and the others by how far from it they are."""
    def place(i):
        p.lea(p.base, p.t)
        if p.rng.random() < .5:
            p.out(f"add ${p.targets[i]} - {p.base}, %{p.t}")
        else:
            p.out(f"lea {p.targets[i]} - {p.base}(%{p.t}), %{p.t}")
    by_number(p, place)


@coding()
def distance_start(p):
    """How far from the start of the function."""
    def place(i):
        p.lea(p.start, p.b)
        p.out(f"mov ${p.targets[i]} - {p.start}, %{p.t}", f"add %{p.b}, %{p.t}")
    by_number(p, place)


@coding()
def distance_got(p):
    """How far from what the loader says the start is."""
    p.globals.add(p.name("F"))

    def place(i):
        p.out(f"mov {p.name('F')}@GOTPCREL(%rip), %{p.t}",
              f"add ${p.targets[i]} - {p.start}, %{p.t}")
    by_number(p, place)


@coding()
def popped(p):
    """How far from where a call says that it is."""
    def place(i):
        here = p.label()
        p.out(f"call {here}", f"{here}: pop %{p.t}", f"add ${p.targets[i]} - {here}, %{p.t}")
    by_number(p, place)


@coding(exec_only=True)
def number(p):
    """Where it is, as a number."""
    def place(i):
        x = p.targets[i]
        lines = p.rng.choice([[f"mov ${x}, %{p.e(p.t)}"], [f"movabs ${x}, %{p.t}"],
                              [f"mov ${x}, %{p.t}"], [f"lea {x}, %{p.e(p.t)}"],
                              [f"push ${x}", f"pop %{p.t}"],
                              [f"mov ${x} - 64, %{p.e(p.t)}", f"add $64, %{p.t}"]])
        if "- 64" in lines[0]:
            p.traits["number"] = "apart"
        p.out(*lines)
    by_number(p, place)


@coding()
def number_kept(p):
    """A word for each."""
    words = p.keep("words", lambda: [p.slot(f".quad {x}") for x in p.targets])
    by_number(p, lambda i: p.out(f"mov {words[i]}(%rip), %{p.t}"))


@coding(stride=True)
def multiplied(p):
    """Places are equally far from each other."""
    p.lea(p.base, p.t)
    p.out(f"imul ${p.stride}, %edi, %{p.e(p.c)}")
    p.out(f"add %{p.c}, %{p.t}" if p.rng.random() < .5 else f"lea (%{p.t},%{p.c}), %{p.t}")


@coding(stride=True)
def shifted(p):
    p.lea(p.base, p.t)
    p.out(f"mov %edi, %{p.e(p.c)}", f"shl ${p.stride.bit_length() - 1}, %{p.e(p.c)}",
          f"add %{p.c}, %{p.t}")


@coding(stride=True)
def scaled_lea(p):
    p.lea(p.base, p.t)
    p.out(f"lea (,%rdi,{p.stride // 4}), %{p.e(p.c)}", f"lea (%{p.t},%{p.c},4), %{p.t}")


@coding(stride=True)
def ored(p):
    """The lower bits are put in."""
    p.lea(p.base, p.t)
    p.out(f"mov %edi, %{p.e(p.c)}", f"shl ${p.stride.bit_length() - 1}, %{p.e(p.c)}",
          f"{p.rng.choice(['or', 'xor'])} %{p.c}, %{p.t}")


@coding(stride=True)
def stepped(p):
    """From place to place by additions."""
    again, done = p.label(), p.label()
    p.lea(p.base, p.t)
    p.out(f"mov %edi, %{p.e(p.c)}", f"{again}: test %{p.e(p.c)}, %{p.e(p.c)}", f"je {done}",
          f"add ${p.stride}, %{p.t}", f"dec %{p.e(p.c)}", f"jmp {again}", f"{done}:")


@coding()
def word_each(p):
    """The jump goes by a word that is one place's."""
    words = p.keep("words", lambda: [p.slot(f".quad {x}") for x in p.targets])
    for word in words[:-1]:
        next_ = p.label()
        p.out(f"cmp ${words.index(word)}, %edi", f"jne {next_}")
        p.out(f"mov {word}(%rip), %{p.t}")
        p.finish()
        p.out(f"{next_}:")
    return p.jump_by(f"{words[-1]}(%rip)")
