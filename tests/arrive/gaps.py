# SPDX-License-Identifier: MIT
"""gaps: programs for rules.py of code that no function has, and of what stands behind tables."""
from rule import BY_WORD, rule

# Code of no function is alive where code of none that is alive leads to it, names it, or has it in
# a table: lives.c. And a far return by what it has pushed is one.
GAP = """
.LG: lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
{}
.section .data.rel.ro, "aw"
.quad .LG
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
"""
# A table of distances from themselves stands behind a switch's. As the switch's they lead to
# padding.
BEHIND = """
.Lfill: lea row - 4(%rip), %rdx
1: add $4, %rdx
dec %edi
jne 1b
movslq (%rdx), %rcx
add %rdx, %rcx
mov %rcx, word(%rip)
ret
.section .rodata
.balign 4
cases: .long .LC1 - cases, .LC2 - cases, .LC1 - cases, .LC2 - cases
row: .long .LB0 - ., .LB1 - ., .LB2 - .
.text
"""
SWITCH = """
lea cases(%rip), %r9
movslq (%r9,%rdi,4), %rsi
add %r9, %rsi
jmp *%rsi
.LC1: xor $77777, %eax; ret
"""
PLACES = """
.irp n, 0, 1, 2
.LB\\n: inc %eax
ARRIVE .LB\\n
.endr
"""

rule("pie gap_named", GAP.format("lea 1f(%rip), %rax; jmp *%rax; ud2; 1: jmp *%rdx"))
rule("exec gap_number", GAP.format("mov $1f, %eax; jmp *%rax; ud2; 1: jmp *%rdx"))
rule("exec own_number", "FUNC G, 1" + GAP.replace(".LG", "G").replace("G:", "").format(
    "mov $1f, %eax; jmp *%rax; ud2; 1: jmp *%rdx; END G"))
rule("pie gap_far", GAP.format("mov %cs, %eax; push %rax; push %rdx; lretq"))
rule("pie gap_switch", GAP.format("""
and $3, %esi
lea cases(%rip), %rax
movslq (%rax,%rsi,4), %rsi
add %rax, %rsi
jmp *%rsi
ud2
.LC0: jmp *%rdx
.LC1: ret
.section .rodata
.balign 4
cases: .long .LC1 - cases, .LC1 - cases, .LC1 - cases, .LC0 - cases
"""))
rule("pie behind_padding", ".skip 64, 0xcc\nFUNC F, 0\nxor %eax, %eax" + PLACES + "ret\nEND F" +
     BEHIND + BY_WORD.replace("fill", ".Lfill") +
     "FUNC S\ncmp $3, %edi; ja .LC2" + SWITCH + ".LC2: ret\nEND S\n", "")
# Where the function's own jump has led, a call goes by what that has left: search_jumps.
rule("exec called_on", """
FUNC G, 1
mov $.LB0, %edx
imul $2, %edi, %esi
lea (%rdx,%rsi), %rdx
lea 1f(%rip), %r9
jmp *%r9
ud2
1: call *%rdx
ret
END G
KEPT G
""")
