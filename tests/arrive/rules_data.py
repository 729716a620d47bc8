# SPDX-License-Identifier: MIT
"""rules_data: programs of rules about data that stand in code (rules.py)."""
from rule import rule

SWITCH = """
and $1, %edi
lea table(%rip), %rcx
movslq (%rcx,%rdi,4), %rdx
add %rcx, %rdx
"""

# A reading of data as code says nothing of the stack, as here that something is left: note_hidden
# in again.c.
rule("pie data_leave", """
FUNC G, 1
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
jmp 1f
.byte 0xcd
1: not %eax
jmp 2f
.byte 0xdc, 0xc9, 0x3e, 0xa0, 1, 2, 3, 4, 5
2: add $60, %eax
sub $4096, %rdx
push %rax
xchg %rdx, (%rsp)
ret
END G
KEPT G
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
""")
# A switch leads behind a prefix, to where the function is left: live_mark.
rule("pie live_prefix", "FUNC F, 0" + SWITCH + """
jmp *%rdx
.byte 0x31, 0xc0, 0x4c
.LC0: test %edi, %edi
ARRIVE 1f, 6
1: ret
.byte 0x31, 0xc0, 0x4c
.LC1: test %edi, %edi
ARRIVE 2f, 6
2: ret
END F
ARRIVE .LC0
ARRIVE .LC1
KEPT F
.section .rodata
.balign 4
table: .long .LC0 - table, .LC1 - table
""", "")
# A word leads by chance into what no control comes to, and what is read from there differs from
# what the switch leads to: has_data.
rule("pie data_read_twice", "FUNC F, 0" + SWITCH + """
jmp *%rdx
add $56, %eax
.LC0: not %eax
ARRIVE 1f, 6
1: ret
.LC1: nop
nop
ret
END F
ARRIVE .LC0
ARRIVE .LC1
KEPT F
.section .rodata
.balign 4
table: .long .LC0 - table, .LC1 - table
.long 0, 0, 0, 0
.long .LC0 - 1 - .
""", "")
# Where they differ control may leave by an address: between_check.
rule("pie data_hides_goal", """
FUNC G, 1
lea numbers(%rip), %rcx
mov (%rcx,%rdi,8), %rsi
sub $4096, %rsi
lea places(%rip), %rcx
jmp *(%rcx,%rdi,8)
jmp .LC0 - 1
add $56, %eax
.LC0: not %eax
jmp *%rsi
END G
KEPT G
.data
.balign 8
numbers: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
places: .quad .LC0, .LC0, .LC0
""")
# A word leads behind a prefix, to where the function is left: body_has_word_to.
rule("pie live_word_prefix", """
FUNC F, 0
lea 1(%rdi), %eax
nopl 0(%rax,%rax)
ret
.byte 0x31, 0xc0
.byte 0x4c
.LC0: test %edi, %edi
ARRIVE 1f, 6
1: ret
END F
ARRIVE .LC0
KEPT F
.section .rodata
.balign 4
.long .LC0 - .
""", "")
# Data look like a branch to others, which look like a way out: live_mark. Nothing leads to it, also
# where it is a loop.
rule("pie data_branch", """
FUNC F, 0
mov $7, %eax
jmp 1f
.Ldata: .byte 0x77, 0x02, 0x14, 0xf9, 0xc3, 0x91, 0xe2, 0x3f
.Lend:
1: add $1000, %eax
ret
END F
ARRIVE .Ldata, 7
ARRIVE .Lend, 8
""", "")
rule("pie data_round", """
FUNC F, 0
mov $7, %eax
jmp 1f
.Ldata: .byte 0xff, 0xc0, 0x75, 0xfc, 0xc3, 0x91, 0xe2, 0x3f
.Lend:
1: add $1000, %eax
ret
END F
ARRIVE .Ldata, 7
ARRIVE .Lend, 8
""", "")
# Data that another function reads stand at the end of one, and look like a return: live_doubt.
rule("pie data_named", """
FUNC F, 0
lea 1(%rdi), %eax
nopl 0(%rax,%rax)
ret
.Ldata: .byte 0xc2, 0xff, 0xff, 0xff, 1, 2, 3, 4
.Lend: nop
END F
ARRIVE .Ldata, 7
ARRIVE .Lend, 8
KEPT F
FUNC G, 1
lea .Ldata(%rip), %rcx
movzbl (%rcx,%rdi), %eax
ret
END G
KEPT G
""", "")
# The same, named by a word of data.
rule("pie data_pointed", """
FUNC F, 0
lea 1(%rdi), %eax
nopl 0(%rax,%rax)
ret
.Ldata: .byte 0xc2, 0xff, 0xff, 0xff, 1, 2, 3, 4
.Lend: nop
END F
ARRIVE .Ldata, 7
ARRIVE .Lend, 8
KEPT F
KEPT .Ldata
""", "")
# Data that look like a branch back to where the function begins: judge_loop.
rule("pie data_loop", """
FUNC F, 0
lea 1(%rdi), %eax
nopl 0(%rax,%rax)
ret
.Ldata: .byte 5
.Linside: .byte 0xc1, 0xcf, 6
jge F
.byte 0xfb, 0xf3, 0xc3
.Lend: nop
END F
ARRIVE .Ldata, 7
ARRIVE .Lend, 8
KEPT F
FUNC G, 1
lea words_of(%rip), %rcx
mov (%rcx,%rdi,4), %eax
ret
END G
KEPT G
.section .rodata
.balign 4
words_of: .long G + 7 - words_of, .Linside - words_of, .Linside - words_of, .Linside - words_of
""", "")
# An entry of a switch's table leads out, to a function that begins where this one ends: leads_out.
rule("pie table_end", """
.p2align 4
.type F, @function
F: .cfi_startproc
ARRIVE F, 0
""" + SWITCH + """
ARRIVE 1f, 6
1: jmp *%rdx
.LC0: inc %eax
ret
.cfi_endproc
.size F, . - F
.type out, @function
out: inc %eax
ret
.size out, . - out
ARRIVE .LC0
KEPT F
.section .rodata
.balign 4
table: .long .LC0 - table, out - table
""", "")
# Data that change where the stack is, if they were code, stand before what is jumped to, and the
# jump leaves it elsewhere: join_stacks in back.c.
rule("pie joined_data", """
FUNC G, 1
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
jmp 1f
.byte 0x94
1: push %rdx
xchg %rdx, (%rsp)
ret
END G
KEPT G
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
""")
# An entry behind a switch's table leads into data of another function, which look like a branch
# out of it: ground_is_stray.
STRAY = """
FUNC F, 0
lea 1(%rdi), %eax
nopl 0(%rax,%rax)
jmp 1f
.Ldata: .byte 0x93
js .Lout
.Lend:
1: not %eax
nopl 0(%rax,%rax)
ret
END F
ARRIVE .Ldata, 7
ARRIVE .Lend, 8
KEPT F
FUNC out
.Lout: ret
END out
FUNC G, 1
{}and $1, %edi
lea table(%rip), %rcx
movslq (%rcx,%rdi,4), %rdx
add %rcx, %rdx
jmp *%rdx
.LG0: inc %eax
.LG1: ret
{}KEPT G
.skip 64, 0x90
.section .rodata
.balign 4
table: .long .LG0 - table, .LG1 - table
.long .Ldata - table
"""
rule("pie stray_data", STRAY.format("", "END G\n"), "")
# It is gone by in code of no function.
rule("pie stray_gap", STRAY.format("jmp .Lgap\nEND G\n.Lgap: ", ""), "")
# And one of what may be no table leads to data before code of this function's own switch:
# is_passed.
rule("pie stray_passed", """
FUNC F, 0
xor %eax, %eax
.LB2: add $4, %eax
and $1, %edi
lea table(%rip), %rcx
movslq (%rcx,%rdi,4), %rdx
add %rcx, %rdx
ARRIVE 3f, 4
3: jmp *%rdx
.Ldata: .byte 0x6f, 0x68, 0
.LC0: test %edi, %edi
jg .LB2
ARRIVE 1f, 6
1: ret
.byte 147, 167
.LC1: inc %eax
ARRIVE 2f, 6
2: ret
END F
ARRIVE .LB2, 5
ARRIVE .LC0
ARRIVE .LC1
KEPT F
FUNC G, 1
and $1, %edi
lea other(%rip), %rcx
movslq (%rcx,%rdi,4), %rdx
add %rcx, %rdx
jmp *%rdx
.LG0: inc %eax
.LG1: ret
END G
KEPT G
.section .rodata
.balign 4
table: .long .LC0 - table, .LC1 - table
.skip 64, 0
other: .long .LG0 - other, .LG1 - other, .Ldata - other
""", "")
# An address may lead anywhere, and so to a return that nothing else leads to: judge_unseen.
rule("pie bound_leaves", """
FUNC F, 0
lea 1(%rdi), %eax
nopl 0(%rax,%rax)
ret
nopl 0(%rax,%rax)
.LB0: inc %eax
nopl 0(%rax,%rax)
ARRIVE 1f, 6
1: ret
END F
ARRIVE .LB0
KEPT F
FUNC G, 1
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
lea out(%rip), %rcx
add %rcx, %rdx
jmp *%rdx
END G
KEPT G
FUNC out
ret
END out
.section .rodata
.balign 8
table: .quad .LB0 - out
""", "")
# Data that begin as what pads, where a jump leads over them: pads_for_code in window.c.
rule("pie data_pads", """
FUNC F, 0
xor %eax, %eax
jmp 1f
.Ldata: .byte 0x90, 0xfc, 0x8c, 0x3e
.Lend:
1: inc %eax
nopl (%rax)
ret
END F
ARRIVE .Ldata, 7
ARRIVE .Lend, 8
KEPT F
""", "")
# Where data were found control may come to the middle of what is read behind them, and leave there
# by an address: between_check.
IN_MIDDLE = """
FUNC G, 1
lea numbers(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
lea places(%rip), %rcx
{}
jmp .LC0 - 1
add $56, %eax
.LC0: not %eax
jmp *%rdx
.byte 0, 0xc3
ret
END G
KEPT G
.data
.balign 8
numbers: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
"""
rule("pie data_before_goal", IN_MIDDLE.format("jmp *(%rcx,%rdi,8)") +
     "places: .quad .LC0, .LC0, .LC0\n")
rule("exec data_before_number", IN_MIDDLE.format("mov (%rcx,%rdi,4), %eax; jmp *%rax") +
     ".byte 1\nplaces: .long .LC0, .LC0, .LC0\n")
# A table of four bytes stands in code, where only a bounded index would tell of it: judge_value.
rule("exec words_in_code", """
FUNC G, 1
cmp $3, %rdi
ja 1f
lea 1(%rdi), %edx
mov table(,%rdx,4), %ecx
jmp *%rcx
1: ret
END G
KEPT G
.type H, @function
H: inc %eax
ret
table: .long H, .LB0, .LB1, .LB2, .LB3, .LB4
""")
# What only looks like a table leads to data before the place that a switch leads to: that place is
# read for itself, and the function is left there: is_passed in again.c.
BEFORE = """
FUNC F, 0
cmp $2, %edi
ja 9f
mov %edi, %r9d
lea cases(%rip), %r11
movslq (%r11,%r9,4), %rcx
add %r11, %rcx
jmp *%rcx
.byte 0x6e, 0x99
.Llisted: .byte 0x8e, 0xda, 0x03
.LC0: test %edi, %edi
jg 9f
ARRIVE 1f, 6
1: ret
.LC1: inc %eax
.LC2: inc %eax
9: ret
END F
KEPT F
FUNC G, 1
{}
ret
END G
.section .rodata
{}
.balign 4
cases: .long .LC0 - cases, .LC1 - cases, .LC2 - cases
"""
rule("pie listed_before", BEFORE.format("lea list(%rip), %rax; mov %rax, word(%rip)", """
.balign 4
list: .long F - list, .Llisted - list, F - list, .Llisted - list, 0, 0, 0, 0"""), "")
# So if a number that looks like a word of data leads there.
rule("exec number_before", BEFORE.format("", ".byte 1; .long .Llisted"), "")
# Data behind a call that never comes back look like a jump to where the function begins, or out of
# it, and what the function leads to stands in the middle of the last: judge_loop, live_doubt.
DATA_CALL = """
FUNC F, 0
mov $7, %eax
test %edi, %edi
jne 1f
nopl 0(%rax,%rax)
call none
.Ldata: .byte 0xe9
.long {} - . - 4
.byte 0x48, 0xb8
.Lend:
1: inc %eax
inc %eax
inc %eax
inc %eax
.byte 0xe9
.long none - . - 4
END F
ARRIVE .Ldata, 7
ARRIVE .Lend, 8
KEPT F
FUNC none
ret
END none
"""
rule("pie call_data_loop", DATA_CALL.format("F"), "")
rule("pie call_data_exit", DATA_CALL.format("none"), "")
# A window goes back from an exit as far as what control comes to: check_insns in window.c.
rule("pie data_before_exit", """
FUNC F, 0
lea 1(%rdi), %eax
test %edi, %edi
jne 1f
nopl 0(%rax,%rax)
ret
.Ldata: .rept 9; xor %eax, %eax; .endr
.Lend:
1: ret
END F
ARRIVE .Ldata, 7
ARRIVE .Lend, 8
KEPT F
KEPT .Ldata
FUNC H, 0
lea 1(%rdi), %eax
nopl 0(%rax,%rax)
ret
END H
""", "")
# What nothing is known to lead to goes back to the start, where some address may lead anywhere, or
# where a word of data leads: an iteration would be taken for a call. judge_unseen, live_doubt.
LOOPS = """
FUNC F, 0
lea 1(%rdi), %eax
nopl 0(%rax,%rax)
ret
nopl 0(%rax,%rax)
.LB0: inc %edi
nopl 0(%rax,%rax)
ARRIVE 1f, 10
1: jmp F
END F
ARRIVE .LB0
KEPT F
"""
rule("pie named_loops", LOOPS + "KEPT .LB0\n", "")
rule("pie bound_loops", LOOPS + """
FUNC G, 1
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
lea out(%rip), %rcx
add %rcx, %rdx
jmp *%rdx
END G
KEPT G
FUNC out
ret
END out
.section .rodata
.balign 8
table: .quad .LB0 - out
""", "")
