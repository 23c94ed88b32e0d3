#!/usr/bin/python3
"""Attention with sparse masks: a band, the butterfly of blocks, random entries. usage: attention.py [MASK.mtx]"""
import pathlib
import sys

import numpy
import scipy.sparse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, matrix, program, run


def band(size, width):
    return scipy.sparse.diags([1.0] * width, range(-(width // 2), width - width // 2), (size, size), "csr")


def butterfly(size, block):
    """Blocks whose row and column differ in one bit at most."""
    differ = numpy.bitwise_xor.outer(numpy.arange(size // block), numpy.arange(size // block))
    return scipy.sparse.csr_matrix(numpy.kron((differ & (differ - 1)) == 0, numpy.ones((block, block))))


def attention(mask, q, k, v, scale):
    with numpy.errstate(divide="ignore"):
        scores = scale * q @ k.T + numpy.log(mask.toarray() != 0)
    weights = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


masks = {"band": (band(64, 8), "CSR"), "butterfly": (butterfly(64, 4), "CSR"), "butterfly in blocks": (butterfly(64, 4), "BCSR(4,4)"),
         "random": (scipy.sparse.random(64, 64, 0.2, "csr", random_state=1) + scipy.sparse.identity(64), "CSR")}
if len(sys.argv) > 1:
    masks = {sys.argv[1]: (matrix(None), "CSR")}
for name, (M, encoding) in masks.items():
    draw = numpy.random.default_rng(1).standard_normal
    Q, K, V = draw((M.shape[0], 16)), draw((M.shape[1], 16)), draw((M.shape[1], 8))
    scale = numpy.array(1 / 4)
    tensors = {"M": scipy.sparse.csr_matrix(M), "Q": Q, "K": K, "V": V, "c": scale}
    made = run(program("attention.tulle"), tensors, {"O": "npy"}, {"M": encoding, "S": "like M", "e": "like M", "P": "like M"})
    compare(name, made["O"], attention(M, Q, K, V, scale))
