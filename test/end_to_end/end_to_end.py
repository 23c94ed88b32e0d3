#!/usr/bin/python3
"""Runs `tulle run` over formats, notation and data, and compares every answer with NumPy or SciPy.

usage: end_to_end.py [--data FOLDER] [--filter TEXT] [--every N] [--jobs N] [--tulle PROGRAM] [--aot]

Without --data the inputs are small and made here from fixed seeds; --every 3 runs one program of three (no multiple of two: every eighth is made in another way). With --aot they are compiled by
`tulle compile`, and called through ctypes. With --data, SpMV runs on every matrix of the folder in every
format that fits in memory, and the tensor kernels on its .tns files.
"""
import argparse
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import numpy

import ahead
import cases
import data


def compare(got, want, tolerance):
    """None when equal, else what differs. `tolerance` is relative to the largest element."""
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if want.size == 0:
        return None
    if tolerance == 0:
        bad = got != want
    else:
        finite = abs(want[numpy.isfinite(want)])
        with numpy.errstate(invalid="ignore"):  # inf - inf
            bad = ~((abs(got - want) <= tolerance * (finite.max() if finite.size else 0)) | (got == want))
    if not bad.any():
        return None
    at = tuple(int(i[0]) for i in bad.nonzero())
    return f"element {at} is {got[at]}, expected {want[at]} ({int(bad.sum())} of {want.size} differ)"


def run(case, program):
    """None when the case is right, else a text that says what happened and how to repeat it."""
    command = [program, "run", *case.arguments()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    problem = f"exit code {done.returncode}\n{done.stderr.strip()[-1500:]}" if done.returncode else None
    if not problem:
        try:
            problem = compare(data.read_result(case.output, case.want.shape), case.want, case.tolerance)
            if not problem and case.stored is not None:
                found = data.stored_entries(case.output)
                problem = None if found == case.stored else f"{found} entries are stored, expected {case.stored}"
        except Exception as error:  # an unreadable result is a finding, not the end of the run
            problem = f"result cannot be read: {error!r}"
    return f"{case.name}\n  {shlex.join(command)}\n  {problem}" if problem else None


def run_ahead(case, program, folder):
    """The same of a program compiled ahead of time; "skipped" where its arguments are none of a kernel's."""
    try:
        problem = compare(ahead.answer(case, program, folder), case.want, case.tolerance)
    except ahead.Skipped:
        return "skipped"
    except Exception as error:
        problem = str(error) or repr(error)
    return f"{case.name}\n  tulle compile {shlex.join(case.arguments())}\n  {problem}" if problem else None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tulle", default="tulle")
    parser.add_argument("--aot", action="store_true")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="tulle-end-to-end-")
    os.environ["TULLE_CACHE_DIR"] = os.path.join(folder, "kernels")  # not the user's
    make = cases.Maker(pathlib.Path(folder))
    every = list(cases.from_folder(make, options.data) if options.data else cases.small(make))
    chosen = [case for case in every if options.filter in case.name][:: max(1, options.every)]
    failures, skipped = [], 0
    one = (lambda case: run_ahead(case, options.tulle, make.folder)) if options.aot else (lambda case: run(case, options.tulle))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for failure in pool.map(one, chosen):
            if failure == "skipped":
                skipped += 1
            elif failure:
                failures.append(failure)
                print(failure, flush=True)
    print(f"{len(chosen)} programs, {len(failures)} wrong" + (f", {skipped} skipped" if skipped else "") + (f" (inputs kept in {folder})" if failures else ""))
    if not failures:
        subprocess.run(["rm", "-rf", folder], check=True)
    return 1 if failures or not chosen else 0


sys.exit(main())
