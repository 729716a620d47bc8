#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live.py BUILD: made-up programs that run, by themselves and traced.

Each round makes a program of many small ones (shapes.py), or one in C (c_programs.py), in
one of the kinds that there are; runs it; then runs it again under inject with functions
selected in several ways, from the start and attached to, and compares what it says, how it
ends, and what was recorded:

    result    it said or ended otherwise than by itself
    count     a function was not called as often as the driver calls it
    record    a call is recorded as one that began before, or was unwound though it returned,
              or at another depth
    inject    inject itself failed

    live.py build -n 40 -s 1 -j 2
    live.py build -s 1 --only 17 --keep

Exit status 0 if nothing was wrong, else 1.
"""
import argparse
import collections
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import c_programs
import foreign
import shapes

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 3
LIMIT = 20 * int(os.environ.get("PATIENCE", "1"))
NOTHING = "nothing to probe"
OPEN = ("began_before", "exit_lost")
with open("/proc/cpuinfo", encoding="ascii", errors="replace") as cpuinfo:
    # A far jump by memory takes eight bytes of an address on Intel's processors only.
    NOT_HERE = () if "GenuineIntel" in cpuinfo.read() else ("far_jump",)


def run(command):
    """Output, error output and status; the status is None if it did not end."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as p:
        try:
            said, error = p.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)    # and what it has started
            p.communicate()
            return "", "no end", None
    return said.decode(errors="replace"), error.decode(errors="replace"), p.returncode


class Case:
    """One executable, and what is true of it."""

    def __init__(self, args, number):
        self.rng = random.Random(f"{args.seed}.{number}.live")
        self.inject = os.path.join(args.build, "inject")
        self.many = args.many
        self.number, self.wrong = number, []
        self.what = self.rng.choice(["asm"] * 4 + ["faults", "c", "c", "c", "foreign"])
        if args.what:
            self.what = args.what
        self.kind = self.rng.choice(["exec", "pie", "shared"])
        if self.what == "foreign":
            self.kind = "shared"
        self.made = None
        self.runs = self.empty = 0

    def build(self):
        rng, kind = self.rng, self.kind
        base = self.number * self.many
        flags = ["-D_GNU_SOURCE", "-w"]
        flags += ["-no-pie", "-fno-pie"] if kind == "exec" else ["-fPIC"]
        names = {}
        cc = ["gcc", "-O1"]
        if self.what == "c":
            cc = [rng.choice([c for c in ("gcc", "clang") if shutil.which(c)])]
            cc += [rng.choice(["-O0", "-O1", "-O2", "-O3", "-Os"])]
            cc += rng.choice([[], [], ["-fno-asynchronous-unwind-tables"],
                              ["-fcf-protection=full"], ["-fno-jump-tables"]])
            text, names = c_programs.make(rng, self.many // 3)
            made = "made.c"
        elif self.what == "foreign":
            text, other, names = foreign.make(rng, self.many)
            with open("other.s", "w", encoding="ascii") as f:
                f.write(other)
            made = "made.s"
        else:
            names, programs, n = {}, [], 0
            while len(programs) < self.many:
                p = shapes.make(f"{self.number}.{rng.random()}", base + n, kind,
                                rng.choice(["fixword", "fixplace", "fixbase"])
                                if self.what == "faults" else None)
                n += 1
                # A function that is jumped to, and comes back by a jump into its caller: to be
                # recorded as having left is what it looks like.
                if (p.traits.get("jump"), p.traits["owner"]) == ("by_helper", "F"):
                    continue
                if "residue" in p.traits or p.traits.get("jump") in NOT_HERE:
                    continue
                if self.what == "faults" or "caught" not in p.traits:
                    programs.append(p)
                    names.update({name: (most, p.traits) for name, most in p.calls})
            text, made = shapes.assembly(programs, True), "made.s"
        self.made = names
        with open(made, "w", encoding="ascii") as f:
            f.write(text)
        self.command = cc + flags
        driver = os.path.join(HERE, "driver.c")
        link = ["-Wl,-z,noexecstack", "-Wl,-rpath,$ORIGIN"]
        if kind == "shared":
            with open("main.c", "w", encoding="ascii") as f:
                f.write("int arrive_main(int, char **);\n"
                        "int main(int n, char **a) { return arrive_main(n, a); }\n")
            steps = [cc + flags + link + ["-shared", "-DNO_MAIN", "-o", "libmade.so", made,
                                          driver]]
            if self.what == "foreign":
                steps[0] += ["libother.so"]
                steps[:0] = [cc + flags + ["-shared", "-o", "libother.so", "other.s"]]
            steps += [["gcc", "-o", "prog", "main.c", "libmade.so"] + link +
                      (["libother.so"] if self.what == "foreign" else [])]
        else:
            steps = [cc + flags + link + (["-pie"] if kind == "pie" else []) +
                     ["-o", "prog", made, driver]]
        for step in steps:
            _, said, status = run(step)
            if status != 0:
                raise RuntimeError(f"{' '.join(step)}: {status} {said[:500]}")

    def select(self):
        """Ways to choose functions: options, whose names they match."""
        module = {"shared": "libmade.so", "exec": "exe", "pie": "exe"}[self.kind]
        if self.what == "foreign":
            module = "*"
        some = self.rng.sample(sorted(self.made), min(len(self.made), 12))
        return {
            "F": ["-f", f"F_*@{module}"],
            "G": ["-f", f"[GH]_*@{module}"] if any(x[0] == "G" for x in self.made) else
                 ["-f", f"F_*[02468]@{module}"],
            "all": ["-f", f"*@{module}"],
            "some": [x for name in some for x in ("-f", f"{name}@{module}")],
        }

    def fails(self, what, selection, detail):
        self.wrong.append((what, selection, " ".join(detail.split())[:300]))

    def check_record(self, selection):
        said, error, status = run([self.inject, "replay", "rec", "--json"])
        if status != 0:
            return self.fails("inject", selection, f"replay: {error}")
        depths, calls, odd = set(), collections.Counter(), collections.Counter()
        lost = False
        for line in said.splitlines():
            call = json.loads(line)
            name = call.get("func", "")
            if call.get("type") != "call" or name not in self.made:
                continue
            calls[name] += not call.get("began_before")
            # A G that jumps into F is left by a return of F's: unwound is what it was.
            leaves = name[0] == "G" and self.made[name][1].get("owner", "G") == "G"
            # That F is left by a G that has not entered it; and a G that says nothing, or
            # something wrong, of its frame leaves for F with that frame.
            if self.made[name][1].get("owner") == "G" and any(call.get(x) for x in OPEN):
                lost = True
                continue
            # A call of an own place by a word, as none but assembly has, looks like any call; and
            # code of no name, to which F jumps and which jumps back, is not seen. An end of such a
            # one whose begin is not there seems to be around all that came before.
            if (self.made[name][1].get("jump", "")[:4] == "call" and name[0] == "F") or \
                    self.made[name][1].get("wash") == "beside":
                lost |= any(call.get(x) for x in OPEN)
                continue
            if any(call.get(x) for x in OPEN) or (call["end"] == "unwound" and not leaves):
                odd[name] += 1
            depths.add(call["depth"])
        for name, n in calls.items():
            most, traits = self.made[name]
            # One of the places that G goes to there is where F begins.
            both = name[0] == "F" and traits["encoding"] == "vectors"
            if n not in (most * ROUNDS, (most + both) * ROUNDS):
                self.fails("count", selection, f"{name}: {n} calls, not {most * ROUNDS}; {traits}")
        for name in odd:
            self.fails("record", selection, f"{name}: {self.made[name][1]}")
        if len(depths) > 1 and not odd and not lost:
            self.fails("record", selection, f"depths {sorted(depths)}")
        return None

    def from_start(self, selection, options):
        shutil.rmtree("rec", ignore_errors=True)
        said, error, status = run([self.inject, "record", "-o", "rec", *options, "--", "./prog",
                                   str(ROUNDS)])
        self.runs += 1
        if NOTHING in error:    # each was refused, which is no difference
            self.empty += 1
            return None
        if (said, status) != self.plain:
            return self.fails("result", f"start {selection}", f"{said!r} {status}; {error[-200:]}")
        return self.check_record(f"start {selection}")

    def attached(self, selection, options):
        with subprocess.Popen(["./prog"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as p:
            try:
                p.stdout.readline()
                _, error, status = run([self.inject, "-p", str(p.pid), *options, "-d", "0.2",
                                        "-o", "/dev/null"])
                said, _ = p.communicate(b"end\n", timeout=LIMIT)
            except subprocess.TimeoutExpired:
                p.kill()
                return self.fails("result", f"attach {selection}", "no end")
            if (said.decode(), p.returncode) != self.plain:
                self.fails("result", f"attach {selection}",
                           f"{said!r} {p.returncode}; {error[-200:]}")
            elif status != 0 and NOTHING not in error:
                self.fails("inject", f"attach {selection}", error)
        return None

    def blame(self):
        """Which of the small programs is it that fails? Each alone."""
        selections = sorted({w[1] for w in self.wrong if w[0] == "result"})
        numbers = sorted({re.sub(r".*?_", "", x) for x in self.made}, key=int)
        module = "*" if self.what == "foreign" else "libmade.so" if self.kind == "shared" else "exe"
        before, self.wrong = self.wrong, []
        for n in numbers if selections else ():
            letters = "[FGH]" if any(" all" in s or " some" in s for s in selections) else \
                "F" if any(s.endswith("F") for s in selections) else "[GH]"
            options = ["-f", f"{letters}_{n}@{module}"]
            (self.attached if all(s.startswith("attach") for s in selections) else
             self.from_start)(f"{letters}_{n}", options)
        traits = {x.split("_")[1]: t for x, (_, t) in self.made.items()}
        named = [f"{w[0]} {w[1]}: {traits.get(w[1].rsplit('_', 1)[-1])}" for w in self.wrong
                 if w[0] == "result"]
        self.wrong = before
        return named

    def check(self):
        self.build()
        said, error, status = run(["./prog", str(ROUNDS)])
        self.plain = (said, status)
        if status != 0 or run(["./prog", str(ROUNDS)])[0] != said:
            raise RuntimeError(f"by itself: {status} {said} {error}")
        for selection, options in self.select().items():
            if self.what != "faults":   # a handler that comes later sees a stub
                self.from_start(selection, options)
            if selection in ("F", "all") or self.rng.random() < .4:
                self.attached(selection, options)
        return self.blame() if any(w[0] == "result" for w in self.wrong) else []


def one(job):
    """A case in a directory of its own."""
    args, number = job
    where = os.path.abspath(f"case.{number}")
    os.makedirs(where, exist_ok=True)
    os.chdir(where)
    case = Case(args, number)
    blamed, error = [], None
    try:
        blamed = case.check()
    except (RuntimeError, OSError, ValueError) as e:
        error = f"case {number}: {e}"
    os.chdir("..")
    if not args.keep:
        shutil.rmtree(where, ignore_errors=True)
    about = f"{case.what} {case.kind} {' '.join(getattr(case, 'command', [])[:3])}"
    return number, about, case.wrong, blamed, error, (case.runs, case.empty)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build")
    parser.add_argument("-n", type=int, default=20, help="executables")
    parser.add_argument("--many", type=int, default=24,
                        help="small programs to an executable; of C a third of that")
    parser.add_argument("-s", "--seed", default="1")
    parser.add_argument("-j", type=int, default=1, help="processes")
    parser.add_argument("--what", choices=("asm", "faults", "c", "foreign"))
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", action="store_true", help="leave the files here")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    numbers = range(args.n) if args.only is None else [args.only]
    here = os.getcwd()
    where = here if args.keep else tempfile.mkdtemp(prefix="arrive.", dir=here)
    os.chdir(where)
    failed, errors, runs, empty, by = 0, 0, 0, 0, collections.Counter()
    with multiprocessing.Pool(args.j, maxtasksperchild=20) as pool:
        for number, about, wrong, blamed, error, ran in pool.imap(
                one, [(args, n) for n in numbers]):
            failed += bool(wrong)
            runs, empty = runs + ran[0], empty + ran[1]
            by.update((about.split()[0], w[0], w[1]) for w in wrong)
            for w in wrong[:6]:
                print(f"WRONG case {number} ({about}): {w[0]}, {w[1]}: {w[2]}")
            for b in blamed[:6]:
                print(f"\talone: {b}")
            if error:
                errors += 1
                print("ERROR", error)
            sys.stdout.flush()
    os.chdir(here)
    if not args.keep:
        shutil.rmtree(where, ignore_errors=True)
    for (what, how, selection), n in sorted(by.items()):
        print(f"{what:8} {how:7} {selection:12} {n}")
    print(f"{len(numbers)} programs of seed {args.seed}: {failed} were not as by themselves, "
          f"{errors} errors; in {empty} of {runs} runs from the start nothing could be probed")
    # Where nothing was probed nothing is shown.
    return 1 if failed or errors or (runs and 2 * empty > runs) else 0


if __name__ == "__main__":
    sys.exit(main())
