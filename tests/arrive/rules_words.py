# SPDX-License-Identifier: MIT
"""rules_words: programs of rules about addresses in vector registers, and in words of the frame that
several registers reach (rules.py)."""
from rule import BY_WORD, COMPUTED, rule

KEEP = """
mov %rax, word(%rip)
ret
END fill
""" + BY_WORD
# An address of code on one of two ways only, so that no search says what it is.
ONE_WAY = """
FUNC fill
lea .LB0(%rip), %rax
test %esi, %esi
jne 1f
mov (%rdx), %rax
1: """

# It is added to in a vector register: pass_vectors in mixed_step.c. What is loaded from the frame,
# and what stands behind that, goes into one, too.
rule("pie vector_mixed", ONE_WAY + """movq %rax, %xmm1
movdqa %xmm1, %xmm3
movq %rdi, %xmm2
paddq %xmm2, %xmm3
movq %xmm3, %rax""" + KEEP)
rule("pie vector_mixed_loaded", ONE_WAY + """mov %rax, -16(%rsp)
movq -16(%rsp), %xmm1
movq %rdi, %xmm2
paddq %xmm2, %xmm1
movq %xmm1, %rax""" + KEEP)
rule("pie vector_mixed_high", ONE_WAY + """mov %rax, -16(%rsp)
movdqu -24(%rsp), %xmm1
psrldq $8, %xmm1
movq %rdi, %xmm2
paddq %xmm2, %xmm1
movq %xmm1, %rax""" + KEEP)
# A word of the frame is reached by other registers, too, that have an address of the stack:
# pass_stacked and word_named in mixed_step.c.
STACKED = """
FUNC fill
push %rbp
mov %rsp, %rbp
lea 1f(%rip), %r10
mov %r10, words(%rip)
1: mov %rsp, %rcx
mov %rcx, %r8
lea -32(%rbp), %r9
lea .LB0(%rip), %rax
mov %rax, -32(%rsp)
lea (%rdi,%rdi), %rdx
add %rdx, {}
mov -32(%rsp), %rax
pop %rbp
""" + KEEP
rule("pie stacked_copy", STACKED.format("-32(%rcx)"))
rule("pie stacked_copied", STACKED.format("-32(%r8)"))
rule("pie stacked_by_frame", STACKED.format("(%r9)"))
rule("pie stacked_frame", STACKED.format("-32(%rbp)"))

# Where whole words come from, and what is computed, in vector registers: pass_vectors in whole.c.
VECTOR = """
FUNC G, 1
lea table(%rip), %rcx
{}
jmp 1f
nop
1: movq %xmm5, %rdx
jmp *%rdx
END G
KEPT G
.data
.balign 16
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
much: .quad 4096, 0
"""
LOAD = """
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
"""
rule("pie vector_moved", VECTOR.format(LOAD + "movq %rdx, %xmm4; movdqa %xmm4, %xmm5"))
rule("pie vector_inserted", VECTOR.format(LOAD + "pinsrq $0, %rdx, %xmm5"))
rule("pie vector_sum", VECTOR.format("movq (%rcx,%rdi,8), %xmm5; psubq much(%rip), %xmm5"))

# A word of the frame, into which something computed is put by a register that has its address: of
# all these nothing is known unless all of the function is gone through for this word.
OTHERS = COMPUTED.format("sub $24, %rsp; mov %rsp, %r11\n{}\nadd $24, %rsp; jmp *%rax")
# go_again in whole_asked.c: it is asked for the first time where it is added, at the top, or above.
ADDED = "mov %rsi, {0}(%rsp); mov %rdx, {0}(%r11); je 3f; 3: xor %eax, %eax; add {0}(%rsp), %rax"
rule("pie others_top", OTHERS.format(ADDED.format(0)))
rule("pie others_above", OTHERS.format(ADDED.format(8)))
# is_of_copy in flow_search.c: what is added is reached by the copy.
rule("pie others_copy", OTHERS.format("mov %rsi, (%rsp); mov %rdx, (%r11); xor %eax, %eax; "
                                      "add (%r11), %rax"))

# A call goes by such a word, found by the copy, or by something that is known, too.
CALLED = """
FUNC G, 1
push %rbx
sub $32, %rsp
mov %rsp, %rbx
lea table(%rip), %rcx
mov (%rcx,%rdi,8), %rdx
sub $4096, %rdx
mov %rdx, 8(%rbx)
{}
5: mov 8(%rbx), %rax
6: call *%rax
add $32, %rsp
pop %rbx
ret
END G
KEPT G
FUNC out
nop; nop; nop; nop; nop; nop; nop; ret
nop; nop; nop; nop; nop; nop; nop; ret
END out
{}
.data
.balign 8
table: .quad .LB0 + 4096, .LB1 + 4096, .LB2 + 4096
"""
# `supposes` in arrivals_judge: it is asked exactly, if it is judged otherwise than as a whole word,
# and stays so when it is asked once more; also if there are as many values as fit.
rule("pie supposed", CALLED.format("""
test %esi, %esi
je 5f
and $1, %esi
lea out(%rip), %rax
lea (%rax,%rsi,8), %rax
jmp 6f""", ""))
rule("pie supposed_switch", CALLED.format("""
test %esi, %esi
je 5f
lea switch(%rip), %r8
movslq (%r8,%rsi,4), %rax
add %r8, %rax
jmp 6f""", """
.section .rodata
.balign 4
switch: .long out - switch, out + 8 - switch
"""))
rule("pie supposed_many", CALLED.format(
    "".join(f"cmp ${i}, %esi; je 1{i}f\n" for i in range(7)) + "jmp 5f\n" +
    "".join(f"1{i}: lea o{i}(%rip), %rax; jmp 6f\n" for i in range(6)) +
    "16: movslq (%rdi,%rsi,4), %rax; jmp 6f",
    "".join(f"FUNC o{i}\nret\nEND o{i}\n" for i in range(6))))
