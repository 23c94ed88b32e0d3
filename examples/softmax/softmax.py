#!/usr/bin/python3
"""Softmax of the stored entries of each row. usage: softmax.py [MATRIX.mtx]"""
import pathlib
import sys

import numpy
import scipy.sparse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, matrix, program, run


def softmax(a):
    result = a.copy()
    for i in range(a.shape[0]):
        row = result.data[result.indptr[i] : result.indptr[i + 1]]
        if row.size:
            row[:] = numpy.exp(row - row.max())
            row /= row.sum()
    return result


A = matrix(scipy.sparse.random(60, 40, 0.1, "csr", random_state=1))
made = run(program("softmax.tulle"), {"A": A}, {"p": "npz"}, {"e": "like A", "p": "like A"})
compare("softmax", made["p"], softmax(A), "SciPy")
