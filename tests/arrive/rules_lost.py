# SPDX-License-Identifier: MIT
"""rules_lost: programs of which nothing is lost, as long as a rule tells what is certain (rules.py):
all exits of C are recorded, and no address may lead anywhere."""
from rule import rule


def certain(names, lines):
    """C has nothing uncertain."""
    rule(names, lines.replace("FUNC C\n", "FUNC C, 9\n"), "")


# What is read from one to the next is data, also where it stands among code: is_reached_by in
# flow_goal.c.
certain("pie read_on", """
FUNC C
lea .Ldata(%rip), %rcx
xor %eax, %eax
1: add (%rcx), %eax
add $4, %rcx
dec %edi
jne 1b
ret
END C
.Ldata: .long 1, 2, 3, 4
""")
# On another stack it returns from the call that left that, though no file tells where the stack is:
# change_stack, sets_stack, and whole_is_buried in whole.c.
certain("pie stack_switched", """
.globl C
.type C, @function
C: ARRIVE C, 9
lea 8(%rdi), %rax
push %rax
push %rbx
mov %rsp, (%rdi)
mov (%rsi), %rsp
pop %rbx
pop %rax
ret
.size C, . - C
""")
certain("pie stack_switched_twice", """
.globl C
.type C, @function
C: ARRIVE C, 9
lea 8(%rdi), %rax
mov (%rdi), %rsp
mov %rax, (%rsp)
mov (%rsi), %rsp
ret
.size C, . - C
""")
# A register that a call sets has no address of the stack any more: pass_call in back.c.
certain("pie stale_register", """
FUNC C
call helper
ret
END C
FUNC helper
mov %rsp, %rax
call none
addq $2, 8(%rax)
ret
END helper
FUNC none
ret
END none
""")
# Nor what is copied of it: pass_effect in back.c.
HELPED = """
FUNC C
call helper
ret
END C
FUNC helper
{}
END helper
FUNC none
ret
END none
"""
certain("pie stale_copied", HELPED.format("""
mov %rsp, %rax
call none
mov %rax, %rcx
addq $2, 8(%rcx)
ret"""))
# Nor one that has another on one of two ways: join_left in back.c; or that a jump has left where no
# other is known to lead: begin_anew; nor the frame's, and behind further jumps: note_way, arrive.
certain("pie stale_by_jump", HELPED.format("""
lea 8(%rsp), %rcx
test %edi, %edi
jne 1f
mov %rsi, %rcx
1: addq $2, 8(%rcx)
ret"""))
certain("pie stale_later", HELPED.format("""
lea 8(%rsp), %rcx
test %edi, %edi
jne 1f
ret
2: addq $2, 8(%rcx)
ret
1: mov %rsi, %rcx
jmp 2b"""))
certain("pie stale_frame", HELPED.format("""
push %rbp
lea 16(%rsp), %rbp
test %edi, %edi
jne 1f
mov %rsi, %rbp
1: test %esi, %esi
je 2f
inc %eax
2: addq $2, 8(%rbp)
pop %rbp
ret"""))
# Behind a call that never returns the file tells where the stack is: is_elsewhere in back.c.
certain("pie behind_never", """
FUNC C
call helper
ret
END C
FUNC helper
test %edi, %edi
je 1f
push %rax
.cfi_adjust_cfa_offset 8
push %rcx
.cfi_adjust_cfa_offset 8
call stop
.cfi_adjust_cfa_offset -16
addq $2, 24(%rsp)
1: ret
END helper
FUNC stop
ud2
END stop
""")
# Code of no function that pushes nothing returns from its call: leaves_by_stack in sweep.c.
certain("pie gap_returns", """
FUNC C
test %esi, %esi
jne .Lhidden
jmp .Lgap
END C
.Lgap: .byte 0x48, 0xb8
.Lhidden: inc %eax
ret
.skip 5, 0x90
ret
""")
# A register that is set to an address of the stack has none of code any more: pass_stacked in
# mixed_step.c.
certain("pie stack_not_code", """
FUNC C
call helper
ret
END C
FUNC helper
lea .Lhelper(%rip), %rax
mov %rax, (%rsi)
mov %rsp, %rax
add %rdi, %rax
mov (%rax), %eax
.Lhelper: ret
END helper
""")

# What looks like a table leads right behind an end: there is code, and a pointer into it is a word
# by chance: is_passed in again.c.
certain("pie listed_behind", """
FUNC C
test %edi, %edi
je 1f
jmp 2f
.Llisted: mov $0x90909090, %eax
1: inc %eax
2: ret
END C
FUNC G
lea list(%rip), %rax
mov %rax, word(%rip)
ret
END G
.section .rodata
.balign 4
list: .long C - list, .Llisted - list, C - list, .Llisted - list, 0, 0, 0, 0
.section .data.rel.ro, "aw"
.balign 8
.quad .Llisted + 1
""")
# What is rounded of its own frame stays below the way back, also where the stack pointer was
# rounded, too: whole_rounds in whole_round.c.
certain("pie rounded_own", """
FUNC C
lea (%rsp), %r11
.cfi_def_cfa %r11, 8
sub $128, %rsp
and $-16, %rsp
lea -32(%r11), %rcx
and $-16, %rcx
1: lea (%rdi,%rsi), %rdx
mov %rdx, 112(%rsp)
dec %esi
jne 1b
lea (%r11), %rsp
.cfi_def_cfa %rsp, 8
ret
END C
""")
# What is taken back from a vector register stays there: set_by_vector in flow_search.c.
certain("pie vector_twice", """
FUNC C
cmp $2, %edi
ja 2f
mov %edi, %edi
lea table(%rip), %rcx
movslq (%rcx,%rdi,4), %rdx
add %rcx, %rdx
movq %rdx, %xmm5
movq %xmm5, %rsi
movq %xmm5, %rax
jmp *%rax
1: inc %eax
inc %eax
inc %eax
inc %eax
2: mov $7, %eax
ret
END C
.section .rodata
.balign 4
table: .long 1b - table, 2b - table, 1b - table
""")
# Compilers leave code to which nothing leads, and which would write above the way back: drop_dead in
# above.c, by `block` of back.c.
certain("pie above_dead", """
FUNC C
call helper
ret
END C
FUNC helper
ret
movq $0, 16(%rsp)
ret
END helper
""")
