# SPDX-License-Identifier: MIT
"""rules_words: programs of rules about addresses in vector registers, and in words of the frame that
several registers reach (rules.py)."""
from rule import BY_WORD, rule

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
