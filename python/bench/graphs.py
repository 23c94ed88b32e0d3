"""Times the programs of examples/python/graphs.py against python-graphblas: python python/bench/graphs.py [GRAPH...]

A graph is a file, or what `tulle.generate` takes; its edges are made symmetric, without loops. Both packages have it in their own
storage before; answers are compared. What is printed are medians in milliseconds, and GraphBLAS' over Tulle's.
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("graphs", nargs="*", default=["rmat:14:8", "grid2d:300"])
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--seconds", type=float, default=0.5, help="time for each algorithm and package (default: 0.5)")
parser.add_argument("--only", default="", help="only algorithms whose names hold this text")
options = parser.parse_args()
for name in ("OMP", "OPENBLAS", "GRAPHBLAS"):
    os.environ[f"{name}_NUM_THREADS"] = str(options.threads)
os.environ["OMP_WAIT_POLICY"] = "passive"

import graphblas as gb  # noqa: E402  (the variables above are read when packages are imported)
import numpy as np  # noqa: E402
import tulle as tl  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/python"))
import graphs  # noqa: E402
from graphblas import Matrix, Vector, binary, monoid, semiring, unary  # noqa: E402

gb.ss.config["nthreads"] = options.threads


def symmetric(spec: str):
    """A graph's adjacency as SciPy's matrix, of lengths from 1 to 9."""
    A = tl.load(spec, format="CSR") if os.path.exists(spec) else tl.generate(spec, format="CSR")
    S = graphs.edges(tl.einsum("S(i,j) = A(i,j) + A(j,i) where (i != j)", A=graphs.edges(A), format="CSR")).to_scipy()
    rows = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    S.data = 1.0 + (rows + S.indices) % 9  # the same both ways
    return S


def distances(A: Matrix, source: int) -> np.ndarray:
    levels, frontier, level = Vector(int, A.nrows), Vector(bool, A.nrows), 0
    frontier[source] = True
    while frontier.nvals:
        levels(frontier.S) << level
        frontier(~levels.S, replace=True) << semiring.any_pair(frontier @ A)
        level += 1
    return levels.to_dense(-1)


def shortest_paths(A: Matrix, source: int) -> np.ndarray:
    lengths = Vector.from_dense(np.full(A.nrows, np.inf))
    lengths[source] = 0
    frontier = Vector(float, A.nrows)
    frontier[source] = 0
    while frontier.nvals:
        further = semiring.min_plus(frontier @ A).new()
        nearer = binary.lt(further & lengths).new()
        frontier(nearer.V, replace=True) << further
        lengths(binary.min) << frontier
    return lengths.to_dense()


def pagerank(A: Matrix, jump: float = 0.15, accuracy: float = 1e-10) -> np.ndarray:
    n = A.nrows
    degrees = A.reduce_rowwise(monoid.plus).new()
    alone = Vector(float, n)
    alone(~degrees.S) << 0.0
    ranks = Vector.from_scalar(1 / n, n, float)
    while True:
        shares = binary.truediv(ranks & degrees).new()
        lost = float(binary.first(ranks & alone).reduce(monoid.plus).get(0))
        following = Vector.from_scalar((1 - jump) * lost / n + jump / n, n, float)
        following(binary.plus) << (1 - jump) * semiring.plus_second(A @ shares).new()
        change = float(unary.abs(binary.minus(following & ranks)).reduce(monoid.plus).get(0))
        ranks = following
        if change < accuracy:
            return ranks.to_dense()


def components(A: Matrix) -> np.ndarray:
    labels = Vector.from_dense(np.arange(A.nrows))
    while True:
        before = labels.dup()
        labels(binary.min) << semiring.min_second(A @ labels)
        labels(binary.min) << labels[labels.to_dense()].new()  # what the label's own vertex has
        if labels.isequal(before):
            return labels.to_dense()


def triangles(A: Matrix) -> int:
    lower = A.select("tril", -1).new()
    counts = Matrix(int, A.nrows, A.nrows)
    counts(lower.S) << semiring.plus_pair(lower @ lower.T)
    return int(counts.reduce_scalar(monoid.plus).get(0))


def truss(A: Matrix, k: int) -> Matrix:
    while True:
        counts = Matrix(int, A.nrows, A.nrows)
        counts(A.S) << semiring.plus_pair(A @ A.T)
        kept = counts.select(">=", max(1, k - 2)).new()
        if kept.nvals == A.nvals:
            return kept
        A = kept


def medians(calls) -> list[float]:
    """Seconds of each call, in rounds in which each runs in turn."""
    times = [[] for _ in calls]
    end = time.perf_counter() + options.seconds * len(calls)
    while time.perf_counter() < end or len(times[0]) < 3:
        for call, of in zip(calls, times):
            begin = time.perf_counter()
            call()
            of.append(time.perf_counter() - begin)
    return [statistics.median(of) for of in times]


def numbers(answer) -> np.ndarray:
    """What can be compared: of a matrix, where its entries are."""
    if not isinstance(answer, (tl.Tensor, Matrix)):
        return np.asarray(answer)
    S = (answer.to_scipy() if isinstance(answer, tl.Tensor) else gb.io.to_scipy_sparse(answer, "csr")).copy()
    S.eliminate_zeros()
    return np.concatenate([S.indptr, S.indices])


def main() -> int:
    ratios = []
    for spec in options.graphs:
        S = symmetric(spec)
        source = int(np.diff(S.indptr).argmax())
        lengths = tl.asarray(S)
        ones = graphs.edges(lengths)
        gb_lengths = gb.io.from_scipy_sparse(S)
        gb_ones = gb.io.from_scipy_sparse(ones.to_scipy())
        both = {
            "breadth-first search": (lambda: graphs.distances(ones, source), lambda: distances(gb_ones, source)),
            "shortest paths": (lambda: graphs.shortest_paths(lengths, source), lambda: shortest_paths(gb_lengths, source)),
            "PageRank": (lambda: graphs.pagerank(ones), lambda: pagerank(gb_ones)),
            "components": (lambda: graphs.components(ones), lambda: components(gb_ones)),
            "triangles": (lambda: graphs.triangles(ones), lambda: triangles(gb_ones)),
            "4-truss": (lambda: graphs.truss(ones, 4), lambda: truss(gb_ones, 4)),
        }
        print(f"{pathlib.Path(spec).name}: {S.shape[0]} vertices, {S.nnz} edges, {options.threads} threads")
        for name, calls in both.items():
            if options.only not in name:
                continue
            ours, theirs = (numbers(call()) for call in calls)
            if ours.shape != theirs.shape or not np.allclose(ours, theirs, atol=1e-9):
                print(f"{name}: the answers differ", file=sys.stderr)
                return 1
            mine, others = medians(calls)
            ratios.append(others / mine)
            print(f"  {name:22} {others / mine:6.2f}   tulle {mine * 1e3:9.3f}   graphblas {others * 1e3:9.3f}", flush=True)
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
