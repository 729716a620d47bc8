# SPDX-License-Identifier: MIT
"""latency.py NAME DIR: do answers take longer while probes come and go?

DIR/answers has the time of each request and how long its answer took, DIR/slices when
each slice of time began, ended, and whether inject was there (with) or not (without),
DIR/visits what inject -v said. Every other slice is one without. A percentile of each slice
is divided by the geometric mean of those of the slices without before it and behind it, so
that what drifts cancels out. Told are the median of these ratios, and the interval in which
it is with 95 %, by their order: a few slices in which something else happened do not matter.
`noise` is the same of the slices without themselves, as a control.

Who had to wait because the process stood still, or its thread was borrowed, is told
apart: `outside` are the others.
"""
import bisect
import math
import re
import statistics
import sys

HELD = re.compile(r"(stood still|lent a thread) for ([0-9.]+) ms, until ([0-9.]+)")
CLOSED = re.compile(r"; (\d+) calls?; .*(\d+) lost")


def lines(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().splitlines()


def percentile(took, share):
    took = sorted(took)
    return took[min(int(len(took) * share), len(took) - 1)] if took else math.nan


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


def ratios(slices, wanted, share, answers="all"):
    """Of each slice of that kind that has neighbours on both sides, to what is without us."""
    plain = [(i, percentile(s["all"], share)) for i, s in enumerate(slices)
             if s["kind"] == "without"]
    out = []
    for i, s in enumerate(slices):
        before = [p for j, p in plain if j < i]
        after = [p for j, p in plain if j > i]
        if s["kind"] == wanted and before and after:
            out.append(percentile(s[answers], share) / math.sqrt(before[-1] * after[0]))
    return out


def interval(values):
    """The median, and between what it is with 95 %."""
    values = sorted(values)
    n = len(values)
    cut, beyond = 0, 1 / 2 ** n  # the chance that it is beyond values[cut]
    while beyond <= .025:
        cut += 1
        beyond += math.comb(n, cut) / 2 ** n
    if not cut:
        return math.nan, math.nan, math.nan
    return statistics.median(values), values[cut - 1], values[n - cut]


def times(ratio):
    return f"{ratio:.2f}" if ratio < 10 else ">9" if ratio >= 10 else "-"


def between(low, high):
    return f"{times(low)}-{times(high)}".ljust(11)


def verdict(visits, noise):
    _, low, high = visits
    if not high <= 2 * low:
        return "too unsteady here to tell"
    return "slower" if low > max(1, noise[2]) else "faster" if high < 1 else "the same"


def read(directory):
    slices = []
    for line in lines(f"{directory}/slices"):
        begin, end, kind = line.split()
        slices.append({"begin": float(begin), "end": float(end), "kind": kind,
                       "all": [], "outside": []})
    holds = Holds(lines(f"{directory}/visits"))
    begins = [s["begin"] for s in slices]
    for line in lines(f"{directory}/answers"):
        asked, took = map(float, line.split())
        i = bisect.bisect_right(begins, asked) - 1
        if i < 0 or asked >= slices[i]["end"]:
            continue
        slices[i]["all"].append(took)
        if not holds.meet(asked, took):
            slices[i]["outside"].append(took)
    return slices, holds


def main():
    name, directory = sys.argv[1:]
    slices, holds = read(directory)
    said = lines(f"{directory}/visits")
    closed = [m for m in map(CLOSED.search, said) if m]
    plain = [t for s in slices if s["kind"] == "without" for t in s["all"]]
    visited = [s for s in slices if s["kind"] == "with"]
    answers = sum(len(s["all"]) for s in visited)
    waited = answers - sum(len(s["outside"]) for s in visited)
    visits = interval(ratios(slices, "with", .99, "outside"))
    noise = interval(ratios(slices, "without", .99))
    print(f"{name:<11}{sum(len(s['all']) for s in slices):>9}"
          f"{percentile(plain, .5):>8.0f}"
          f"{times(interval(ratios(slices, 'with', .5, 'outside'))[0]):>7}"
          f"{percentile(plain, .99):>8.0f}"
          f"{times(visits[0]):>7} {between(*visits[1:])}"
          f"{times(interval(ratios(slices, 'with', .99))[0]):>5}"
          f"{times(noise[0]):>8} {between(*noise[1:])}{verdict(visits, noise)}")
    print(f"{'':<11}{len(closed)} visits, {sum(int(m[1]) for m in closed)} calls,"
          f" {sum(int(m[2]) for m in closed)} lost; stood still for"
          f" {holds.longest('stood still'):.1f} ms at most, a thread borrowed for"
          f" {holds.longest('lent a thread'):.1f}; {waited} answers had to wait for that,"
          f" {100 * waited / max(1, answers):.2f} %")


main()
