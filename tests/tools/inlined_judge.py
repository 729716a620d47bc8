# SPDX-License-Identifier: MIT
"""inlined_judge TRACE: is each call of a copy that is told to have ended just one of its function: with
begin_K first in it, and end_K last, and neither once more? Of one that was left by an exception the
end is missing. Prints how many copies have ended, how many were left, and how many calls there
were."""
import re
import sys

LINE = re.compile(r"^ *(?P<time>[0-9.]+ [mun]?s)? +\[ *\d+\] \|(?P<indent> *)(?P<rest>.*)$")


def main():
    stack, timed, left, begun = [], 0, 0, 0
    for line in open(sys.argv[1]):
        m = LINE.match(line.rstrip("\n"))
        if not m:
            continue
        rest = m["rest"]
        if rest.startswith("}"):
            name, children = stack.pop()
            if name.startswith("in_") and m["time"]:
                k, unwound = name[3:], rest.endswith(": unwound */")
                ok = (children[:1] == ["begin_" + k] and children.count("begin_" + k) == 1 and
                      children.count("end_" + k) == (0 if unwound else 1) and
                      (unwound or children[-1] == "end_" + k))
                if not ok:
                    sys.exit(f"{line}: {name}: {children}")
                timed += not unwound
                left += unwound
            continue
        name = rest.split("(")[0]
        begun += name.startswith("begin_")
        if stack:
            stack[-1][1].append(name)
        if rest.endswith("{"):
            stack.append((name, []))
        elif name.startswith("in_") and m["time"]:
            sys.exit(f"{line}: {name} has nothing in it")
    print(timed, left, begun)


main()
