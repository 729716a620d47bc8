#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rules.py CHECK: a program for each rule that the made-up ones (shapes.py) need too seldom.

Each is small, and always the same; CHECK (check.c) fails for it when its rule is taken out of
the code. Exit status 0 if none fails, else 1. What stands before the name of a program is what
it is linked as (static.py).

    rules.py build/tests/arrive/check [NAME]    all, or that one, whose files are left here
"""
import os
import subprocess
import sys
import tempfile

import gaps  # noqa: F401  they add to those here
import rules_read  # noqa: F401  it adds to those here
import rules_back  # noqa: F401  and so do these
import rules_data  # noqa: F401
import rules_frame  # noqa: F401
import rules_goto  # noqa: F401
import rules_joined  # noqa: F401
import rules_left  # noqa: F401
import rules_lost  # noqa: F401
import rules_vectors  # noqa: F401
import rules_passed  # noqa: F401
import rules_ways  # noqa: F401
import rules_words  # noqa: F401
from rule import BY_WORD, PROGRAMS, rule
from static import LINK

# What a call of the function's own leads to has the registers as they are before it.
rule("pie own_call_whole", """
FUNC G, 1
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
push %r12
mov %rsp, %r12
push %rdx
call none
mov -8(%r12), %rdx
mov %r12, %rsp
pop %r12
call 1f
ud2
1: mov %rdx, (%rsp)
ret
END G
KEPT G
FUNC none
ret
END none
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
""")
rule("pie own_call_mixed", """
FUNC fill
lea .LB0(%rip), %rax
call 1f
ret
1: mov %rax, -16(%rsp)
lea (%rdi,%rdi), %rcx
add %rcx, -16(%rsp)
mov -16(%rsp), %rax
mov %rax, word(%rip)
ret
END fill
""" + BY_WORD)
# And one of its start has a frame of its own.
rule("pie own_call_frame", """
FUNC fill
sub $24, %rsp
lea .LB0(%rip), %rax
mov %rax, 8(%rsp)
lea (%rdi,%rdi), %rcx
add %rcx, 8(%rsp)
mov 8(%rsp), %rax
mov %rax, word(%rip)
test %esi, %esi
je 1f
dec %esi
call fill
1: add $24, %rsp
ret
END fill
""" + BY_WORD)

# A function that changes what its caller returns by (above.c): directly, with an argument of the
# caller's below that, by its end, and by a word that is loaded, changed and stored.
SKIP = """
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
FUNC bump
{}
ret
END bump
FUNC skip
{}
ret
END skip
"""
rule("pie above", SKIP.format("addq $2, 8(%rsp)", "call bump"), "")
rule("pie above_pushed", SKIP.format("addq $2, 16(%rsp)", "push %rdi; call bump; pop %rdi"), "")
rule("pie above_loaded", SKIP.format("""
push %rbx
mov %rsp, %rbx
mov 16(%rbx), %rax
add $2, %rax
mov %rax, 16(%rbx)
pop %rbx""", "call bump"), "")
rule("pie above_jumped", SKIP.format("addq $2, 8(%rsp)", "call on") + """
FUNC on
mov %edi, %edx
jmp bump
END on
""", "")

# A place of another function, as a number, in a word of the frame, and something is added to it.
rule("exec number_stored", """
FUNC fill
push %rbp
mov %rsp, %rbp
movq $.LB0, -8(%rbp)
mov -8(%rbp), %rdx
lea (%rdx,%rdi,2), %rdx
mov %rdx, word(%rip)
pop %rbp
ret
END fill
""" + BY_WORD)
rule("exec number_pushed", """
FUNC fill
push $.LB0
pop %rdx
lea (%rdx,%rdi,2), %rdx
mov %rdx, word(%rip)
ret
END fill
""" + BY_WORD)

# What it goes by is in a word of the frame: is_by_frame in sweep.c.
rule("pie by_frame", """
FUNC G, 1
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
mov %rdx, -16(%rsp)
jmp *-16(%rsp)
END G
KEPT G
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
""")
# A call of what stands behind it names that: flow_is_own_address, and sweep_note.
rule("pie call_pop", """
FUNC fill
call 1f
1: pop %rdx
lea (%rdx,%rdi,2), %rdx
add $.LB0 - 1b, %rdx
mov %rdx, word(%rip)
ret
END fill
""" + BY_WORD)
# A table that only a word of data names: add_maybes in distances.c.
rule("pie data_pointer", """
FUNC G, 1
mov pointer(%rip), %rcx
movslq (%rcx,%rdi,4), %rdx
add %rcx, %rdx
jmp *%rdx
END G
KEPT G
.section .rodata
.balign 4
table: .long .LB5 - table, .LB0 - table, .LB1 - table
.data
.balign 8
pointer: .quad table
""")
# Data end with what may stand before an instruction: with a prefix, or with an opcode that makes
# another one of it: is_behind_prefix in again.c.
BEHIND = """
FUNC fill
lea .LB0(%rip), %rax
jmp 1f
{}
1: {}
lea (%rdi,%rdi), %rcx
add %rcx, %rax
mov %rax, word(%rip)
ret
END fill
""" + BY_WORD
rule("pie behind_prefix", BEHIND.format(".byte 0xf3", "nop"))
rule("pie behind_opcode", BEHIND.format(".byte 3", "xchg %ax, %ax"))
# By one way a register has another value where a prefix is jumped over: find_steps in flow.c.
rule("pie over_prefix", """
FUNC fill
lea table(%rip), %rdx
lea .LB0(%rip), %rax
test %esi, %esi
jne 1f
xor %eax, %eax
.byte 0x3e
1: mov %rax, %rcx
add (%rdx,%rdi,8), %rcx
mov %rcx, word(%rip)
ret
END fill
.section .rodata
.balign 8
table: .quad 2, 4, 6, 8
.text
""" + BY_WORD)
rule("pie over_prefix_jump", """
FUNC G, 1
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rax
sub $4096, %rax
test %esi, %esi
jne 1f
mov leaves(%rip), %rax
.byte 0x3e
1: mov %rax, %rcx
jmp *%rcx
END G
KEPT G
FUNC out
ret
END out
.data
.balign 8
leaves: .quad out
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
""")
# An address before all code to which something is added otherwise than by a sum: the others of
# flow_sum in flow_goal.c.
rule("pie low_carried", """
FUNC fill
lea .LB0 - 0x3000(%rip), %rax
lea 0x3000(%rdi,%rdi), %rcx
clc
adc %rcx, %rax
mov %rax, word(%rip)
ret
END fill
""" + BY_WORD)
# A function that has a switch keeps what leads into it, and goes by that: may_come_back.
rule("pie come_back", """
FUNC F, 0
and $3, %edi
lea switch(%rip), %rcx
movslq (%rcx,%rdi,4), %rax
add %rcx, %rax
ARRIVE 1f, 4
1: jmp *%rax
.LC0: and $3, %esi
ARRIVE .LC0
lea more(%rip), %rcx
movslq (%rcx,%rsi,4), %rax
lea out(%rip), %rcx
add %rcx, %rax
mov %rax, (%rdx)
mov (%rdx), %r8
nopl 0(%rax,%rax)
ARRIVE 2f, 4
2: jmp *%r8
.LC1: lea 1(%rsi), %eax
ARRIVE .LC1
ret
.LD0: add $1000, %eax
ARRIVE .LD0
ret
END F
KEPT F
FUNC out
ret
END out
.section .rodata
.balign 4
switch: .long .LC0 - switch, .LC1 - switch, .LC1 - switch, .LC0 - switch
more: .long .LD0 - out, .LD0 - out, .LD0 - out, .LD0 - out
""", "")
# Code of no function that F jumps to comes back into it: unowned_leaves in unowned.c.
rule("pie comes_back", """
FUNC F, 0
mov %edi, %eax
nopl 0(%rax,%rax)
test %edi, %edi
jne 2f
ARRIVE 1f, 4
1: jmp .Lhelp
2: nopl 0(%rax,%rax)
ret
.LB0: add $1000, %eax
ret
END F
ARRIVE .LB0
KEPT F
.Lhelp: lea 1(%rdi), %eax
jmp .LB0
""", "")
# A jump with a frame up, of which nothing but the code tells: whole_doubt_jumps.
rule("pie frame_up", """
.p2align 4
.globl G
.type G, @function
G: ARRIVE G, 1
push %rbx
mov %edi, %ebx
nopl 0(%rax,%rax)
ARRIVE 1f, 4
1: jmp *leaves(%rip)
.size G, . - G
KEPT G
FUNC out
lea 1(%rbx), %eax
pop %rbx
ret
END out
.data
.balign 8
leaves: .quad out
""", "")

# Code of no function pushes what other code of none returns by: puts_first in sweep.c.
rule("pie gap_pushed", """
.LG: lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
push %rdx
.rept 20; nop; .endr
jmp .LH
ud2
.LH: inc %eax
ret
KEPT .LG
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
""")
# A word of the frame that another register has written is not what was there before: set_by_slot.
rule("pie slot_before", """
FUNC G, 1
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
push %rbp
mov %rsp, %rbp
push %rdx
call none
mov -8(%rbp), %rdx
mov %rbp, %rsp
pop %rbp
call *%rdx
ret
END G
KEPT G
FUNC none
ret
END none
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
""")
# A table of distances of eight bytes begins with some that are none: arrivals_name.
rule("pie word_distances", """
FUNC fill
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rax
add %rcx, %rax
mov %rax, word(%rip)
ret
END fill
""" + BY_WORD + """
.data
.balign 8
table: .quad 0, 0, .LB0 - table, .LB1 - table, .LB2 - table, .LB3 - table, .LB4 - table, .LB5 - table
""")
# Words lead to what stands behind data in the function itself: has_labels, and is_arrived_at.
LED = """
FUNC F, 0
mov %edi, %eax
lea places(%rip), %rcx
mov (%rcx,%rdi,8), %rsi
nopl 0(%rax,%rax)
ARRIVE 1f, 4
1: jmp *%rsi
.byte {}
.LB0: inc %eax
xchg %ax, %ax
ret
END F
ARRIVE .LB0
KEPT F
.section .data.rel.ro, "aw"
.balign 8
places: .quad .LB0, .LB0
"""
rule("pie led_hidden", LED.format("0x48, 0xb8"), "")
rule("pie led_prefix", LED.format("0xf3"), "")

# Addresses of four bytes, or of eight above 4 GiB, at odd places of data: scan_words in words.c.
rule("exec words_four", """
FUNC G, 1
mov %edi, %ecx
mov table(,%rcx,4), %edx
jmp *%rdx
END G
KEPT G
.section .rodata
.byte 1
table: .long .LB0, .LB1, .LB2, .LB3, .LB4, .LB5
""")
rule("high words_eight", """
FUNC G, 1
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
jmp *%rdx
END G
KEPT G
.section .rodata
.byte 1
table: .quad .LB0, .LB1, .LB2, .LB3, .LB4, .LB5
""")
# An address that an instruction has as an operand, or stores: words_operand, words_note_number.
ONE = """
FUNC F, 0
lea 1(%rdi), %eax
.LB0: inc %eax
xchg %ax, %ax
ret
END F
ARRIVE .LB0
KEPT F
FUNC G, 1
{}
jmp *%rdi
END G
KEPT G
"""
rule("exec operand", ONE.format("cmp $.LB0, %rdi; je 1f; ret; 1:"), "")
rule("exec stored_number", ONE.format("movq $.LB0, 8(%rsi)"), "")
rule("exec stored_behind", ONE.format("movq $.LB0, word(%rip)"), "")

# A place is told by the way back of a call before it: may_take in back.c, flow_mixed.
TAKEN = """
FUNC F, 0
mov %edi, %ecx
nop
nop
nop
call mark
inc %eax
.LB0: add $2, %eax
ret
END F
ARRIVE .LB0
KEPT F
FUNC mark
{}
add $2, %rax
mov %rax, word(%rip)
xor %eax, %eax
ret
END mark
"""
rule("pie taken", TAKEN.format("mov (%rsp), %rax"), "")
rule("pie taken_pushed", TAKEN.format("pushq (%rsp); pop %rax"), "")
rule("pie taken_frame", TAKEN.format("push %rbp; mov %rsp, %rbp; mov 8(%rbp), %rax; pop %rbp"), "")


def make(name):
    """The file of a program."""
    kind, lines = PROGRAMS[name]
    with open(name + ".s", "w", encoding="ascii") as f:
        f.write(lines)
    subprocess.run(["as", "-o", name + ".o", name + ".s"], check=True)
    subprocess.run(["ld", "-o", name, name + ".o"] + LINK[kind], check=True)
    return name


def main():
    check, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    names = only or list(PROGRAMS)
    with tempfile.TemporaryDirectory(dir=".") as where:
        if not only:
            os.chdir(where)
        files = "".join(make(name) + "\n" for name in names)
        r = subprocess.run([check], input=files, text=True, stdout=subprocess.PIPE, check=False)
        os.chdir(os.path.abspath("." if only else ".."))
    lines = [x.split("\t") for x in r.stdout.splitlines()]
    wrong = {x[1]: x for x in lines if x[0] != "done"}
    for x in wrong.values():
        print("\t".join(x))
    done = sum(x[0] == "done" for x in lines)
    print(f"{len(names)} programs: {len(wrong)} failed")
    return 1 if wrong or done != len(names) or r.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
