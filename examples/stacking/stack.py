#!/usr/bin/python3
"""Matrices put together of others, and SciPy's. usage: stack.py [MATRIX.mtx]"""
import pathlib
import sys

import numpy
import scipy.sparse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import CORA, compare, matrix, program, run

graph = matrix(CORA).tocsr()
rows = graph.shape[0] // 3
A, B, C = graph[:rows], graph[rows : 2 * rows], graph[2 * rows :]
D = scipy.sparse.diags(numpy.arange(1.0, graph.shape[1] + 1)).tocsr()
Z = scipy.sparse.csr_matrix((rows, rows))

inputs = {"A": A, "B": B, "C": C, "D": D, "Z": Z}
formats = {"B": "CSC", "C": "COO", "D": "DIA", "H": "CSR", "V": "CSR", "G": "CSR", "T": "CSR", "top": "CSR", "bottom": "CSR", "K": "CSR"}
made = run(program("stack.tulle"), inputs, dict.fromkeys("HVGK", "npz"), formats)
compare("hstack", made["H"], scipy.sparse.hstack([A, B], format="csr"), "SciPy")
compare("vstack", made["V"], scipy.sparse.vstack([A, C], format="csr"), "SciPy")
compare("block_diag", made["G"], scipy.sparse.block_diag([A, B, C], format="csr"), "SciPy")
compare("bmat", made["K"], scipy.sparse.bmat([[D, A.T], [A, None]], format="csr"), "SciPy")
print("K: {}x{}, {} entries".format(*made["K"].shape, made["K"].nnz))
