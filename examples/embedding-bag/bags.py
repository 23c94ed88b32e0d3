#!/usr/bin/python3
"""Sums, maxima, means and weighted sums of the rows of a table that bags of words name."""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, padded, program, run

rng = numpy.random.default_rng(1)
table = rng.standard_normal((500, 16))
bags = [rng.integers(0, 500, n).astype("i4") for n in rng.integers(1, 30, 100)]
weights = [rng.standard_normal(len(bag)) for bag in bags]

p, lengths = padded(bags)
tensors = {"W": table, "p": p, "w": padded(weights)[0]}
made = run(program("bags.tulle"), tensors, {name: "npy" for name in "SXMU"}, lengths={"p": [lengths], "w": [lengths]}, keep=["S"])
compare("sums", made["S"], [table[bag].sum(0) for bag in bags])
compare("maxima", made["X"], [table[bag].max(0) for bag in bags])
compare("means", made["M"], [table[bag].mean(0) for bag in bags])
compare("weighted", made["U"], [w @ table[bag] for w, bag in zip(weights, bags)])
