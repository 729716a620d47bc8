# SPDX-License-Identifier: MIT
"""latency.py NAME DIR: do answers take longer while probes come and go?

DIR/answers has the time of each request and how long its answer took, DIR/slices when
each slice of time began, ended, and whether inject was there (with) or not (without),
DIR/visits what inject -v said. Every other slice is one without, so that what drifts is
in both. All answers of a kind are taken together, for a slice alone has but ten beyond
its 99th percentile. What is told is a percentile divided by that without inject, and the
interval in which the ratio is with 95 %: slices are drawn anew, again and again, with
replacement (bootstrap), for what disturbs one answer disturbs its neighbours.

`often` is with visits one after the other. `seldom` is a visit each PERIOD seconds: the
same answers, but each slice with visits among as many without as makes that. `itself` is
every second slice without visits by the others, as a control.

What had to wait because the process stood still, or its thread was borrowed, is told
apart: `outside` are the others.
"""
import bisect
import collections
import math
import random
import re
import sys

HELD = re.compile(r"(stood still|lent a thread) for ([0-9.]+) ms, until ([0-9.]+)")
CLOSED = re.compile(r"; (\d+) calls?; .*(\d+) lost")
PERIOD = 5
DRAWS = 400
STEP = math.log(1.01)  # of the logarithm of a time: as precisely as that it is kept


def lines(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().splitlines()


class Holds:
    """When the target stood still: intervals, and for how long in all."""

    def __init__(self, said):
        found = [HELD.search(line) for line in said]
        self.held = sorted((float(m[3]) - float(m[2]) / 1e3, float(m[3]), m[1])
                           for m in found if m)
        self.begins = [begin for begin, _, _ in self.held]

    def meet(self, asked, took):
        """Was the target held between the request and its answer?"""
        i = bisect.bisect_right(self.begins, asked + took / 1e6)
        return i > 0 and any(end >= asked for _, end, _ in self.held[max(0, i - 4):i])

    def longest(self, kind):
        return max((end - begin for begin, end, k in self.held if k == kind), default=0) * 1e3


class Slice:
    """Its answers, counted by the logarithm of their time."""

    def __init__(self, begin, end, kind):
        self.begin, self.end, self.kind = float(begin), float(end), kind
        self.all = collections.Counter()
        self.outside = collections.Counter()

    def add(self, took, held):
        at = int(math.log(max(took, 1)) / STEP)
        self.all[at] += 1
        if not held:
            self.outside[at] += 1


def together(counts):
    out = collections.Counter()
    for one in counts:
        out.update(one)
    return out


def mix(with_us, without, share):
    """Both, so that `share` of the answers are of the former."""
    a, b = with_us.total(), without.total()
    out = {at: n * share / a for at, n in with_us.items()}
    for at, n in without.items():
        out[at] = out.get(at, 0) + n * (1 - share) / b
    return out


def percentile(counts, share):
    rest = sum(counts.values()) * (1 - share)
    for at in sorted(counts, reverse=True):
        rest -= counts[at]
        if rest < 0:
            return math.exp((at + .5) * STEP)
    return math.nan


class Judged:
    """One table of ratios, of slices as they were or as they are drawn."""

    def __init__(self, visited, plain, share):
        outside = together(s.outside for s in visited)
        everything = together(s.all for s in visited)
        without = together(s.all for s in plain)
        pairs = {
            "often": (outside, without), "often all": (everything, without),
            "seldom": (mix(outside, without, share), without),
            "seldom all": (mix(everything, without, share), without),
        }
        self.ratios = {(name, p): percentile(a, p) / percentile(b, p)
                       for name, (a, b) in pairs.items() for p in (.5, .99)}

    def control(self, some, others):
        a, b = (together(s.all for s in side) for side in (some, others))
        for p in (.5, .99):
            self.ratios["itself", p] = percentile(a, p) / percentile(b, p)
        return self.ratios


def judge(visited, plain, share):
    """Of each ratio: as measured, and between what it is with 95 %."""
    sides = plain[::2], plain[1::2]
    measured = Judged(visited, plain, share).control(*sides)
    random.seed(1)
    drawn = []
    for _ in range(DRAWS):
        again = [random.choices(side, k=len(side)) for side in (visited, plain, *sides)]
        drawn.append(Judged(again[0], again[1], share).control(*again[2:]))
    out = {}
    for key, ratio in measured.items():
        ratios = sorted(d[key] for d in drawn)
        out[key] = ratio, ratios[DRAWS // 40], ratios[-1 - DRAWS // 40]
    return out


def verdict(visits, noise):
    _, low, high = visits
    if not high <= 2 * low:
        return "too unsteady here to tell"
    return "slower" if low > max(1, noise[2]) else "faster" if high < min(1, noise[1]) \
        else "the same"


def row(what, name, judged):
    p99 = judged[name, .99]
    line = f"  {what:<22}{judged[name, .5][0]:>7.2f}{p99[0]:>8.2f}  {p99[1]:.2f}-{p99[2]:.2f}"
    if name != "itself":
        line = f"{line:<52}{judged[name + ' all', .99][0]:>6.2f}  "
        line += verdict(p99, judged["itself", .99])
    print(line)


def read(directory):
    slices = [Slice(*line.split()) for line in lines(f"{directory}/slices")]
    holds = Holds(lines(f"{directory}/visits"))
    begins = [s.begin for s in slices]
    for line in lines(f"{directory}/answers"):
        asked, took = map(float, line.split())
        i = bisect.bisect_right(begins, asked) - 1
        if i >= 0 and asked < slices[i].end:
            slices[i].add(took, holds.meet(asked, took))
    return slices, holds


def main():
    name, directory = sys.argv[1:]
    slices, holds = read(directory)
    said = lines(f"{directory}/visits")
    closed = [m for m in map(CLOSED.search, said) if m]
    plain = [s for s in slices if s.kind == "without" and s.all]
    visited = [s for s in slices if s.kind == "with" and s.outside]
    if len(plain) < 4 or not visited or not closed:
        sys.exit(f"{name}: too few slices, visits or answers to judge")
    taken = sum(s.end - s.begin for s in visited)
    without = together(s.all for s in plain)
    answers = sum(s.all.total() for s in visited)
    waited = answers - sum(s.outside.total() for s in visited)
    judged = judge(visited, plain, min(1, taken / len(closed) / PERIOD))
    print(f"{name:<11}{without.total() + answers:>7} requests; without visits p50"
          f" {percentile(without, .5):.0f} us, p99 {percentile(without, .99):.0f} us")
    row(f"a visit each {PERIOD} s", "seldom", judged)
    row(f"{len(closed) / taken:.1f} visits a second", "often", judged)
    row("without, by itself", "itself", judged)
    print(f"  {len(closed)} visits, {sum(int(m[1]) for m in closed)} calls,"
          f" {sum(int(m[2]) for m in closed)} lost; stood still for"
          f" {holds.longest('stood still'):.1f} ms at most, a thread borrowed for"
          f" {holds.longest('lent a thread'):.1f}; {waited} answers had to wait for that,"
          f" {100 * waited / max(1, answers):.2f} %")


main()
