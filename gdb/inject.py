# SPDX-License-Identifier: MIT
"""
gdb/inject.py: who has called the function whose thread stands in code of inject?

Loaded into gdb ("source gdb.py", or -x), for processes that run: a core has no session
in it. A thread that is in a stub or in a recording routine is shown as one frame,
[inject], and above it the function of the program, at the instruction that the stub
does for it, with its registers: from there on gdb knows the way. Nothing is needed of
the process but its memory: what is where stands in the session (payload/abi.h). Not
known is the way out of a recording call that does without a stack, as small functions
of Go's have it (arch/x86_64/tight.h).

From the inside out, each step undoing what the one before it has pushed:

 1. the payload's C code: its chain of frame pointers leads to slow.S;
 2. slow.S and the recording routines (hot.S): straight code from any place to the
    way out, which pops what is pushed there;
 3. the stub (plan/place.c): the window, instruction by instruction, with recording
    calls and pushed return addresses between, which look the same everywhere.
"""
import bisect
import struct

import gdb
from gdb.FrameDecorator import FrameDecorator
from gdb.unwinder import Unwinder, register_unwinder

MAGIC, ABI = 0x6e6f697373656a69, 18
HEAD = struct.Struct("<QII20sIQQQIIQQIIII6QQ14QQQiiIIQIIIIQIIQQQQIIIIQ256xIIIIQQiIII")
ARENA = struct.Struct("<5Q")
SLOT = struct.Struct("<QQIHBBBBBBi16s16s")
SLOT_HOLE, SLOT_EXIT, SLOT_ENTRY, SLOT_FOREIGN, SLOT_STUB = range(5)
NOTE, ALIGN = struct.Struct("<iBB"), 16
COPY, RECORD, CALL, TIGHT, LEAVE, RECORD_LEAVE, RECORD_RETURN = range(7)
EXITS = LEAVE, RECORD_LEAVE, RECORD_RETURN
POPS = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi")
GENERAL = POPS + tuple("r%d" % n for n in range(8, 16)) + ("rip",)
WAY_OUT = b"\x48\x8d\x64\x24\x18"	# lea 24(%rsp),%rsp, and a return behind it
KEPT = ("cs", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base")

# What is pushed from which byte of a part of a stub on, the last one first ("" for what
# is none); as arch/x86_64/stand.h has it. One that has no stack is left out.
AT_RECORD = (0, ()), (1, ("rcx",)), (2, ("rax", "rcx")), (32, ("rcx",))
AT_RETURN = AT_RECORD[:3] + ((39, ("rcx",)),)
PUSHED = {
    COPY: ((0, ()),), LEAVE: ((0, ()),), RECORD: AT_RECORD, RECORD_LEAVE: AT_RECORD,
    RECORD_RETURN: AT_RETURN,
    CALL: ((0, ()), (5, ("",)), (7, ("rax", "")), (20, ("",))),
}


def read(at, size):
    return bytes(gdb.selected_inferior().read_memory(at, size))


def word(at):
    return struct.unpack("<Q", read(at, 8))[0]


class Stub:
    """Of each place in a stub the instruction of the program that it stands for, the
    registers that are pushed, and whether the instruction is an exit that is recorded:
    rows of (offset, pc, pushed, exit), as the note before the stub has it
    (payload/stub.h). There are none where nobody can say."""

    def __init__(self, slot):
        self.at, self.rows = slot.stub, []
        pc, at, part = slot.addr, 0, COPY
        for size, what in self.note(slot):
            part = what & 15
            for offset, pushed in PUSHED.get(part, ((0, None),)):
                self.rows.append((at + offset, pc, pushed, part in EXITS))
            at += size
            pc += what >> 4
        self.rows.append((at, pc, (), part == RECORD_LEAVE))

    @staticmethod
    def note(slot):
        for back in range(ALIGN, 512, ALIGN):
            site, _, n = NOTE.unpack(read(slot.stub - back, NOTE.size))
            size = NOTE.size + 2 * n
            if slot.stub - back + site == slot.addr and -size // ALIGN * -ALIGN == back:
                rows = read(slot.stub - back + NOTE.size, 2 * n)
                return [row for row in zip(rows[::2], rows[1::2]) if row[0]]
        raise LookupError

    def state(self, at):
        i = bisect.bisect_right([row[0] for row in self.rows], at - self.at) - 1
        return self.rows[i][1:]


class Slot:
    def __init__(self, fields):
        (self.addr, self.stub, _, self.stub_size, _, _, self.kind, _, _, _, self.island,
         _, _) = fields


class Session:
    """What a process says of our code in it. Nothing of it is trusted to be there."""

    def __init__(self, base):
        head = HEAD.unpack(read(base, HEAD.size))
        slots_off, nslots = head[7], head[8]
        self.payload, self.slow, self.slow_end, self.payload_end, self.find = (
            head[23], head[25], head[32], head[34], head[35])
        arenas = read(base + HEAD.size, ARENA.size * min(head[-2], 48))
        self.arenas = [(a, a + size, used) for a, size, used, _, _ in
                       ARENA.iter_unpack(arenas)]
        journal = read(base + slots_off, SLOT.size * nslots)
        slots = [Slot(s) for s in SLOT.iter_unpack(journal)]
        self.sites = sorted((s for s in slots if s.stub and
                             s.kind in (SLOT_EXIT, SLOT_ENTRY, SLOT_STUB)),
                            key=lambda s: s.stub)
        self.starts = [s.stub for s in self.sites]
        self.jumps = {s.addr + s.island: s.addr for s in self.sites if s.island}
        by_stub = {s.stub: s.addr for s in self.sites}
        self.jumps.update((s.addr, by_stub[s.stub]) for s in slots
                          if s.kind == SLOT_HOLE and s.stub in by_stub)
        self.stubs = {}

    def in_arena(self, pc):
        return any(lo <= pc < hi for lo, hi, _ in self.arenas)

    def in_payload(self, pc):
        return self.payload <= pc < self.payload_end

    def in_slow(self, pc):
        return self.slow <= pc < self.slow_end

    def has(self, pc):
        return self.in_arena(pc) or self.in_payload(pc) or pc in self.jumps

    def stub_at(self, pc):
        i = bisect.bisect_right(self.starts, pc) - 1
        if i < 0 or pc >= self.sites[i].stub + self.sites[i].stub_size:
            return None
        at = self.starts[i]
        if at not in self.stubs:
            self.stubs[at] = Stub(self.sites[i])
        return self.stubs[at]


class State:
    """Registers by name, from the innermost to those of the program's function."""

    def __init__(self, registers):
        self.reg = registers
        self.exit = False

    def pop(self, name):
        if name:
            self.reg[name] = word(self.reg["rsp"])
        self.reg["rsp"] += 8

    def leave_find(self, session):
        """Of an unwinder's question, to where its own function begins."""
        frame = self.reg["rbp"]
        for _ in range(4):
            if 0 <= word(frame + 8) - session.find < 32:
                self.reg.update(rip=word(frame + 16), rsp=frame + 24, rbp=word(frame))
                return True
            frame = word(frame)
        return False

    def leave_c(self, session):
        """1. To where slow.S goes on; False if that is not where it leads."""
        sp, frame = self.reg["rsp"], self.reg["rbp"]
        pushed = word(sp) == frame
        if session.in_slow(word(sp)):
            at = sp
        elif pushed and session.in_slow(word(sp + 8)):
            at, self.reg["rbp"] = sp + 8, frame
        else:
            for _ in range(16):
                if frame < sp or session.in_slow(word(frame + 8)):
                    break
                frame = word(frame)
            if frame < sp or not session.in_slow(word(frame + 8)):
                return self.leave_find(session)
            at, self.reg["rbp"] = frame + 8, word(frame)
        self.reg["rip"] = word(at)
        # It aligned the stack: what it has pushed is above, and above that the way
        # back to a stub.
        for top in (at + 8, at + 16):
            if session.stub_at(word(top + 72)):
                self.reg["rbx"] = top
                for name in ("r12", "r13", "r14", "r15"):
                    self.reg.pop(name)
                return True
        return False

    def run_out(self):
        """2. Along straight code, until it returns or jumps through a place; or to where
        it would return to a stub, and does for it what that would do."""
        arch = gdb.selected_inferior().architecture()
        pc, pushes, base = self.reg["rip"], [], None
        if read(pc - len(WAY_OUT), len(WAY_OUT) + 1) == WAY_OUT + b"\xc3":
            self.reg["rsp"] -= 24
            self.pop("rip")
            return True
        for insn in arch.disassemble(pc, pc + 400):
            code = read(insn["addr"], insn["length"])
            rex, op = (1, code[1]) if code[0] == 0x41 and len(code) > 1 else (0, code[0])
            if code == b"\x48\x89\xe3":		# mov %rsp,%rbx
                base = len(pushes)
            elif code == b"\x48\x89\xdc":		# mov %rbx,%rsp
                if base is None:
                    self.reg["rsp"] = self.reg["rbx"]
                del pushes[base or 0:]
            elif op & 0xf8 == 0x50 or op == 0x9c or op == 0xe8:
                pushes.append(op)
            elif code == WAY_OUT:
                if pushes:			# the first of all, of %rcx
                    self.reg["rip"] = self.reg["rcx"]
                else:
                    self.pop("rip")
                return True
            elif op & 0xf8 == 0x58 or code == b"\x48\x8d\x64\x24\x08":	# lea 8(%rsp),%rsp
                name = "" if op == 0x48 else ("r%d" % (op - 0x50) if rex else POPS[op - 0x58])
                if pushes:
                    pushes.pop()
                else:
                    self.pop(name)
            elif op == 0xc3 or code[:2] == b"\xff\x25":
                self.pop("rip")
                return True
        return False

    def leave_stub(self, session):
        """3. To the instruction of the program."""
        pc = self.reg["rip"]
        if pc in session.jumps:
            self.reg["rip"] = session.jumps[pc]
            return True
        stub = session.stub_at(pc)
        if not stub:
            return False
        self.reg["rip"], pushed, self.exit = stub.state(pc)
        if pushed is None:
            return False
        for name in pushed:
            self.pop(name)
        return True

    def leave(self, session):
        pc = self.reg["rip"]
        if session.in_payload(pc) and not session.in_slow(pc):
            if not self.leave_c(session):
                return False
            pc = self.reg["rip"]
        if session.in_slow(pc) or (session.in_arena(pc) and not session.stub_at(pc)):
            if not self.run_out():
                return False
        return self.leave_stub(session)


class Sessions:
    """Those of the current inferior, looked for anew at each stop."""

    def __init__(self):
        self.now = {}		# by the inferior's number
        self.read = {}		# by what changes with whatever a session says
        for event in (gdb.events.stop, gdb.events.cont, gdb.events.exited,
                      gdb.events.new_objfile):
            event.connect(lambda _: self.now.clear())

    def session(self, base):
        """The session that begins there, or None."""
        try:
            key = (gdb.selected_inferior().num, base, read(base, HEAD.size))
            if struct.unpack_from("<QI", key[2]) != (MAGIC, ABI):
                return None
            if key not in self.read:
                self.read[key] = Session(base)
            return self.read[key]
        except (gdb.error, struct.error):
            return None

    def find(self):
        for line in gdb.execute("info proc mappings", to_string=True).splitlines():
            field = line.split()
            if len(field) > 3 and field[0].startswith("0x") and field[3] == "0x0":
                session = self.session(int(field[0], 16))
                if session:
                    yield session

    def of(self, pc):
        number = gdb.selected_inferior().num
        if number not in self.now:
            self.now[number] = []		# while it is looked for
            try:
                self.now[number] = list(self.find())
            except gdb.error:			# it has no mappings: it does not run
                pass
        return next((s for s in self.now[number] if s.has(pc)), None)


SESSIONS = Sessions()


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class StubUnwinder(Unwinder):
    def __init__(self):
        super().__init__("inject")
        # The functions whose call we are in, as (pc, sp): are they about to return?
        # Tables still say of registers that these have popped that they lie below
        # the stack pointer, where we have pushed others since.
        self.above = {}

    @staticmethod
    def unwound(frame, values, registers):
        info = frame.create_unwind_info(FrameId(values["rsp"], values["rip"]))
        for name, value in registers.items():
            info.add_saved_register(name, gdb.Value(value).cast(values[name].type))
        for name in KEPT:
            info.add_saved_register(name, values[name])
        return info

    def above_ours(self, state, session):
        if not state.leave(session):
            return False
        # As gdb looks up a caller by the byte before the place that it returns to,
        # so that this byte is the instruction's.
        state.reg["rip"] += 1
        self.above[state.reg["rip"], state.reg["rsp"]] = state.exit
        return True

    def __call__(self, frame):
        try:
            pc, sp = (int(frame.read_register(name)) for name in ("rip", "rsp"))
        except gdb.error:			# it has ended
            return None
        session = None if (pc, sp) in self.above else SESSIONS.of(pc)
        if not session and not self.above.get((pc, sp)):
            return None
        try:
            values = {name: frame.read_register(name) for name in GENERAL + KEPT}
            state = State({name: int(values[name]) % (1 << 64) for name in GENERAL
                           if not values[name].is_optimized_out})
            if not session:
                state.pop("rip")
            elif not self.above_ours(state, session):
                return None
        except (gdb.error, struct.error, LookupError):
            return None
        return self.unwound(frame, values, state.reg)


class Ours(FrameDecorator):
    def function(self):
        return "[inject]"


class AboveOurs(FrameDecorator):
    def address(self):
        return super().address() - 1


class StubFilter:
    """Give our frames a name, and the next one the address that it has."""

    def __init__(self):
        self.name, self.priority, self.enabled = "inject", 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        ours = above = False
        for frame in frames:
            inner = frame.inferior_frame()
            above = ours or above and was_inlined
            ours = not above and bool(SESSIONS.of(inner.pc()))
            was_inlined = inner.type() == gdb.INLINE_FRAME
            yield Ours(frame) if ours else AboveOurs(frame) if above else frame


register_unwinder(None, StubUnwinder(), replace=True)
StubFilter()
