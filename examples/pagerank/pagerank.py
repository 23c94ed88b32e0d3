#!/usr/bin/python3
"""The ranks of pages by their links. usage: pagerank.py [GRAPH.mtx]"""
import pathlib
import sys

import numpy
import scipy.sparse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, matrix, program, run

A = matrix(scipy.sparse.random(40, 40, 0.05, "csr", random_state=1))
A.data[:] = 1
pages = A.shape[1]
n = numpy.asarray(A.sum(axis=0)).ravel()
x = numpy.full(pages, 1 / pages)
change = 1
while change > 1e-12:
    tensors = {"A": A, "x": x, "n": n, "c": numpy.array(0.15 / pages), "d": numpy.array(0.85 / pages)}
    made = run(program("step.tulle"), tensors, {"y": "npy", "e": "npy"})
    x, change = made["y"], made["e"]

links = numpy.where(n > 0, A.toarray() / numpy.maximum(n, 1), 1 / pages)
compare("ranks", x, numpy.linalg.solve(numpy.identity(pages) - 0.85 * links, numpy.full(pages, 0.15 / pages)))
