# SPDX-License-Identifier: MIT
"""rules_back: programs of rules about what a function makes of its own way back (rules.py)."""
from rule import rule
from rules_left import LOAD, TABLE


def returns(name, lines):
    """G returns by an entry of the table if it is called so."""
    rule(f"pie {name}", f"FUNC G, 1{LOAD}{lines}\nEND G\nKEPT G\n{TABLE}")


# Where the stack is after it was rounded no file can tell, though this one does: leave in back.c.
returns("lost_pushed", """
and $-16, %rsp
push %rdx
ret""")
# So where only a jump back leads, and the file knows the frame's register: is_untold in back.c.
returns("lost_back", """
push %rbp
.cfi_def_cfa_offset 16
mov %rsp, %rbp
.cfi_def_cfa %rbp, 16
jmp 2f
1: push %rdx
.cfi_def_cfa %rsp, 8
ret
.cfi_def_cfa %rbp, 16
2: test %esi, %esi
je 1b
leave
.cfi_def_cfa %rsp, 8
ret""")
# So where it writes above where the stack is: keeps_away in back.c.
returns("lost_over", """
push %rbp
.cfi_def_cfa_offset 16
mov %rsp, %rbp
.cfi_def_cfa %rbp, 16
jmp 2f
1: mov %rdx, 8(%rsp)
pop %rbp
.cfi_def_cfa %rsp, 8
ret
.cfi_def_cfa %rbp, 16
2: test %esi, %esi
je 1b
leave
.cfi_def_cfa %rsp, 8
ret""")
# So at a way out that only jumps lead to.
returns("lost_told", """
push %rbp
.cfi_def_cfa_offset 16
mov %rsp, %rbp
.cfi_def_cfa %rbp, 16
and $-16, %rsp
1: push %rdx
dec %esi
jne 1b
test %edi, %edi
je 2f
leave
.cfi_def_cfa %rsp, 8
ret
2: ret""")
# A loop goes back to where the stack was elsewhere, behind more changes than are kept: is_as_before
# in back.c.
returns("many_changes", """
.rept 31
push %rax
pop %rax
.endr
push %rax
push %rax
pop %rax
1: pop %rax
push %rdx
push %rdx
dec %esi
jne 1b
add $16, %rsp
ret""")
# A loop leaves the address of the way back in the frame's register: is_left_back in back.c.
returns("frame_back", """
1: mov %rdx, (%rbp)
mov %rsp, %rbp
dec %esi
jne 1b
ret""")
# By one of two ways the stack is lost, and the frame's register has the address of the way back,
# which the file does not tell of: arrive in back.c.
returns("joined_lost", """
mov %rsp, %r8
test %esi, %esi
je 1f
mov %rsp, %rbp
and $-16, %rsp
.cfi_def_cfa %rbp, 16
1: mov %rdx, (%rbp)
mov %r8, %rsp
.cfi_def_cfa %rsp, 8
ret""")
# What skip() returns by is written to by what it calls, so that it leads to a place of F.
ABOVE = """
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
{}
call bump
{}
ret
END skip
FUNC bump
{}
END bump
FUNC none
ret
END none
"""


def above(name, lines, *around):
    """bump writes to what its caller returns by."""
    rule(f"pie {name}", ABOVE.format(*(around or ("", "")), lines), "")


# What a call has set is set anew, to an address of the stack: pass_effect in back.c.
above("above_anew", """
push %rbx
mov %rsp, %rax
call none
mov %rsp, %rax
addq $2, 16(%rax)
pop %rbx
ret""")
# What is written to last is not highest, where no jump is known to lead yet: note_above in back.c.
above("above_later", """
test %edi, %edi
jne 1f
ret
2: addq $2, 16(%rsp)
movq $0, 8(%rsp)
ret
1: jmp 2b""", "push %rdx", "pop %rdx")
# And what is highest may be data, behind which a jump leads: arrive in back.c.
above("above_behind", """
test %edi, %edi
jne 1f
ret
movq $0, 24(%rsp)
1: addq $2, 16(%rsp)
ret""", "push %rdx", "pop %rdx")
# What was rounded may be where it was, and what is written there, or above, the way back: may_reach
# in back.c, whole_put_over in whole_round.c. By what control falls through,
ROUNDED = """
mov %rsp, %r8
and $-8, %rsp
{}
mov %r8, %rsp
ret"""
returns("rounded_popped", ROUNDED.format("pop %rax; push %rdx"))
returns("rounded_below", ROUNDED.replace("and $-8, %rsp", "").format(
    "sub $64, %rsp; and $-8, %rsp; add $72, %rsp; push %rdx"))
returns("rounded_stored", ROUNDED.format("mov %rdx, (%rsp)"))
returns("rounded_copied", ROUNDED.format("mov %rsp, %rcx; mov %rdx, (%rcx)"))
returns("rounded_again", ROUNDED.format("add $8, %rsp; and $-8, %rsp; push %rdx"))
# by jumps, by one of two ways, and in a loop; also if a function before has rounded, too;
returns("rounded_jumped", ROUNDED.format("jmp 1f; nop; 1: pop %rax; push %rdx"))
returns("rounded_by_ways", ROUNDED.format(
    "test %esi, %esi; je 1f; sub $8, %rsp; 1: pop %rax; push %rdx"))
returns("rounded_two_jumps", ROUNDED.format(
    "test %esi, %esi; je 1f; sub $8, %rsp; jmp 1f; nop; 1: pop %rax; push %rdx"))
returns("rounded_falls", ROUNDED.format(
    "test %esi, %esi; jne 2f; sub $8, %rsp; jmp 1f; 2: mov %rsp, %rax; 1: pop %rax; push %rdx"))
returns("rounded_pointed", ROUNDED.format("mov %rsp, %rbp; jmp 1f; nop; 1: mov %rdx, (%rbp)"))
rule("pie rounded_before", """
FUNC before
sub $512, %rsp
and $-64, %rsp
ud2
END before
FUNC G, 1""" + LOAD + ROUNDED.format("pop %rax; push %rdx") + """
END G
KEPT G
""" + TABLE)
LOOP = """
{}
push %rbp
.cfi_def_cfa_offset 16
mov %rsp, %rbp
.cfi_def_cfa %rbp, 16
and $-16, %rsp
{}
1: pop %rax
dec %esi
jne 1b
{}
leave
.cfi_def_cfa %rsp, 8
ret"""
returns("rounded_loop", LOOP.format("", "", "push %rdx"))
returns("rounded_loop_stored", LOOP.format("", "", "mov %rdx, (%rsp)"))
returns("rounded_loop_below", LOOP.format("", "sub $8, %rsp", "push %rdx"))
returns("rounded_loop_late", LOOP.format("""
.rept 32
push %rax
.cfi_def_cfa_offset 16
pop %rax
.cfi_def_cfa_offset 8
.endr""", "", "push %rdx"))
# and so may other registers be: pass_high in back.c, whole_rounds.
returns("rounded_other", "mov %rsp, %rcx; and $-8, %rcx; mov %rdx, (%rcx); ret")
returns("rounded_above", "lea 16(%rsp), %rcx; and $-8, %rcx; mov %rdx, -16(%rcx); ret")
returns("rounded_frame", """
push %rbp
.cfi_def_cfa_offset 16
mov %rsp, %rbp
.cfi_def_cfa %rbp, 16
mov %rbp, %r8
and $-16, %rbp
mov %rdx, 8(%rbp)
mov %r8, %rbp
leave
.cfi_def_cfa %rsp, 8
ret""")
# A jump leaves what was rounded: leaves_high in back.c.
returns("rounded_left", "mov %rsp, %rcx; and $-8, %rcx; jmp 1f; nop; 1: mov %rdx, (%rcx); ret")
returns("rounded_left_back", """
mov %rsp, %rcx
and $-8, %rcx
test %r10, %r10
je 3f
1: test %rsi, %rsi
je 2f
3: mov %rdx, -16(%rcx)
ret
2: lea 16(%rsp), %rcx
and $-8, %rcx
mov (%r9), %rsi
jmp 1b""")
# By two ways it may be higher by one: whole_join in whole.c.
returns("rounded_two_highs", """
mov %rsp, %rcx
test %esi, %esi
je 2f
and $-8, %rcx
jmp 1f
2: add $16, %rcx
and $-8, %rcx
1: mov %rdx, -16(%rcx)
ret""")
# What is written by another register that was rounded need not be written to where the stack
# pointer is that was: pass_rounded in whole.c.
returns("rounded_apart", """
mov %rsp, %r8
and $-8, %rsp
push %rdx
lea 16(%r8), %rcx
and $-8, %rcx
mov %rdi, -8(%rcx)
ret""")
# A file may tell wrong, or nothing, of where the stack is at a place that something names: the way
# that is known counts, in whole_join, and a call before may come back (never_comes_back).
returns("named_told", """
push %rdx
.Lnamed: ret
KEPT .Lnamed""")
rule("pie named_untold", """
.globl G
.type G, @function
G: ARRIVE G, 1""" + LOAD + """
push %rdx
call none
.Lnamed: ret
.size G, . - G
KEPT G
KEPT .Lnamed
FUNC none
ret
END none
""" + TABLE)
FRAMED = """
FUNC G, 1""" + LOAD + """
push %rbp
.cfi_def_cfa_offset 16
mov %rsp, %rbp
.cfi_def_cfa %rbp, 16
jmp 2f
1: {}
jmp on
2: test %esi, %esi
je 1b
leave
.cfi_def_cfa %rsp, 8
ret
END G
KEPT G
FUNC on
ret
END on
""" + TABLE
# Code that leaves with its frame, and has put something else where that is to return to: leave in
# back.c.
rule("pie framed_pushed", FRAMED.format("push %rdx"))
