# SPDX-License-Identifier: MIT
"""rules_vectors: words of the frame that vectors copy, or an index reaches; and what a prefix hides.

In each, rdx is computed and rsi a whole word, both are put into the frame, and control goes by a
word of it that may be rdx. Windows on the way must not cover where that leads.
"""
from rule import COMPUTED, rule

# The computed word, and a whole one above it.
PUT = """mov %r9, 16(%rsp)
mov %rsi, 24(%rsp)
"""
# The same, as the third word of four that are loaded.
LOAD_UPPER = """mov %rsi, 16(%rsp)
mov %rsi, 24(%rsp)
mov %r9, 32(%rsp)
mov %rsi, 40(%rsp)
vmovups 16(%rsp), %ymm0
"""
# The computed word as the second of a vector.
PAIRED = "movq %rsi, %xmm0; movq %r9, %xmm1; punpcklqdq %xmm1, %xmm0; {}; mov 64(%rsp), %rax"


def plenty(name, lines, start="pl_"):
    """Of few words something is asked, so that each word of a vector has its place."""
    rule("pie " + start + name, COMPUTED.format("sub $1024, %rsp\nmov %rdx, %r9\n" + lines +
                                               "\nadd $1024, %rsp\njmp *%rax"))


def scarce(name, lines):
    """Of more than 56, so that what a vector was loaded from is looked for where it is stored."""
    plenty(name, """.set at, 512
.rept 60
mov at(%rsp), %rax
mov %rax, (%r8)
.set at, at + 8
.endr
""" + lines, "sc_")


# ---- looking back for what was loaded ----
# Nothing is wrong with it: what is loaded is computed.
scarce("control", PUT + """movups 16(%rsp), %xmm0
movups %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")
# What is written between is written by a register that was set since.
scarce("stale_base", PUT + """lea 16(%rsp), %rcx
movups 16(%rsp), %xmm0
mov %rsi, (%rcx)
mov %rsi, %rcx
movups %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")
# Whichever of two is named first, both are set.
for name, pair in (("swapped", "%r10, %r11"), ("swapped2", "%r11, %r10")):
    scarce(name, PUT + """mov %rsi, 80(%rsp)
mov %rsi, 88(%rsp)
lea 16(%rsp), %r10
lea 80(%rsp), %r11
movups (%r10), %xmm0
xchg """ + pair + """
movups %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")
# The upper half is stored.
scarce("extract", LOAD_UPPER + """vextractf128 $1, %ymm0, 64(%rsp)
mov 64(%rsp), %rax""")
# A push writes, too.
scarce("pushed", """lea 256(%rsp), %rbp
mov %r9, -264(%rbp)
mov %rsi, -256(%rbp)
movups -264(%rbp), %xmm0
push %rsi
movups %xmm0, -64(%rbp)
pop %rcx
mov -64(%rbp), %rax""")
scarce("popped", """push %rsi
lea 24(%rsp), %rbp
mov %r9, (%rbp)
mov %rsi, 8(%rbp)
movups (%rbp), %xmm0
pop 16(%rsp)
movups %xmm0, 32(%rbp)
mov 32(%rbp), %rax""")
# A string sets what it writes by.
scarce("string", PUT + """mov %rsi, %rax
lea 16(%rsp), %rdi
movups 16(%rsp), %xmm0
stosq
movups %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")
scarce("string2", PUT + """mov %rsi, %rax
lea 16(%rsp), %rdi
movups 16(%rsp), %xmm0
stosq
mov %rsi, %rdi
movups %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")
scarce("two_ways", PUT + """lea 16(%rsp), %rcx
movups 16(%rsp), %xmm0
test %esi, %esi
je 1f
mov %rsi, (%rcx)
xor %ecx, %ecx
jmp 2f
1: mov %rsi, (%rcx)
xor %ecx, %ecx
2: movups %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")
scarce("loop", """mov %rsi, 16(%rsp)
mov %rsi, 24(%rsp)
xor %ecx, %ecx
1: movups 16(%rsp), %xmm0
movups %xmm0, 48(%rsp)
mov %r9, 16(%rsp)
dec %edi
jne 1b
mov 48(%rsp), %rax""")
scarce("unaligned", PUT + """movups 16(%rsp), %xmm0
movups %xmm0, 44(%rsp)
movups 44(%rsp), %xmm1
movups %xmm1, 128(%rsp)
mov 128(%rsp), %rax""")
scarce("twice", PUT + """movups 16(%rsp), %xmm0
movups %xmm0, 48(%rsp)
movups 48(%rsp), %xmm1
movups %xmm1, 128(%rsp)
mov 128(%rsp), %rax""")
scarce("twice_zmm", """mov %r9, 72(%rsp)
mov %rsi, 24(%rsp)
vmovups 16(%rsp), %zmm0
vmovups %zmm0, 128(%rsp)
mov 184(%rsp), %rax""")
scarce("ymm_last", """mov %r9, 40(%rsp)
mov %rsi, 24(%rsp)
vmovups 16(%rsp), %ymm0
vmovups %ymm0, 128(%rsp)
mov 152(%rsp), %rax""")
# The first word, by an index.
scarce("index_load", PUT + """movups 16(%rsp,%rdi,8), %xmm0
movups %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")
scarce("upper", """mov %r9, 24(%rsp)
mov %rsi, 16(%rsp)
movups 16(%rsp), %xmm0
movhps %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")
scarce("leave", """push %rbp
mov %rsp, %rbp
mov %r9, -16(%rbp)
mov %rsi, -8(%rbp)
movups -16(%rbp), %xmm0
leave
movups %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")
scarce("narrow", PUT + """movups 16(%rsp), %xmm0
movl $0, 16(%rsp)
movups %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")

# ---- which words of a vector are stored, and how much of the frame ----
plenty("extract", LOAD_UPPER + """vextractf128 $1, %ymm0, 64(%rsp)
mov 64(%rsp), %rax""")
plenty("split", LOAD_UPPER + """vmovups %xmm0, 48(%rsp)
vextractf128 $1, %ymm0, 64(%rsp)
mov 64(%rsp), %rax""")
plenty("vpinsr", """vmovq %rsi, %xmm0
vpinsrq $1, %r9, %xmm0, %xmm0
vmovdqu %xmm0, 48(%rsp)
mov 56(%rsp), %rax""")
plenty("vpbroadcast", """vmovq %r9, %xmm0
vpbroadcastq %xmm0, %ymm1
vmovdqu %ymm1, 48(%rsp)
mov 64(%rsp), %rax""")
plenty("vperm", """vmovq %r9, %xmm0
vpermq $0x4e, %ymm0, %ymm1
vmovdqu %ymm1, 48(%rsp)
mov 64(%rsp), %rax""")
plenty("vinsert", """vmovq %r9, %xmm1
vmovdqu 16(%rsp), %ymm0
vinserti128 $1, %xmm1, %ymm0, %ymm0
vextracti128 $1, %ymm0, 48(%rsp)
mov 48(%rsp), %rax""")
plenty("extractf_beside", """mov %r9, 80(%rsp)
vmovups 256(%rsp), %ymm0
vextractf128 $1, %ymm0, 64(%rsp)
mov 80(%rsp), %rax""")
plenty("extractf_over", """mov %r9, 80(%rsp)
vxorps %xmm0, %xmm0, %xmm0
vextractf128 $1, %ymm0, 64(%rsp)
jmp 1f
1: mov 80(%rsp), %rax""")
plenty("extract64_mem", """mov %r9, 312(%rsp)
vmovdqu64 256(%rsp), %zmm0
vextracti64x4 $1, %zmm0, 96(%rsp)
mov 120(%rsp), %rax""")
plenty("zmm_store8", """mov %r9, 40(%rsp)
vmovdqu64 (%rsp), %zmm0
vmovdqu64 %zmm0, 64(%rsp)
mov 104(%rsp), %rax""")
plenty("zmm_load8", """mov %r9, 104(%rsp)
vmovdqu64 64(%rsp), %zmm0
vmovdqu64 %zmm0, 128(%rsp)
mov 168(%rsp), %rax""")
plenty("zmm_load32", """mov %r9, 108(%rsp)
vmovdqu64 68(%rsp), %zmm0
vmovdqu64 %zmm0, 132(%rsp)
mov 172(%rsp), %rax""")
plenty("evex_ymm16", """mov %r9, 64(%rsp)
vmovdqu64 64(%rsp), %ymm16
vmovdqu64 %ymm16, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("evex_q", """vmovq %r9, %xmm16
vmovq %xmm16, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("evex_q_store", """vmovq %r9, %xmm16
vmovq %xmm16, 129(%rsp)
mov 129(%rsp), %rax""")
plenty("mm_store", """movq %r9, %mm0
movq %mm0, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("mm_nt", """movq %r9, %mm0
movntq %mm0, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("movnti", """movnti %r9, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("movbe", """bswap %r9
movbe %r9, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("movdiri", """movdiri %r9, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("lock_xadd", """movq $0, 128(%rsp)
lock xadd %r9, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("xchg_mem", """mov %rsi, 128(%rsp)
xchg %r9, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("movsd_merge", """movq %r9, %xmm0
movq %rsi, %xmm1
movsd %xmm0, %xmm1
movups %xmm1, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("movss_merge", """movq %r9, %xmm0
movq %rsi, %xmm1
movss %xmm0, %xmm1
movups %xmm1, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("blend", """movq %r9, %xmm0
movq %rsi, %xmm1
pblendw $0xf, %xmm0, %xmm1
movups %xmm1, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("vblend_mem", """mov %r9, 64(%rsp)
vpblendd $3, 64(%rsp), %ymm1, %ymm1
vmovups %ymm1, 128(%rsp)
mov 128(%rsp), %rax""")
plenty("vpalignr", """movq %r9, %xmm0
movq %rsi, %xmm1
vpalignr $8, %xmm1, %xmm0, %xmm2
vmovups %xmm2, 128(%rsp)
mov 136(%rsp), %rax""")
plenty("punpckh", """movq %r9, %xmm0
pslldq $8, %xmm0
movq %rsi, %xmm1
punpckhqdq %xmm0, %xmm1
movups %xmm1, 128(%rsp)
mov 136(%rsp), %rax""")
plenty("pextrq1", PAIRED.format("pextrq $1, %xmm0, 64(%rsp)"))
plenty("vpextrq1", PAIRED.format("vpextrq $1, %xmm0, 64(%rsp)"))
plenty("pextrq1_far", PAIRED.format("jmp 1f; 1: pextrq $1, %xmm0, 64(%rsp)"))
plenty("pextrq1_loaded",
       "mov %r9, 136(%rsp); movups 128(%rsp), %xmm0; pextrq $1, %xmm0, 64(%rsp); "
       "mov 64(%rsp), %rax")
plenty("movhpd", PAIRED.format("movhpd %xmm0, 64(%rsp)"))
plenty("vmovhpd", PAIRED.format("vmovhpd %xmm0, 64(%rsp)"))
plenty("vmovhps_evex",
       "vmovhps %xmm16, 65(%rsp); " + PAIRED.format("{evex} vmovhps %xmm0, 64(%rsp)"))
plenty("movddup",
       "movq %r9, %xmm1; movddup %xmm1, %xmm0; movups %xmm0, 56(%rsp); mov 64(%rsp), %rax")
plenty("unpckhpd", PAIRED.format("unpckhpd %xmm0, %xmm0; movq %xmm0, 64(%rsp)"))
plenty("pshufd", PAIRED.format("pshufd $0xee, %xmm0, %xmm0; movq %xmm0, 64(%rsp)"))
plenty("movhlps", PAIRED.format("movhlps %xmm0, %xmm2; movq %xmm2, 64(%rsp)"))
plenty("psrldq", PAIRED.format("psrldq $8, %xmm0; movq %xmm0, 64(%rsp)"))
plenty("vperm2", PAIRED.format("vperm2f128 $1, %ymm0, %ymm0, %ymm0; vmovups %ymm0, 40(%rsp)"))
plenty("vpunpckl_ymm",
       PAIRED.format("vinsertf128 $1, %xmm0, %ymm2, %ymm2; vextractf128 $1, %ymm2, 56(%rsp)"))
plenty("movaps_ymm",
       "mov %r9, 80(%rsp); vmovups 64(%rsp), %ymm0; vmovaps %ymm0, %ymm1; "
       "vextractf128 $1, %ymm1, 64(%rsp); mov 64(%rsp), %rax")
plenty("vextract_reg",
       "mov %r9, 80(%rsp); vmovups 64(%rsp), %ymm0; vextractf128 $1, %ymm0, %xmm1; "
       "vmovups %xmm1, 128(%rsp); mov 128(%rsp), %rax")
plenty("vextract_reg_rax",
       "mov %r9, 80(%rsp); vmovups 64(%rsp), %ymm0; vextracti128 $1, %ymm0, %xmm1; "
       "movq %xmm1, %rax")
plenty("evex_vextract",
       "mov %r9, 80(%rsp); vmovups 64(%rsp), %ymm0; vextracti32x4 $1, %ymm0, %xmm16; "
       "movq %xmm0, %rcx; vmovdqu64 %xmm16, 129(%rsp); mov 129(%rsp), %rax")

# ---- what an index reaches: the first word there may be meant ----
plenty("index_load", PUT + """movups 16(%rsp,%rdi,8), %xmm0
movups %xmm0, 48(%rsp)
mov 48(%rsp), %rax""")
plenty("index_load_q", PUT + """movq 16(%rsp,%rdi,8), %xmm0
movq %xmm0, %rax""")
plenty("gpr_index_first", "mov %r9, 16(%rsp); mov 16(%rsp,%rdi), %rax")
plenty("gpr_index_store", "mov %rsi, 16(%rsp); mov %r9, 16(%rsp,%rdi); mov 16(%rsp), %rax")
plenty("gpr_index_store8", "mov %rsi, 16(%rsp); mov %r9, 16(%rsp,%rdi,8); mov 16(%rsp), %rax")
plenty("vec_index_store",
       "mov %rsi, 16(%rsp); movq %r9, %xmm0; movups %xmm0, 16(%rsp,%rdi,8); "
       "mov 16(%rsp), %rax")
plenty("movs_from_sum",
       "mov %r9, 16(%rsp); lea 16(%rsp,%rdi,8), %rsi; lea 64(%rsp), %rdi; movsq; "
       "mov 64(%rsp), %rax")
plenty("push_index", "mov %r9, 16(%rsp); pushq 16(%rsp,%rdi,8); pop %rax")
plenty("cmov_index", "mov %r9, 16(%rsp); mov %rsi, %rax; cmove 16(%rsp,%rdi,8), %rax")
plenty("vec_index_other",
       "mov %rsi, 16(%rsp); lea 16(%rsp), %rcx; movq %r9, %xmm0; "
       "movups %xmm0, (%rcx,%rdi,8); mov 16(%rsp), %rax")
plenty("vec_index_load_other",
       "mov %r9, 16(%rsp); lea 16(%rsp), %rcx; movups (%rcx,%rdi,8), %xmm0; "
       "movups %xmm0, 48(%rsp); mov 48(%rsp), %rax")
plenty("gpr_index_other",
       "mov %rsi, 16(%rsp); lea 16(%rsp), %rcx; mov %r9, (%rcx,%rdi,8); mov 16(%rsp), %rax")

# ---- named data that are a prefix, jumped over: is what follows the same with it? ----
HIDDEN = "lea 9f(%rip), %r8; jmp 1f; 9: .byte {}; 1: {}"
rule("pie hid_rexb", COMPUTED.format(HIDDEN.format("0x41", "push %rdx; ret")))
rule("exec hid_move_cut", COMPUTED.format(HIDDEN.format("0x48", "mov %edx, %eax; jmp *%rax")))
rule("pie hid_jmp_rexb", COMPUTED.format(HIDDEN.format("0x41", "jmp *%rdx")))
rule("pie hid_pop_rexb",
     COMPUTED.format("mov %rsi, %rax; push %rdx;" + HIDDEN.format("0x41", "pop %rax; jmp *%rax")))
rule("pie hid_load_rexx",
     COMPUTED.format("mov %rsi, -16(%rsp); mov %rdx, -8(%rsp);" +
     HIDDEN.format("0x48", ".byte 0x8b, 0x44, 0x24, 0xf0; jmp *%rax")))
rule("pie hid_seg",
     COMPUTED.format("mov %rsi, -16(%rsp); mov %rdx, -16(%rsp);" +
     HIDDEN.format("0x64", "mov -16(%rsp), %rax; jmp *%rax")))
rule("pie hid_addr",
     COMPUTED.format("mov %rsi, -16(%rsp);" +
     HIDDEN.format("0x67", "mov %rdx, -16(%rsp); mov -16(%rsp), %rax; jmp *%rax")))
rule("pie hid_seg_store",
     COMPUTED.format("mov %rsi, -16(%rsp);" +
     HIDDEN.format("0x64", "mov %rdx, -16(%rsp); mov -16(%rsp), %rax; jmp *%rax")))
rule("pie hid_seg_ret", COMPUTED.format(HIDDEN.format("0x64", "mov %rdx, (%rsp); ret")))
rule("pie hid_rep",
     COMPUTED.format("mov %rsi, -16(%rsp); lea -16(%rsp), %rdi; mov %rdx, %rax; xor %ecx, %ecx;" +
     HIDDEN.format("0xf3", "stosq; mov -16(%rsp), %rax; jmp *%rax")))
rule("pie hid_nop",
     COMPUTED.format(HIDDEN.format("0x0f, 0x1f, 0x80", "push %rdx; nop; nop; nop; ret")))
rule("pie hid_nop2", COMPUTED.format(HIDDEN.format("0x0f, 0x1f, 0x44, 0x24", "push %rdx; ret")))
rule("pie hid_nop3", COMPUTED.format(HIDDEN.format("0x0f, 0x1f", "rex.W push %rdx; nop; ret")))
