# SPDX-License-Identifier: MIT
"""c_programs: interpreters in C, as people write them.

Each is a function F_n(number) that interprets a few operations; where they are is kept in
one of the ways that C has. Expected results are what the same program says untraced.
"""

HEAD = """#include <stdint.h>
typedef uint64_t u64;
#define F __attribute__((noinline, used)) u64
static __attribute__((noinline, used)) u64 leaf(u64 x) { __asm__ volatile (""); return x * 3 + 1; }
"""

OPS = ("x += {k};", "x ^= {k};", "x = x * 5 + {k};", "x = leaf(x);", "x -= x >> 3;",
       "x = x << 1 | x >> 63;", "x ^= leaf(x + {k});", "x += y; y = x ^ {k};", "")


def program(rng, ops):
    """Numbers of operations, of which the last one ends it."""
    return [rng.randrange(ops - 1) for _ in range(rng.randint(3, 12))] + [ops - 1]


def body(rng):
    return " ".join(rng.choice(OPS).format(k=rng.randint(1, 10 ** rng.randint(1, 9)))
                    for _ in range(rng.randint(0, 3)))


def labels(n, ops):
    return [f"l{n}_{i}" for i in range(ops)]


def table(rng, n, ops):
    """How the labels are kept, and an expression for that of number (c)."""
    at = labels(n, ops)
    base = rng.choice([at[0], at[-1], at[ops // 2]])
    ways = {
        "pointers": (f"static const void *const t[] = {{ {', '.join('&&' + x for x in at)} }};",
                     "t[c]"),
        "changed": (f"static void *t[] = {{ {', '.join('&&' + x for x in at)} }};", "t[c]"),
        "distances": (f"static const int t[] = {{ {', '.join(f'&&{x} - &&{base}' for x in at)} }};",
                      f"((char *)&&{base} + t[c])"),
        "local": (f"static const int t[] = {{ {', '.join(f'&&{x} - &&{base}' for x in at)} }};"
                  f" char *from = (char *)&&{base};", "(from + t[c])"),
        "shorts": (f"static const short t[] = {{ "
                   f"{', '.join(f'(short)(&&{x} - &&{base})' for x in at)} }};",
                   f"((char *)&&{base} + t[c])"),
        "kept": (f"static const int t[] = {{ {', '.join(f'&&{x} - &&{base}' for x in at)} }};"
                 f" static char *volatile from; from = (char *)&&{base};", "(from + t[c])"),
        "stored": (f"static void *volatile t[{ops}]; " +
                   " ".join(f"t[{i}] = &&{x};" for i, x in enumerate(at)), "t[c]"),
        "added": (f"static const int t[] = {{ {', '.join(f'&&{x} - &&{base}' for x in at)} }};"
                  f" static char *volatile at;",
                  f"({{ at = (char *)&&{base}; at += t[c]; at; }})"),
        "less": (f"static const int t[] = {{ {', '.join(f'&&{base} - &&{x}' for x in at)} }};"
                 f" static char *volatile at;",
                 f"({{ at = (char *)&&{base} - t[c]; at; }})"),
        "two": (f"static const int t[] = {{ {', '.join(f'&&{x} - &&{base}' for x in at)} }},"
                f" u[] = {{ {', '.join(f'&&{x} - &&{at[0]}' for x in at)} }};",
                f"(x & 1 ? (char *)&&{base} + t[c] : (char *)&&{at[0]} + u[c])"),
    }
    name = rng.choice(list(ways))
    return name, *ways[name]


def interpreter(rng, n):
    """By computed gotos."""
    ops = rng.randint(3, 9)
    name, declared, where = table(rng, n, ops)
    where = where.replace("[c]", "[*pc++]")
    if name == "two":
        where = where.replace("u[*pc++]", "u[*pc++]")
    replicated = rng.random() < .5
    jump = f"goto *{where};" if replicated else f"goto next{n};"
    lines = [f"F F_{n}(u64 number)", "{",
             f"\tstatic const uint8_t code[] = {{ {', '.join(map(str, program(rng, ops)))} }};",
             "\tconst uint8_t *pc = code + (number - 1) % sizeof(code);",
             "\tu64 x = number, y = 7;", f"\t{declared}"]
    lines += [f"\tgoto *{where};"] if replicated else [f"next{n}:", f"\tgoto *{where};"]
    for i, x in enumerate(labels(n, ops)):
        lines.append(f"{x}: {body(rng)}")
        lines.append("\t" + (f"return x + y;" if i + 1 == ops else jump))
    lines.append("}")
    return name, lines


def beside(rng, n):
    """A switch, and a computed goto in the same function."""
    ops = rng.randint(4, 9)
    name, declared, where = table(rng, n, ops)
    where = where.replace("[c]", "[x % " + str(ops) + "]")
    lines = [f"F F_{n}(u64 number)", "{", "\tu64 x = number, y = 3; int left = 6;",
             f"\t{declared}", f"again{n}:", "\tif (!left--)", "\t\treturn x;",
             f"\tswitch (x % {ops + 2}) {{"]
    for i in range(ops + 1):
        lines.append(f"\tcase {i}: {body(rng)} {rng.choice(['break;', 'return x ^ y;', ''])}")
    lines += ["\tdefault: y++; }", f"\tgoto *{where};"]
    for x in labels(n, ops):
        lines += [f"{x}: {body(rng)}", f"\tgoto again{n};"]
    lines.append("}")
    return "switch+" + name, lines


def switched(rng, n):
    """Two switches in a loop, of which one has gaps."""
    lines = [f"F F_{n}(u64 number)", "{", "\tu64 x = number, y = 1;",
             "\tfor (int i = 0; i < 9; i++) {"]
    for k in range(2):
        ops = rng.randint(5, 14)
        gap = rng.choice([1, 1, 3])
        lines.append(f"\t\tswitch (x % {ops * gap}) {{")
        for i in range(ops):
            lines.append(f"\t\tcase {i * gap}: {body(rng)} "
                         f"{rng.choice(['break;', 'break;', 'return x;', 'continue;', ''])}")
        lines.append("\t\tdefault: y++; }")
        lines.append("\t\tx = x * 7 + y;" if k else "\t\tx += 3;")
    lines += ["\t}", "\treturn x;", "}"]
    return "switch", lines


def make(rng, count):
    """A file, and the names of its functions: how often each is called, and what it is."""
    lines, names = [HEAD], {}
    for n in range(count):
        kind, text = rng.choice([interpreter, interpreter, beside, switched])(rng, n)
        lines += text
        names[f"F_{n}"] = (12, {"encoding": kind})
    lines += ["struct called { u64 (*f)(u64); u64 most; const char *name; };",
              "const struct called arrive_calls[] __attribute__((visibility(\"hidden\"))) = {"]
    lines += [f"\t{{ {name}, 12, \"{name}\" }}," for name in names]
    lines += ["\t{ 0 }", "};"]
    return "\n".join(lines) + "\n", names
