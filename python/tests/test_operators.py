"""Operators of tensors, against NumPy's on dense copies."""

import operator
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import tulle as tl

FORMATS = ["CSC", "COO", "BCSR(2,3)", "DIA", "ELL", "DOK"]
DTYPES = [np.bool_, np.int8, np.complex128]


def some(shape, dtype, seed=0, density=0.3):
    """A dense array, most of whose elements are 0."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-4, 5, shape) + (1j * rng.integers(-3, 4, shape) if np.dtype(dtype).kind == "c" else 0)
    return np.where(rng.random(shape) < density, values, 0).astype(dtype)


def tensor(array, format="CSR"):
    """A tensor that stores what is not 0."""
    stored = np.nonzero(array)
    return tl.from_coo(array.shape, stored, array[stored], format=format if array.ndim == 2 else "COO")


def same(got, expected, **close):
    dense = got.todense() if isinstance(got, tl.Tensor) else got
    assert dense.dtype == expected.dtype, (dense.dtype, expected.dtype)
    assert dense.shape == expected.shape
    if dense.dtype.kind in "fc":
        np.testing.assert_allclose(dense, expected, rtol=2e-6 if dense.dtype.itemsize <= 8 else 1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(dense, expected)


def numpys(op, *operands):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return op(*operands)


UNIONS = [operator.add, operator.sub, operator.ne, operator.lt, operator.gt]
PRODUCTS = [operator.mul, operator.and_]


@pytest.mark.parametrize("format", FORMATS)
def test_sparse_operands_of_any_format(format):
    a, b = some((12, 9), np.float64), some((12, 9), np.float64, 1)
    A, B = tensor(a, format), tensor(b, "CSC")
    for op in (operator.add, operator.mul):
        C = op(A, B)
        assert C.format == A.format
        same(C, op(a, b))
    for op in (operator.neg, abs):
        assert op(A).format == A.format
        same(op(A), op(a))
    same(A * 2.5, a * 2.5)
    same(A > 1, a > 1)
    x = np.arange(9.0)
    assert type(A @ x) is np.ndarray
    same(A @ x, a @ x)
    C = A @ tensor(b.T)
    assert C.format == A.format
    same(C, a @ b.T)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", UNIONS + PRODUCTS + [operator.or_, operator.xor])
def test_types_are_numpys(op, dtype):
    a, b = some((6, 5), dtype), some((6, 5), np.int32, 1)
    try:
        expected = numpys(op, a, b)
    except TypeError:
        with pytest.raises(TypeError):
            op(tensor(a), tensor(b))
        return
    if np.dtype(dtype).kind == "c" and op in (operator.lt, operator.gt):
        with pytest.raises(tl.TulleError, match="no order"):
            op(tensor(a), tensor(b))
        return
    C = op(tensor(a), tensor(b))
    assert C.format == "CSR"
    same(C, expected)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float32])
def test_divisions_and_powers(dtype):
    a, b = some((6, 5), dtype), some((6, 5), dtype, 1, 1.0)
    A, B = tensor(a), tl.asarray(b)
    for op in (operator.truediv, operator.floordiv, operator.mod):
        C = op(A, B)
        assert C.format == "CSR"
        expected = numpys(op, a, b)
        same(C, np.where(a == 0, 0, expected).astype(expected.dtype))  # what is not stored is stronger than 0 / 0
        same(op(B, tl.asarray(np.where(a == 0, 1, a).astype(dtype))),
             numpys(op, b, np.where(a == 0, 1, a).astype(dtype)))
    same(A**2, np.power(a, 2))
    same(A**3, np.power(a, 3))
    same(divmod(A, 2)[1], a % 2)
    if dtype != np.bool_ and np.dtype(dtype).kind == "i":
        same(A << 1, a << 1)
        same(A >> 1, a >> 1)
        same(~B, ~b)
        with pytest.raises(tl.TulleError, match="negative powers"):
            A**-1


def test_python_numbers_are_weak():
    for dtype, number in [(np.int8, 2), (np.float32, 2), (np.float32, 2.5), (np.complex64, 2.5), (np.int32, 2.5),
                          (np.float32, 2j), (np.int8, True), (np.float16, 2.0)]:
        a = some((4, 5), dtype)
        same(tensor(a) * number, a * number)
        same(number * tensor(a), number * a)
    with pytest.raises(OverflowError):
        tensor(some((4, 5), np.int8)) * 300
    same(tensor(some((4, 5), np.int8)) > 300, np.zeros((4, 5), bool))
    same(tensor(some((4, 5), np.float32)) * np.float64(2), some((4, 5), np.float32) * np.float64(2))


SHAPES = [((4, 5), (5,)), ((4, 5), (1, 5)), ((4, 5), (4, 1)), ((4, 1), (1, 5)), ((3, 4, 5), (4, 5)), ((3, 1, 5), (4, 1)),
          ((5,), (4, 5)), ((4, 5), ()), ((0, 5), (1, 5))]


@pytest.mark.parametrize("left, right", SHAPES, ids=str)
def test_shapes_broadcast(left, right):
    a, b = some(left, np.float64), some(right, np.float64, 1, 0.9)
    same(tl.asarray(a) + tl.asarray(b), a + b)
    same(a - tl.asarray(b), a - b)
    if not right:
        return
    same(tensor(a) + tensor(b), a + b)
    same(tensor(a) * tensor(b), a * b)
    same(tensor(a) * tl.asarray(b), a * b)


def test_shapes_that_do_not_broadcast_are_refused():
    for other in (np.ones((7, 7, 7)), np.ones(4), tensor(some((2, 5), np.float64))):
        with pytest.raises(tl.TulleError, match="do not broadcast"):
            tensor(some((4, 5), np.float64)) + other


PRODUCT_SHAPES = [((4, 5), (5, 3)), ((4, 5), (5,)), ((5,), (5, 3)), ((5,), (5,)), ((2, 4, 5), (5, 3)),
                  ((2, 4, 5), (2, 5, 3)), ((1, 4, 5), (2, 5, 3)), ((4, 0), (0, 3)), ((2, 1, 4, 5), (3, 5, 2))]


@pytest.mark.parametrize("left, right", PRODUCT_SHAPES, ids=str)
def test_matrix_products(left, right):
    a, b = some(left, np.int8), some(right, np.float32, 1)
    expected = np.asarray(a @ b)
    for x, y in [(tensor(a), tensor(b)), (tensor(a), b), (a, tensor(b)), (tl.asarray(a), tl.asarray(b))]:
        made = x @ y
        if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
            assert type(made) is np.ndarray or not expected.ndim
        same(made, expected)


def test_what_products_refuse():
    A = tensor(some((4, 5), np.float64))
    for other, why in [(np.ones(4), "sizes 5 and 4"), (2, "no dimensions"), (np.ones((3, 5, 4, 4)), "sizes 5 and 4")]:
        with pytest.raises(tl.TulleError, match=why):
            A @ other
    with pytest.raises(tl.TulleError, match="leading"):
        tl.asarray(np.ones((2, 4, 5))) @ np.ones((3, 5, 4))
    with pytest.raises(TypeError):
        A @ "x"


DENSE = ["A + 1", "1 - A", "A == 0", "A >= 0", "A <= A", "A == A", "A < 1", "A ** 0", "A ** -1.0", "A ** A", "2 ** A",
         "2 / A", "1 // A", "~(A > 0)", "tl.exp(A)", "tl.cos(A)", "tl.isfinite(A)", "tl.logical_not(A)",
         "tl.maximum(A, 1)", "tl.where(A > 0, A, 1)", "tl.where(A > 0, A, np.nan)", "tl.logaddexp(A, A)",
         "tl.ones_like(A)", "tl.acos(A)", "A + np.nan", "np.exp(A)", "np.add(A, 1)", "tl.sort(A)", "tl.clip(A, 1, 2)"]


@pytest.mark.parametrize("text", DENSE)
def test_nothing_becomes_dense_by_itself(text):
    A = tensor(some((4, 5), np.float64))
    with pytest.raises(tl.TulleError, match="would be dense"):
        eval(text, {"A": A, "tl": tl, "np": np})


def test_dense_results_are_the_callers_kind():
    a = some((4, 5), np.float64)
    A, x = tensor(a), np.ones((4, 5))
    assert type(A + x) is np.ndarray and type(x + A) is np.ndarray and type(np.add(x, A)) is np.ndarray
    assert isinstance(A + tl.asarray(x), tl.Tensor) and (A + tl.asarray(x)).format == "dense"
    assert isinstance(A * x, tl.Tensor) and (x * A).format == "CSR"
    y = x.copy()
    y += A
    same(y, x + a)
    with pytest.raises(TypeError, match="dense results only"):
        y *= A


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "min", "max", "any", "all"])
def test_reductions_are_methods_too(name):
    a = np.array([[0.0, 2.0, 3.0], [0.0, -1.0, 0.5]])
    method, expected = getattr(tensor(a), name), getattr(a, name)
    assert float(method()) == float(expected())
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(np.asarray(method(axis)), expected(axis))
    assert method(axis=1, keepdims=True).shape == (2, 1)
    assert method.__doc__


def test_products_and_diagonals_are_methods_too():
    a = some((4, 5), np.float64)
    A = tensor(a)
    same(A.dot(np.ones(5)), a @ np.ones(5))
    same(A.dot(A.T), a @ a.T)
    same(A.dot(2), a * 2)
    same(A.diagonal(), a.diagonal())
    same(A.matvec(np.ones(5)), a @ np.ones(5))
    same(A.rmatvec(np.ones(4)), np.ones(4) @ a)


def test_sum_of_tensors_starts_at_zero():
    a = some((4, 5), np.float64)
    same(sum([tensor(a), tensor(a)]), a + a)


def test_zero_times_infinity_is_zero_where_nothing_is_stored():
    a = some((4, 5), np.float64)
    C = tensor(a) * np.full((4, 5), np.inf)
    assert C.nnz == np.count_nonzero(a)
    np.testing.assert_array_equal(C.todense() == 0, a == 0)


def test_slices_patterns_and_rows_are_operands():
    a = some((12, 9), np.float64)
    A = tensor(a)
    same(A[2:8] + A[4:10], a[2:8] + a[4:10])
    same(A[::2] * 2, a[::2] * 2)
    same(A[[1, 5, 2]] + A[:3], a[[1, 5, 2]] + a[:3])
    same(np.arctan(A[1:7:2, 3:]), np.arctan(a[1:7:2, 3:]))
    same(A.T + tensor(a.T), a.T + a.T)
    pattern = tl.from_buffers((2, 3), "(i, j) -> (i : dense, j : compressed), explicitVal = 1",
                              positions={1: np.array([0, 1, 3])}, coordinates={1: np.array([2, 0, 1])}, values=3)
    same(pattern | pattern, pattern.todense())
    same(pattern * 2, pattern.todense() * 2)
    same(pattern.astype("f32"), pattern.todense().astype(np.float32))
    shortest = tl.einsum("y(i,j) = A(i,j) where A", A=A, types={"y": ("(i, j) -> (i : dense, j : compressed), fill = inf", "f64")})
    with pytest.raises(tl.TulleError, match="what is not stored"):
        shortest + shortest


def test_entries_that_stand_twice_are_one():
    coordinates = {0: np.array([1, 0, 1, 1]), 1: np.array([2, 1, 2, 0])}
    A = tl.from_buffers((2, 3), "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered, soa))",
                        positions={0: np.array([0, 4])}, coordinates=coordinates, values=np.array([1.0, 2, 3, 4]))
    a = np.array([[0, 2.0, 0], [4, 0, 4]])
    for op in (lambda x: x * x, lambda x: x**2, lambda x: x > 3, lambda x: x @ x.T, np.arctan, np.sqrt):
        same(op(A), op(a))
    same(tl.count_nonzero(A), np.asarray(3))
    same(tl.max(A, axis=1), a.max(axis=1))


def test_numbers_and_truth():
    s = tl.asarray(np.int64(3))
    assert (int(s), float(s), complex(s), bool(s), [0, 1, 2, 7][s]) == (3, 3.0, 3 + 0j, True, 7)
    A = tensor(some((4, 5), np.float64))
    with pytest.raises(tl.TulleError, match="neither true nor false"):
        bool(A)
    for convert in (int, float, complex):
        with pytest.raises(TypeError, match="not one number"):
            convert(A)
    with pytest.raises(TypeError, match="no index"):
        operator.index(tl.asarray(1.5))
    assert (A == None) is False and (A != "a") is True  # noqa: E711


def test_bfloat16_stays():
    A = tl.asarray(sp.csr_array(some((4, 5), np.float32))).astype("bf16")
    assert (A + A)._element == "bf16" and (A * 2)._element == "bf16" and (A @ A.T)._element == "bf16"
    assert (A + some((4, 5), np.float32)).dtype == np.float32
    same((A + A).astype("f32"), 2 * some((4, 5), np.float32))
    D = A.to("dense")
    assert (D + D)._element == "bf16" and tl.sum(A)._element == "bf16" and tl.ones(3, dtype="bf16")._element == "bf16"
    same((D + A).astype("f32"), 2 * some((4, 5), np.float32))
    same(np.arctan(A).astype("f32") * 0, np.zeros((4, 5), np.float32))


def test_arrays_stored_by_column_are_operands():
    a = some((6, 4), np.float64)
    for order in ("C", "F", "C"):
        x = np.array(a, order=order)
        np.testing.assert_array_equal(tl.einsum("y(i,j) = 2 * x(i,j)", x=x), 2 * a)
        same(tl.asarray(x) + x[::-1], a + a[::-1])
