#!/usr/bin/python3
"""A layer of GraphSAGE with the mean of the neighbours. usage: graphsage.py [GRAPH.mtx]"""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import CORA, compare, matrix, program, run

A = matrix(CORA)
A.data[:] = 1
draw = numpy.random.default_rng(1).standard_normal
X, W, V = draw((A.shape[0], 12)), draw((12, 10)), draw((12, 10))
made = run(program("graphsage.tulle"), {"A": A, "X": X, "W": W, "V": V}, {"Y": "npy"})
count = numpy.maximum(numpy.diff(A.indptr), 1)[:, None]
compare("layer", made["Y"], numpy.maximum(X @ W + A @ X / count @ V, 0))
