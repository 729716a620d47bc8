# SPDX-License-Identifier: MIT
"""
gdb/inject.py: who has called the function whose thread stands in code of inject?

Loaded into gdb ("source inject.py", or -x), for processes that run, and for cores. A
thread that is in a stub or in a recording routine is shown as one frame, [inject], and
above it the function of the program, at the instruction that the stub does for it, with
its registers: from there on gdb knows the way. All that is needed lies in the arenas,
which are memory like any other, and in every core: a header (struct arena_header in
payload/abi.h), and before each stub a note (payload/stub.h). A core has no session, and
the kernel's has no code of the payload's. Not known is the way out of a recording call
that does without a stack, as small functions of Go's have it (arch/x86_64/tight.h).

What depends on the instruction set is in a class of registers for each (X86, Arm64), by the
name that gdb has for it; of any other nothing is ours.

From the inside out, each step undoing what the one before it has pushed:

 1. the payload's C code: its chain of frame pointers leads to slow.S;
 2. slow.S and the recording routines (hot.S): straight code from any place to the
    way out, which pops what is pushed there; of slow.S that is known without its code;
 3. the stub (plan/choose/place.c): the window, instruction by instruction, with recording
    calls and pushed return addresses between, which look the same everywhere.
"""
import bisect
import re
import struct

import gdb
from gdb.FrameDecorator import FrameDecorator
from gdb.unwinder import Unwinder, register_unwinder

PAGE, ARENA_LEAST = 4096, 256 << 10
HEADER, MAGIC, MAGIC_AT = struct.Struct("<21Q"), b"ijarena1", 128
NOTE, ALIGN = struct.Struct("<iBB"), 16
COPY, RECORD, CALL, TIGHT, LEAVE, RECORD_LEAVE, RECORD_RETURN, RECORD_BELOW = range(8)
EXITS = LEAVE, RECORD_LEAVE, RECORD_RETURN


def read(at, size):
    return bytes(gdb.selected_inferior().read_memory(at, size))


def lines(command):
    try:
        return gdb.execute(command, to_string=True).splitlines()
    except gdb.error:				# nothing runs
        return []


def word(at):
    return struct.unpack("<Q", read(at, 8))[0]


class Stub:
    """Of each place in a stub the instruction of the program that it stands for, the
    registers that are pushed, and whether the instruction is an exit that is recorded:
    rows of (offset, pc, pushed, exit), as the note before the stub has it
    (payload/stub.h). There are none where that cannot be said."""

    def __init__(self, at, site, note):
        self.at, self.site, self.rows = at, site, []
        pc, at, part = site, 0, COPY
        for size, what in zip(note[::2], note[1::2]):
            if not size:
                continue
            part = what & 15
            for offset, pushed in machine().PUSHED.get(part, ((0, None),)):
                self.rows.append((at + offset, pc, pushed, part in EXITS))
            at += size
            pc += what >> 4
        self.rows.append((at, pc, (), part == RECORD_LEAVE))

    def state(self, at):
        i = bisect.bisect_right([row[0] for row in self.rows], at - self.at) - 1
        return self.rows[i][1:]


class Arena:
    def __init__(self, base, header):
        self.base, self.end, self.notes = base, base + header[17], base + header[18]
        self.slow, self.slow_end, self.slow_step = header[1], header[12], header[2] - header[1]
        self.find, self.payload, self.payload_end = header[14], header[19], header[20]

    def stub_at(self, pc):
        """As payload/unwind.c looks for it."""
        page = pc // PAGE * PAGE
        at, code = max(self.notes, page) - page, read(page, PAGE)
        while at + NOTE.size <= PAGE:
            site, blocks, rows = NOTE.unpack_from(code, at)
            told = at + NOTE.size + 2 * rows
            begin, end = page - -told // ALIGN * ALIGN, at + blocks * ALIGN
            if not blocks or pc < begin:
                return None
            if pc < page + end:
                return Stub(begin, page + at + site, code[at + NOTE.size:told])
            at = end
        return None


class Places:
    """Where code of ours is in a process. Nothing of it is trusted to be there."""

    def __init__(self, arenas):
        self.arenas = arenas
        self.stubs = {}

    def arena_at(self, pc):
        return next((a for a in self.arenas if a.base <= pc < a.end), None)

    def in_payload(self, pc):
        return any(a.payload <= pc < a.payload_end for a in self.arenas)

    def slow_at(self, pc):
        """How far that is behind where a routine of slow.S begins."""
        return next(((pc - a.slow) % a.slow_step for a in self.arenas
                     if a.slow <= pc < a.slow_end and a.slow_step > 0), None)

    def in_slow(self, pc):
        return self.slow_at(pc) is not None

    def in_find(self, pc):
        return any(0 <= pc - a.find < 32 for a in self.arenas)

    def stub_at(self, pc):
        if pc not in self.stubs:
            arena = self.arena_at(pc)
            self.stubs[pc] = arena and arena.stub_at(pc)
        return self.stubs[pc]

    def led_from(self, pc):
        """Where the stub's window is that a jump there leads to, if it is not there: it
        is in padding, in what a host has left, or on an island."""
        try:
            goal = machine().goal(pc)
        except gdb.error:
            return None
        stub = self.stub_at(goal) if goal else None
        return stub.site if stub and stub.at == goal and stub.site != pc else None

    def has(self, pc):
        return bool(self.arena_at(pc)) or self.in_payload(pc) or self.led_from(pc) is not None


class State:
    """Registers by name, from the innermost to those of the program's function."""

    def __init__(self, registers):
        self.reg = registers
        self.exit = False

    def leave_stub(self, places):
        """3. To the instruction of the program."""
        pc = self.reg[self.PC]
        stub = places.stub_at(pc)
        if not stub:
            self.reg[self.PC] = places.led_from(pc)
            return self.reg[self.PC] is not None
        self.reg[self.PC], pushed, self.exit = stub.state(pc)
        if pushed is None:
            return False
        self.undo(pushed)
        return True

    def leave(self, places):
        pc = self.reg[self.PC]
        if places.in_payload(pc) and not places.in_slow(pc):
            if not self.leave_c(places):
                return False
            pc = self.reg[self.PC]
        if places.in_slow(pc):
            self.leave_slow(places.slow_at(pc))
        elif places.arena_at(pc) and not places.stub_at(pc) and not self.run_out():
            return False
        return self.leave_stub(places)


class X86(State):
    PC, SP = "rip", "rsp"
    POPS = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi")
    GENERAL = POPS + tuple("r%d" % n for n in range(8, 16)) + ("rip",)
    KEPT = ("cs", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base")
    JUMP = struct.Struct("<Bi")
    WAY_OUT = b"\x48\x8d\x64\x24\x18"	# lea 24(%rsp),%rsp, and a return behind it
    # What slow.S pushes, the last one first ("": the flags); behind which of its bytes, and
    # from which on that is popped. Between them %rbx has what was the stack pointer.
    SLOW = "rbx", "r11", "r10", "r9", "r8", "rdi", "rsi", "rdx", ""
    SLOW_PUSHED = 1, 2, 3, 4, 6, 8, 10, 12, 13
    SLOW_POPPED = 41, 43, 45, 47, 49, 50, 51, 52, 53
    SLOW_IN_RBX = range(16, 40)
    # What is pushed from which byte of a part of a stub on, the last one first ("" for what
    # is none); as arch/x86_64/stand.h has it. One that has no stack is left out.
    AT_RECORD = (0, ()), (1, ("rcx",)), (2, ("rax", "rcx")), (32, ("rcx",))
    ZONE = ("",) * 16
    PUSHED = {
        COPY: ((0, ()),), LEAVE: ((0, ()),), RECORD: AT_RECORD, RECORD_LEAVE: AT_RECORD,
        RECORD_RETURN: AT_RECORD[:3] + ((39, ("rcx",)),),
        RECORD_BELOW: ((0, ()), (5, ZONE), (6, ("rcx",) + ZONE), (7, ("rax", "rcx") + ZONE),
                       (37, ("rcx",) + ZONE), (38, ZONE)),
        CALL: ((0, ()), (5, ("",)), (7, ("rax", "")), (20, ("",))),
    }

    @classmethod
    def goal(cls, pc):
        code, distance = cls.JUMP.unpack(read(pc, cls.JUMP.size))
        return pc + cls.JUMP.size + distance if code == 0xe9 else None

    def undo(self, pushed):
        for name in pushed:
            self.pop(name)

    def return_from(self):
        """Of a function that is about to leave."""
        self.pop("rip")

    def pop(self, name):
        if name:
            self.reg[name] = word(self.reg["rsp"])
        self.reg["rsp"] += 8

    def leave_find(self, places):
        """Of an unwinder's question, to where its own function begins."""
        frame = self.reg["rbp"]
        for _ in range(4):
            if places.in_find(word(frame + 8)):
                self.reg.update(rip=word(frame + 16), rsp=frame + 24, rbp=word(frame))
                return True
            frame = word(frame)
        return False

    def leave_c(self, places):
        """1. To where slow.S goes on; False if that is not where it leads."""
        sp, frame = self.reg["rsp"], self.reg["rbp"]
        pushed = word(sp) == frame
        if places.in_slow(word(sp)):
            at = sp
        elif pushed and places.in_slow(word(sp + 8)):
            at, self.reg["rbp"] = sp + 8, frame
        else:
            for _ in range(16):
                if frame < sp or places.in_slow(word(frame + 8)):
                    break
                frame = word(frame)
            if frame < sp or not places.in_slow(word(frame + 8)):
                return self.leave_find(places)
            at, self.reg["rbp"] = frame + 8, word(frame)
        self.reg["rip"] = word(at)
        # It aligned the stack: what it has pushed is above, and above that the way
        # back to a stub.
        for top in (at + 8, at + 16):
            if places.stub_at(word(top + 72)):
                self.reg["rbx"] = top
                for name in ("r12", "r13", "r14", "r15"):
                    self.reg.pop(name)
                return True
        return False

    def leave_slow(self, at):
        """2. To the stub."""
        if at in self.SLOW_IN_RBX:
            self.reg["rsp"] = self.reg["rbx"]
        pushed = (bisect.bisect_right(self.SLOW_PUSHED, at) -
                  bisect.bisect_right(self.SLOW_POPPED, at))
        for name in self.SLOW[len(self.SLOW) - pushed:]:
            self.pop(name)
        self.pop("rip")

    def run_out(self):
        """2. Along straight code, until it returns or jumps through a place; or to where
        it would return to a stub, and does for it what that would do."""
        arch = gdb.selected_inferior().architecture()
        pc, pushes = self.reg["rip"], []
        if read(pc - len(self.WAY_OUT), len(self.WAY_OUT) + 1) == self.WAY_OUT + b"\xc3":
            self.reg["rsp"] -= 24
            self.pop("rip")
            return True
        for insn in arch.disassemble(pc, pc + 400):
            code = read(insn["addr"], insn["length"])
            rex, op = (1, code[1]) if code[0] == 0x41 and len(code) > 1 else (0, code[0])
            if op & 0xf8 == 0x50 or op == 0x9c or op == 0xe8:
                pushes.append(op)
            elif code == self.WAY_OUT:
                if pushes:			# the first of all, of %rcx
                    self.reg["rip"] = self.reg["rcx"]
                else:
                    self.pop("rip")
                return True
            elif op & 0xf8 == 0x58 or code == b"\x48\x8d\x64\x24\x08":	# lea 8(%rsp),%rsp
                name = "" if op == 0x48 else ("r%d" % (op - 0x50) if rex else self.POPS[op - 0x58])
                if pushes:
                    pushes.pop()
                else:
                    self.pop(name)
            elif op == 0xc3 or code[:2] == b"\xff\x25":
                self.pop("rip")
                return True
        return False


class Arm64(State):
    PC, SP = "pc", "sp"
    GENERAL = tuple("x%d" % n for n in range(31)) + ("sp", "pc")
    KEPT = ("cpsr",)
    WORD = struct.Struct("<I")
    ADDRESS = (1 << 48) - 1		# of a return address that may be signed
    KEPT_BY_C = tuple("x%d" % n for n in range(19, 29))
    # What is pushed from which byte of a part of a stub on, each as (register, place), and then
    # as ("", size) by how much it has lowered the stack pointer; as arch/arm64/stand.h has it.
    ZONE, SIZE = (("", 16),), (("", 48),)
    PAIR = (("x17", 0), ("x30", 8)) + SIZE
    ALL = (("x16", 16),) + PAIR
    AT_RECORD = (0, ()), (4, PAIR), (8, ALL), (56, PAIR)
    PUSHED = {
        COPY: ((0, ()),), CALL: ((0, ()),), LEAVE: ((0, ()),),
        RECORD: AT_RECORD, RECORD_LEAVE: AT_RECORD,
        RECORD_BELOW: ((0, ()), (4, ZONE), (8, PAIR + ZONE), (12, ALL + ZONE),
                       (60, PAIR + ZONE), (64, ZONE)),
    }
    # The frame of slow.S: a pair of registers in every 16 bytes behind the first, from which
    # byte of its code on; and where that has no frame yet, or none any more.
    SLOW_FRAME, SLOW_SAVES, SLOW_ENDS = 176, 8, 116
    SLOW_PAIRS = tuple(("x%d" % n, "x%d" % (n + 1)) for n in range(0, 16, 2)) + (("x18", ""),)
    FIND_FRAME = 32

    @classmethod
    def goal(cls, pc):
        word, = cls.WORD.unpack(read(pc, cls.WORD.size))
        distance = ((word & 0x3ffffff) ^ 0x2000000) - 0x2000000
        return pc + 4 * distance if word >> 26 == 5 else None

    def undo(self, pushed):
        for name, at in pushed:
            if name:
                self.reg[name] = word(self.reg["sp"] + at)
            else:
                self.reg["sp"] += at

    def return_from(self):
        self.reg["pc"] = self.reg["x30"] & self.ADDRESS

    def leave_frame(self, size):
        sp = self.reg["sp"]
        self.reg.update(x29=word(sp), x30=word(sp + 8), sp=sp + size)

    def leave_c(self, places):
        """1. To where slow.S goes on, or where the function of an unwinder's question
        begins. What C code keeps in registers of its caller is not looked for."""
        frame, back = self.reg["x29"], self.reg["x30"]
        for name in self.KEPT_BY_C:
            self.reg.pop(name)
        for _ in range(16):
            if places.in_slow(back) or places.in_find(back):
                break
            frame, back = word(frame), word(frame + 8)
        # x30 is so, too, once the function has a frame of its own.
        if word(frame + 8) == back:
            frame = word(frame)
        self.reg["sp"], self.reg["pc"] = frame, back
        if places.in_find(back):
            self.reg["pc"] = word(frame + 16)
            self.leave_frame(self.FIND_FRAME)
            return True
        return places.in_slow(back)

    def leave_slow(self, at):
        """2. To the stub."""
        if 0 < at < self.SLOW_ENDS:
            saved = max((at - self.SLOW_SAVES + 3) // 4, 0)
            for i, names in enumerate(self.SLOW_PAIRS[:saved]):
                for k, name in enumerate(filter(None, names)):
                    self.reg[name] = word(self.reg["sp"] + 16 * (i + 1) + 8 * k)
            self.leave_frame(self.SLOW_FRAME)
        self.reg["pc"] = self.reg["x30"]

    def move(self, code, kept):
        """What one instruction does that goes by the stack pointer: `kept` has the places
        that were written on the way, and so hold what the registers held."""
        pair = code & 0xffc003e0
        if pair & 0xfe0003e0 == 0xa80003e0:
            size, names = 8 * (((code >> 15 & 127) ^ 64) - 64), (code & 31, code >> 10 & 31)
            before, after, load = code >> 23 & 3 == 3, code >> 23 & 3 == 1, code >> 22 & 1
        elif pair in (0xf94003e0, 0xf90003e0):
            size, names, load = 8 * (code >> 10 & 0xfff), (code & 31,), pair == 0xf94003e0
            before = after = False
        else:
            return
        if before:
            self.reg["sp"] += size
        at = self.reg["sp"] + (0 if before or after else size)
        for i, n in enumerate(names):
            if not load:
                kept.add(at + 8 * i)
            elif at + 8 * i not in kept:
                self.reg["x%d" % n] = word(at + 8 * i)
        if after:
            self.reg["sp"] += size

    def run_out(self):
        """2. Along straight code, until it returns or goes on to the payload, which would
        return for it."""
        pc, kept = self.reg["pc"], set()
        for code, in self.WORD.iter_unpack(read(pc, 400)):
            if code in (0xd65f03c0, 0xd61f0220):	# ret; br x17
                self.reg["pc"] = self.reg["x30"]
                return True
            self.move(code, kept)
        return False


MACHINES = {"i386:x86-64": X86, "aarch64": Arm64}


def machine():
    """Of the process that is looked at; None: it has nothing of ours."""
    return MACHINES.get(gdb.selected_inferior().architecture().name())


class Inferiors:
    """The places of the current one, looked for anew at each stop."""

    def __init__(self):
        self.now = {}		# by the inferior's number
        self.bases = {}		# of the arenas in a mapping, which stay there
        for event in (gdb.events.stop, gdb.events.cont, gdb.events.exited,
                      gdb.events.new_objfile):
            event.connect(lambda _: self.now.clear())

    @staticmethod
    def mappings():
        """Executable ones of no file: where they begin, and how far to look in them (of
        all there is in an older gdb, which does not say what is executable)."""
        for line in lines("info proc mappings"):
            field = line.split()
            if len(field) in (4, 5) and field[0].startswith("0x"):
                begin, end = int(field[0], 16), int(field[1], 16)
                if field[4:] in ([], ["r-xp"]) and end - begin >= ARENA_LEAST:
                    yield begin, end if field[4:] else begin + PAGE

    @staticmethod
    def segments():
        """The same of a core, which does not say what is a file's."""
        for line in lines("maintenance info sections"):
            m = re.search(r"(0x\w+)->(0x\w+) at 0x\w+: load\w* (.* CODE .*HAS_CONTENTS)", line)
            if m and int(m[2], 16) - int(m[1], 16) >= ARENA_LEAST:
                yield int(m[1], 16), int(m[2], 16)

    @staticmethod
    def search(begin, end):
        """Neighbours are shown as one mapping, so an arena may begin anywhere."""
        memory, at = gdb.selected_inferior(), begin
        while at < end:
            try:
                at = memory.search_memory(at, end - at, MAGIC)
            except gdb.error:
                return
            if at is None:
                return
            if at % PAGE == MAGIC_AT:
                yield at - MAGIC_AT
            at += PAGE - (at - MAGIC_AT) % PAGE

    def find(self):
        process = gdb.selected_inferior()
        for begin, end in list(self.mappings()) or self.segments():
            key = process.num, process.pid, begin, end
            if key not in self.bases:
                self.bases[key] = list(self.search(begin, end))
            for base in self.bases[key]:
                yield base

    def places(self):
        arenas = []
        if not machine():
            return Places(arenas)
        for base in self.find():
            try:
                header = HEADER.unpack(read(base, HEADER.size))
            except gdb.error:
                continue
            if header[16] == int.from_bytes(MAGIC, "little"):
                arenas.append(Arena(base, header))
        return Places(arenas)

    def of(self, pc):
        """The places of the process, if that is one of them."""
        number = gdb.selected_inferior().num
        if number not in self.now:
            self.now[number] = Places([])	# while they are looked for
            self.now[number] = self.places()
        places = self.now[number]
        return places if places.arenas and places.has(pc) else None


PLACES = Inferiors()


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
    def unwound(here, frame, values, registers):
        info = frame.create_unwind_info(FrameId(values[here.SP], values[here.PC]))
        for name, value in registers.items():
            info.add_saved_register(name, gdb.Value(value).cast(values[name].type))
        for name in here.KEPT:
            info.add_saved_register(name, values[name])
        return info

    def above_ours(self, state, places):
        if not state.leave(places):
            return False
        # As gdb looks up a caller by the byte before the place that it returns to,
        # so that this byte is the instruction's.
        state.reg[state.PC] += 1
        self.above[state.reg[state.PC], state.reg[state.SP]] = state.exit
        return True

    def __call__(self, frame):
        try:
            here = machine()
            pc, sp = (int(frame.read_register(name)) for name in (here.PC, here.SP))
        except (gdb.error, AttributeError):	# it has ended, or is of another machine
            return None
        places = None if (pc, sp) in self.above else PLACES.of(pc)
        if not places and not self.above.get((pc, sp)):
            return None
        try:
            values = {name: frame.read_register(name) for name in here.GENERAL + here.KEPT}
            state = here({name: int(values[name]) % (1 << 64) for name in here.GENERAL
                          if not values[name].is_optimized_out})
            if not places:
                state.return_from()
            elif not self.above_ours(state, places):
                return None
        except (gdb.error, struct.error, LookupError):
            return None
        return self.unwound(here, frame, values, state.reg)


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
            ours = not above and bool(PLACES.of(inner.pc()))
            was_inlined = inner.type() == gdb.INLINE_FRAME
            yield Ours(frame) if ours else AboveOurs(frame) if above else frame


register_unwinder(None, StubUnwinder(), replace=True)
StubFilter()
