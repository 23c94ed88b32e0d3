#!/usr/bin/python3
"""Stands for the `tulle` of a build: `bench` measures nothing, and reports times that follow from this file's name and from how often it
was asked (kept in a file next to it). usage: old|new bench WHAT --threads N --json FILE [--kernels PART]...
"""
import json
import pathlib
import sys

# Kernel: milliseconds in the first pass, and in every later one.
TIMES = {"old": {"same": (2, 2), "faster": (3, 3), "slower": (1, 1), "noisy": (1, 1), "former name": (4, 4), "dropped": (1, 1), "any best format": (1, 1)},
         "new": {"same": (2, 2), "faster": (1, 1), "slower": (2, 2), "noisy": (4, 1), "present name": (4, 4), "any best format": (9, 9)}}

me, arguments = pathlib.Path(sys.argv[0]), sys.argv[1:]
after = lambda flag: [arguments[at + 1] for at, argument in enumerate(arguments) if argument == flag]
counter, threads, parts = me.with_suffix(".passes"), int(after("--threads")[0]), after("--kernels")
passed = int(counter.read_text()) if counter.exists() else 0
counter.write_text(str(passed + 1))
rows = []
for kernel, (first, later) in TIMES[me.name].items():
    if parts and not any(part in kernel for part in parts):
        continue
    print(f"{len(rows):5} s  {kernel} tiny ×{threads}", file=sys.stderr, flush=True)
    rows.append({"kernel": kernel, "input": "tiny", "threads": threads, "times": {"tulle": {"low": first if passed == 0 else later}}})
pathlib.Path(after("--json")[0]).write_text(json.dumps({"rows": rows}))
