#!/usr/bin/python3
"""Solvers and graph algorithms, each a program with loops. usage: loops.py [GRAPH.mtx]"""
import pathlib
import sys

import numpy
import scipy.sparse.linalg
from scipy.sparse import csgraph

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, matrix, program, run

random = numpy.random.default_rng(1)
A = matrix(scipy.sparse.random(120, 120, 0.02, "csr", random_state=1))  # A(i,j): an edge from i to j
A = A - scipy.sparse.diags(A.diagonal(), format="csr")
A.eliminate_zeros()
n = A.shape[0]
both = A + A.T
degrees = numpy.asarray(both.sum(axis=1)).ravel()

# Conjugate gradients on the Laplacian of the graph, and a diagonal.
S = (scipy.sparse.diags(degrees + 1) - both).tocsr()
b = random.random(n)
made = run(program("conjugate-gradients.tulle"), {"A": S, "b": b, "x": numpy.zeros(n)}, {"x": "npy"})
compare("conjugate gradients", made["x"], scipy.sparse.linalg.spsolve(S.tocsc(), b), "SciPy")

links = numpy.asarray((A != 0).sum(axis=1)).ravel()
walk = numpy.where(links > 0, (A != 0).toarray().T / numpy.maximum(links, 1), 1 / n)
made = run(program("pagerank.tulle"), {"A": A}, {"x": "npy"})
compare("PageRank", made["x"], numpy.linalg.solve(numpy.identity(n) - 0.85 * walk, numpy.full(n, 0.15 / n)))

# From vertex 0. What cannot be reached has -1 here, and in SciPy an infinite distance.
source = scipy.sparse.csr_matrix(([1], ([0], [0])), (n, 1), dtype=numpy.int64)
sparse = dict.fromkeys("fg", "(i) -> (i : compressed)")
made = run(program("breadth-first-search.tulle"), {"A": A, "f": source}, {"d": "npy"}, {"f": sparse["f"]})
distances = csgraph.shortest_path(A, unweighted=True, indices=0)
compare("breadth-first search", made["d"], numpy.where(numpy.isinf(distances), -1, distances), "SciPy")

start = numpy.where(numpy.arange(n) == 0, 0, numpy.inf)
made = run(program("shortest-paths.tulle"), {"A": A, "d": start}, {"d": "npy"}, sparse)
finite = lambda d: numpy.where(numpy.isinf(d), -1, d)
compare("shortest paths", finite(made["d"]), finite(csgraph.dijkstra(A, indices=0)), "SciPy")

made = run(program("connected-components.tulle"), {"A": A, "c": numpy.arange(n)}, {"c": "npy"}, {"f": sparse["f"]})
count, labels = csgraph.connected_components(A, directed=False)
smallest = numpy.full(count, n)
numpy.minimum.at(smallest, labels, numpy.arange(n))
compare("connected components", made["c"], smallest[labels], "SciPy")

# Every vertex has a neighbour, and every component one whose class is known.
ring = scipy.sparse.coo_matrix((numpy.ones(n), (numpy.arange(n), numpy.roll(numpy.arange(n), 1))), (n, n))
W = (both + ring + ring.T).tocsr()
known = numpy.where(numpy.arange(n) % 10 == 0, 1.0, 0.0)
L = numpy.eye(3)[random.integers(3, size=n)]
made = run(program("label-propagation.tulle"), {"A": W, "L": L, "known": known}, {"F": "npy"})
means = scipy.sparse.diags((1 - known) / numpy.asarray(W.sum(axis=1)).ravel()) @ W
system = (scipy.sparse.identity(n) - means).tocsc()
compare("label propagation", made["F"], scipy.sparse.linalg.spsolve(system, known[:, None] * L), "SciPy")
