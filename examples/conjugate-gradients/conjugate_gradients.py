#!/usr/bin/python3
"""Solves A x = 1, A symmetric and positive definite, by conjugate gradients. usage: conjugate_gradients.py [MATRIX.mtx]"""
import pathlib
import sys

import numpy
import scipy.sparse
import scipy.sparse.linalg

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, matrix, program, run

line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (6, 6))
A = matrix(scipy.sparse.kronsum(line, line))
ones = numpy.ones(A.shape[0])
x, r, p, rr = numpy.zeros_like(ones), ones, ones, numpy.array(ones @ ones)
steps = 0
while rr > 1e-20 * ones.size and steps < 1000:
    made = run(program("step.tulle"), {"A": A, "x": x, "r": r, "p": p, "rr": rr}, {"y": "npy", "s": "npy", "ss": "npy", "u": "npy"})
    x, r, p, rr = made["y"], made["s"], made["u"], made["ss"]
    steps += 1
print("steps:", steps)
compare("solution", x, scipy.sparse.linalg.spsolve(A.tocsc(), ones), "SciPy")
