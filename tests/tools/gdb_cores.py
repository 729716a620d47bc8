# SPDX-License-Identifier: MIT
"""
gdb_cores: which callers does gdb see in a process, and in cores of it?

"cores NAME" steps until the thread has stood in a stub, in a recording routine and in the
payload, writes a core NAME.KIND in each, and prints the stack as "live KIND FUNCTION...".
Then it lets the process die in the next call's stub. "callers WORD..." prints the stack of a core.
"""
import gdb


def functions():
    frame, names = gdb.newest_frame(), []
    while frame:
        names.append(frame.name() or "?")
        frame = frame.older()
    return " ".join(names[1:])


def kind():
    pc = gdb.newest_frame().pc()
    session = SESSIONS.of(pc)
    if not session:
        return "program"
    if session.in_payload(pc):
        return "payload"
    return "stub" if session.stub_at(pc) else "routine"


class Cores(gdb.Command):
    def __init__(self):
        super().__init__("cores", gdb.COMMAND_USER)

    def invoke(self, arg, from_tty):
        wanted = ["stub", "routine", "payload"]
        while wanted:
            gdb.execute("stepi", to_string=True)
            at = kind()
            if at in wanted:
                wanted.remove(at)
                gdb.execute("generate-core-file %s.%s" % (arg, at), to_string=True)
                print("live", at, functions())
        gdb.execute("tbreak *prof_leaf")
        gdb.execute("continue")
        while kind() != "stub":
            gdb.execute("stepi", to_string=True)
        print("live killed", functions())
        gdb.execute("queue-signal SIGABRT")
        gdb.execute("detach")


class Callers(gdb.Command):
    def __init__(self):
        super().__init__("callers", gdb.COMMAND_USER)

    def invoke(self, arg, from_tty):
        print(arg, functions())


Cores()
Callers()
