#!/usr/bin/python3
"""Sampled products over blocks, on the example of SparseTIR: block rows 0 and 1 have the blocks 1 and 0, all of 2 by 2."""
import pathlib
import sys

import numpy
import scipy.sparse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, program, run

values = numpy.arange(1.0, 9.0).reshape(4, 2)
M = scipy.sparse.bsr_matrix((numpy.ones((2, 2, 2)), [1, 0], [0, 1, 2]))
made = run(program("sddmm.tulle"), {"M": M, "D": values, "E": values}, {"C": "npz"}, {"M": "BCSR(2,2)", "C": "like M"})
blocks = scipy.sparse.bsr_matrix(made["C"], blocksize=(2, 2))
compare("C", blocks, (values @ values.T) * M.toarray())
print("blocks:", *blocks.data.ravel().astype(int))
