# SPDX-License-Identifier: MIT
"""rules_read: programs for rules of what is read: as code, as tables, or not at all.

docs/sites.md has a table of them.
"""
from rule import BY_WORD, rule

# Data end with what would make another instruction of what follows: is_behind_end in again.c.
rule("exec behind_end", """
FUNC fill
lea .LB0(%rip), %rax
jmp 1f
.byte 0x4c
1: mov %eax, %ecx
lea (%rcx,%rdi,2), %rdx
mov %rdx, word(%rip)
ret
END fill
""" + BY_WORD)

# Words of eight bytes from which 4096 was added: what G makes of one is no whole word.
PLACES = """
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
"""
LOADS = """
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
"""

# A jump leads behind a prefix that control falls through elsewhere: ground_leads_to.
rule("pie led_over_prefix", "FUNC G, 1" + LOADS + """
mov on(%rip), %rax
test %esi, %esi
jne 2f
jmp *%rax
2: mov leaves(%rip), %rdx
.byte 0x3e
.LG1: mov %rdx, %rcx
jmp *%rcx
END G
KEPT G
FUNC out
ret
END out
.data
.balign 8
on: .quad .LG1
leaves: .quad out
""" + PLACES)

# Far returns, jumps and calls are goals: sweep_is_goal, flow_goal.
rule("pie far_return", "FUNC G, 1" + LOADS + """
mov %cs, %eax
push %rax
push %rdx
lretq
END G
KEPT G
""" + PLACES)
FAR = "FUNC G, 1" + LOADS + """
mov %cs, -8(%rsp)
mov %rdx, -16(%rsp)
rex.w {} *-16(%rsp)
ret
END G
KEPT G
""" + PLACES
rule("pie far_jump", FAR.format("ljmp"))
rule("pie far_call", FAR.format("lcall"))

# What stands behind bytes that are no instruction was not judged; and what begins in the middle of
# another instruction that control comes to was not: UNPROVED_UNREAD in suspects.c.
rule("pie unread", """
FUNC fill
test %esi, %esi
jne 1f
call stop
.byte 0x06
1: lea .LB0(%rip), %rax
lea (%rax,%rdi,2), %rdx
mov %rdx, word(%rip)
ret
END fill
FUNC stop
ud2
END stop
""" + BY_WORD)
rule("pie unread_goal", "FUNC G, 1" + LOADS + """
test %esi, %esi
jne 1f
.byte 0x48, 0xb8
1: jmp *%rdx
.skip 6, 0x90
ret
END G
KEPT G
""" + PLACES)
# Code that only a table leads to, and that was found when its function had been judged:
# doubt_hidden.
rule("pie hidden_late", """
FUNC fill
ret
.byte 0x48, 0xb8
.LG1: lea .LB0(%rip), %rax
lea (%rax,%rdi,2), %rdx
mov %rdx, word(%rip)
ret
END fill
FUNC H
lea on(%rip), %rcx
movslq (%rcx,%rsi,4), %rax
add %rcx, %rax
jmp *%rax
END H
KEPT H
.section .rodata
.balign 4
on: .long .LG1 - on, .LG1 - on
.text
""" + BY_WORD)

# Code of no function that only a switch leads to, and that no reading has seen before: drop_data in
# unowned.c.
LATE = """
FUNC H
lea on(%rip), %rcx
movslq (%rcx,%rsi,4), %rax
add %rcx, %rax
jmp *%rax
END H
KEPT H
{}
.LG1:""" + LOADS + """{}
.section .rodata
.balign 4
on: .long .LG1 - on, .LG1 - on
""" + PLACES
rule("pie gap_late", LATE.format("", "jmp *%rdx"))
rule("pie gap_hidden", LATE.format(".byte 0x48, 0xb8", "push %rdx; ret"))

# Distances from themselves: in a section of their own, right behind a switch's table, and where
# that would lead to instructions of its function by them: scan_distances in words.c.
FIXED = """
FUNC F, 0
lea 1(%rdi), %eax
.LB0: inc %eax
xchg %ax, %ax
ret
END F
ARRIVE .LB0
KEPT F
FUNC G, 1
and $1, %edi
lea table(%rip), %rcx
movslq (%rcx,%rdi,4), %rax
add %rcx, %rax
jmp *%rax
.LG0: inc %eax
.LG1: ret
END G
KEPT G
.section .rodata
.balign 4
table: .long .LG0 - table, .LG1 - table
{}
.long .LB0 - ., .LB0 - ., .LB0 - .
"""
rule("pie fix_place", FIXED.format('.section .fix, "a"'), "")
rule("pie behind_switch", FIXED.format(""), "")
rule("pie behind_bound", """
FUNC F, 0
mov %edi, %eax
nopl 0(%rax,%rax)
and $1, %edi
lea table(%rip), %rcx
movslq (%rcx,%rdi,4), %rdx
add %rcx, %rdx
jmp *%rdx
.LG0: inc %eax
.LG1: lea 1(%rax), %eax
xchg %ax, %ax
nopl (%rax)
.LB0: inc %eax
ret
.LG2: inc %eax
lea 1(%rax), %eax
jmp .LG0
END F
ARRIVE .LB0
ARRIVE .LG0
ARRIVE .LG1
ARRIVE .LG2
KEPT F
.section .rodata
.balign 4
table: .long .LG1 - table, .LG2 - table
.long .LB0 - .
""", "")

# Distances from a string, which are found by a pointer: scan_based, and doubt_bases for many.
POINTED = """
FUNC G, 1
movslq 16(%rdi), %rax
.set i, 0
.rept {0}
lea string + i(%rip), %rdx
add %rax, %rdx
mov %rdx, word(%rip)
.set i, i + 1
.endr
ret
END G
KEPT G
.section .rodata
.byte 0
string: .skip 300, 65
.long .LB0 - string - {0} + 1
"""
POINTED_TO = """
FUNC F, 0
lea 1(%rdi), %eax
.LB0: inc %eax
xchg %ax, %ax
ret
END F
ARRIVE .LB0
KEPT F
"""
rule("pie pointed", POINTED_TO + POINTED.format(1), "")
rule("pie pointed_many", POINTED.format(257))

# The same by a table that is named, of which the end is not known: judge_value.
rule("pie pointed_table", POINTED_TO + """
FUNC G, 1
lea offsets(%rip), %rcx
movslq (%rcx,%rdi,4), %rax
test %eax, %eax
jz 1f
lea string(%rip), %rdx
add %rax, %rdx
mov %rdx, word(%rip)
1: ret
END G
KEPT G
.section .rodata
string: .skip 300, 65
.balign 4
offsets: .long G - string, 2, 3
.skip 4096, 65
.long .LB0 - string
""", "")

# An address by one way only goes on in the register that it is exchanged with: pass_swap in
# mixed_step.c.
rule("pie mixed_swap", """
FUNC fill
lea .LB0(%rip), %rax
test %esi, %esi
jne 1f
mov (%rdx), %rax
1: xchg %rax, %rcx
add %rdi, %rcx
mov %rcx, word(%rip)
ret
END fill
""" + BY_WORD)

# A switch by one of several tables, of which the address is computed from the first one's:
# is_by_table.
rule("pie by_table", """
FUNC F, 0
lea 1(%rdi), %eax
.LB0: inc %eax
xchg %ax, %ax
.LB1: lea 1(%rax), %eax
ret
END F
ARRIVE .LB0
KEPT F
FUNC G, 1
lea first(%rip), %rcx
shl $4, %rsi
add %rsi, %rcx
movslq (%rcx,%rdi,4), %rdx
add %rcx, %rdx
jmp *%rdx
END G
KEPT G
FUNC out
inc %eax
.LO: lea 1(%rax), %eax
ret
END out
.section .rodata
.balign 16
first: .long .LO - first, .LO - first, .LO - first, .LO - first
second: .long .LO - second, .LB0 - second, .LO - second, .LO - second
""", "")

# A word of memory into which the function itself has put the entry of a table: stores_other.
rule("pie stores_other", """
FUNC F, 0
and $1, %edi
lea switch(%rip), %rcx
movslq (%rcx,%rdi,4), %rax
add %rcx, %rax
ARRIVE 1f, 4
1: jmp *%rax
.LC0: and $1, %esi
lea switch(%rip), %rcx
movslq (%rcx,%rsi,4), %rax
add %rcx, %rax
mov %rax, word(%rip)
nopl 0(%rax,%rax)
ARRIVE 2f, 4
2: jmp *word(%rip)
.LC1: lea 1(%rsi), %eax
ret
END F
ARRIVE .LC0
ARRIVE .LC1
KEPT F
.section .rodata
.balign 4
switch: .long .LC0 - switch, .LC1 - switch
""", "")
# A call may lead into the middle of its function, and that returns there: verdict_is_own_call.
rule("pie own_call_middle", """
FUNC F, 0
mov %edi, %eax
lea 2f(%rip), %rdx
call *%rdx
nopl 0(%rax,%rax)
ret
2: inc %eax
nopl 0(%rax,%rax)
ARRIVE 1f, 4
1: ret
END F
ARRIVE 2b
KEPT F
""", "")

# What another function has put into memory leads into this one: to a place that a table names, or a
# word that may be a number; or behind a prefix: is_arrived_at in indirect.c.
LED = """
FUNC F, 0
mov %edi, %eax
test %edi, %edi
jne 2f
nopl 0(%rax,%rax)
ARRIVE 1f, 4
1: jmp *word(%rip)
{}
2: nopl 0(%rax,%rax)
{}
.LB0: inc %eax
xchg %ax, %ax
ret
END F
ARRIVE .LB0
KEPT F
FUNC G, 1
{}
mov %rax, word(%rip)
ret
END G
KEPT G
FUNC out
ret
END out
.section .data.rel.ro, "aw"
.balign 8
"""
rule("pie led_table", LED.format("", "", """
lea table(%rip), %rcx
movslq (%rcx,%rdi,4), %rax
add %rcx, %rax""") + """
.section .rodata
.balign 4
table: .rept 16; .long out - table; .endr
.long .LB0 - table
""", "")
rule("exec led_number", LED.format("", "", "mov place(%rip), %eax") + """
.byte 1
place: .long .LB0
""", "")
rule("pie led_over", LED.format("", ".byte 0x3e", "mov place(%rip), %rax") + """
place: .quad .LB0
""", "")
# Records with addresses, of which one leads out: judge_jump, of a switch whose table is not known.
rule("pie records_out", """
FUNC F, 0
and $3, %edi
lea records(%rip), %rdx
imul $13, %edi, %edi
mov 5(%rdx,%rdi), %rcx
nopl 0(%rax,%rax)
ARRIVE 1f, 6
1: notrack jmp *%rcx
.LC0: inc %eax
nopl 0(%rax,%rax)
ret
.LC1: lea 1(%rsi), %eax
nopl 0(%rax,%rax)
ret
END F
ARRIVE .LC0
ARRIVE .LC1
KEPT F
FUNC out
ret
END out
.data
records: .skip 5
.quad .LC0
.skip 5
.quad .LC1
.skip 5
.quad out
.skip 5
.quad .LC1
""", "")
# A table of addresses leads inside, out, and inside again: tables_lead_both_ways.
rule("pie both_ways", """
FUNC F, 0
and $3, %edi
lea words_of(%rip), %rdx
mov (%rdx,%rdi,8), %rcx
push %rcx
nopl 0(%rax,%rax)
pop %rcx
ARRIVE 1f, 6
1: notrack jmp *%rcx
.LC0: inc %eax
nopl 0(%rax,%rax)
ret
.LC1: lea 1(%rsi), %eax
nopl 0(%rax,%rax)
ret
END F
ARRIVE .LC0
ARRIVE .LC1
KEPT F
FUNC out
ret
END out
.data
.balign 8
words_of: .quad .LC0, out, .LC1, out
""", "")
