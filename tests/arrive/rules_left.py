# SPDX-License-Identifier: MIT
"""rules_left: programs of rules about what control brings along that is led somewhere by an address,
by another function, or by a jump backwards (rules.py)."""
from rule import BY_WORD, rule

# A word that is innermost on the stack may be one of these, from which 4096 is taken away.
TABLE = """
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
"""
LOAD = """
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
"""
KEEP = """
mov %rdx, word(%rip)
ret
END fill
""" + BY_WORD

# Code of no function has a second reading, which ends with a return by what was pushed:
# leaves_by_stack in sweep.c.
rule("pie gap_return", "FUNC G, 1" + LOAD + """
test %esi, %esi
jne .Lhidden
jmp .Lgap
END G
KEPT G
.Lgap: .byte 0x48, 0xb8
.Lhidden: push %rdx
ret
.skip 6, 0x90
ret
""" + TABLE)
# The function's own jump leaves an address of code in a register: is_leaver in mixed.c.
rule("pie left_by_jump", """
FUNC fill
lea .LB0(%rip), %rax
lea 1f(%rip), %rcx
jmp *%rcx
ud2
1: lea (%rax,%rdi,2), %rdx""" + KEEP)
# Another function jumps to where an address of code is named: reach_rest in mixed.c.
rule("pie from_elsewhere", """
FUNC fill
jmp .Lfill
END fill
FUNC other
ret
.Lfill: lea .LB0(%rip), %rax
test %esi, %esi
jne 1f
mov (%rdx), %rax
1: lea (%rax,%rdi,2), %rdx
mov %rdx, word(%rip)
ret
END other
""" + BY_WORD)
# A jump leads to where the step before has something else in a register: named_enter in named.c.
rule("pie named_by_jump", """
FUNC fill
and $7, %edi
lea base(%rip), %rax
lea table(%rip), %rcx
test %esi, %esi
je 1f
mov (%rsi), %rax
mov (%rsi), %rcx
ret
1: movslq (%rcx,%rdi,4), %rdx
add %rax, %rdx""" + KEEP + """
.section .rodata
.balign 4
base: .long 0, 0, 0, 0
table: .long .LB0 - base, .LB1 - base, .LB2 - base, .LB3 - base, .LB4 - base, .LB5 - base
.long 0, 0
""")
# A loop pushes, so that it returns by that: is_as_before in back.c.
rule("pie pushes_again", "FUNC G, 1" + LOAD + """
1: push %rdx
dec %esi
jne 1b
pop %rax
ret
END G
KEPT G
""" + TABLE)
# Where the stack pointer is compared to an address of it, flags may be those of something else:
# stack_equal in stack.c.
rule("pie equal_by_jump", "FUNC G, 1" + LOAD + """
mov %rsp, %rcx
test %r8d, %r8d
jne 3f
push %rdx
test %rsi, %rsi
jmp 2f
1: cmp %rcx, %rsp
2: jne 1b
3: ret
END G
KEPT G
""" + TABLE)
rule("pie equal_by_some", "FUNC G, 1" + LOAD + """
mov %rsp, %rcx
test %r8d, %r8d
jne 3f
push %rdx
test %esi, %esi
je 2f
mov %rsp, word(%rip)
mov word(%rip), %rcx
2: cmp %rcx, %rsp
jne 2b
3: ret
END G
KEPT G
""" + TABLE)
# Only what sets the stack pointer leaves the stack; where it is not known it stays so: sets_stack in
# whole.c.
rule("pie joined_before", "FUNC G, 1" + LOAD + """
push %rdx
test %esi, %esi
jne 1f
pop %rdx
1: inc %eax
sub $8, %rsp
add $8, %rsp
ret
END G
KEPT G
""" + TABLE)
# By one of two ways something is pushed, or the frame's register has the address of the way back,
# and the other one is a jump: arrive in back.c.
rule("pie joined_pushed", "FUNC G, 1" + LOAD + """
test %esi, %esi
jne 1f
push %rdx
1: ret
END G
KEPT G
""" + TABLE)
rule("pie joined_frame", "FUNC G, 1" + LOAD + """
test %esi, %esi
je 1f
mov %rsp, %rbp
1: mov %rdx, (%rbp)
ret
END G
KEPT G
""" + TABLE)
# A call keeps some registers, by which the caller's way back may be reached: pass_call in back.c.
rule("pie above_called", """
FUNC F, 0
mov %edi, %eax
nop
nop
nop
call skip
xor %eax, %eax
.LB0: add $2, %eax
ret
END F
ARRIVE .LB0
KEPT F
FUNC skip
call bump
ret
END skip
FUNC bump
push %rbx
mov %rsp, %rbx
call none
addq $2, 16(%rbx)
pop %rbx
ret
END bump
FUNC none
ret
END none
""", "")
# An address of code is only a number that memory gets: stores_code in arrivals.c.
rule("exec number_in_memory", """
FUNC fill
movq $.LB0, word(%rip)
lea (%rdi,%rdi), %rcx
add %rcx, word(%rip)
ret
END fill
""" + BY_WORD)
# A vector register has kept what is computed for long, or otherwise: set_by_vector in flow_search.c,
# and pass_vectors in whole.c.
rule("pie vector_far", "FUNC G, 1" + LOAD + """
movq %rdx, %xmm5
.rept 30; inc %eax; .endr
movq %xmm5, %rdx
jmp *%rdx
END G
KEPT G
""" + TABLE)
rule("pie vector_by_ways", "FUNC G, 1" + LOAD + """
movq %rdx, %xmm5
mov leaves(%rip), %rdx
test %esi, %esi
jne 1f
movq %rdx, %xmm5
1: movq %xmm5, %rdx
jmp *%rdx
END G
KEPT G
FUNC out
ret
END out
""" + TABLE + """
leaves: .quad out
""")
rule("pie vector_changed", "FUNC G, 1" + LOAD + """
mov leaves(%rip), %rsi
movq %rsi, %xmm5
movq %rdx, %xmm4
movdqa %xmm4, %xmm5
movq %xmm5, %rdx
jmp *%rdx
END G
KEPT G
FUNC out
ret
END out
""" + TABLE + """
leaves: .quad out
""")
# Code that control comes to has other code inside of it, to which a branch leads: is_reached in
# between.c.
rule("pie reached_twice", "FUNC G, 1" + LOAD + """
test %esi, %esi
jne 1f + 1
1: jmp *%rdx
.byte 5
inc %eax
inc %eax
inc %eax
inc %eax
ret
END G
KEPT G
""" + TABLE)
rule("pie gap_behind_data", """
FUNC fill
jmp .Lgap
END fill
.byte 0x48, 0xb8
.Lgap: lea .LB0(%rip), %rax
lea (%rax,%rdi,2), %rdx
mov %rdx, word(%rip)
ret
""" + BY_WORD)
# An address of code that is stepped on with, where the same register reaches data later:
# set_by_rounds in flow_goal.c.
rule("pie stepped_on", """
FUNC F, 0
xor %eax, %eax
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
.LB\\n: inc %eax
ARRIVE .LB\\n
.endr
ret
END F
FUNC fill
lea .LB0(%rip), %rax
1: add $2, %rax
dec %edi
jne 1b
mov %rax, word(%rip)
lea words(%rip), %rax
mov (%rax), %rcx
ret
END fill
""" + BY_WORD, "")
# What control comes to may begin with a prefix that is jumped over: is_reached in between.c.
rule("pie reached_prefix", "FUNC G, 1" + LOAD + """
test %esi, %esi
jne 2f + 1
jmp 1f + 1
.byte 0xff, 0xc0
2: .byte 0x3e
inc %eax
1: jmp *%rdx
.byte 2
inc %eax
inc %eax
inc %eax
inc %eax
ret
END G
KEPT G
""" + TABLE)
