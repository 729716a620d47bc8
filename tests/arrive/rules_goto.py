# SPDX-License-Identifier: MIT
"""rules_goto: words of the frame at labels that only an address leads to (rules.py). As `goto *` is
compiled, with and without unwind tables: arrive and leave_anywhere in whole.c."""
from rule import BARE_COMPUTED, UNOWNED_COMPUTED, rule

# An address leads to .L1 and .L2.
LABELS = """
.section .data.rel.ro, "aw"
.balign 8
labels: .quad .L1, .L2, .L1, .L2
.text
"""
GOTO = BARE_COMPUTED + LABELS


def by_label(name, lines):
    """Without unwind tables; and in code of no function, but for what returns there."""
    rule("pie " + name, GOTO.format(begin="", end="", lines=lines))
    if name != "goto_return":
        rule("pie " + name.replace("goto", "goto_unowned"), UNOWNED_COMPUTED.format(lines=lines) + LABELS)


def by_label_told(name, lines):
    """With them."""
    rule("pie " + name, GOTO.format(begin=".cfi_startproc", end=".cfi_endproc", lines=lines))


TABLE = """lea labels(%rip), %r8
and $3, %edi
jmp *(%r8,%rdi,8)
"""
by_label("goto_frame", "sub $24, %rsp; mov %rdx, 8(%rsp)\n" + TABLE + """
.L1: mov 8(%rsp), %rax
add $24, %rsp
jmp *%rax
.L2: add $24, %rsp
ret""")
by_label("goto_return", "push %rdx\n" + TABLE + """
.L1: ret
.L2: pop %rax
ret""")
by_label("goto_pop", "push %rdx\n" + TABLE + """
.L1: pop %rax
jmp *%rax
.L2: pop %rax
ret""")
# One that is named, not found in a table.
by_label("goto_one", """sub $24, %rsp
mov %rdx, 8(%rsp)
lea .L1(%rip), %r8
jmp *%r8
.L2: ud2
.L1: mov 8(%rsp), %rax
add $24, %rsp
jmp *%rax""")
# By the frame's register, as without optimization.
by_label("goto_by_frame", "push %rbp; mov %rsp, %rbp; sub $32, %rsp; mov %rdx, -8(%rbp)\n" +
         TABLE + """
.L1: mov -8(%rbp), %rax
leave
jmp *%rax
.L2: leave
ret""")
# What two jumps leave otherwise is not known.
by_label("goto_two", """sub $24, %rsp
mov %rdx, 8(%rsp)
test %edi, %edi
je 1f
""" + TABLE + """
1: add $24, %rsp
lea labels(%rip), %r8
jmp *8(%r8)
.L1: mov 8(%rsp), %rax
add $24, %rsp
jmp *%rax
.L2: ret""")
# From one label to the next.
by_label("goto_next", "sub $24, %rsp\n" + TABLE + """
.L1: mov 8(%rsp), %rax
add $24, %rsp
jmp *%rax
.L2: mov %rdx, 8(%rsp)
lea labels(%rip), %r8
jmp *(%r8)""")
# A register has an address of the frame, and what it stores another one loads.
KEEPS = """push %rbx
{0}
sub $32, %rsp
{1}
lea 8(%rsp), %rbx
""" + TABLE + """
.L1: mov %rdx, (%rbx)
mov 8(%rsp), %rax
add $32, %rsp
{2}
pop %rbx
{3}
jmp *%rax
{4}
.L2: add $32, %rsp
{2}
pop %rbx
{3}
ret"""
by_label("goto_kept", KEEPS.format(*5 * [""]))
by_label_told("goto_kept_told", KEEPS.format(
    ".cfi_adjust_cfa_offset 8", ".cfi_adjust_cfa_offset 32", ".cfi_adjust_cfa_offset -32",
    ".cfi_adjust_cfa_offset -8", ".cfi_adjust_cfa_offset 40"))
# Where control falls in, too, a register still has the address that it has there.
by_label("goto_falls_in", """push %rbp
mov %rsp, %rbp
push %rdx
.L1:
.L2: mov -8(%rbp), %rdx
leave
jmp *%rdx""")
# A register has an address of the frame, and the word of that is gone by where it is:
# is_by_frame and sweep_note in sweep.c.
rule("pie by_copied", GOTO.format(begin="", end="", lines="""sub $24, %rsp
.L1:
.L2: mov %rdx, 8(%rsp)
lea 16(%rsp), %r12
jmp *-8(%r12)"""))
rule("pie by_copied_call", GOTO.format(begin=".cfi_startproc", end=".cfi_endproc", lines="""sub $24, %rsp
.cfi_adjust_cfa_offset 24
mov %rdx, 8(%rsp)
lea 16(%rsp), %r12
call *-8(%r12)
add $24, %rsp
.L1:
.L2: ret"""))
# It is given that behind where it is gone by.
rule("pie by_copied_later", GOTO.format(begin=".cfi_startproc", end=".cfi_endproc", lines="""sub $24, %rsp
.cfi_adjust_cfa_offset 24
mov %rdx, 8(%rsp)
jmp 2f
1: call *-8(%r12)
add $24, %rsp
.L1:
.L2: ret
2: lea 16(%rsp), %r12
jmp 1b"""))
