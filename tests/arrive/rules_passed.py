# SPDX-License-Identifier: MIT
"""rules_passed: programs in which a label is kept in a register while control goes to other labels
of the body, or through calls (rules.py)."""
from rule import BY_WORD, rule

# The label of F in rdx, {} to a label of its own, where something is added to it.
KEPT_ON = """
FUNC fill
lea .LB0(%rip), %rdx
and $1, %esi
{}
.L1: lea (%rdx,%rdi,2), %rdx
mov %rdx, word(%rip)
ret
.L2: ret
END fill
.p2align 4
.type thunk, @function
thunk: call 1f
2: pause
lfence
jmp 2b
1: mov %rax, (%rsp)
ret
.size thunk, .-thunk
.section .data.rel.ro, "aw"
.balign 8
labels: .quad .L1, .L2
.text
""" + BY_WORD
TAKES = "lea labels(%rip), %rcx; mov (%rcx,%rsi,8), %rax; "

# By a thunk, and by a return: flow_passes_on in flow_near.c, is_goto in mixed.c.
rule("pie kept_by_thunk", KEPT_ON.format(TAKES + "jmp thunk"))
rule("pie kept_by_return", KEPT_ON.format(TAKES + "push %rax; ret"))
rule("pie kept_by_memory", KEPT_ON.format("lea labels(%rip), %rcx; pushq (%rcx,%rsi,8); ret"))
rule("pie kept_inline", KEPT_ON.format(TAKES + """call 1f
2: pause
lfence
jmp 2b
1: mov %rax, (%rsp)
ret"""))

# What is called need not change a register that calls do not keep: flow_passes_on.
rule("pie kept_by_call", """
FUNC fill
lea .LB0(%rip), %r8
call none
lea labels(%rip), %rcx
and $1, %esi
mov (%rcx,%rsi,8), %rax
jmp *%rax
ud2
.L1: lea (%r8,%rdi,2), %r8
mov %r8, word(%rip)
.L2: ret
END fill
FUNC none
ret
END none
.section .data.rel.ro, "aw"
.balign 8
labels: .quad .L1, .L2
.text
""" + BY_WORD)

# A word of the frame has a table's address, or something else on another way, and others reach it,
# too: the table is followed all the same, where tables are sought (flow_set_by_slot, given_up and
# flow_set_by_load in flow_search.c).
SPILLED = """
FUNC fill
sub $56, %rsp
{}
lea .LB0(%rip), %rdx
test %esi, %esi
je 1f
{}
jmp 2f
1: lea distances(%rip), %rax
mov %rax, 8(%rsp)
2: {}
mov 8(%rsp), %rcx
and $1, %esi
movslq (%rcx,%rsi,4), %rax
add %rcx, %rax
jmp *%rax
.L1: lea (%rdx,%rdi,2), %rdx
mov %rdx, word(%rip)
.L2: add $56, %rsp
ret
END fill
.section .rodata
.balign 4
distances: .long .L1 - distances, .L2 - distances, .L1 - distances, .L2 - distances
.text
""" + BY_WORD
VECTOR = "paddq %xmm4, %xmm5; movups %xmm5, 8(%rsp)"
SQUARE = "lea 8(%rsp), %r8; mov %rdi, %r9; imul %r9, %r9; mov %r9, (%r8)"
BESIDE = "paddq %xmm4, %xmm5; movups %xmm5, (%rsp)"
COPY = "mov %rsp, %r8; imul %r11, %r11; mov %r11, 16(%r8)"
LATER = "test %esi, %esi; js 3f; imul %rdi, %rdi; mov %rdi, 8(%r8)\n3:"
rule("pie spilled_others", SPILLED.format("lea 8(%rsp), %r8; mov %rdi, (%r8)", VECTOR, ""))
rule("pie spilled_beside", SPILLED.format(SQUARE, BESIDE, ""))
rule("pie spilled_later", SPILLED.format("mov %rsp, %r8; mov %rdi, 8(%r8)", VECTOR, LATER))
rule("pie spilled_copied", SPILLED.format(COPY, "mov 16(%r8), %r9; mov %r9, 8(%rsp)",
					  "test %esi, %esi; js 3f; mov %r11, 8(%r8)\n3:"))
