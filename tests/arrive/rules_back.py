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
