# SPDX-License-Identifier: MIT
"""foreign: functions of a library into which another one jumps.

That one knows them by name, and places in them by a distance from that: its relocations
say so, and nothing in the library does.
"""
from program import FUNC_F, FUNC_G, Program


def f_of(p):
    """F, and at which distances from its start control may arrive."""
    f = p.name("F")
    p.frame, p.endbr = "none", False
    start = p.begin(f, FUNC_F)
    p.out("lea 1(%rdi), %eax")         # 3 bytes
    at, places = 3, []
    for _ in range(p.rng.randint(1, 3)):
        at += p.rng.choice([0, 2, 3, 16])
        p.out(f".org {start} + {at}, 0x90")
        places.append(at)
        p.out("inc %eax", "add $7, %eax")       # 5 bytes
        at += 5
        if p.rng.random() < .6:
            p.out("ret")
            at += 1
    p.out("ret")
    p.end(f)
    p.globals.add(f)
    p.text = [x for x in p.text if not x.startswith(".hidden")]
    return f, places


# Never called; a library that has it is bound.
BINDS = """.p2align 4
.type binds, @function
binds: lea binds(%rip), %rax
lea (%rax,%rdi,2), %rax
jmp *%rax
.size binds, . - binds""".split("\n")


def g_of(p, f, places):
    """G, in another library. (What it would compute from F's address is in no relocation, and
    is taken not to be: docs/sites.md.)"""
    words = [f".quad {f} + {x}" for x in places]
    p.frame = "none"
    p.begin(p.name("G"), FUNC_G)
    p.out("xor %eax, %eax", "dec %edi")
    p.lea(p.table(words, True), p.b)
    p.out(f"mov (%{p.b},%rdi,8), %{p.t}" if p.rng.random() < .6 else f"jmp *(%{p.b},%rdi,8)")
    p.out(p.rng.choice([f"jmp *%{p.t}", f"push %{p.t}; ret", f"call *%{p.t}; ret"]))
    p.end(p.name("G"))
    p.globals.add(p.name("G"))
    p.text = [x for x in p.text if not x.startswith(".hidden")]


def make(rng, count):
    """The one with the driver's list, the other one, and names."""
    mine, other = ([".text"] + BINDS if rng.random() < .25 else [] for _ in range(2))
    calls = []
    for n in range(count):
        a, b = Program(rng, n, "shared"), Program(rng, n, "shared")
        f, places = f_of(a)
        g_of(b, f, places)
        holder, jumper = (mine, other) if rng.random() < .5 else (other, mine)
        holder += a.sections()
        jumper += b.sections()
        calls += [(f, 1), (b.name("G"), len(places))]
    mine += ['.section .data.rel.ro, "aw"', ".globl arrive_calls", ".hidden arrive_calls",
             ".balign 8", "arrive_calls:"]
    mine += [f".quad {name}, {most}, .Lname{i}" for i, (name, most) in enumerate(calls)]
    mine += [".quad 0, 0, 0", ".section .rodata"]
    mine += [f'.Lname{i}: .asciz "{name}"' for i, (name, _) in enumerate(calls)]
    note = ['.section .note.GNU-stack, "", @progbits']
    names = {name: (most, {"encoding": "foreign", "owner": "G"}) for name, most in calls}
    return "\n".join(mine + note) + "\n", "\n".join(other + note) + "\n", names
