#!/usr/bin/python3
"""Messages along the edges of a graph, which are two lists of vertices. usage: messages.py [MATRIX.mtx]"""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import CORA, compare, matrix, program, run

A = matrix(CORA).tocoo()
n, rng = A.shape[0], numpy.random.default_rng(1)
s, d = A.row.astype("i4"), A.col.astype("i4")
Q, K, X = (rng.standard_normal((n, 16)) for _ in range(3))

scores = (Q[s] * K[d]).sum(1)
sums = numpy.zeros_like(X)
numpy.add.at(sums, d, scores[:, None] * X[s])

made = run(program("messages.tulle"), {"s": s, "d": d, "Q": Q, "K": K, "X": X}, {"E": "npy", "Z": "npy"},
           dims={"Z": X.shape}, keep=["E"])
compare("scores", made["E"], scores)
compare("sums", made["Z"], sums)
