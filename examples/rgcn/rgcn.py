#!/usr/bin/python3
"""A layer of a relational graph network: relational gather, matrix product, scatter."""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, program, run

random = numpy.random.default_rng(1)
A = random.standard_normal((4, 30, 20)) * (random.random((4, 30, 20)) < 0.1)
X, W = random.standard_normal((20, 8)), random.standard_normal((4, 8, 6))
want = numpy.einsum("rij,jl,rlk->ik", A, X, W)
for name in "rgcn.tulle", "by-vertex.tulle":
    formats = {"A": "(r, i, j) -> (r : dense, i : dense, j : compressed)"}
    compare(name, run(program(name), {"A": A, "X": X, "W": W}, {"Y": "npy"}, formats)["Y"], want)
