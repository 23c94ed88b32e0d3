"""Times Tulle from Python against the packages that are installed: python python/bench

Every work is run by all packages in turn, round after round, on the same arrays, and checked against the first of them; what is
printed are medians in microseconds, and how much longer the fastest other package takes than Tulle: the median over the rounds, in
each of which both have run within a second, as the memory of a shared machine changes its speed from second to second.
"""

import argparse
import json
import os
import statistics
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--threads", type=int, default=1, help="threads of every package (default: 1)")
parser.add_argument("--seconds", type=float, default=0.3, help="time for each package and work (default: 0.3)")
parser.add_argument("--works", default="", help="only those whose names hold this text")
parser.add_argument("--json", default="", help="also write the medians to this file")
options = parser.parse_args()
for name in ("OMP", "MKL", "NUMBA", "OPENBLAS", "GRAPHBLAS"):
    os.environ[f"{name}_NUM_THREADS"] = str(options.threads)
# Threads of one package must not spin while another's are timed, and MKL's own OpenMP ends a process that has another.
os.environ["OMP_WAIT_POLICY"], os.environ["MKL_THREADING_LAYER"] = "passive", "GNU"
os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if options.threads > 1 else 'false'}"
os.environ["JAX_ENABLE_X64"] = "1"

import numpy as np  # noqa: E402  (the variables above are read when packages are imported)

import peers  # noqa: E402
import works  # noqa: E402


#: Seconds for which the threads of a package may spin behind its call: XLA's do, whatever OMP_WAIT_POLICY says.
PAUSE = 0.02


def same(got, want) -> bool:
    return got.shape == want.shape and np.allclose(got, want, rtol=1e-9, atol=1e-9 * max(1, np.abs(want).max(initial=0)))


def measured(calls: dict) -> tuple[dict, dict]:
    """Medians by package: the seconds of a call, and how many times Tulle's of the same round. In a round each package runs in
    turn, so that all see the same machine. The call before the one that is timed brings the arrays into the caches: some are
    several packages' own."""
    times, start = {name: [] for name in calls}, time.perf_counter()
    while time.perf_counter() - start < options.seconds * len(calls) or len(times["tulle"]) < 5:
        for name, call in calls.items():
            time.sleep(PAUSE)
            call()
            begin = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begin)
    over = {name: [other / own for other, own in zip(of, times["tulle"])] for name, of in times.items() if name != "tulle"}
    return tuple({name: statistics.median(of) for name, of in by.items()} for by in (times, over))


def main() -> int:
    results, over = {}, {}
    print(f"{options.threads} thread{'s' * (options.threads > 1)}; microseconds, medians; the fastest other package over Tulle")
    for work in works.all_works(options.threads):
        if options.works not in work.name:
            continue
        calls = {"tulle": work.tulle}
        for name, peer in work.peers.items():
            if peers.available(name):
                calls[name] = peer()  # compiles and converts
        want = work.numbers(calls["tulle"]())
        for name in [name for name in calls if name != "tulle"]:
            if not same(work.numbers(calls[name]()), want):
                print(f"{work.name}: {name} has another answer", file=sys.stderr)
                return 1
        results[work.name], over[work.name] = measured(calls)
        print(f"{work.name:28} {min(over[work.name].values(), default=float('nan')):6.2f}  "
              + "  ".join(f"{name} {of * 1e6:.1f}" for name, of in results[work.name].items()), flush=True)
    if not results:
        print(f"no work's name holds '{options.works}'", file=sys.stderr)
        return 1
    ratios = [min(of.values()) for of in over.values() if of]
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"threads": options.threads, "seconds": results, "over": over}, file, indent=1)
    return 0


sys.exit(main())
