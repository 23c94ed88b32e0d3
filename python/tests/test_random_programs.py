"""Random programs of the differential test, through the package: their answers are the interpreter's."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import tulle as tl

PROGRAM = pathlib.Path(tl.__file__).parents[2] / "bin/differential_test"


def number(dtype, text):
    return complex(*map(float, text)) if isinstance(text, list) else dtype(text)


def array(of):
    dtype = np.dtype({"f": "float", "i": "int", "c": "complex", "b": "bool"}[of["type"][0]] + of["type"][1:].replace("ool", ""))
    return np.array([number(dtype.type, text) for text in of["values"]], dtype=dtype)


def operand(of):
    values = array(of)
    if not of["shape"]:
        return values.sum().astype(values.dtype)
    coordinates = np.array(of["entries"], dtype=np.int64).reshape(-1, len(of["shape"]))
    return tl.from_coo(of["shape"], list(coordinates.T), values, format=of["format"] or "dense")


@pytest.mark.skipif(not PROGRAM.exists(), reason="differential_test is not built")
def test_random_programs():
    first, count = os.environ.get("TULLE_DIFFERENTIAL_FIRST", "1"), os.environ.get("TULLE_DIFFERENTIAL_COUNT", "60")
    lines = subprocess.run([PROGRAM, "--json"], capture_output=True, text=True, check=True,
                           env={**os.environ, "TULLE_DIFFERENTIAL_FIRST": first, "TULLE_DIFFERENTIAL_COUNT": count}).stdout
    ran, wrong = 0, []
    for line in lines.splitlines():
        case = json.loads(line)
        tensors = [*case["inputs"].values(), *case["results"].values()]
        if any(tensor["type"] == "bf16" for tensor in tensors):
            continue  # NumPy has none
        results = case["results"]
        inputs = {name: operand(of) for name, of in case["inputs"].items()}
        try:
            computed = tl.run(case["program"], tensors=inputs, types={name: (of["format"], of["type"]) for name, of in results.items()},
                              shapes={name: of["shape"] for name, of in results.items() if of["shape"]},
                              results=[name for name, of in results.items() if of["wanted"]], threads=1 + case["seed"] % 2)
            for name, made in computed.items():
                made = made.todense() if isinstance(made, tl.Tensor) else made
                of = results[name]
                np.testing.assert_allclose(made, array(of).reshape(of["shape"]), rtol=0, atol=of["tolerance"])
            ran += 1
        except Exception as error:
            wrong.append(f"seed {case['seed']}: {case['program']}: {error}")
    assert not wrong, "\n".join(wrong)
    assert ran > int(count) // 4
