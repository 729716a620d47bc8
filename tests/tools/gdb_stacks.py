# SPDX-License-Identifier: MIT
"""
gdb_stacks: which stack does gdb see at each of some instructions of a thread?

"stacks COUNT" steps as often, and prints a line each time: where the thread is,
"program", "stub" (or a recording routine), or "payload"; then the program's functions
and their addresses. The first stub is shown as gdb shows it to people, too.
"""
import gdb


def frames():
    frame = gdb.newest_frame()
    while frame:
        yield frame
        frame = frame.older()


def stack():
    # The function above a frame of inject has an address one too high, and so have
    # those that it is inlined in.
    pc = gdb.newest_frame().pc()
    places = PLACES.of(pc)
    ours = above = bool(places)
    where = "program" if not ours else "payload" if places.in_payload(pc) else "stub"
    program = []
    for frame in frames():
        if ours and frame.level() == 0:
            continue
        program.append("%s+%#x" % (frame.name(), frame.pc() - above))
        above = above and frame.type() == gdb.INLINE_FRAME
        if frame.name() == "main":
            break
    return " ".join([where] + program)


class Stacks(gdb.Command):
    def __init__(self):
        super().__init__("stacks", gdb.COMMAND_USER)

    def invoke(self, arg, from_tty):
        shown = False
        for _ in range(int(arg)):
            gdb.execute("stepi", to_string=True)
            at = stack()
            print("at", at)
            if at.startswith("stub ") and not shown:
                gdb.execute("bt")
                shown = True


Stacks()
