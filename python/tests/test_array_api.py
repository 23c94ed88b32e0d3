"""The functions of the array API standard, against NumPy's on dense copies, and by name."""

import pathlib
import re

import array_api_strict as strict
import numpy as np
import pytest
import tulle as tl

from test_operators import numpys, same, some, tensor

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/reference/python-array-api.md"


def test_names_are_the_standards():
    """What array-api-strict has, and Tulle has not, the page says, and nothing else."""
    wanted = {name for name in strict.__all__ if not name.startswith("_")} - {
        "ArrayAPIStrictFlags", "get_array_api_strict_flags", "reset_array_api_strict_flags", "set_array_api_strict_flags", "Device"}
    table = re.search(r"## What there is not\n(.*?)\n## ", PAGE.read_text(), re.S)[1]
    listed = {name for row in re.findall(r"^\|([^|]*)\|", table, re.M) for name in re.findall(r"`(\w+)`", row)}
    assert {name for name in wanted if not hasattr(tl, name)} == listed & wanted
    assert not {name for name in listed if hasattr(tl, name)}
    assert tl.__array_api_version__ == "2024.12"
    assert set(tl.__all__) >= {name for name in wanted if hasattr(tl, name)} - {"uint8"}


def test_the_namespace_of_tensors_is_the_package():
    A = tensor(some((4, 5), np.float64))
    assert A.__array_namespace__() is tl and A.__array_namespace__(api_version="2023.12") is tl
    with pytest.raises(tl.TulleError, match="2019"):
        A.__array_namespace__(api_version="2019.01")
    info = tl.__array_namespace_info__()
    assert info.default_dtypes()["integral"] == tl.int64 and "uint8" not in info.dtypes()
    assert info.dtypes(kind="bool") == {"bool": tl.bool} and info.devices() == [A.device] == ["cpu"]
    assert A.to_device("cpu") is A
    with pytest.raises(tl.TulleError, match="memory of the CPU"):
        A.to_device("gpu")


STORED = ["abs", "asin", "asinh", "atan", "atanh", "ceil", "conj", "expm1", "floor", "imag", "isinf", "isnan", "log1p", "negative",
          "positive", "real", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc"]
NOT_AT_ZERO = ["acos", "acosh", "cos", "cosh", "exp", "isfinite", "log", "log2", "log10", "logical_not", "reciprocal"]


COMPLEX = ["abs", "conj", "exp", "imag", "isnan", "real", "sqrt", "square", "tan"]


@pytest.mark.parametrize("name, dtype", [*((name, np.float32) for name in STORED + NOT_AT_ZERO),
                                         *((name, np.complex128) for name in COMPLEX)])
def test_functions_of_one_tensor(name, dtype):
    a = (some((5, 6), dtype) / 5).astype(dtype)
    numpys_own = getattr(np, name)
    try:
        expected = numpys(numpys_own, a)
    except TypeError:
        with pytest.raises(TypeError):
            getattr(tl, name)(tensor(a))
        return
    same(getattr(tl, name)(tl.asarray(a)), expected)
    assert type(getattr(tl, name)(a)) is np.ndarray
    if name in NOT_AT_ZERO:
        with pytest.raises(tl.DenseResultError):
            getattr(tl, name)(tensor(a))
    else:
        made = getattr(tl, name)(tensor(a, "CSC"))
        assert made.format == "CSC"
        same(made, expected)


@pytest.mark.parametrize("name", ["atan2", "hypot", "copysign", "nextafter", "maximum", "minimum", "logical_or", "logical_and",
                                  "logical_xor", "remainder"])
def test_functions_of_two_tensors(name):
    a, b = some((5, 6), np.float64), some((5, 6), np.float32, 1)
    if name in ("remainder",):
        b = np.where(b == 0, np.float32(3), b)
    expected = numpys(getattr(np, name), a, b)
    same(getattr(tl, name)(tl.asarray(a), b), expected)
    made = getattr(tl, name)(tensor(a, "COO"), tensor(b))
    assert made.format == "COO"
    same(made, expected)
    same(getattr(tl, name)(tensor(a[:1]), tensor(b)), numpys(getattr(np, name), a[:1], b))


REDUCTIONS = ["sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "count_nonzero", "argmax", "argmin"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("format", ["CSR", "dense"])
def test_reductions(name, format):
    for dtype, axes in ((np.int8, (0,)), (np.float64, (-1, None))):
        a = some((5, 4), dtype, 3, 0.6)
        a[2] = np.abs(a[2]) + 1  # a row without gaps
        A = tensor(a).to(format)
        for axis in axes:
            same(getattr(tl, name)(A, axis=axis), np.asarray(getattr(np, name)(a, axis=axis)))
    same(getattr(tl, name)(A, axis=1, keepdims=True), np.asarray(getattr(np, name)(a, axis=1, keepdims=True)))
    if format == "dense":
        assert type(getattr(tl, name)(a, axis=1)) is np.ndarray
    for axis, why in [(2, "axis 2"), ((0, 0), "given twice")]:
        with pytest.raises((tl.TulleError, TypeError), match=why + "|tuple"):
            getattr(tl, name)(A, axis=axis)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "mean", "var", "std"])
def test_reductions_to_sparse_results(name):
    a = some((4, 5, 6), np.float64, 4)
    a[1, 2] = 1 + np.arange(6)
    a[1, 3] = -1 - np.arange(6)
    made = getattr(tl, name)(tensor(a), axis=2)
    assert made.format == "CSR" and made.nnz < 20
    same(made, getattr(np, name)(a, axis=2))
    same(getattr(tl, name)(tensor(a), axis=(0, 1)), getattr(np, name)(a, axis=(0, 1)))


def test_reductions_have_types_and_limits():
    a = some((5, 4), np.int8)
    assert tl.sum(tensor(a)).dtype == np.int64 and tl.sum(tensor(a), dtype=tl.float32).dtype == np.float32
    same(tl.var(tensor(a.astype(float)), axis=0, correction=1), np.var(a.astype(float), axis=0, ddof=1))
    same(tl.var(tensor(some((5, 4), np.complex128)), axis=0), np.var(some((5, 4), np.complex128), axis=0))
    nothing = tl.asarray(np.zeros((3, 0)))
    same(tl.sum(nothing, axis=1), np.zeros(3))
    same(tl.prod(nothing), np.asarray(1.0))
    for name in ("max", "argmin"):
        with pytest.raises(tl.TulleError, match="no elements"):
            getattr(tl, name)(nothing)
    with pytest.raises(tl.TulleError, match="would be dense"):
        tl.argmax(tensor(some((3, 4, 5), np.float64)), axis=2)
    x = np.array([1.0, np.nan, 3.0])
    assert np.isnan(float(tl.max(x[None] + 0, axis=None))) and int(tl.argmax(tl.asarray(x))) == 1


SHAPING = {
    "permute_dims": lambda xp, a: xp.permute_dims(a, (2, 0, 1)),
    "matrix_transpose": lambda xp, a: xp.matrix_transpose(a),
    "moveaxis": lambda xp, a: xp.moveaxis(a, (0, 1), (2, 0)),
    "reshape": lambda xp, a: xp.reshape(a, (6, -1)),
    "expand_dims": lambda xp, a: xp.expand_dims(a, axis=1),
    "expand_dims at two": lambda xp, a: xp.expand_dims(a, axis=(0, -1)),
    "squeeze": lambda xp, a: xp.squeeze(a[:, :1], axis=1),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a[:, :1], (2, 4, 2, 5)),
    "concat": lambda xp, a: xp.concat([a, a[:, :2]], axis=1),
    "concat of all": lambda xp, a: xp.concat([a, a], axis=None),
    "stack": lambda xp, a: xp.stack([a, a], axis=1),
    "unstack": lambda xp, a: xp.unstack(a, axis=1)[1],
    "flip": lambda xp, a: xp.flip(a),
    "flip one": lambda xp, a: xp.flip(a, axis=-1),
    "roll": lambda xp, a: xp.roll(a, 2, axis=1),
    "roll all": lambda xp, a: xp.roll(a, 7),
    "roll two": lambda xp, a: xp.roll(a, (1, -1), axis=(0, 2)),
    "repeat": lambda xp, a: xp.repeat(a, 2, axis=1),
    "repeat each": lambda xp, a: xp.repeat(a, np.array([0, 2, 1, 3]), axis=0),
    "tile": lambda xp, a: xp.tile(a, (2, 1, 2)),
    "take": lambda xp, a: xp.take(a, np.array([3, 0, -1]), axis=0),
    "take none": lambda xp, a: xp.take(a, np.array([], dtype=int), axis=1),
    "tril": lambda xp, a: xp.tril(a, k=1),
    "triu": lambda xp, a: xp.triu(a, k=-1),
    "diff": lambda xp, a: xp.diff(a, axis=1),
    "diff twice": lambda xp, a: xp.diff(a, axis=2, n=2),
    "new axes": lambda xp, a: a[:, None, 1, ..., None],
    "clip": lambda xp, a: xp.clip(a, -1, 2),
    "where": lambda xp, a: xp.where(a > 0, a, 0),
    "tensordot": lambda xp, a: xp.tensordot(a, a, axes=((0, 2), (0, 2))),
    "astype": lambda xp, a: xp.astype(a, np.float32),
}


@pytest.mark.parametrize("name", SHAPING)
@pytest.mark.parametrize("sparse", [True, False])
def test_shapes(name, sparse):
    a = some((4, 3, 5), np.float64)
    made = SHAPING[name](tl, tensor(a) if sparse else tl.asarray(a))
    same(made, SHAPING[name](np, a))
    if sparse:
        assert not made.format.startswith("dense")


def test_what_shapes_refuse():
    A = tensor(some((4, 5), np.float64))
    for work, why in [
        (lambda: tl.permute_dims(A, (0, 0)), "given twice"), (lambda: tl.permute_dims(A, (0,)), "1 axes"),
        (lambda: tl.squeeze(A, 0), "size 4"), (lambda: tl.broadcast_to(A, (4, 6)), "does not become"),
        (lambda: tl.concat([A, A.T]), "differ"), (lambda: tl.concat([]), "no tensors"), (lambda: tl.stack([A, A.T]), "differ"),
        (lambda: tl.reshape(A, (3, 3)), "elements"), (lambda: tl.take(A, np.array([0])), "axis"),
        (lambda: tl.vecdot(A, A, axis=7), "axis 7"), (lambda: tl.tensordot(A, A, axes=1), "sizes"),
        (lambda: tl.tensordot(A, A, axes=3), "3 axes"), (lambda: tl.roll(A, (1, 2), axis=0), "2 shifts"),
        (lambda: tl.expand_dims(A, axis=5), "axis 5"), (lambda: tl.matrix_transpose(A[0]), "two dimensions"),
    ]:
        with pytest.raises(tl.TulleError, match=why):
            work()
            pytest.fail(why)
    with pytest.raises(IndexError):
        tl.take(A, np.array([4]), axis=0)


def test_creation():
    for xp_made, expected in [
        (tl.zeros((2, 3)), np.zeros((2, 3))), (tl.ones(3, dtype=tl.int8), np.ones(3, np.int8)),
        (tl.full((2,), 7), np.full((2,), 7)), (tl.eye(3, 4, k=1), np.eye(3, 4, 1)), (tl.arange(2, 9, 3), np.arange(2, 9, 3)),
        (tl.linspace(0, 1, 5), np.linspace(0, 1, 5)), (tl.asarray([[1, 2]], dtype=tl.float32), np.float32([[1, 2]])),
        (tl.zeros((2, 3), format="CSC"), np.zeros((2, 3))), (tl.eye(3, 5, k=-1, format="CSR"), np.eye(3, 5, -1)),
        (tl.eye(3, k=7, format="COO"), np.eye(3, k=7)), (tl.meshgrid(tl.arange(2), tl.arange(3))[1], np.meshgrid(range(2), range(3))[1]),
    ]:
        same(xp_made, expected)
    A = tensor(some((4, 5), np.float32), "CSC")
    assert tl.zeros_like(A).format == "CSC" and tl.zeros_like(A).nnz == 0 and tl.empty_like(A).dtype == np.float32
    same(tl.full_like(A, 0, dtype=tl.int64), np.zeros((4, 5), np.int64))
    with pytest.raises(tl.DenseResultError):
        tl.ones_like(A)
    with pytest.raises(tl.TulleError, match="memory of the CPU"):
        tl.zeros(3, device="gpu")


def test_searching():
    a = some((4, 5), np.float64)
    a[0, 0] = np.inf
    A = tensor(a, "CSC") * np.where(a > 0, 0.0, 1.0)  # with zeros that are stored
    expected = np.nonzero(A.todense())
    assert [list(of.todense()) for of in tl.nonzero(A)] == [list(of) for of in expected]
    x = tl.asarray(np.array([3, 1, 2, 1]))
    same(tl.sort(x, descending=True), np.array([3, 2, 1, 1]))
    same(tl.argsort(x), np.array([1, 3, 2, 0]))
    same(tl.argsort(x, descending=True), np.array([0, 2, 1, 3]))
    same(tl.unique_counts(x).counts, np.array([2, 1, 1]))
    same(tl.cumulative_sum(x), np.array([3, 4, 6, 7]))
    same(tl.searchsorted(tl.asarray([1, 3]), tl.asarray([2, 3])), np.array([1, 1]))
    for name in ("sort", "argsort", "unique_values", "cumulative_sum", "take_along_axis"):
        with pytest.raises(tl.TulleError, match="would be dense"):
            getattr(tl, name)(A, *([x] if name == "take_along_axis" else []))


def test_where_is_sparse_where_it_is_zero():
    a, b = some((4, 5), np.float64), some((4, 5), np.float64, 1)
    A, B = tensor(a), tensor(b, "CSC")
    made = tl.where(A > 0, A, B)
    assert made.format == "CSR"
    same(made, np.where(a > 0, a, b))
    same(tl.where(A > 0, a, 0.0), np.where(a > 0, a, 0.0))
    same(tl.where(a > 0, A, B), np.where(a > 0, a, b))
    same(tl.where(A > 0, 1.5, 0), np.where(a > 0, 1.5, 0))
    same(tl.where(A > 0, A, b), np.where(a > 0, a, b))


def test_types():
    assert tl.result_type(tensor(some((2, 2), np.int8)), 2.0, tl.float32) == np.float32
    assert tl.result_type(tl.int8, tl.int16) == tl.int16 and tl.can_cast(tl.int8, tl.float32)
    assert tl.isdtype(tl.int8, "signed integer") and not tl.isdtype(tl.float32, ("bool", "integral"))
    assert tl.finfo(tl.complex64).bits == 32 and type(tl.finfo(tl.float32).eps) is float and tl.iinfo(tl.int8).max == 127


def test_dense_tensors_are_indexed_as_arrays_are():
    a = some((4, 5, 6), np.float64)
    A = tl.asarray(a)
    for key in [np.s_[1], np.s_[1, 2, 3], np.s_[..., None], np.s_[::-1, 1], np.s_[a > 0], np.s_[[0, 2], :, 1], np.s_[::2, 1:3],
                np.s_[np.array([0, 1]), np.array([1, 2])], np.s_[()]]:
        got = A[key]
        np.testing.assert_array_equal(got.todense() if isinstance(got, tl.Tensor) else got, a[key])
    same(A[A > 0], a[a > 0])
    with pytest.raises(TypeError):
        A[0] = 1
