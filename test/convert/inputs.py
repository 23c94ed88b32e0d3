"""The tensors that run.py converts: small hand-written ones, windows of real ones (inputs/), or the real ones of a folder."""
import dataclasses
import gzip
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Input:
    name: str
    dims: tuple
    coords: list
    values: list
    file: str = ""  # read by the tool itself


def numbered(name, dims, coords):
    """Distinct values, so that one in the wrong place shows."""
    return Input(name, dims, list(coords), [float(v + 1) for v in range(len(coords))])


def adversarial():
    rng = random.Random(7)
    some = lambda m, n, p: [(i, j) for i in range(m) for j in range(n) if rng.random() < p]
    yield numbered("empty", (4, 5), [])
    yield numbered("no rows", (0, 5), [])
    yield numbered("no columns", (3, 0), [])
    yield numbered("nothing at all", (0, 0), [])
    yield numbered("one by one", (1, 1), [(0, 0)])
    yield numbered("one entry", (5, 7), [(3, 2)])
    yield numbered("last corner", (7, 5), [(6, 4)])
    pattern = some(6, 9, 0.3)
    yield Input("ones", (6, 9), pattern, [1.0] * len(pattern))
    yield Input("ones, one of them twice", (6, 9), pattern + pattern[3:4], [1.0] * (len(pattern) + 1))
    yield numbered("one full row", (6, 9), [(2, j) for j in range(9)])
    yield numbered("one full column", (9, 6), [(i, 4) for i in range(9)])
    yield numbered("all diagonals", (5, 6), [(i, j) for i in range(5) for j in range(6)])
    yield numbered("wide", (1, 13), some(1, 13, 0.5))
    yield numbered("tall", (13, 1), some(13, 1, 0.5))
    yield numbered("blocks that do not fit", (7, 11), some(7, 11, 0.3))
    unsorted = some(8, 8, 0.4)
    rng.shuffle(unsorted)
    yield numbered("unsorted", (8, 8), unsorted)
    yield numbered("duplicates", (4, 6), sorted(rng.choices(some(4, 6, 0.6), k=25)))
    yield numbered("unsorted duplicates", (6, 4), rng.choices(some(6, 4, 0.6), k=25))
    # More than one vector of coordinates, and more than one run that is sorted at once.
    yield numbered("long unsorted rows", (3, 70), rng.choices(some(3, 70, 0.9), k=200))
    zeros = numbered("explicit zeros", (6, 6), some(6, 6, 0.4))
    zeros.values = [v if v % 3 else 0.0 for v in zeros.values]
    yield zeros
    cancelled = numbered("cancelled", (3, 3), [(1, 1), (2, 0), (1, 1)])
    cancelled.values = [2.0, 1.0, -2.0]
    yield cancelled
    # More rows and columns than are put together at once, and diagonals that begin and end in other strips.
    bands = {0: 1, -1: 1, 100: 1, -140: 1, 7: 0.3}
    yield numbered("bands", (170, 165), [(i, i + d) for i in range(170) for d, p in bands.items() if 0 <= i + d < 165 and rng.random() < p])
    yield numbered("two of four", (3, 8), [(i, g + c) for i in range(3) for g in (0, 4) for c in sorted(rng.sample(range(4), 2))])
    yield numbered("two of four at most", (4, 8), [(i, g + c) for i in range(4) for g in (0, 4) for c in sorted(rng.sample(range(4), rng.randint(0, 2)))])
    yield numbered("one of four", (5, 8), [(i, g + rng.randrange(4)) for i in range(5) for g in (0, 4)])


def adversarial_tensors():
    rng = random.Random(8)
    every = [(i, j, k) for i in range(4) for j in range(5) for k in range(3)]
    yield numbered("empty of order 3", (2, 3, 4), [])
    yield numbered("no fibers", (2, 0, 4), [])
    yield numbered("one entry of order 3", (3, 4, 5), [(2, 1, 3)])
    yield numbered("one full fiber", (3, 4, 5), [(1, 2, k) for k in range(5)])
    yield numbered("unsorted of order 3", (4, 5, 3), rng.sample(every, 20))
    yield numbered("duplicates of order 3", (4, 5, 3), rng.choices(every, k=30))
    yield Input("ones of order 3", (4, 5, 3), every[::2], [1.0] * len(every[::2]))
    full = numbered("explicit zeros of order 3", (4, 5, 3), [at for at in every if rng.random() < 0.6])
    full.values = [v if v % 3 else 0.0 for v in full.values]
    yield full


def windows(ending):
    """The files of inputs/: a line of sizes, then a line for each entry, 0-based."""
    for path in sorted((HERE / "inputs").glob("*" + ending)):
        lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
        rows = lines[1:]
        yield Input(path.stem, tuple(map(int, lines[0])), [tuple(map(int, row[:-1])) for row in rows],
                    [float(row[-1]) for row in rows])


def read_file(path):
    """A .mtx or .tns of a folder, as SciPy's reader and plain Python see it."""
    if ".mtx" in path.name:
        import scipy.io
        matrix = scipy.io.mmread(path).tocoo()
        values = matrix.data.real.astype(float)
        return Input(path.name, matrix.shape, list(zip(matrix.row.tolist(), matrix.col.tolist())), values.tolist(), str(path))
    with gzip.open(path, "rt") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    coords = [tuple(int(c) - 1 for c in row[:-1]) for row in rows]
    return Input(path.name, tuple(max(at[d] for at in coords) + 1 for d in range(len(coords[0]))), coords,
                 [float(row[-1]) for row in rows], str(path))


def matrices():
    return [*adversarial(), *windows(".matrix")]


def tensors():
    return [*adversarial_tensors(), *windows(".tensor")]


def folder(path, most):
    """Its tensors with at most `most` entries, which is what the slow model can follow."""
    files = sorted([*path.glob("*.mtx.gz"), *path.glob("*.tns.gz")])
    read = [read_file(file) for file in files]
    return [tensor for tensor in read if len(tensor.coords) <= most]
