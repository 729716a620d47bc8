# SPDX-License-Identifier: MIT
"""rules_joined: programs of which nothing is lost, though data lie where code may run, or code
adds to what lies in data (rules.py): all exits of C are recorded, and no address may lead anywhere.
And of which something would be, if that went too far."""
from rule import BY_WORD, rule
from rules_lost import certain

# No jump fits at the return that changes its byte only.
TIGHT = """
FUNC C
{}
ret
END C
.byte 0x90, 0x90, 0x90, 0xf4
"""
# An address leads into data which look like an indirect jump, as the file's sections say
# (doubt_hidden in suspects.c), or into the file's headers (add_headers in sections.c).
certain("joined rodata_named", TIGHT.format("lea jump(%rip), %rcx; mov (%rcx), %eax") + """
.section .rodata
.byte 0xb8
jump: .byte 0xff, 0xe0, 0, 0
""")
certain("joined header_pointed", TIGHT.format("mov %edi, %eax; inc %eax; inc %eax") + """
.data
.balign 8
.quad __ehdr_start + 24
""")
# What a table's entries lead to beside it is data: leads_to_text and distances_lead_to_text in
# distances.c.
certain("joined rodata_table", TIGHT.format("""
lea table(%rip), %rcx
movzwl (%rcx,%rdi,2), %eax
lea base(%rip), %rdx
add %rdx, %rax
mov (%rax), %eax""") + """
.section .rodata
table: .short 0, 1, 2, 3
base: .byte 1, 2, 3, 4
""")
# A distance that is found by a pointer is added to an address of what the file has no bytes of:
# is_of_data in arrivals.c.
certain("pie distance_bss", """
FUNC C
lea buffer(%rip), %rdx
movslq (%rdi), %rax
add %rdx, %rax
movzbl (%rax), %eax
ret
END C
.bss
buffer: .skip 4096
""")
# A large frame has more words than there is room for: makes_room in whole_asked.c.
certain("pie many_words", """
FUNC C
sub $2048, %rsp
.cfi_adjust_cfa_offset 2048
.set at, 8
.rept 140
mov at(%rsp), %rax
mov %rax, (%rsi)
.set at, at + 8
.endr
lea helper(%rip), %rcx
mov %rcx, 1608(%rsp)
lea 1600(%rsp), %rdi
movq $0, 8(%rdi)
call helper
mov 1608(%rsp), %rax
test %rax, %rax
je 1f
call *%rax
1: add $2048, %rsp
.cfi_adjust_cfa_offset -2048
ret
END C
FUNC helper
ret
END helper
""")

# What stands in data is read as code all the same, for where that jumps: note_todo in again.c.
PIECE = """
FUNC F, 0
xor %eax, %eax
.LB0: inc %eax
inc %eax
inc %eax
ret
END F
ARRIVE .LB0
FUNC G, 1
{}
END G
.section .rodata
.byte 0xb8
.Lg: jmp .LB0
"""
rule("joined rodata_direct", PIECE.format("mov %rdi, %rdx; jmp .Lg"), "")
rule("joined rodata_called", PIECE.format("lea .Lg(%rip), %rax; jmp *%rax"), "")
# Only what is in doubt for certain lets code of no function be looked at in a hurry: the jumps
# there are shown to go by whole words later than their ways are followed. (flow_follow)
LATE = "".join(f""".LJ{i}: movq %rdi, %xmm0
.rept 26
nop
.endr
movq %xmm0, %rax
jmp *%rax
KEPT .LJ{i}
""" for i in range(70))
rule("pie hurried", LATE + """
.LG: lea table(%rip), %rdx
mov (%rdx,%r8,8), %rdx
sub $4096, %rdx
lea switch(%rip), %rcx
.rept 3000
nop
.endr
movslq (%rcx,%rsi,4), %rax
add %rcx, %rax
jmp *%rax
ud2
.LH: jmp *%rdx
ud2
KEPT .LG
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
.section .rodata
.balign 4
switch: .long .LH - switch, .LH - switch, .LH - switch, .LH - switch
""")

# An address of code is named from which something was taken, so that it is one of the file's own
# headers, which stand in the same segment: arrivals_names_code.
rule("joined named_below", """
FUNC fill
lea .LB0 - 64(%rip), %rcx
lea 64(%rcx,%rdi,2), %rax
mov %rax, word(%rip)
ret
END fill
""" + BY_WORD)
