#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""static.py CHECK: plans of made-up programs, by their thousands.

Makes programs (shapes.py), assembles and links them, one or a few to a file, as programs to
one address, position-independent ones and libraries, with all names, with those that
others see, and with none; and asks CHECK (check.c) whether their plans leave alone where
control arrives. Prints what fails by trait, and a line to make each kind of failure again.

    static.py build/tests/arrive/check -n 100000 -s 1 -j 2
    static.py build/tests/arrive/check -s 1 --only 4711 --keep    one program, and its files

Exit status 0 if none failed, else 1.
"""
import argparse
import collections
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile

import shapes

KINDS = ("exec", "pie", "shared") * 3 + ("high", "joined")    # high: above 4 GiB
LINK = {"exec": ["-e", "0"], "pie": ["-pie", "--no-dynamic-linker", "-e", "0"],
        "shared": ["-shared"],
        "high": ["-e", "0", "-Ttext-segment=0x200000000", "--no-relax"],
        # The headers and .rodata lie in the segment that runs; the entry point is jmp *%rax.
        "joined": ["-z", "noseparate-code", "-e", "0xe0ff"]}
# With all names, with those of .dynsym at most, and without unwind entries, too.
STRIP = ([], [], [], ["-s"], ["-s", "--no-eh-frame-hdr"])
BATCH = 100
SIZES = (1,) * 12 + (2, 3, 5, 12)


def plan(seed, first, last):
    """Which programs share a file: lists of numbers, with what they are linked as."""
    rng = random.Random(f"{seed}.{first}.files")
    n = first
    while n < last:
        many = min(rng.choice(SIZES), last - n)
        yield range(n, n + many), rng.choice(KINDS), rng.choice(STRIP), rng.random() < .25
        n += many


def tool(command, errors):
    """It succeeds without a word, or its words are in errors."""
    r = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, close_fds=False, check=False, timeout=60)
    if r.returncode or b"rror" in r.stdout:
        errors.append(f"{' '.join(command)}: {r.stdout.decode(errors='replace')[:300]}")
        return False
    return True


def make(args, numbers, kind, strip, caught, errors):
    """The file of these programs, and they."""
    programs = [shapes.make(args.seed, n, kind, args.encoding) for n in numbers]
    stem = f"{numbers[0]}.{kind}"
    path = stem + (".caught" if caught or any(p.traits.get("caught") for p in programs) else "")
    with open(stem + ".s", "w", encoding="ascii") as f:
        f.write(shapes.assembly(programs))
    made = tool(["as", "-o", stem + ".o", stem + ".s"], errors) and \
        tool(["ld", "-o", path, stem + ".o"] + LINK[kind] + strip, errors)
    if not args.keep:
        for name in (stem + ".s", stem + ".o"):
            if os.path.exists(name):
                os.unlink(name)
    return (path if made else None), programs


def batch(job):
    """Programs first to last: what they are and what failed."""
    args, first, last = job
    errors, files, wrong, traits = [], {}, [], {}
    for numbers, kind, strip, caught in plan(args.seed, first, last):
        if args.only is not None and args.only not in numbers:
            continue
        path, programs = make(args, numbers, kind, strip, caught, errors)
        for p in programs:
            traits[p.n] = dict(p.traits, kind=kind, strip="".join(strip) or "names",
                               caught=caught)
        if path:
            files[path] = programs
    r = subprocess.run([args.check], input="".join(f"{x}\n" for x in files), text=True,
                       stdout=subprocess.PIPE, check=False, timeout=1200)
    done, probed, exits = 0, 0, 0
    for line in r.stdout.splitlines():
        what = line.split("\t")
        if what[0] == "wrong":
            wrong.append((int(what[2]), what[3], what[4], line))
        elif what[0] == "done":
            done, probed, exits = done + 1, probed + int(what[2]), exits + int(what[3])
        else:
            errors.append(line)
    if done != len(files) or r.returncode not in (0, 1):
        errors.append(f"check ended with {r.returncode} after {done} of {len(files)} files")
    if not args.keep:
        for path in files:
            os.unlink(path)
    return traits, wrong, errors, probed, exits


def report(traits, wrong, brief):
    """Programs and failures, by each value of each trait."""
    failed = {n: set() for n in {w[0] for w in wrong}}
    for n, what, selection, _ in wrong:
        failed[n].add((what, selection))
    known = collections.Counter(t["residue"] for t in traits.values() if "residue" in t)
    for why, of in sorted(known.items()):
        print(f"not to be seen: {why}: {of} programs, "
              f"{sum(traits[n].get('residue') == why for n in failed)} failed")
    failed = {n: v for n, v in failed.items() if "residue" not in traits[n]}
    names = sorted({k for t in traits.values() for k in t})
    for name in names if not brief else ():
        rows = collections.defaultdict(lambda: [0, 0, collections.Counter()])
        for n, t in traits.items():
            row = rows[str(t.get(name, "-"))]
            row[0] += 1
            row[1] += n in failed
            row[2].update({w for w, _ in failed.get(n, ())})
        print(f"\n{name:20} PROGRAMS  FAILED  HOW")
        for value, row in sorted(rows.items()):
            how = ", ".join(f"{k} {v}" for k, v in sorted(row[2].items()))
            print(f"  {value:18} {row[0]:8} {row[1]:7}  {how}")
    chosen = collections.Counter(x for v in failed.values() for x in v)
    print("\nby selection: " + (", ".join(f"{w} with {s} selected: {c}" for (w, s), c in
                                          sorted(chosen.items())) or "none"))
    return len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("check")
    parser.add_argument("-n", type=int, default=2000, help="programs")
    parser.add_argument("-s", "--seed", default="1")
    parser.add_argument("-j", type=int, default=1, help="processes")
    parser.add_argument("--encoding", help="only of this one")
    parser.add_argument("--only", type=int, help="only the file of this program")
    parser.add_argument("--keep", action="store_true", help="leave the files here")
    parser.add_argument("--brief", action="store_true", help="no tables")
    args = parser.parse_args()
    args.check = os.path.abspath(args.check)
    where = os.getcwd() if args.keep else tempfile.mkdtemp(prefix="arrive.", dir=".")
    last = args.n if args.only is None else args.only + 1
    first = 0 if args.only is None else args.only - args.only % BATCH
    jobs = [(args, i, min(i + BATCH, max(last, args.only is not None and i + BATCH)))
            for i in range(first, last, BATCH)]
    traits, wrong, errors, probed, exits = {}, [], [], 0, 0
    os.chdir(where)
    try:
        with multiprocessing.Pool(args.j) as pool:
            for t, w, e, p, x in pool.imap_unordered(batch, jobs):
                traits.update(t)
                wrong += w
                errors += e
                probed, exits = probed + p, exits + x
    finally:
        os.chdir("/" if args.keep else os.path.dirname(os.path.abspath(".")))
        if not args.keep:
            shutil.rmtree(where if os.path.isabs(where) else
                          os.path.join(os.getcwd(), os.path.basename(where)))
    failed = report(traits, wrong, args.brief)
    shown = collections.Counter()
    for n, what, _, line in sorted(w for w in wrong if "residue" not in traits[w[0]]):
        key = (traits[n].get("encoding"), what)
        shown[key] += 1
        if shown[key] <= 1:
            print(f"{line}\n\tagain: -s {args.seed} --only {n}; {traits[n]}")
    for line in errors[:20]:
        print("ERROR", line)
    print(f"\n{len(traits)} programs of seed {args.seed}: {failed} failed, {len(errors)} errors; "
          f"of all plans, {probed} functions probed, {exits} of them with exits")
    return 1 if failed or errors else 0


if __name__ == "__main__":
    sys.exit(main())
