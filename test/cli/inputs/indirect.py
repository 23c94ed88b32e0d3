"""Small tables, and tensors of integers into them. usage: indirect.py FOLDER"""
import pathlib
import sys

import numpy

TENSORS = {
    "X": numpy.arange(1.0, 7).reshape(3, 2),
    "w": numpy.arange(1.0, 5),
    "x": numpy.array([10.0, 20, 30]),
    "e": numpy.zeros(0),
    "p": numpy.array([2, 0, 2, 1], "i4"),
    "q": numpy.array([1, -1, 7], "i1"),
    "t": numpy.array([[0, 2], [3, 1]], "i8"),
    "l": (numpy.arange(100_000) * 7919 % 3).astype("i4"),
}
TENSORS["m"] = TENSORS["l"].copy()
TENSORS["m"][[60_000, 90_000]] = 3, -5
TENSORS["v"] = numpy.sin(numpy.arange(100_000.0))
for name, values in TENSORS.items():
    numpy.save(pathlib.Path(sys.argv[1]) / f"{name}.npy", values)
