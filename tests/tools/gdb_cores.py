# SPDX-License-Identifier: MIT
"""
gdb_cores: which callers does gdb see in a process, and in cores of it?

"cores NAME KIND..." steps until the thread has stood in code of each kind: in a stub, in a
recording routine, in what leads from that to C (slow), or in the payload's C. It writes a
core NAME.KIND in each, and prints the stack as "live KIND FUNCTION...". "dies KIND" prints
the same, and lets the process die there. "callers WORD" prints the stack of a core.
"""
import gdb


def functions():
    frame, names = gdb.newest_frame(), []
    while frame:
        names.append(frame.name() or "?")
        if names[-1] == "main":
            break
        frame = frame.older()
    return " ".join(names[1:])


def kind():
    pc = gdb.newest_frame().pc()
    places = PLACES.of(pc)
    if not places:
        return "program"
    if places.in_slow(pc):
        return "slow"
    if places.in_payload(pc):
        return "payload"
    return "stub" if places.stub_at(pc) else "routine"


def step_to(kinds):
    for _ in range(3000):
        if kind() in kinds:
            return kind()
        gdb.execute("stepi", to_string=True)
    raise gdb.GdbError("never in code of kind %s" % " ".join(kinds))


class Cores(gdb.Command):
    def __init__(self):
        super().__init__("cores", gdb.COMMAND_USER)

    def invoke(self, arg, from_tty):
        name, *wanted = arg.split()
        while wanted:
            at = step_to(wanted)
            wanted.remove(at)
            gdb.execute("generate-core-file %s.%s" % (name, at), to_string=True)
            print("live", at, functions())


class Dies(gdb.Command):
    def __init__(self):
        super().__init__("dies", gdb.COMMAND_USER)

    def invoke(self, arg, from_tty):
        gdb.execute("stepi", to_string=True)
        print("live killed", step_to([arg]) and functions())
        gdb.execute("queue-signal SIGABRT")
        gdb.execute("detach")


class Callers(gdb.Command):
    def __init__(self):
        super().__init__("callers", gdb.COMMAND_USER)

    def invoke(self, arg, from_tty):
        print("core", arg, functions())


Cores()
Dies()
Callers()
