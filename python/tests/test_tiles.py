"""Sums over relations of intermediates that caches do not hold, whose readers have tiles (tulle-tile-readers), against NumPy."""

import random

import numpy as np
import pytest

import tulle as tl

LARGE = 4 << 20  # bytes: what the compiler takes for larger than caches

FORMATS = [None, "{} : dense, {} : dense, {} : compressed", "{} : dense, {} : compressed, {} : compressed"]


@pytest.mark.parametrize("seed", range(24))
def test_sums_over_relations(seed):
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    size = {"r": draw.randint(1, 6), "l": draw.choice([16, 17, 33, 64]), "k": draw.choice([3, 5, 8, 17, 64]), "j": draw.choice([7, 20])}
    dtype = np.dtype(draw.choice([np.float64, np.float64, np.float32, np.float16, np.int32, np.complex128]))
    size["i"] = LARGE // (dtype.itemsize * size["r"] * size["l"]) + draw.randint(1, 90)

    def array(indices, density=1.0):
        made = numbers.integers(-3, 4, [size[index] for index in indices])
        return (made * (numbers.random(made.shape) < density)).astype(dtype)

    def shuffled(indices):
        return "".join(draw.sample(indices, len(indices))) if draw.random() < 0.25 else indices

    t, a, w, y = shuffled("ril"), draw.choice(["rij", "irj"]), shuffled("rlk"), draw.choice(["ik", "ki"])
    at = {name: f"{name}({','.join(indices)})" for name, indices in {"A": a, "T": t, "W": w, "Y": y}.items()}
    operands = {"A": array(a, 0.1), "X": array("jl"), "W": array(w)}
    factors = [at["A"], "X(j,l)"]
    wide = np.result_type(dtype, np.float64)
    T = np.einsum(f"{a},jl->{t}", operands["A"].astype(wide), operands["X"])
    if draw.random() < 0.3:
        operands["c"] = array("ri")
        factors.append("c(r,i)")
        T = np.einsum(f"{t},ri->{t}", T, operands["c"])
    text = f"{at['T']} = {' * '.join(factors)}; {at['Y']} = {at['T']} * {at['W']}"
    want = np.einsum(f"{t},{w}->{y}", T, operands["W"])
    if draw.random() < 0.2:
        operands["Z"] = array(y)
        text = f"{at['Y']} = Z({','.join(y)}); " + text.replace(f"{at['Y']} =", f"{at['Y']} +=")
        want = want + operands["Z"]
    levels = draw.choice(FORMATS)
    formats = {"A": f"({', '.join(a)}) -> ({levels.format(*a)})"} if levels else None
    made = tl.run(text, formats=formats, results=draw.choice([[], ["T"]]), threads=draw.choice([1, 2]), tensors=operands)
    np.testing.assert_allclose(made.Y, want, rtol=1e-3 if dtype == np.float16 else 0)  # rounded once
