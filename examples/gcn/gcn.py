#!/usr/bin/python3
"""Two layers of a graph convolutional network, forward and backward. usage: gcn.py [GRAPH.mtx]"""
import pathlib
import sys

import numpy
import scipy.sparse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import CORA, compare, matrix, program, run


def normalized(graph):
    """D^-1/2 (A + I) D^-1/2"""
    loops = abs(graph) + scipy.sparse.identity(graph.shape[0])
    scale = scipy.sparse.diags(1 / numpy.sqrt(numpy.asarray(loops.sum(axis=1)).ravel()))
    return scipy.sparse.csr_matrix(scale @ loops @ scale)


A = normalized(matrix(CORA))
draw = numpy.random.default_rng(1).standard_normal
X, W, V, dY = draw((A.shape[0], 12)), draw((12, 10)), draw((10, 6)), draw((A.shape[0], 6))

forward = run(program("forward.tulle"), {"A": A, "X": X, "W": W, "V": V}, {"T": "npy", "H": "npy", "Y": "npy"})
T = A @ X
H = T @ W
R = numpy.maximum(H, 0)
compare("forward", forward["Y"], A @ (R @ V))

tensors = {"A": A, "dY": dY, "T": forward["T"], "H": forward["H"], "W": W, "V": V}
backward = run(program("backward.tulle"), tensors, {"dW": "npy", "dV": "npy", "dX": "npy"})
dG = A.T @ dY
dH = (dG @ V.T) * (H > 0)
compare("dW", backward["dW"], T.T @ dH)
compare("dV", backward["dV"], R.T @ dG)
compare("dX", backward["dX"], A.T @ (dH @ W.T))
