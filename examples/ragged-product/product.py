#!/usr/bin/python3
"""A batch of products of matrices of different sizes, as in grouped layers."""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, program, run

random = numpy.random.default_rng(1)
n, m, k = random.integers(1, 9, (3, 10))
padded = numpy.full((2, 10, 8, 8), numpy.nan)  # what lies behind the lengths is never read
A, B = padded
for b in range(10):
    A[b, : n[b], : m[b]] = random.standard_normal((n[b], m[b]))
    B[b, : m[b], : k[b]] = random.standard_normal((m[b], k[b]))
lengths = {"A": [n, m], "B": [m, k]}
made = run(program("product.tulle"), {"A": A, "B": B}, {"C": "tns"}, {"C": "ragged"}, lengths)
want = numpy.concatenate([(A[b, : n[b], : m[b]] @ B[b, : m[b], : k[b]]).ravel() for b in range(10)])
compare("products", made["C"][:, -1], want)
