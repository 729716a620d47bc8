# SPDX-License-Identifier: MIT
"""rules_frame: programs of rules about words of the frame: what writes to them, and what control
goes by that is there (rules.py)."""
from rule import COMPUTED, rule


def frame(name, lines):
    """In a frame of 56 bytes, once it is gone a jump by rax."""
    rule("pie " + name, COMPUTED.format("sub $56, %rsp\n" + lines + "\nadd $56, %rsp\njmp *%rax"))


def computed(name, lines):
    """The same without a frame."""
    rule("pie " + name, COMPUTED.format(lines))


# It is loaded on one of two ways.
frame("frame_may_load", "mov %rdx, 16(%rsp); mov %rsi, %rax; test %edi, %edi; "
      "cmovns 16(%rsp), %rax")
# What is written is not where it is loaded, but some of it is.
frame("frame_over", "movq %rdx, %xmm1; pslldq $8, %xmm1; movq %rsi, 16(%rsp); "
      "movups %xmm1, 8(%rsp); mov 16(%rsp), %rax")
# A vector is loaded from there.
frame("frame_vector", "mov %rdx, 16(%rsp); movq 16(%rsp), %xmm0; movq %xmm0, %rax")
frame("frame_vector_all", "mov %rdx, 16(%rsp); movups 16(%rsp), %xmm0; movq %xmm0, %rax")
frame("frame_vector_high", "mov %rdx, 16(%rsp); movhps 16(%rsp), %xmm0; psrldq $8, %xmm0; "
      "movq %xmm0, %rax")
frame("frame_vector_put", "mov %rdx, 16(%rsp); pinsrq $0, 16(%rsp), %xmm0; movq %xmm0, %rax")
frame("frame_vector_wide", "mov %rdx, 16(%rsp); vmovups 16(%rsp), %ymm0; vmovups %ymm0, -40(%rsp)"
      "; mov -40(%rsp), %rax")
frame("frame_vector_behind", "mov %rdx, 16(%rsp); movups 8(%rsp), %xmm0; psrldq $8, %xmm0; "
      "movq %xmm0, %rax")
# Words of vectors are told apart: name_words in code_vector.c, words_set in whole_vector.c.
PAIR = "movq %rsi, %xmm0; movq %rdx, %xmm1; {}; mov 24(%rsp), %rax"
frame("frame_vector_pair", PAIR.format("punpcklqdq %xmm1, %xmm0; movups %xmm0, 16(%rsp)"))
frame("frame_vector_pairs", PAIR.format("vpunpcklqdq %ymm1, %ymm0, %ymm0; vmovups %ymm0, 16(%rsp)"))
frame("frame_vector_upper", PAIR.format("movlhps %xmm1, %xmm0; movhps %xmm0, 24(%rsp)"))
frame("frame_vector_kept", PAIR.format("mov %rdx, (%rsp); movhps (%rsp), %xmm0; jmp 1f; 1: "
                                       "movups %xmm0, 16(%rsp)"))
frame("frame_vector_turned", PAIR.format("shufpd $0, %xmm1, %xmm0; movaps %xmm0, %xmm2; "
                                         "jmp 1f; 1: movups %xmm2, 16(%rsp)"))
frame("frame_vector_quarter", PAIR.format("vinserti128 $1, %xmm1, %ymm0, %ymm0; "
                                          "vmovups %ymm0, 8(%rsp)"))
# Linked to one address, half of a register is all of it.
rule("exec frame_vector_half", COMPUTED.format("movd %edx, %xmm0; movq %xmm0, %rax; jmp *%rax"))
# A jump by a word that a copy of the stack pointer reaches, and nothing else.
computed("frame_jump_copy", "mov %rsp, %rax; mov %rdx, -16(%rax); jmp *-16(%rax)")
computed("frame_call_copy", "push %rbx; sub $16, %rsp; mov %rsp, %rbx; mov %rdx, 8(%rbx); "
         "call *8(%rbx); add $16, %rsp; pop %rbx; ret")
computed("frame_jump_index", "mov %rdx, -16(%rsp); jmp *-16(%rsp,%rdi,8)")
frame("frame_load_index", "mov %rdx, 8(%rsp); mov %rsi, (%rsp); mov %rdi, %rax; "
      "mov (%rsp,%rax,8), %rax")
# What reaches the stack is a copy by other ways than a move.
frame("frame_load_sum", "mov %rdx, 16(%rsp); lea 8(%rsp), %r11; mov 8(%r11), %rax")
frame("frame_load_copied", "mov %rdx, 16(%rsp); mov %rsp, %r11; mov %r11, %r10; "
      "mov 16(%r10), %rax")
frame("frame_load_swapped", "mov %rdx, 16(%rsp); mov %rsp, %r11; xchg %r10, %r11; "
      "mov 16(%r10), %rax")
# It is read by the frame's register, and was written by another one than the stack pointer.
computed("frame_by_third", "push %rbp; mov %rsp, %rbp; sub $32, %rsp; mov %rsi, -16(%rbp); "
         "lea -16(%rbp), %r11; mov %rdx, (%r11); mov -16(%rbp), %rax; leave; jmp *%rax")
# It is left on the stack for what is returned to: goal_of_return in flow_goal.c.
computed("left_for_return", "push %rdx; push %rsi; ret")
# Strings are written there.
frame("frame_string", "mov %rsi, 16(%rsp); mov %rdx, -16(%rsp); lea -16(%rsp), %rsi; "
      "lea 16(%rsp), %rdi; mov $1, %ecx; rep movsq; mov 16(%rsp), %rax")
frame("frame_string_one", "mov %rsi, 16(%rsp); mov %rdx, %rax; lea 16(%rsp), %rdi; stosq; "
      "mov 16(%rsp), %rax")
frame("frame_masked", "mov %rsi, 16(%rsp); movq %rdx, %xmm0; pcmpeqb %xmm1, %xmm1; "
      "lea 16(%rsp), %rdi; movq %xmm1, %xmm1; maskmovdqu %xmm1, %xmm0; mov 16(%rsp), %rax")
# A call of its own drops its way back.
computed("dropped_own", "push %rdx; call 2f; ud2; 2: lea 8(%rsp), %rsp; ret")
# Data that code names hide the first of what puts that there: `makes` and `does_the_same` in
# again.c.
HIDDEN = "lea 9f(%rip), %r8; jmp 1f; 9: .byte {}; 1: {}; ret"
computed("hidden_pushed", HIDDEN.format("0xb8", "push %rdx; nop; nop; nop; nop"))
computed("hidden_stored", HIDDEN.format("0xb8", "mov %rdx, (%rsp)"))
computed("hidden_prefixed", HIDDEN.format("0x66", "push %rdx"))
