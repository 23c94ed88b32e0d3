#!/usr/bin/python3
"""Converts tensors between all pairs of formats and compares every buffer with the model of storage in model.py.

usage: run.py --tool PROGRAM [--data FOLDER] [--most ENTRIES] [--random N] [--seed S]
              [--filter TEXT] [--from FORMAT] [--to FORMAT] [--jobs N] [--verbose]

Without --data the tensors are those of inputs.py, and after them --random tensors between random encodings. With it, they are
the files of the folder with up to --most entries, each in the formats that store it in at most four times its entries.
"""
import argparse
import functools
import itertools
import json
import math
import multiprocessing
import os
import pathlib
import random
import re
import subprocess
import sys
import threading
import time
import zlib

import numpy

import encoding
import inputs
import model
import random_formats
import walk

MATRIX_FORMATS = ["dense", "denseColMajor", "COO", "COO-soa", "CSR", "CSC", "DCSR", "DCSC", "BCSR(2,3)", "BCSC(3,2)", "DIA", "ELL",
                  "ELLR", "JDS", "SELL(2,4)", "skyline", "NV24", "NM(1,4)", "BCOO", "CSF(1,0)", "HiCOO(1)", "DOK", "bitmap", "ragged", "jagged",
                  "(i,j) -> (i : batch, j : compressed)", "(i,j) -> (j : compressed(nonordered), i : compressed(nonordered))",
                  "map = (i,j) -> (i : dense, j : fixed[3]), crdWidth = 16", "(i,j) -> (i : dense, j : loose_compressed[2])",
                  "(i,j) -> (i mod 2 : compressed, j : compressed, i floordiv 2 : dense)",
                  "(i,j) -> (i * 1000 + j : compressed)", "(i,j) -> (i + (j shl 10) : hashed)", "(i,j) -> ((i shl 8) | j : squeezed)",
                  "(i,j) -> (#i : dense, i : dense, j : compressed)", "(i,j) -> (j : dense, #j : dense, i : compressed)",
                  "map = (i,j) -> (i mod 2 : dense, j : compressed, i floordiv 2 : compressed), posWidth = 64, crdWidth = 8",
                  "map = (i,j) -> (i : dense, j : compressed), explicitVal = 1", "map = (i,j) -> (#j : dense, j : dense, i : singleton(padded)), explicitVal = 1"]
TENSOR_FORMATS = {3: ["dense", "denseColMajor", "COO", "COO-soa", "CSF", "CSF(2,0,1)", "CSF(1,2,0)", "BCOO", "HiCOO(1)", "DOK", "bitmap", "ragged", "jagged",
                      "(i,j,k) -> (i floordiv 2 : dense, j : compressed, k : compressed, i mod 2 : dense)",
                      "(i,j,k) -> (i : batch, k : dense, j : compressed)", "(i,j,k) -> (k : dense, i * 1000 + j : compressed)",
                      "map = (i,j,k) -> (k : compressed, j : compressed, i : compressed), explicitVal = 1",
                      "(i,j,k) -> (rank(i by count(j)) : dense, j : dense, k : compressed)",
                      "(i,j,k) -> (i : dense, rank(j by count(k) within 2) : dense, k : compressed)"],
                  4: ["COO", "COO-soa", "CSF", "CSF(3,1,0,2)", "HiCOO(4)", "DOK"],
                  5: ["COO", "COO-soa", "CSF", "CSF(4,3,0,2,1)", "HiCOO(6)", "DOK"]}
CANNOT = "formats that can"  # how the compiler's refusal of an encoding ends
LONGEST = 300  # seconds that a conversion may take


def formats(order):
    return MATRIX_FORMATS if order == 2 else TENSOR_FORMATS[order]


class Tool:
    """The process that converts; started again where it ends."""

    def __init__(self, program):
        self.program, self.process, self.loaded = program, None, {}

    def ask(self, *words, lines=()):
        if self.process is None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        watch = threading.Timer(LONGEST, self.process.kill)
        watch.start()
        try:
            self.process.stdin.write("\t".join(words) + "\n" + "".join(line + "\n" for line in lines))
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            status = self.process.wait()
            self.process, self.loaded = None, {}
            return {"error": f"the program ended with {status} (-9: after {LONGEST} s)", "crash": True}
        finally:
            watch.cancel()

    def load(self, tensor):
        if self.loaded.get(tensor.name):
            return
        if tensor.file:
            got = self.ask("file", tensor.name, tensor.file)
        else:
            lines = [" ".join(map(str, [*at, repr(v)])) for at, v in zip(tensor.coords, tensor.values)]
            got = self.ask("entries", tensor.name, " ".join(map(str, tensor.dims)), str(len(lines)), lines=lines)
        assert tuple(got["dims"]) == tuple(tensor.dims), (tensor.name, got)
        self.loaded[tensor.name] = True

    def convert(self, tensor, source, target):
        self.load(tensor)
        return self.ask("convert", tensor.name, source, target, "crc" if tensor.file else "all")


def packed(bits):
    data = [sum(bit << k for k, bit in enumerate(bits[at:at + 8])) for at in range(0, len(bits), 8)]
    return data + [0] * (-len(data) % 8)


def width(field, storage):
    if field.kind in ("sizes", "permutation"):
        return 64
    form = storage.encoding
    enough = 32 if walk.largest_coordinate(storage) < 2**31 else 64
    return {"positions": form.pos_width or 32, "coordinates": form.crd_width or enough, "bits": 8, "values": 0}[field.kind]


def expected_fields(storage, crc):
    out = []
    for field in storage.fields:
        data = packed(field.data) if field.kind == "bits" else field.data
        if crc:
            data = [len(data), zlib.crc32(numpy.array(data, "<f8" if field.kind == "values" else "<i8").tobytes())]
        out.append([field.kind, field.level, width(field, storage), data])
    return out


class Oracle:
    """What the model says, kept: a tensor's storage depends only on what is stored."""

    def __init__(self):
        self.known, self.encodings, self.stored_in, self.patterns = {}, {}, {}, {}

    def pattern(self, stored):
        """Where the entries are; one object for all that are equal, so that comparing them again costs nothing."""
        where = frozenset(stored)
        return self.patterns.setdefault(where, where)

    def encoding(self, text, order):
        if (text, order) not in self.encodings:
            self.encodings[text, order] = encoding.parse(text, order)
        return self.encodings[text, order]

    def store(self, tensor, stored, pattern, text):
        """(fields, storage); the reason instead of fields where the model refuses it, none where it is too much for the model."""
        key = (tensor.name, text, pattern)
        if key not in self.known:
            # Padding would take more in some formats than a slow model can follow for a large tensor.
            most = max(4 * len(tensor.coords), 1000) if tensor.file else math.inf
            try:
                storage = model.store(tensor.dims, stored, self.encoding(text, len(tensor.dims)), most)
                self.check_model(storage, stored)
                self.known[key] = expected_fields(storage, bool(tensor.file)), storage
            except model.Refused as refusal:
                self.known[key] = str(refusal), None
            except model.TooLarge:
                self.known[key] = None, None
        return self.known[key]

    @staticmethod
    def check_model(storage, stored):
        without = lambda entries: {at: value for at, value in entries.items() if value != storage.encoding.fill}
        assert without(dict(walk.entries(storage))) == without(stored), f"the model itself loses entries in {storage.encoding.text}"

    def stored(self, tensor, source):
        """(entries, their pattern) as the source stores them; a str or None in place of entries as in store()."""
        if (tensor.name, source) not in self.stored_in:
            entries = model.combine(tensor.coords, tensor.values)
            pattern = self.pattern(entries)
            if source != "-":
                fields, storage = self.store(tensor, entries, pattern, source)
                entries = dict(walk.entries(storage)) if storage else fields
                pattern = self.pattern(entries) if storage else None
            self.stored_in[tensor.name, source] = entries, pattern
        return self.stored_in[tensor.name, source]

    def pads(self, tensor, source):
        return self.stored(tensor, source)[1] is not self.stored(tensor, "-")[1]

    def expected(self, tensor, source, target):
        """The fields of the target; a str where one of the two formats cannot hold the tensor, None where the model cannot follow."""
        entries, pattern = self.stored(tensor, source)
        if pattern is None:
            return entries
        order = len(tensor.dims)
        if source not in ("-", target):
            kept = model.converted(entries, self.encoding(source, order), self.encoding(target, order))
            entries, pattern = kept, pattern if kept is entries else self.pattern(kept)
        return self.store(tensor, entries, pattern, target)[0]


def difference(got, want):
    """None when equal."""
    if isinstance(want, str):
        return None if "error" in got and not got.get("crash") else f"expected a refusal ({want}), got {got}"
    if "error" in got:
        return got["error"]
    have = got["fields"]
    if [field[:2] for field in have] != [field[:2] for field in want]:
        return f"fields {[field[:2] for field in have]}, expected {[field[:2] for field in want]}"
    lines = [f"{mine[0]}[{mine[1]}] ({mine[2]} bits): {mine[3]}\n    expected ({theirs[2]} bits): {theirs[3]}"
             for mine, theirs in zip(have, want) if mine != theirs]
    if got.get("invalid"):
        lines.append(f"not valid: {got['invalid']}")
    return "\n    ".join(lines) or None


@functools.cache
def tool_of(program):
    """One for each process of the pool: it remembers the code of the pairs it has seen."""
    return Tool(program)


class Tally:
    """Conversions checked: their number, failures, and the pairs that are refused."""

    def __init__(self, program):
        self.tool, self.oracle = tool_of(program), Oracle()
        self.count, self.failures, self.missing = 0, [], set()

    def check(self, tensor, source, target, label):
        want = self.oracle.expected(tensor, source, target)
        if want is None:
            return
        got = self.tool.convert(tensor, source, target)
        self.count += 1
        if CANNOT in got.get("error", ""):
            self.missing.add((source, target))
            return
        problem = difference(got, want)
        if problem:
            self.failures.append(f"{label}: {source} to {target}\n    {problem}")


def run_pairs(task):
    """Tensors from some formats into others; returns (order, number of conversions, failures, pairs refused)."""
    program, sources, order, tensors, targets = task
    tally = Tally(program)
    for tensor, source in itertools.product(tensors, sources):
        # What a format pads with is stored in every target: the slow model follows a large tensor into some of them only.
        some = tensor.file and tally.oracle.pads(tensor, source)
        for target in random.Random(tensor.name + source).sample(targets, min(4, len(targets))) if some else targets:
            tally.check(tensor, source, target, tensor.name)
    return order, tally.count, tally.failures, tally.missing


def run_random(task):
    """Random tensors between random encodings, each from one to another and back."""
    program, seeds = task
    tally = Tally(program)
    for seed in seeds:
        rng = random.Random(seed)
        order = rng.choice([1, 2, 2, 2, 3])
        tensor = inputs.Input(f"random {seed}", *random_formats.tensor(rng, order))
        one, other = random_formats.encoding(rng, order), random_formats.encoding(rng, order)
        for source, target in [("-", one), (one, other), (other, one)]:
            tally.check(tensor, source, target, f"{tensor.name} {tensor}")
        tally.oracle = Oracle()
    return 0, tally.count, tally.failures, tally.missing


def run_refusals(program):
    """What cannot fit in any memory is refused with its size, before any of it is touched."""
    n = 50_000_000
    rng = random.Random(3)
    scattered = [(rng.randrange(n), rng.randrange(n)) for _ in range(30000)]
    far = inputs.numbered("far apart", (n, n), scattered)
    row = inputs.numbered("one long row", (n, n), [(7, 3 * k) for k in range(30000)])
    diagonals = len({j - i for i, j in scattered})
    at_least = [(far, "DIA", diagonals * n * 8), (far, "dense", n * n * 8),
                # Their first buffer alone is too much.
                (row, "ELL", 30000 * n * 4), (row, "ELLR", 30000 * n * 4), (far, "bitmap", n * n // 8)]
    tool, failures, missing = tool_of(program), [], set()
    for tensor, target, size in at_least:
        for source in ["-", "COO", "DCSC"]:
            got = tool.convert(tensor, source, target)
            error = got.get("error", "no error")
            if CANNOT in error:
                missing.add((source, target))
                continue
            told = re.search(r"(\d+) bytes", error)
            enough = int(told[1]) >= size if told else "more than" in error
            if "out of memory" not in error or not enough:
                failures.append(f"{tensor.name}: {source} to {target}\n    expected a refusal of {size} bytes or more, got: {error}")
    return 2, 3 * len(at_least), failures, missing


def call(job):
    function, task = job
    return function(task)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=65000)
    parser.add_argument("--random", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--filter", default="")
    parser.add_argument("--from", dest="source")
    parser.add_argument("--to")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    started = time.time()
    every = inputs.folder(options.data, options.most) if options.data else [*inputs.matrices(), *inputs.tensors()]
    every = [tensor for tensor in every if options.filter in tensor.name]
    tasks = []
    for order in sorted({len(tensor.dims) for tensor in every}):
        mine = [tensor for tensor in every if len(tensor.dims) == order]
        targets = [target for target in formats(order) if options.to in (None, target)]
        sources = [source for source in ["-", *formats(order)] if options.source in (None, source)]
        # Code is generated once for a pair, the model's storage computed once for a tensor: whichever is slow goes first.
        if options.data:
            tasks += [(run_pairs, (options.tool, sources, order, [tensor], targets)) for tensor in mine]
        else:
            tasks += [(run_pairs, (options.tool, [source], order, mine, targets)) for source in sources]
    chosen = options.data or options.filter or options.source or options.to
    drawn = options.random if options.random is not None else 0 if chosen else 100
    if drawn:
        tasks.append((run_refusals, options.tool))
    for begin in range(options.seed, options.seed + drawn, 10):
        tasks.append((run_random, (options.tool, range(begin, min(begin + 10, options.seed + drawn)))))
    total, wrong, missing = 0, 0, set()
    with multiprocessing.Pool(options.jobs) as pool:
        for done, (order, count, failures, absent) in enumerate(pool.imap_unordered(call, tasks, chunksize=1), 1):
            total, wrong, missing = total + count, wrong + len(failures), missing | {(order, *pair) for pair in absent}
            if options.data:
                print(f"{done} of {len(tasks)} tensors, {total} conversions, {wrong} wrong ({time.time() - started:.0f} s)", file=sys.stderr)
            for failure in failures:
                print(failure, flush=True)
    if options.verbose:
        print("refused:", *sorted(map(str, missing)), sep="\n  ")
    print(f"{total} conversions of {len(every) + drawn} tensors, {wrong} wrong" + (f", {len(missing)} pairs refused" if missing else "") +
          f" ({time.time() - started:.0f} s)")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
