# SPDX-License-Identifier: MIT
"""
gdb/inject.py: who has called the function whose thread stands in code of inject?

Loaded into gdb ("source gdb.py", or -x), for processes that run: a core has no session
in it. A thread that is in a stub or in a recording routine is shown as one frame,
[inject], and above it the function of the program, at the instruction that the stub
does for it, with its registers: from there on gdb knows the way. Nothing is needed of
the process but its memory: what is where stands in the session (payload/abi.h).

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

MAGIC, ABI = 0x6e6f697373656a69, 13
HEAD = struct.Struct("<QII20sIQQQIIQQIIII6QQ13QQQiiIIQIIIIQIIQQQQIIII256xIIIIQQiIII")
ARENA = struct.Struct("<5Q")
SLOT = struct.Struct("<QQIHBBBBBBi16s16s")
SLOT_HOLE, SLOT_EXIT, SLOT_ENTRY, SLOT_FOREIGN, SLOT_STUB = range(5)
SLOT_PLANNED, SLOT_ACTIVE = 1, 2
REC_EXIT = 2
PREFIXES = b"\x2e\x3e\x26\x36\x64\x65\x66\x67\xf2\xf3" + bytes(range(0x40, 0x50))

POPS = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi")
GENERAL = POPS + tuple("r%d" % n for n in range(8, 16)) + ("rip",)
KEPT = ("cs", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base")

# What a stub has beside the copies, as bytes; None is any.
RECORD = [0x51, 0x50, 0xa0] + [None] * 8 + [0x0f, 0xb6, 0xc8, 0xe3, 0x0f, 0x48, 0xb8] + [
    None] * 8 + [0xe8] + [None] * 4 + [0x58, 0x59]
RECORD_WORD = 18
TIGHT = [0x50, 0xa0]			# how it begins where there is no stack for it
PUSH_RETURN = [0xe8, 1, 0, 0, 0, 0xcc, 0x50, 0x48, 0x8d, 5] + [None] * 4 + [
    0x48, 0x89, 0x44, 0x24, 8, 0x58]


def read(at, size):
    return bytes(gdb.selected_inferior().read_memory(at, size))


def word(at):
    return struct.unpack("<Q", read(at, 8))[0]


def looks_like(code, at, shape):
    return len(code) - at >= len(shape) and all(
        want is None or code[at + i] == want for i, want in enumerate(shape))


def jump_size(code):
    """The size of an instruction that has no copy in a stub, but something that leads
    to where it leads: a jump or a branch relative to the PC. 0: it is another."""
    i = 0
    while i + 2 < len(code) and code[i] in PREFIXES:
        i += 1
    if code[i] == 0xeb or code[i] & 0xf0 == 0x70 or 0xe0 <= code[i] <= 0xe3:
        return i + 2
    if code[i] == 0xe9:
        return i + 5
    return i + 6 if code[i] == 0x0f and code[i + 1] & 0xf0 == 0x80 else 0


class Stub:
    """Of each place in a stub the instruction of the program that it stands for, the
    registers that are pushed, the last one first ("" for what is none), and whether
    the instruction is an exit that is recorded: rows of (offset, pc, pushed, exit).
    There are none if the stub is one of Go that has no stack (arch/x86_64/tight.h)."""

    def __init__(self, session, slot):
        self.at, self.end, self.pc = slot.stub, slot.stub + slot.stub_size, slot.addr
        self.code = read(self.at, slot.stub_size)
        self.rows = []
        self.used = 0
        self.exit = False
        try:
            self.add_window(session.original(slot.addr, slot.window))
        except (LookupError, NotImplementedError):
            self.rows = []

    def add_window(self, window):
        done = 0
        while done < len(window):
            done += self.add_insn(self.pc + done, window[done:])
        self.exit = False
        self.add_record(self.pc + done)
        self.row(self.pc + done)

    def row(self, pc, at=0, *pushed):
        self.rows.append((self.used + at, pc, pushed, self.exit))

    def add_record(self, pc):
        while looks_like(self.code, self.used, RECORD):
            self.exit = self.code[self.used + RECORD_WORD] & 3 == REC_EXIT
            self.row(pc)
            self.row(pc, 1, "rcx")
            self.row(pc, 2, "rax", "rcx")
            self.row(pc, len(RECORD) - 1, "rcx")
            self.used += len(RECORD)
        if looks_like(self.code, self.used, TIGHT):
            raise NotImplementedError

    def add_insn(self, pc, window):
        """Returns how many bytes of the window it is."""
        self.exit = False
        self.add_record(pc)
        self.row(pc)
        size = jump_size(window)
        if looks_like(self.code, self.used, PUSH_RETURN):
            self.row(pc, 5, "")
            self.row(pc, 7, "rax", "")
            self.row(pc, len(PUSH_RETURN), "")
            self.used = len(self.code)
            return len(window)
        if not size:
            insn = gdb.selected_inferior().architecture().disassemble(self.at + self.used)
            self.used += insn[0]["length"]
            return insn[0]["length"]
        self.add_jump(pc)
        return size

    def add_jump(self, pc):
        """A jump; a branch; one that is an exit, and is recorded if it is taken; or
        one that counts, which cannot reach as far and is led around a jump."""
        self.used += self.code[self.used] == 0x67
        op = self.code[self.used]
        if op == 0x0f:
            self.used += 6
            return
        self.used += 2 if op & 0xf0 == 0x70 else 4 if op != 0xe9 else 0
        self.add_record(pc)
        self.row(pc)
        self.used += 5

    def state(self, at):
        i = bisect.bisect_right([row[0] for row in self.rows], at - self.at) - 1
        return self.rows[i][1:]


class Slot:
    def __init__(self, fields):
        (self.addr, self.stub, _, self.stub_size, _, _, self.kind, self.state, self.len,
         self.window, self.island, self.old, self.new) = fields


class Session:
    """What a process says of our code in it. Nothing of it is trusted to be there."""

    def __init__(self, base):
        head = HEAD.unpack(read(base, HEAD.size))
        slots_off, nslots = head[7], head[8]
        self.payload, self.slow, self.slow_end, self.payload_end = (
            head[23], head[25], head[32], head[34])
        arenas = read(base + HEAD.size, ARENA.size * min(head[-2], 48))
        self.arenas = [(a, a + size, used) for a, size, used, _, _ in
                       ARENA.iter_unpack(arenas)]
        journal = read(base + slots_off, SLOT.size * nslots)
        slots = [Slot(s) for s in SLOT.iter_unpack(journal)]
        self.patches = [s for s in slots if s.state in (SLOT_PLANNED, SLOT_ACTIVE)]
        self.sites = sorted((s for s in slots if s.stub and
                             s.kind in (SLOT_EXIT, SLOT_ENTRY, SLOT_STUB)),
                            key=lambda s: s.stub)
        self.starts = [s.stub for s in self.sites]
        self.jumps = {s.addr + s.island: s.addr for s in self.sites if s.island}
        by_stub = {s.stub: s.addr for s in self.sites}
        self.jumps.update((s.addr, by_stub[s.stub]) for s in slots
                          if s.kind == SLOT_HOLE and s.stub in by_stub)
        self.stubs = {}

    def original(self, at, size):
        """The bytes of the program there, without what is written over them now."""
        now = bytearray(read(at, size))
        for s in self.patches:
            if s.addr < at + size and s.addr + s.len > at and read(s.addr, s.len) == s.new[:s.len]:
                for i in range(max(at, s.addr), min(at + size, s.addr + s.len)):
                    now[i - at] = s.old[i - s.addr]
        return bytes(now)

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
            self.stubs[at] = Stub(self, self.sites[i])
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
                return False
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
        """2. Along straight code, until it returns or jumps through a place."""
        arch = gdb.selected_inferior().architecture()
        pc, pushes, base = self.reg["rip"], [], None
        for insn in arch.disassemble(pc, pc + 400):
            code = read(insn["addr"], insn["length"])
            rex, op = (1, code[1]) if code[0] == 0x41 and len(code) > 1 else (0, code[0])
            if code == b"\x48\x89\xe3":		# mov %rsp,%rbx
                base = len(pushes)
            elif code == b"\x48\x89\xdc":		# mov %rbx,%rsp
                if base is None:
                    self.reg["rsp"] = self.reg["rbx"]
                else:
                    del pushes[base:]
            elif op & 0xf8 == 0x50 or op == 0x9c:
                pushes.append(op)
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
        if not stub or not stub.rows:
            return False
        self.reg["rip"], pushed, self.exit = stub.state(pc)
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
        pc, sp = (int(frame.read_register(name)) for name in ("rip", "rsp"))
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
        except (gdb.error, struct.error):
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
