"""SciPy as a peer: reads operations from stdin, one a line, runs each once, and answers with milliseconds, the sum of the
result's values and how many there are.

usage: scipy_peer.py A B CLOCK PEERS   (each the stem of -shape.npy, -indptr.npy, -indices.npy and -data.npy: a csr matrix, in a
                                  folder that is removed when they are read;
                                  CLOCK is "cpu" or "wall", PEERS where scripts/setup-bench installs packages)
an operation is: NAME FORMAT TARGET COLUMNS TYPE, separated by tabs; those of NumPy alone and of concatenations heed TYPE
"""
import functools
import glob
import os
import shutil
import sys
import time

import numpy
import scipy.sparse
import scipy.sparse.linalg
from scipy.sparse import csgraph


def load(stem):
    shape, indptr, indices, data = (numpy.load(f"{stem}-{part}.npy") for part in ("shape", "indptr", "indices", "data"))
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=tuple(shape))


A, B = (load(stem) for stem in sys.argv[1:3])
shutil.rmtree(os.path.dirname(sys.argv[1]))  # whoever wrote them may be stopped before this process ends
TYPES = {"f32": numpy.float32, "f64": numpy.float64}
sys.path += glob.glob(f"{sys.argv[4]}/local/lib/python3*/*-packages")  # behind Debian's
clock = time.process_time if sys.argv[3] == "cpu" else time.perf_counter


def copied(values, rows, columns):
    """Without what an earlier run found out about the order of the entries."""
    return scipy.sparse.coo_matrix((values, (rows, columns)), shape=A.shape)


@functools.cache
def coordinates(shuffled):
    coo = A.tocoo()
    order = numpy.random.default_rng(7).permutation(A.nnz) if shuffled else slice(None)
    return coo.data[order], coo.row[order], coo.col[order]


@functools.cache
def compressed(form):
    return {"CSR": A.tocsr, "CSC": A.tocsc, "DIA": A.todia, "BCSR(4,4)": lambda: A.tobsr((4, 4))}[form]()


def stored(form):
    return copied(*coordinates(form == "COO shuffled")) if form.startswith("COO") else compressed(form)


@functools.lru_cache(maxsize=2)
def dense(name, *shape, kind="f64"):
    """The same numbers as the other competitors have."""
    k = numpy.arange(numpy.prod(shape), dtype=numpy.uint64) + sum(name.encode())
    return ((k * numpy.uint64(2654435761)) % numpy.uint64(2**32) / 2.0**32).reshape(shape).astype(TYPES[kind])


def features(name, rows, n, kind):
    return dense(name.upper(), rows, n, kind=kind) if n else dense(name, rows, kind=kind)


@functools.cache
def both(kind):
    return A.astype(TYPES[kind]), B.astype(TYPES[kind])


@functools.cache
def rows(kind):
    """The values of A as rows of any lengths."""
    import awkward

    offsets = awkward.index.Index32(A.indptr)
    return awkward, awkward.Array(awkward.contents.ListOffsetArray(offsets, awkward.contents.NumpyArray(A.data.astype(TYPES[kind]))))


def elements(made):
    return numpy.asarray(rows("f64")[0].flatten(made, axis=None))


def scatter(size, s, y):
    z = numpy.zeros((size, *y.shape[1:]), y.dtype)
    numpy.add.at(z, s, y)
    return z


@functools.cache
def table():
    """The values of A; -1 where it has none."""
    _, row, column = coordinates(False)
    t = numpy.full(A.shape, -1, "i4")
    t[row, column] = A.data
    return t


def pixels():
    return int(A.data.max()) + 1


@functools.lru_cache(maxsize=1)
def with_zeros(n, kind):
    """The pixels, and a row of zeros for number -1."""
    return numpy.concatenate([features("x", pixels(), n, kind), numpy.zeros((1, n), TYPES[kind])])


def convolution(t, x, w):
    out = numpy.zeros((len(t), w.shape[2]), x.dtype)
    for r in range(t.shape[1]):
        met = t[:, r] >= 0
        out[met] += x[t[met, r]] @ w[r]
    return out


def table_of_others():
    """The table; None where each output meets its own pixel alone, so that nothing has to be copied."""
    t = table()
    return None if numpy.array_equal(t, numpy.arange(pixels())[:, None]) else t


def im2col(t, x, w):
    return (x[:-1] if t is None else x[t].reshape(len(t), -1)) @ w.reshape(-1, w.shape[2])


def product(a, b, ordered):
    c = a @ b
    if ordered:
        c.sort_indices()
    return c


def convert(a, target):
    return {"CSR": lambda: a.tocsr(), "CSC": lambda: a.tocsc(), "DIA": lambda: a.todia(),
            "BCSR(4,4)": lambda: a.tobsr((4, 4))}[target]()


@functools.cache
def source():
    """Where searches begin: the first vertex with the most edges."""
    return int(numpy.argmax(numpy.diff(A.indptr)))


@functools.cache
def lengths():
    return abs(A)


@functools.cache
def pattern():
    return scipy.sparse.csr_matrix((numpy.ones(A.nnz), A.indices, A.indptr), A.shape)


def page_rank(a, n):
    c = 0.15 / a.shape[0]
    x = numpy.full(a.shape[0], c)
    while True:
        y = c + 0.85 * (a @ (x / numpy.maximum(n, 1)))
        change = numpy.abs(y - x).sum()
        x = y
        if change < 1e-10:
            return x


def smallest_vertices(labels):
    smallest = numpy.full(labels.max() + 1, len(labels))
    numpy.minimum.at(smallest, labels, numpy.arange(len(labels)))
    return smallest[labels]


def reached(distances):
    return numpy.where(numpy.isinf(distances), -1, distances)


def operation(name, form, target, n, kind):
    """(what is not timed, what is, what is done with its result)"""
    own = lambda: (A, dense("b", A.shape[0]))
    subscript = lambda: coordinates(form == "COO shuffled")[2]
    weights = lambda: dense("W", A.shape[1], n, n, kind=kind)
    return {
        "SpMV": (lambda: (stored(form), dense("x", A.shape[1])), lambda a, x: a @ x),
        "SpMM": (lambda: (stored(form), dense("X", A.shape[1], n)), lambda a, x: a @ x),
        "Add": (lambda: (A, B), lambda a, b: a + b),
        "Multiply": (lambda: (A, A), lambda a, b: product(a, b, True)),
        "Multiply unsorted": (lambda: (A, A), lambda a, b: product(a, b, False)),
        "Convert": (lambda: (stored(form),), lambda a: convert(a, target)),
        "gather": (lambda: (features("x", A.shape[1], n, kind), subscript()), lambda x, s: x[s]),
        "scatter": (lambda: (A.shape[1], subscript(), features("y", A.nnz, n, kind)), scatter),
        "convolution": (lambda: (table(), features("x", pixels(), n, kind), weights()), convolution),
        "im2col": (lambda: (table_of_others(), with_zeros(n, kind), weights()), im2col),
        "row sums": (lambda: rows(kind), lambda awkward, a: awkward.sum(a, axis=1), elements),
        "row maxima": (lambda: rows(kind), lambda awkward, a: awkward.max(a, axis=1), elements),
        "row squares": (lambda: rows(kind), lambda awkward, a: a * a + a, elements),
        "hstack": (lambda: both(kind), lambda a, b: scipy.sparse.hstack((a, b), "csr")),
        "vstack": (lambda: both(kind), lambda a, b: scipy.sparse.vstack((a, b), "csr")),
        "block_diag": (lambda: both(kind), lambda a, b: scipy.sparse.block_diag((a, b), "csr")),
        "CG": (own, lambda a, b: scipy.sparse.linalg.cg(a, b, tol=1e-8, atol=0)[0]),
        "PageRank": (lambda: (pattern(), numpy.asarray(pattern().sum(axis=0)).ravel()), page_rank),
        # Distances: breadth_first_order gives none.
        "BFS": (lambda: (lengths(), source()), lambda a, i: csgraph.dijkstra(a, indices=i, unweighted=True), reached),
        "SSSP": (lambda: (lengths(), source()), lambda a, i: csgraph.dijkstra(a, indices=i), reached),
        "components": (lambda: (A,), lambda a: csgraph.connected_components(a, directed=False)[1], smallest_vertices),
    }[name]


def timed(name, form, target, n, kind):
    prepare, run, *finish = operation(name, form, target, int(n), kind)
    operands = prepare()
    begin = clock()
    result = run(*operands)
    elapsed = clock() - begin
    for then in finish:
        result = then(result)
    values = result.data if scipy.sparse.issparse(result) else result
    return elapsed * 1e3, float(numpy.sum(values)), values.size


for line in sys.stdin:
    try:
        print(*timed(*line.rstrip("\n").split("\t")), flush=True)
    except Exception as error:  # an operation SciPy refuses must not end the others
        print("error", " ".join(str(error).split()) or type(error).__name__, flush=True)
