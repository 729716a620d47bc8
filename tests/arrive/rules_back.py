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
