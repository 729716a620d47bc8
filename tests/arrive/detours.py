# SPDX-License-Identifier: MIT
"""detours: ways that a target takes through the stack, and ways to go by it, of which a search
over few instructions sees nothing."""


def far(p):
    """More steps than a search nearby looks at, or a call."""
    if p.rng.random() < .5:
        p.out(f"call {p.asked('log', ['ret'], True)}")
    else:
        p.out(f".rept {p.rng.randint(26, 40)}", "nop", ".endr")


def pop_far(p):
    p.out(f"push %{p.t}")
    far(p)
    p.out(f"pop %{p.t}")


def xmm_far(p):
    x = p.rng.choice(["xmm3", "xmm9"])
    p.out(f"movq %{p.t}, %{x}")
    far(p)
    p.out(f"movq %{x}, %{p.t}")


def by_frame(p):
    """Pushed, and read by another register than the stack's."""
    reg = p.rng.choice(["rbp", "r12"])
    p.out(f"push %{reg}", f"mov %rsp, %{reg}", f"push %{p.t}")
    far(p)
    p.out(f"mov -8(%{reg}), %{p.t}", f"mov %{reg}, %rsp", f"pop %{reg}")


def other_jump(p):
    """Computed before another jump, which leads on to it."""
    at = p.label("o")
    p.out(f"lea {at}(%rip), %{p.d}", f"jmp *%{p.d}", "ud2", f"{at}:")


WASHES = {"pop_far": pop_far, "xmm_far": xmm_far, "by_frame": by_frame,
          "other_jump": other_jump}


def push_far(p):
    p.out(f"push %{p.t}")
    far(p)
    p.stays()
    p.out("ret")


def interrupt_return(p):
    d = p.e(p.d)
    p.out(f"mov %rsp, %{p.d}", "push %rax", f"mov %ss, %eax", f"xchg %rax, (%rsp)",
          f"push %{p.d}", "pushf", f"mov %cs, %{d}", f"push %{p.d}", f"push %{p.t}")
    p.stays()
    p.out("iretq")


def far_jump(p):
    p.out(f"mov %{p.t}, -16(%rsp)", f"mov %cs, %{p.e(p.d)}", f"mov %{p.e(p.d)}, -8(%rsp)")
    p.stays()
    p.out("rex.w ljmp *-16(%rsp)")


JUMPS = {"push_far": push_far, "interrupt_return": interrupt_return, "far_jump": far_jump}
