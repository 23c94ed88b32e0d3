#!/usr/bin/python3
"""Sequences of different lengths, a list of arrays, each pooled by attention."""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tulle_example import compare, padded, program, run

rng = numpy.random.default_rng(1)
sequences = [rng.standard_normal((n, 16)) for n in rng.integers(1, 40, 50)]
q = rng.standard_normal(16)


def weights(x):
    return numpy.exp(x @ q - (x @ q).max())


X, lengths = padded(sequences)
made = run(program("pooling.tulle"), {"X": X, "q": q}, {"P": "npy", "w": "tns"}, {"s": "ragged", "w": "ragged"}, {"X": [lengths]},
           keep=["w"])
compare("weights", made["w"][:, -1], numpy.concatenate([weights(x) for x in sequences]))
compare("pooled", made["P"], [weights(x) @ x / weights(x).sum() for x in sequences])
