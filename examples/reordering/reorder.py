#!/usr/bin/python3
"""A matrix in reverse Cuthill-McKee order. usage: reorder.py [MATRIX.mtx]"""
import pathlib
import sys

import numpy
import scipy.sparse.csgraph

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import CORA, compare, matrix, program, run


def bandwidth(a):
    a = a.tocoo()
    return abs(a.row - a.col).max()


A = matrix(CORA)
p = scipy.sparse.csgraph.reverse_cuthill_mckee(A, symmetric_mode=True).astype("i4")
B = run(program("reorder.tulle"), {"A": A, "p": p}, {"B": "npz"}, {"B": "CSR"})["B"]
compare("reordered", B, A[p][:, p], "SciPy")
print(f"bandwidth {bandwidth(A)} -> {bandwidth(B)}")
