#!/usr/bin/python3
"""A 3 by 3 by 3 convolution of the voxels that exist, and only at these."""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, program, run

rng, size = numpy.random.default_rng(1), 24
points = rng.standard_normal((3000, 3))
shell = (points / numpy.linalg.norm(points, axis=1, keepdims=True) * 0.45 + 0.5) * size
voxels = numpy.unique(shell.astype("i4"), axis=0)
features, weights = rng.standard_normal((len(voxels), 8)), rng.standard_normal((3, 3, 3, 8, 8))

numbers = numpy.zeros((size + 2,) * 3, "i4")
numbers[tuple(voxels.T + 1)] = numpy.arange(len(voxels)) + 1
want = numpy.zeros((len(voxels), 8))
for x, y, z in numpy.ndindex(3, 3, 3):
    met = numbers[tuple((voxels + [x, y, z]).T)]
    want[met > 0] += features[met[met > 0] - 1] @ weights[x, y, z]

tensors = {"c": voxels, "n": numpy.arange(len(voxels), dtype="i4"), "I": features, "W": weights}
for form in ["dense", "(x,y,z) -> (x : dense, y : dense, z : compressed)", "(x,y,z) -> (x : dense, y : dense, z : bitmap)"]:
    made = run(program("convolution.tulle"), tensors, {"O": "npy"}, {"V": form}, dims={"V": numbers.shape})
    compare(form.split(" : ")[-1].strip(")") + " grid", made["O"], want)
