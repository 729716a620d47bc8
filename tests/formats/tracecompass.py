# SPDX-License-Identifier: MIT
"""tracecompass: does the analysis in share/tracecompass.xml find the calls of a trace?

tracecompass.py XML DIRECTORY: a reader of such a directory and an interpreter of such
an analysis, which know nothing of ours: of Trace Compass's rules no more than that file
needs. Prints how often each function was pushed, or had begun before. An event or a
field that the file names and the trace does not, or a call that is popped when another
one ends, is an error.
"""
import collections
import heapq
import re
import struct
import sys
import xml.etree.ElementTree as ET

HEAD = struct.Struct("<I16sIQQQQQQiiII16sQQ")
TIME = (1 << 40) - 1


def die(text):
    sys.exit("tracecompass: " + text)


class Trace:
    """The metadata of a directory, and its events with their packets' heads."""

    def __init__(self, path):
        text = open(path + "/metadata", encoding="utf-8").read()
        labels = re.search(r"\{\n([^}]*)\} := func_t;", text).group(1)
        found = re.findall(r'"((?:[^"\\]|\\.)*)" = (\d+),', labels)
        self.path = path
        self.funcs = {int(n): name for name, n in found}
        event = r'event \{\n\tname = "(\w+)";\n\tid = (\d+);.*?struct \{(.*?)\};\n\};'
        self.fields = {name: re.findall(r"(\w+);", fields)
                       for name, n, fields in re.findall(event, text, re.S)}
        self.names = {int(n): name for name, n, _ in re.findall(event, text, re.S)}
        context = re.search(r"packet.context := struct \{(.*?)\n\t\};", text, re.S).group(1)
        self.context = re.findall(r"(\w+)(?:\[\d+\])?;\n", context + "\n")
        lanes = re.findall(r"lane_(\d+)_packets", text)
        self.lanes = [int(n) for n in lanes]

    def lane(self, number):
        with open("%s/stream_%d" % (self.path, number), "rb") as f:
            while head := f.read(HEAD.size):
                h = HEAD.unpack(head)
                words = (h[5] // 8 - HEAD.size) // 8
                data = f.read(h[6] // 8 - HEAD.size)
                context = {"packet_seq_num": h[7], "pid": h[9], "tid": h[10],
                           "thread": h[11], "stack": h[12]}
                yield from self.packet(struct.unpack_from("<%dQ" % words, data), h[3],
                                       context)

    def packet(self, words, begin, context):
        words = iter(words)
        for w in words:
            number = w & 3 if w & 3 != 3 else w >> 42
            fields = {"context." + k: v for k, v in context.items()}
            body = w >> 42 if w & 3 != 3 else next(words)
            if "func" in self.fields[self.names[number]]:
                fields["func"] = self.funcs[body & ((1 << 22) - 1)]
            else:
                fields[self.fields[self.names[number]][0]] = body
            yield (begin & ~TIME) | (w >> 2 & TIME), self.names[number], fields

    def events(self):
        return heapq.merge(*(self.lane(n) for n in self.lanes), key=lambda e: e[0])


class Analysis:
    """The state provider of the file, and the state."""

    def __init__(self, path, trace):
        provider = ET.parse(path).getroot().find(".//stateProvider")
        self.locations = {e.get("id"): list(e) for e in provider.findall("location")}
        self.handlers = {e.get("eventName"): list(e) for e in provider.findall("eventHandler")}
        self.state = {}
        self.stacks = collections.defaultdict(list)
        self.pushed = collections.Counter()
        self.check(provider, trace)

    def check(self, provider, trace):
        for handler in provider.findall("eventHandler"):
            if handler.get("eventName") not in trace.fields:
                die("no event is called " + handler.get("eventName"))
        for e in provider.iter():
            field = e.get("value") if e.get("type") == "eventField" else None
            field = e.get("name") if e.tag == "field" else field
            known = field is None or any(field in names for names in trace.fields.values()) \
                or (field[:8] == "context." and field[8:] in trace.context)
            if not known:
                die("no field is called " + field)

    def value(self, e, event):
        kind, value = e.get("type"), e.get("value")
        if kind == "query":
            return self.state.get(self.place(e.findall("stateAttribute"), event))
        return event.get(value) if kind == "eventField" else \
            int(value) if kind == "long" else value

    def place(self, attributes, event):
        parts = []
        for e in attributes:
            if e.get("type") == "location":
                parts += self.place(self.locations[e.get("value")], event)
            else:
                value = self.value(e, event)
                if value is None:
                    die("nothing is known of " + ET.tostring(e, "unicode").strip())
                parts.append(str(value))
        return tuple(parts)

    def holds(self, condition, event):
        field, values = condition.find("field"), condition.findall("stateValue")
        first = event[field.get("name")] if field is not None else self.value(values[0], event)
        return (first == self.value(values[-1], event)) == (condition.get("operator") != "ne")

    def change(self, e, name, event):
        if e.find("if") is not None:
            e = e.find("then" if self.holds(e.find("if/condition"), event) else "else")
            if e is None:
                return
        at = self.place(e.findall("stateAttribute"), event)
        value = self.value(e.find("stateValue"), event)
        what = e.find("stateValue").get("stack")
        if what is None:
            self.state[at] = value
        elif what == "push":
            self.stacks[at].append(value)
            self.pushed[value] += 1
        elif what == "popAll":
            self.stacks[at].clear()
        elif not self.stacks[at] or self.stacks[at].pop() != event["func"]:
            die("another call than %s ends at %s (%s)" % (event["func"], "/".join(at), name))

    def take(self, name, event):
        for e in self.handlers.get(name, []):
            self.change(e, name, event)


def main():
    trace = Trace(sys.argv[2])
    analysis = Analysis(sys.argv[1], trace)
    calls = analysis.pushed
    for _, name, event in trace.events():
        analysis.take(name, event)
        calls[event.get("func")] += name == "began_before"
    del calls[None]
    for function, n in sorted(calls.items()):
        print(n, function)
    print(sum(map(len, analysis.stacks.values())), "open")


main()
