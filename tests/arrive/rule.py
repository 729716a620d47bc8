# SPDX-License-Identifier: MIT
"""rule: what programs of rules are made of (rules.py, rules_read.py)."""

HEAD = """
.macro ARRIVE at, what=3
.pushsection .arrive, "", @progbits
.quad 0, \\what, \\at
.popsection
.endm
.macro FUNC name, what=2
.p2align 4
.globl \\name
.type \\name, @function
\\name: .cfi_startproc
ARRIVE \\name, \\what
.endm
.macro END name
.cfi_endproc
.size \\name, . - \\name
.endm
.macro KEPT name
.pushsection .data.rel.ro, "aw"
.quad \\name
.popsection
.endm
# F has places that are two bytes apart.
.macro VICTIM
FUNC F, 0
xor %eax, %eax
.irp n, 0, 1, 2, 3, 4, 5
.LB\\n: inc %eax
ARRIVE .LB\\n
.endr
ret
END F
.endm
.data
word: .quad 0
words: .skip 64
.text
"""

# What G computes in a function of its own is kept, and gone by here.
BY_WORD = """
FUNC G, 1
call fill
jmp *word(%rip)
END G
KEPT G
"""

# The address of a place of F in rdx, computed; rsi has a whole word. And where those come from.
COMPUTES = """
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
mov table2(%rip), %rsi
"""
TABLES = """
KEPT G
FUNC none
ret
END none
.data
.balign 16
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
table2: .quad none, none
"""
COMPUTED = "FUNC G, 1" + COMPUTES + "{}\nEND G" + TABLES

# The same, of a function that has unwind tables or not (`begin`, `end`).
BARE_COMPUTED = """
.p2align 4
.globl G
.type G, @function
G: ARRIVE G, 1
{begin}""" + COMPUTES + """{lines}
{end}
.size G, . - G""" + TABLES

# The same in code of no function: symbols were stripped, and there are no unwind tables.
UNOWNED_COMPUTED = "\n.p2align 4\n.LG:" + COMPUTES + "{lines}\n" + TABLES.replace("KEPT G", "KEPT .LG")

PROGRAMS = {}


def rule(names, lines, victim="VICTIM"):
    """A program by its kind and name."""
    kind, name = names.split()
    PROGRAMS[name] = kind, HEAD + victim + "\n" + lines
