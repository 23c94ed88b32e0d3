#!/usr/bin/python3
"""Layers with pruned weights: the blocks with the largest norms stay, in BSR and without empty rows of blocks (DBSR), or two of
every four weights (2:4)."""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, program, run

DBSR = "(i, j) -> (i floordiv 4 : compressed, j floordiv 4 : compressed, i mod 4 : dense, j mod 4 : dense)"


def by_blocks(weights, size, keep):
    rows, columns = weights.shape
    blocks = weights.reshape(rows // size, size, columns // size, size)
    norms = (blocks**2).sum(axis=(1, 3))
    stay = norms >= numpy.sort(norms.ravel())[-int(keep * norms.size)]
    return (blocks * stay[:, None, :, None]).reshape(rows, columns)


def two_of_four(weights):
    groups = weights.reshape(-1, 4)
    least = numpy.argsort(abs(groups), axis=1)[:, :2]
    pruned = groups.copy()
    numpy.put_along_axis(pruned, least, 0, axis=1)
    return pruned.reshape(weights.shape)


draw = numpy.random.default_rng(1).standard_normal
weights, X = draw((64, 48)), draw((48, 10))
blocks = by_blocks(weights, 4, 0.1)
for name, W, encoding in [("BSR", blocks, "BCSR(4,4)"), ("DBSR", blocks, DBSR), ("2:4", two_of_four(weights), "NV24")]:
    compare(name, run(program("layer.tulle"), {"W": W, "X": X}, {"Y": "npy"}, {"W": encoding})["Y"], W @ X)
