"""SciPy as a peer: reads names of operations from stdin, one a line, runs each once, and answers with milliseconds.

usage: scipy_peer.py A B   (each the stem of -shape.npy, -indptr.npy, -indices.npy and -data.npy: a csr matrix)
"""
import sys
import time

import numpy
import scipy.sparse


def load(stem):
    shape, indptr, indices, data = (numpy.load(f"{stem}-{part}.npy") for part in ("shape", "indptr", "indices", "data"))
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=tuple(shape))


A, B = (load(stem) for stem in sys.argv[1:3])
sources = {"CSR": A, "CSC": A.tocsc()}
coo = A.tocoo()
order = numpy.random.default_rng(7).permutation(A.nnz)
shuffled = tuple(part[order] for part in (coo.data, coo.row, coo.col))


def fresh(values, rows, columns):
    """Without what an earlier run found out about the order of the entries."""
    return scipy.sparse.coo_matrix((values, (rows, columns)), shape=A.shape)


def sorted_product():
    C = A @ A
    C.sort_indices()
    return C


# name -> (what is not timed, what is)
operations = {
    "COO->CSR sorted": (lambda: fresh(coo.data, coo.row, coo.col), lambda c: c.tocsr()),
    "COO->CSR shuffled": (lambda: fresh(*shuffled), lambda c: c.tocsr()),
    "CSR->CSC": (lambda: A, lambda a: a.tocsc()),
    "CSR->DIA": (lambda: A, lambda a: a.todia()),
    "CSC->DIA": (lambda: sources["CSC"], lambda a: a.todia()),
    "COO->DIA": (lambda: fresh(coo.data, coo.row, coo.col), lambda c: c.todia()),
    "CSR->BCSR(4,4)": (lambda: A, lambda a: a.tobsr((4, 4))),
    "A + B": (lambda: A, lambda a: a + B),
    "A * A": (lambda: A, lambda a: sorted_product()),
    "A * A unsorted": (lambda: A, lambda a: a @ a),
}

for line in sys.stdin:
    prepare, run = operations[line.strip()]
    operand = prepare()
    begin = time.process_time()
    result = run(operand)
    elapsed = time.process_time() - begin
    del result
    print(elapsed * 1e3, flush=True)
