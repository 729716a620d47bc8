# SPDX-License-Identifier: MIT
"""rules_ways: programs of rules about what different ways leave (rules.py): of where the stack is,
of which registers hold addresses of it, and of words of a frame."""
from rule import BY_WORD, rule

# Words of eight bytes from which 4096 was added: what G makes of one is no whole word.
RETURNS = """
FUNC G, 1
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
{}
END G
KEPT G
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
"""
# By one of two ways something is on the stack where they meet: join_stacks in back.c.
rule("pie joined_ways", RETURNS.format("""
push %rdx
test %esi, %esi
jne 1f
pop %rdx
1: ret"""))
# A register has the address of the way back where a jump leads; where one leads back to; and by one
# of two ways: note_left, is_left_back, join_left.
rule("pie left_held", RETURNS.format("""
mov %rsp, %rcx
jmp 1f
nop
1: mov %rdx, (%rcx)
ret"""))
rule("pie left_back", RETURNS.format("""
jmp 2f
1: mov %rdx, (%rcx)
ret
2: mov %rsp, %rcx
jmp 1b"""))
# A word of the frame where no way leads that is known, so that it is not known where the stack is:
# AWAY in mixed.c.
rule("pie own_from_nowhere", """
FUNC F, 0
xor %eax, %eax
.irp n, 0, 1, 2, 3, 4, 5
.LB\\n: inc %eax
ARRIVE .LB\\n
.endr
ret
.Lfill: lea .LB0(%rip), %rdx
mov %rdx, -48(%rsp)
lea (%rdi,%rdi), %rcx
add %rcx, -48(%rsp)
mov -48(%rsp), %rdx
mov %rdx, word(%rip)
ret
END F
KEPT F
.Lhelp: call .Lfill
jmp *word(%rip)
KEPT .Lhelp
""", "")
# Half of a vector is stored: pass_store in mixed_step.c.
rule("pie vector_low", """
FUNC fill
lea .LB0(%rip), %rdx
movq %rdx, %xmm4
movq %xmm4, -48(%rsp)
lea (%rdi,%rdi), %rcx
add %rcx, -48(%rsp)
mov -48(%rsp), %rdx
mov %rdx, word(%rip)
ret
END fill
""" + BY_WORD)
# By one of two ways a register has the address of the way back where they meet: join_some in stack.c.
rule("pie left_joined", RETURNS.format("""
mov %rsp, %rcx
mov %rsp, %r8
test %esi, %esi
jne 1f
mov %rdi, %rcx
1: mov %rdx, (%rcx)
ret"""))
# The stack pointer is rounded to where it was, and the file does not tell what was pushed:
# change_stack in whole.c.
rule("pie rounded", RETURNS.format("""
push %rdx
and $-8, %rsp
ret"""))
# A register by which a call may return has what it had, if the call returns less: flow_passes_on.
rule("pie passed_second", BY_WORD + """
FUNC fill
lea .LB0(%rip), %rdx
call none
inc %rdx
inc %rdx
mov %rdx, word(%rip)
ret
END fill
FUNC none
ret
END none
""")
