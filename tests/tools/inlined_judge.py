# SPDX-License-Identifier: MIT
"""inlined_judge TRACE: is each call of a copy that is told to have ended just one of its function: with
begin_K first in it, and end_K last, and neither once more; a loop right between before_K and after_K;
the copy that a wrap_K calls first in it, and out_K last?
Of one that was left by an exception the end is missing. Where a compiler has made one of the ends of
several copies, it says of that code that it is none of theirs: then end_K is the next call behind the
copy. Prints how many copies of functions that say where they begin have ended, how many of these so,
how many were left, how many calls of these functions there were, and of how many wrap_K the copy that is
first in it is told as a call, too."""
import re
import sys

LINE = re.compile(r"^ *(?P<time>[0-9.]+ [mun]?s)? +\[ *\d+\] \|(?P<indent> *)(?P<rest>.*)$")


class Open:
    """A call that is open, with what it has called."""

    def __init__(self, name):
        self.name = name
        self.children = []
        self.merged = None          # the end that has to come next


class Judge:
    def __init__(self):
        self.stack = [Open("")]
        self.ended = self.merged = self.left = self.begun = self.wrapped = 0

    def check_loops(self, children):
        """Each loop that is told as a call, in those of one call."""
        for i, name in enumerate(children):
            if not name.startswith("loop_"):
                continue
            after = children[i + 1] if i + 1 < len(children) else ""
            # What work throws leaves the loop, and there is no after_K then.
            if not i or children[i - 1] != "before_" + name[5:] or after.startswith("loop_"):
                sys.exit(f"{name} in {children}")

    def check_copy(self, call, unwound):
        k, children = call.name[3:], call.children
        ends = children.count("end_" + k)
        if children[:1] != ["begin_" + k] or children.count("begin_" + k) != 1 or \
                ends > (0 if unwound else 1) or (ends and children[-1] != "end_" + k):
            sys.exit(f"{call.name}: {children}")
        self.left += unwound
        self.ended += not unwound
        if not ends and not unwound:
            self.merged += 1
            self.stack[-1].merged = "end_" + k

    def check_wrap(self, call, unwound):
        k, children = call.name[5:], call.children
        ends = children.count("out_" + k)
        if not children or not children[0].startswith(("in_", "wrap_", "begin_")) or \
                ends > (0 if unwound else 1) or (ends and children[-1] != "out_" + k):
            sys.exit(f"{call.name}: {children}")
        if not ends and not unwound:
            self.stack[-1].merged = "out_" + k
        self.wrapped += not children[0].startswith("begin_")

    def child(self, name):
        call = self.stack[-1]
        if call.merged not in (None, name):
            sys.exit(f"{name} comes where {call.merged} is missing, in {call.name}")
        call.merged = None
        call.children.append(name)

    def line(self, time, rest):
        if rest.startswith("}"):
            call = self.stack.pop()
            self.check_loops(call.children)
            if call.name.startswith("in_") and time:
                self.check_copy(call, rest.endswith(": unwound */"))
            if call.name.startswith("wrap_") and time:
                self.check_wrap(call, rest.endswith(": unwound */"))
            return
        name = rest.split("(")[0].removesuffix(" [inlined]")
        self.begun += name.startswith("begin_")
        if name.startswith(("in_", "loop_", "wrap_")) and not time and not rest.endswith("{"):
            return                  # a mark: of a loop it may be each round
        self.child(name)
        if rest.endswith("{"):
            self.stack.append(Open(name))
        elif name.startswith("in_"):
            sys.exit(f"{name} has nothing in it")


def main():
    judge = Judge()
    for line in open(sys.argv[1]):
        m = LINE.match(line.rstrip("\n"))
        if m:
            judge.line(m["time"], m["rest"])
    print(judge.ended, judge.merged, judge.left, judge.begun, judge.wrapped)


main()
