# SPDX-License-Identifier: MIT
"""inlined_program SEED [throws]: a program of functions that are inlined into each other, and into
functions with code. Each in_K says where it begins and ends, by calls of functions that can be traced:
first begin_K, last end_K. Each wrap_K calls one of these, or another one of its kind, first of all, and
last out_K: so that several copies begin with the same instruction. They have branches, loops, early returns; functions with code call
themselves. Each loop_K is a loop, and is called between before_K and after_K. If it throws it is one of
C++: work() does, now and then, through copies or into them."""
import random
import sys

INLINED, LOOPS, HOSTS, WRAPS = 7, 3, 5, 4
THROWS = sys.argv[2:] == ["throws"]


def block(r, k, names, depth):
    """Statements of in_K, or of a host (k None). `x` is what they compute with."""
    out = []
    for _ in range(r.randint(1, 4)):
        kind = r.randrange(9)
        if kind < 3 and names:
            out.append(f"x += {r.choice(names)}(x + {r.randrange(9)});")
        elif kind == 3:
            call = f"x = work(x * {r.randrange(1, 9)});"
            out.append(f"try {{ {call} }} catch (u32 e) {{ x ^= e; }}"
                       if THROWS and r.randrange(2) else call)
        elif kind == 4:
            out.append(f"x = x * {r.randrange(3, 99)} + (x >> {r.randrange(1, 9)});")
        elif kind == 5 and depth < 2:
            inner = block(r, k, names, depth + 1)
            out.append(f"if (x & {1 << r.randrange(4)}) {{ {' '.join(inner)} }}")
            if r.randrange(2):
                inner = block(r, k, names, depth + 1)
                out.append(f"else {{ {' '.join(inner)} }}")
        elif kind == 6 and depth < 1:
            inner = block(r, k, names, depth + 1)
            out.append(f"for (int i{depth} = (int)(x & 3); i{depth} > 0; i{depth}--) "
                       f"{{ {' '.join(inner)} }}")
        elif kind == 8:
            n = r.randrange(LOOPS)
            out.append(f"before_{n}(); x = loop_{n}(x); after_{n}();")
        elif kind == 7 and k is not None:
            out.append(f"if ((x & 7) == {r.randrange(8)}) {{ end_{k}(); "
                       f"return x + {r.randrange(9)}; }}")
    return out


def program(seed):
    r = random.Random(seed)
    out = ["#include <stdint.h>", "#include <stdio.h>", "typedef uint32_t u32;",
           "#define CODE __attribute__((noinline, used))",
           "#define INLINED static inline __attribute__((always_inline))",
           "static volatile u32 sink;", "static int left = 4000;"]
    for k in range(INLINED):
        out += [f"CODE void begin_{k}(void) {{ sink += {k}; }}",
                f"CODE void end_{k}(void) {{ sink -= {k}; }}"]
    for k in range(LOOPS):
        out += [f"CODE void before_{k}(void) {{ sink += {k}; }}",
                f"CODE void after_{k}(void) {{ sink -= {k}; }}"]
    throw = "if ((x * 40503u >> 4 & 15) == 3) throw x; " if THROWS else ""
    out.append(f"CODE u32 work(u32 x) {{ sink = x; {throw}return x ^ x >> 3; }}")
    for k in range(LOOPS):
        body = r.choice(["x = work(x >> 1);", "x >>= 1; if (x & 2) x = work(x) >> 1;",
                         "x = x * 5 >> 4; sink = x;"])
        loop = r.choice(["while (x & 0xfff8) { BODY }", "do { BODY } while (x & 0xff8);",
                         "for (;;) { BODY if (!(x & 0xf8)) break; }"]).replace("BODY", body)
        out.append(f"INLINED u32 loop_{k}(u32 x) {{ {loop} return x; }}")
    inlined = []
    for k in range(INLINED):
        body = " ".join(block(r, k, inlined[-3:], 0))
        out.append(f"INLINED u32 in_{k}(u32 x) {{ begin_{k}(); {body} end_{k}(); return x; }}")
        inlined.append(f"in_{k}")
    for k in range(WRAPS):
        out += [f"CODE void out_{k}(void) {{ sink ^= {k}; }}",
                f"INLINED u32 wrap_{k}(u32 x) {{ x = {r.choice(inlined)}(x); out_{k}(); return x; }}"]
        inlined.append(f"wrap_{k}")
    hosts = []
    for h in range(HOSTS):
        body = " ".join(block(r, None, inlined + hosts[-1:], 0))
        more = f"if (left-- > 0 && n) x += host_{h}(x, n - 1);" if r.randrange(2) else ""
        body = body.replace("host_", "call_")
        out.append(f"CODE u32 host_{h}(u32 x, int n) {{ {body} {more} "
                   f"x += {r.choice(inlined)}(x); return x; }}")
        out.append(f"static u32 call_{h}(u32 x) {{ return left-- > 0 ? host_{h}(x, 0) : x; }}")
        hosts.append(f"host_{h}")
    calls = " ".join(f"x += host_{h}(x + (u32)i, 2);" for h in range(HOSTS))
    if THROWS:
        calls = "".join(f"try {{ {c}; }} catch (u32 e) {{ x += e; }} "
                        for c in calls.rstrip(";").split("; "))
    # With an argument it does so for each line that it reads.
    out.append("int main(int argc, char **argv) { char line[8]; "
               "for (int n = 0; argc > 1 ? fgets(line, 8, stdin) != 0 : !n; n++) { "
               "u32 x = 1; left = 4000; for (int i = 0; i < 20; i++) { " + calls +
               ' } printf("%u %u\\n", x, sink); fflush(stdout); } return 0; }')
    return "\n".join(out) + "\n"


sys.stdout.write(program(int(sys.argv[1])))
