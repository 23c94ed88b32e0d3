#!/usr/bin/python3
"""Convolutions of an image by a table of the pixels that each output meets: 3 by 3, with a stride, and 1 by 1."""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, program, run


def table(height, width, taps, stride):
    """For each output and tap, the number of the pixel that meets; -1 in the margin."""
    numbers = numpy.pad(numpy.arange(height * width).reshape(height, width), taps // 2, constant_values=-1)
    windows = numpy.lib.stride_tricks.sliding_window_view(numbers, (taps, taps))[::stride, ::stride]
    return windows.reshape(-1, taps * taps).astype("i4")


def dense(image, weights, taps, stride):
    """The sum over taps of shifted images, each times a matrix."""
    height, width, _ = image.shape
    wide = numpy.pad(image, [(taps // 2, taps // 2)] * 2 + [(0, 0)])
    return sum(wide[y : y + height : stride, x : x + width : stride] @ weights[y * taps + x]
               for y in range(taps) for x in range(taps))


rng = numpy.random.default_rng(1)
image = rng.standard_normal((12, 10, 8))
for what, taps, stride in [("3x3", 3, 1), ("3x3, every other output", 3, 2), ("1x1", 1, 1)]:
    weights = rng.standard_normal((taps * taps, 8, 16))
    made = run(program("convolution.tulle"), {"I": image.reshape(-1, 8), "t": table(12, 10, taps, stride), "W": weights}, {"O": "npy"})
    compare(what, made["O"], dense(image, weights, taps, stride))
