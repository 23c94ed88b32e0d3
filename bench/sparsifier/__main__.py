"""Time tulle-opt --tulle-sparsifier against mlir-opt --sparsifier, on kernels of MLIR's tests.

    python3 bench/sparsifier [--tulle build/release/bin/tulle-opt] [--what kernels,conversions,reshapes] [NAME…]

Each kernel is a module that makes its inputs and times its calls itself (`--print` shows it). Both compile it,
upstream once for each vector length of --vl, and mlir-runner runs them in turn, --rounds times; the least time of the calls, in ms.
A row says: the best of upstream's, Tulle's, their ratio, and both compile times. Sums of the results must agree.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kernels
from module import module

LLVM = Path(os.environ.get("TULLE_LLVM", "/usr/lib/llvm-22"))
UPSTREAM = "--sparsifier=reassociate-fp-reductions=true enable-index-optimizations=true vl={}"
TULLE = "--tulle-sparsifier=reassociate-fp-reductions=true enable-index-optimizations=true cpu=native"


class Failed(Exception):
    pass


def run(command, seconds):
    """What it writes, and the seconds that it took."""
    begin = time.perf_counter()
    try:
        done = subprocess.run(command, text=True, errors="replace", capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failed(f"no end after {seconds} s") from None
    if done.returncode:
        raise Failed(next((line for line in (done.stderr + done.stdout).splitlines() if "error" in line),
                          f"exit code {done.returncode}")[:120])
    return done.stdout, time.perf_counter() - begin


def compiled(tool, option, text, output, repeat=2):
    """Compiles into a file; the least of the times, in ms."""
    times = [run([tool, option, str(text), "-o", str(output)], 60)[1] for _ in range(repeat)]
    return 1e3 * min(times)


def timed(lowered, seconds):
    """The result's sum, and the least time of a call in ms."""
    libraries = ",".join(str(LLVM / "lib" / f"lib{name}.so") for name in ["mlir_c_runner_utils", "mlir_runner_utils"])
    out, _ = run([str(LLVM / "bin" / "mlir-runner"), "-e", "main", "-entry-point-result=void", "-O3",
                  f"-shared-libs={libraries}", str(lowered)], seconds)
    numbers = [float(line) for line in out.split()]
    return numbers[0], 1e3 * min(numbers[1:])


def agree(a, b):
    return a == b or abs(a - b) <= 1e-4 * max(abs(a), abs(b))


def measure(kernel, arguments, folder):
    source = folder / "kernel.mlir"
    source.write_text(module(kernel, arguments.calls))
    row = {"kernel": kernel.name}
    contenders = [("tulle", arguments.tulle, TULLE)]
    contenders += [(f"vl={n}", str(LLVM / "bin" / "mlir-opt"), UPSTREAM.format(n)) for n in arguments.vl]
    sums = {}
    for turn in range(arguments.rounds):
        for name, tool, option in contenders:
            lowered = folder / f"{name}.mlir"
            try:
                if turn == 0:
                    row[f"{name} compile"] = compiled(tool, option, source, lowered)
                if f"{name} failed" not in row:
                    sums[name], least = timed(lowered, arguments.seconds)
                    row[name] = min(least, row.get(name, least))
            except Failed as failure:
                row[f"{name} failed"] = str(failure)
    best = [(row[name], name) for name, *_ in contenders[1:] if name in row]
    if best:
        row["upstream"], row["best"] = min(best)
        row["upstream compile"] = row[f"{row['best']} compile"]
        if "tulle" in row:
            row["ratio"] = row["upstream"] / row["tulle"]
            row["agree"] = agree(sums["tulle"], sums[row["best"]])
            row["sums"] = [sums["tulle"], sums[row["best"]]]
    return row


def told(row):
    if "ratio" not in row:
        why = [f"{key[:-7]}: {value}" for key, value in row.items() if key.endswith(" failed")]
        return f"{row['kernel']:36} " + "; ".join(dict.fromkeys(why))
    wrong = "" if row["agree"] else f"  sums differ: {row['sums'][0]} and {row['sums'][1]}"
    return (f"{row['kernel']:36} {row['upstream']:10.2f} {row['best']:>6} {row['tulle']:10.2f} {row['ratio']:7.2f}"
            f" {row['upstream compile']:8.0f} {row['tulle compile']:8.0f}{wrong}")


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names of kernels (default: all)")
    parser.add_argument("--tulle", default="build/release/bin/tulle-opt", help="the compiler to time")
    parser.add_argument("--what", default="kernels,conversions,reshapes", help="which groups: kernels, conversions, reshapes")
    parser.add_argument("--vl", default="1,8,16", type=lambda text: text.split(","), help="upstream's vector lengths")
    parser.add_argument("--calls", default=7, type=int, help="calls that are timed")
    parser.add_argument("--rounds", default=3, type=int, help="runs of each program")
    parser.add_argument("--seconds", default=60, type=int, help="the most that one program may run")
    parser.add_argument("--json", type=Path, help="a file for the rows")
    parser.add_argument("--print", action="store_true", help="print the modules only")
    arguments = parser.parse_args()
    groups = {"kernels": kernels.KERNELS, "conversions": kernels.CONVERSIONS, "reshapes": kernels.RESHAPES}
    chosen = [kernel for name in arguments.what.split(",") for kernel in groups[name]
              if not arguments.names or any(part in kernel.name for part in arguments.names)]
    if arguments.print:
        for kernel in chosen:
            print(f"// {kernel.name}\n{module(kernel, arguments.calls)}")
        return 0
    print(f"{'':36} {'upstream':>10} {'vl':>6} {'tulle':>10} {'ratio':>7} {'compile':>8} {'tulle':>8}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kernel in chosen:
            rows.append(measure(kernel, arguments, Path(folder)))
            print(told(rows[-1]), flush=True)
    compared = [row for row in rows if "ratio" in row]
    if compared:
        ratios = [row["ratio"] for row in compared]
        compile_times = [row["tulle compile"] / row["upstream compile"] for row in compared]
        print(f"\n{len(compared)} of {len(rows)} compared: geometric mean {geometric_mean(ratios):.2f}, least "
              f"{min(ratios):.2f}; compile time {geometric_mean(compile_times):.2f} of upstream's, at most "
              f"{max(compile_times):.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(row.get("agree", True) and "tulle failed" not in row for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
