#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""truth: do the views of calls say what a model program says that it did, and the same?

truth.py log LOG JSON SECONDS	each call of LOG is in JSON, with its end, and with a
				duration that differs by so many seconds at most
truth.py part LOG JSON FUNC SECONDS	the call of FUNC, and the one around it, have begun
				before the record
truth.py views JSON		what stands in view.* of the current directory is what
				the calls of JSON make: report, graph, folded, ...
"""
import collections
import json
import re
import sys
import xml.etree.ElementTree as xml

from protobuf import fields

UNITS = {"us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}


def calls_of(path):
    lines = (json.loads(line) for line in open(path, encoding="utf-8"))
    return [c for c in lines if c["type"] == "call"]


def took(call):
    """All of it, or the part that is in the record."""
    return call["dur_ns"] or call.get("seen_ns") or 0


def logged(path):
    ret = collections.defaultdict(list)
    for line in open(path, encoding="utf-8"):
        pid, tid, func, begin, end, how = line.split()
        ret[int(pid), int(tid), func, how].append((int(begin), int(end)))
    return ret


def judge_log(log, path, bound):
    made, told = logged(log), collections.defaultdict(list)
    for c in calls_of(path):
        if c["func"].startswith("model_"):
            assert c["dur_ns"] is not None and c["ts_ns"], f"without a time: {c}"
            told[c["pid"], c["tid"], c["func"], c["end"]].append(
                (c["ts_ns"], c["ts_ns"] + c["dur_ns"]))
    assert made.keys() == told.keys(), f"others: {sorted(made.keys() ^ told.keys())}"
    for key, spans in made.items():
        assert len(spans) == len(told[key]), f"{key}: {len(told[key])}, not {len(spans)}"
        for (b, e), (tbegin, tend) in zip(sorted(spans), sorted(told[key])):
            off = (tend - tbegin - (e - b)) / 1e9
            # A process that kills another knows the end only afterwards.
            least = -bound if key[2] == "model_waits" else -0.002
            assert least <= off <= bound, f"{key}: {(tend - tbegin) / 1e9}, not {(e - b) / 1e9}"
            late = (tbegin - b) / 1e9
            assert -bound <= late <= 0.002, f"{key}: begins at {tbegin}, not {b}"


def judge_part(log, path, func, bound):
    """The call of func has its begin if it is slow; the one around it its part."""
    made, told = logged(log), {c["func"]: c for c in calls_of(path)}
    (key, ((begin, end),)), = ((k, v) for k, v in made.items() if k[2] == func)
    inner, outer = told[func], told["model_holds"]
    if func == "model_slow":
        assert inner["end"] == "return" and not inner.get("began_before"), inner
        near(inner["dur_ns"], end - begin, "the slow call", ns=bound * 1e9)
        near(inner["ts_ns"], begin, "its begin", share=0, ns=bound * 1e9)
        least = inner["dur_ns"]
    else:
        assert inner["began_before"] and inner["dur_ns"] is None, inner
        assert inner["seen_ns"] <= end - begin + bound * 1e9, inner
        least = inner["seen_ns"]
    assert outer["began_before"] and outer["depth"] == 0 and inner["depth"] == 1, (inner, outer)
    near(outer["seen_ns"], least, "the call around it", ns=bound * 1e9)
    assert outer["seen_ns"] >= least, (inner, outer)


class Node:
    """All calls by one chain of functions."""

    def __init__(self):
        self.calls = self.total = self.own = 0


def tree_of(calls):
    """By the chain's names. A call ends after those that it has made."""
    ended = collections.defaultdict(list)   # by thread and depth
    nodes = collections.defaultdict(Node)

    def add(call, path):
        path += (call["func"],)
        ns = took(call)
        node = nodes[path]
        node.calls += 1
        node.total += ns
        node.own += max(ns - sum(took(c) for c in call["inner"]), 0)
        for inner in call["inner"]:
            add(inner, path)

    for call in calls:
        call["inner"] = ended.pop((call["tid"], call["depth"] + 1), [])
        ended[call["tid"], call["depth"]].append(call)
    for tops in ended.values():
        for call in tops:
            add(call, ())
    return nodes


def by_func(nodes):
    ret = collections.defaultdict(Node)
    for path, node in nodes.items():
        f = ret[path[-1]]
        f.calls += node.calls
        f.own += node.own
        f.total += 0 if path[-1] in path[:-1] else node.total
    return ret


def span(number, unit):
    whole, part = number.split(".")
    return (int(whole) + int(part) / (60 if unit in ("m", "h") else 1000)) * UNITS[unit]


def near(is_, should, what, share=0.002, ns=2000):
    assert abs(is_ - should) <= ns + share * should, f"{what}: {is_}, not {should}"


def spans_of(line):
    """What a line of a table has in its columns, and the rest of it."""
    values = []
    while True:
        m = re.match(r"\s*(?:(\d+\.\d+)\s+(us|ms|s|m|h)|(\d+)|(-))\s", line)
        if not m:
            return values, line.rstrip("\n")
        line = line[m.end():]
        values.append(span(m[1], m[2]) if m[1] else int(m[3]) if m[3] else None)


def check(told, nodes, what, ns=2000):
    """Durations of calls are whole ns in JSON; other views add up ticks."""
    told = dict(told)
    ns += sum(node.calls for node in nodes.values())
    assert told.keys() == nodes.keys(), f"{what}: {sorted(told.keys() ^ nodes.keys(), key=str)}"
    for key, (calls, total, own) in told.items():
        node = nodes[key]
        assert calls is None or calls == node.calls, f"{what}: {key}: {calls} calls"
        if total is not None:
            near(total, node.total, f"{what}: {key}, total", ns=ns)
        if own is not None:
            near(own, node.own, f"{what}: {key}, self", ns=ns)


def lines(path):
    return [line for line in open(path, encoding="utf-8") if not line.startswith("#")]


def report():
    for line in lines("view.report"):
        (total, own, calls, *_), name = spans_of(line)
        yield name.strip(), (calls, total or 0, own or 0)


def graph():
    path = []
    for line in lines("view.graph"):
        (total, own, calls), name = spans_of(line)
        depth = (len(name) - len(name.lstrip()) - 1) // 2
        path = path[:depth] + [name.strip()]
        yield tuple(path), (calls, total or 0, own or 0)


def folded():
    for line in lines("view.folded"):
        stack, ns = line.rsplit(" ", 1)
        yield tuple(stack.split(";")), (None, None, int(ns))


def speedscope():
    s = json.load(open("view.speedscope", encoding="utf-8"))
    names = [f["name"] for f in s["shared"]["frames"]]
    p = s["profiles"][0]
    for stack, ns in zip(p["samples"], p["weights"]):
        yield tuple(names[i] for i in stack), (None, None, ns)


def dot():
    node = re.compile(r'\tf\d+ \[label="(.*)\\n(\d+) calls?\\n'
                      r'(?:([\d.]+) ms, self ([\d.]+) ms|not)')
    for m in filter(None, map(node.match, lines("view.dot"))):
        yield m[1], (int(m[2]), float(m[3] or 0) * 1e6, float(m[4] or 0) * 1e6)


def chrome(funcs):
    events = json.load(open("view.chrome", encoding="utf-8"))["traceEvents"]
    found = collections.defaultdict(lambda: [0, 0])
    for e in events:
        if e["ph"] in "Xi":
            found[e["name"]][0] += 1
            found[e["name"]][1] += e.get("dur", 0) * 1000
    for name, (calls, ns) in found.items():
        assert calls == len(funcs[name]), f"chrome: {name}: {calls}"
        near(ns, sum(funcs[name]), f"chrome: {name}", ns=20 * calls)


def packed(value):
    if isinstance(value, int):
        return [value]
    ret, n, shift = [], 0, 0
    for byte in value:
        n |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            ret.append(n)
            n = shift = 0
    return ret


def pprof():
    texts, names, samples = [], {}, []
    for number, value in fields(open("view.pprof", "rb").read()):
        if number == 6:
            texts.append(value.decode())
        elif number == 5:
            function = dict(fields(value))
            names[function[1]] = function[2]
        elif number == 2:
            sample = collections.defaultdict(list)
            for field, v in fields(value):
                sample[field] += packed(v)
            samples.append(sample)
    for s in samples:
        yield tuple(texts[names[i]] for i in reversed(s[1])), (s[2][0], None, s[2][1])


def perfetto(funcs):
    """Slices are begun and ended, by their track."""
    names, stacks, found = {}, collections.defaultdict(list), collections.defaultdict(list)
    for _, value in fields(open("view.perfetto", "rb").read()):
        packet = dict(fields(value))
        for field, v in fields(packet.get(12, b"")):
            entry = dict(fields(v)) if field == 2 else {}
            if entry:
                names[entry[1]] = entry[2].decode()
        event = dict(fields(packet.get(11, b"")))
        if event.get(9) == 1:
            stacks[event[11]].append((names[event[10]], packet[8]))
        elif event.get(9) == 3:
            found[names[event[10]]].append(0)
        elif event.get(9) == 2:
            name, begin = stacks[event[11]].pop()
            found[name].append(packet[8] - begin)
    assert not any(stacks.values()), "perfetto: slices do not end"
    for name, spans in found.items():
        assert len(spans) == len(funcs[name]), f"perfetto: {name}: {len(spans)}"
        near(sum(spans), sum(funcs[name]), f"perfetto: {name}", ns=20 * len(spans))
    assert found.keys() == funcs.keys(), "perfetto: others"


def svg(nodes):
    """Those of next to no width are left out."""
    path, ns = [], "{http://www.w3.org/2000/svg}"
    for g in xml.parse("view.svg").getroot().iter(ns + "g"):
        depth = int(g.get("data-d"))
        path = path[:depth] + [g.get("data-n")]
        title = re.search(r": ([\d.]+) ms, (\d+) calls?,", g.find(ns + "title").text)
        if depth:
            node = nodes[tuple(path[1:])]
            assert int(title[2]) == node.calls, f"svg: {path}: {title[2]} calls"
            near(float(title[1]) * 1e6, node.total, f"svg: {path}",
                 ns=100 + sum(n.calls for n in nodes.values()))


def judge_views(path):
    calls = calls_of(path)
    nodes, funcs = tree_of(calls), collections.defaultdict(list)
    for c in calls:
        funcs[c["func"]].append(took(c))
    known = {k: n for k, n in nodes.items() if n.own}
    check(report(), by_func(nodes), "report")
    check(graph(), nodes, "graph")
    check(folded(), known, "folded", ns=100)
    check(speedscope(), known, "speedscope", ns=100)
    check(pprof(), nodes, "pprof", ns=100)
    check(dot(), by_func(nodes), "dot")
    chrome(funcs)
    perfetto(funcs)
    svg(nodes)


if sys.argv[1] == "log":
    judge_log(sys.argv[2], sys.argv[3], float(sys.argv[4]))
elif sys.argv[1] == "part":
    judge_part(sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5]))
else:
    judge_views(sys.argv[2])
