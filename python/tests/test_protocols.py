"""What other packages call of tensors: NumPy's functions, SciPy's solvers, Binsparse, DLPack, Dask."""

import sys
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as linalg
import tulle as tl

from test_operators import same, some, tensor


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.hypot, np.not_equal])
def test_numpys_ufuncs_are_ours(ufunc):
    a, b = some((5, 4), np.float64), some((5, 4), np.float64, 1)
    made = ufunc(tensor(a), tensor(b))
    assert made.format == "CSR"
    same(made, ufunc(a, b))


def test_ufuncs_that_would_densify_are_type_errors():
    A = tensor(some((5, 4), np.float64))
    for work in (lambda: np.exp(A), lambda: np.add(A, 1), lambda: np.modf(A),
                 lambda: np.multiply.outer(A, A), lambda: np.linalg.norm(A, 2), lambda: np.allclose(A, A), lambda: np.sort(A),
                 lambda: np.sin(A, out=np.empty((5, 4))), lambda: np.float64(1) + A, lambda: np.asarray(A)):
        with pytest.raises(TypeError):
            work()


NUMPYS = {
    "sum": lambda a: np.sum(a, axis=1), "sum all": lambda a: np.sum(a), "max": lambda a: np.max(a, axis=0, keepdims=True),
    "mean": lambda a: np.mean(a, 1), "var": lambda a: np.var(a, axis=0, ddof=1), "any": lambda a: np.any(a, axis=0),
    "matmul": lambda a: np.matmul(a, a.T), "dot": lambda a: np.dot(a, np.ones(4)), "tensordot": lambda a: np.tensordot(a, a.T, 1),
    "concatenate": lambda a: np.concatenate([a, a]), "stack": lambda a: np.stack([a, a], axis=1),
    "hstack": lambda a: np.hstack([a, a]), "vstack": lambda a: np.vstack([a, a, a[:1]]),
    "hstack of vectors": lambda a: np.hstack([a[0], a[1]]), "vstack of vectors": lambda a: np.vstack([a[0], a]), "ravel": lambda a: np.ravel(a),
    "diagonal": lambda a: np.diagonal(a), "diag": lambda a: np.diag(a.T), "diag of a vector": lambda a: np.diag(a[0]), "trace": lambda a: np.trace(a),
    "norm": lambda a: np.linalg.norm(a), "norms": lambda a: np.linalg.norm(a, axis=1),
    "round": lambda a: np.round(a / 3), "around": lambda a: np.around(a / 3, 2), "round down": lambda a: np.round(a * 7, -1),
    "transpose": lambda a: np.transpose(a), "reshape": lambda a: np.reshape(a, (2, 10)),
    "expand_dims": lambda a: np.expand_dims(a, 1), "squeeze": lambda a: np.squeeze(np.expand_dims(a, 0)),
    "broadcast_to": lambda a: np.broadcast_to(a, (3, 5, 4)), "flip": lambda a: np.flip(a, 0), "roll": lambda a: np.roll(a, 1),
    "tile": lambda a: np.tile(a, 2), "repeat": lambda a: np.repeat(a, 2, axis=0), "take": lambda a: np.take(a, [1, 0], axis=1),
    "tril": lambda a: np.tril(a, -1), "clip": lambda a: np.clip(a, -1, 1), "real": lambda a: np.real(a),
    "where": lambda a: np.where(a > 0, a, 0), "einsum": lambda a: np.einsum("ij,ij->i", a, a),
    "zeros_like": lambda a: np.zeros_like(a), "vecdot": lambda a: np.vecdot(a, a), "count": lambda a: np.count_nonzero(a, axis=0),
    "diff": lambda a: np.diff(a), "moveaxis": lambda a: np.moveaxis(a, 0, 1), "argmax": lambda a: np.argmax(a, axis=1),
}


@pytest.mark.parametrize("name", NUMPYS)
def test_numpys_functions_are_ours(name):
    a = some((5, 4), np.float64)
    same(NUMPYS[name](tensor(a)), np.asarray(NUMPYS[name](a)))


def test_numpys_functions_of_dense_tensors():
    a = some((5, 4), np.float64)
    A = tl.asarray(a)
    assert np.allclose(A, a) and np.shape(A) == (5, 4) and np.ndim(A) == 2 and np.size(A) == 20
    np.testing.assert_allclose(np.linalg.norm(A), np.linalg.norm(a))
    np.testing.assert_allclose(np.linalg.norm(A, 2), np.linalg.norm(a, 2))
    np.testing.assert_array_equal(np.diag(A[0]), np.diag(a[0]))
    cube = some((3, 4, 5), np.float64)
    for of in (tl.asarray(cube), tensor(cube)):
        np.testing.assert_array_equal(np.asarray(np.diagonal(of)), np.diagonal(cube))
        np.testing.assert_array_equal(np.asarray(np.trace(of)), np.trace(cube))
    for dtype in (np.int32, np.complex64, np.float32):
        b = some((5, 4), dtype)
        norm = np.linalg.norm(tensor(b), axis=0)
        assert norm.dtype == np.linalg.norm(b).dtype
        np.testing.assert_allclose(np.asarray(norm), np.linalg.norm(b, axis=0), rtol=1e-6)
    assert np.round(tensor(some((5, 4), np.int64)), 1).dtype == np.int64
    np.testing.assert_array_equal(np.asarray(A, dtype=np.float32), a.astype(np.float32))
    np.testing.assert_array_equal(np.add.reduce(A), a.sum(axis=0))
    assert not np.asarray(A).flags.writeable and np.array(A).flags.writeable
    assert [len(of) for of in np.nonzero(tensor(a))] == [np.count_nonzero(a)] * 2


def test_dlpack():
    a = some((5, 4), np.float64)
    A = tl.asarray(a)
    lent = np.from_dlpack(A)
    assert lent.ctypes.data == a.ctypes.data and not lent.flags.writeable
    np.testing.assert_array_equal(tl.from_dlpack(A.to("denseColMajor")).todense(), a)
    assert A.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="todense"):
        np.from_dlpack(tensor(a))
    with pytest.raises(tl.TulleError, match="speak DLPack"):
        tl.from_dlpack([1, 2])


SCIPYS = ["csr_array", "coo_array", "csr_matrix"]


@pytest.mark.parametrize("kind", SCIPYS)
def test_scipys_operators_leave_the_work_to_ours(kind):
    a, b = some((5, 5), np.float64), some((5, 5), np.float64, 1)
    S, B = getattr(sp, kind)(a), tensor(b, "CSC")
    for made, expected in [(S @ B, a @ b), (B @ S, b @ a), (S + B, a + b), (S - B, a - b), (B - S, b - a), (B * S, b * a)]:
        assert isinstance(made, tl.Tensor)
        same(made, expected)
    if not isinstance(S, sp.spmatrix):
        same(S * B, a * b)
        same(S / tl.asarray(b + 10), a / (b + 10))
    with pytest.raises(TypeError):
        np.asarray(B)


def test_solvers_of_scipy(rng):
    S = sp.random_array((60, 60), density=0.1, format="csr", rng=rng)
    S = S @ S.T + 60 * sp.eye_array(60)
    b = rng.random(60)
    S = sp.csr_array(S)
    S.sort_indices()
    A = tl.LinearOperator(tl.asarray(S))
    x, info = linalg.cg(A, b, rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(S @ x, b)
    np.testing.assert_allclose(linalg.eigsh(A, 2, return_eigenvectors=False), linalg.eigsh(S, 2, return_eigenvectors=False))
    K = tl.asarray(S)
    np.testing.assert_allclose(linalg.cg(K, b, rtol=1e-12)[0], x)
    np.testing.assert_allclose(linalg.svds(K, 2, return_singular_vectors=False), linalg.svds(S, 2, return_singular_vectors=False))
    C = some((6, 4), np.complex128, density=0.8)
    np.testing.assert_allclose(linalg.aslinearoperator(tensor(C)).H @ np.ones(6), C.conj().T @ np.ones(6))
    np.testing.assert_allclose(linalg.aslinearoperator(tensor(C)).matvec(np.ones((4, 1))), C @ np.ones((4, 1)))
    op, X = tl.LinearOperator(tensor(C)), rng.random((4, 3))[:, ::-1]
    np.testing.assert_allclose(op.matmat(X), C @ X)
    np.testing.assert_allclose(op.H @ np.ones(6), C.conj().T @ np.ones(6))
    np.testing.assert_allclose(op.rmatmat(np.ones((6, 2))), C.conj().T @ np.ones((6, 2)))
    np.testing.assert_allclose(op.matvec(np.ones((4, 1))), C @ np.ones((4, 1)))
    with pytest.raises(tl.TulleError, match="matrix"):
        tl.LinearOperator(tensor(some((2, 3, 4), np.float64)))


def test_scipy_is_imported_for_its_operators_only():
    code = "import sys, tulle as tl; A = tl.eye(3, format='CSR'); A @ A + A; tl.sum(A); assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


class Lent:
    """What another package would be that speaks Binsparse."""

    def __init__(self, descriptor, arrays):
        self.described, self.arrays = descriptor, arrays

    def __binsparse_descriptor__(self):
        return self.described

    def __binsparse__(self):
        return self.arrays


BINSPARSE = [("CSR", "CSR"), ("CSC", "CSC"), ("DCSR", "DCSR"), ("DCSC", "DCSC"), ("COO-soa", "COOR"), ("dense", "DMATR"),
             ("denseColMajor", "DMATC"), ("DIA", "COOR"), ("BCSR(2,3)", "COOR"), ("COO", "COOR")]


@pytest.mark.parametrize("format, name", BINSPARSE)
def test_binsparse_there_and_back(format, name):
    for dtype in (np.bool_, np.complex64):
        a = some((6, 5), dtype)
        A = tensor(a, format)
        described, arrays = A.__binsparse_descriptor__(), A.__binsparse__()
        of = described["binsparse"]
        assert of["format"] == name and of["shape"] == [6, 5] and of["number_of_stored_values"] == len(arrays["values"])
        assert set(of["data_types"]) == set(arrays) and described["original_source"].startswith("tulle")
        B = tl.asarray(Lent(described, arrays))
        same(B, a)
        if format in ("CSR", "CSC", "dense"):
            assert B.format == format and B.values.ctypes.data == A.values.ctypes.data
    if format == "CSR":
        same(tl.einsum("y(i) = A(i,j)", A=Lent(described, arrays)), a.sum(axis=1))


def test_binsparse_of_vectors_and_tensors():
    for a, name in [(some((7,), np.float64), "CVEC"), (some((4, 3, 5), np.float64), None)]:
        A = tensor(a)
        described = A.__binsparse_descriptor__()
        assert name is None or described["binsparse"]["format"] == name
        same(tl.asarray(Lent(described, A.__binsparse__())), a)
    a = some((4, 5), np.float64)
    assert set(tensor(a).__binsparse__(descriptor={"format": "COOR", "shape": [4, 5]})) == {"indices_0", "indices_1", "values"}
    same(tl.asarray(Lent(tensor(a)[1:3].__binsparse_descriptor__(), tensor(a)[1:3].__binsparse__())), a[1:3])


def test_binsparse_that_is_wrong_is_refused():
    A = tensor(some((4, 5), np.float64))
    described, arrays = A.__binsparse_descriptor__(), A.__binsparse__()
    of = described["binsparse"]
    for change, why in [(dict(version="1.0"), "version"), (dict(format="XYZ"), "no format"), (dict(shape=[4, 5, 6]), "shape"),
                        (dict(format={"custom": {}}), "not understood"), (dict(shape=[4, 2]), "crd|indices"),
                        (dict(format="COOR"), "indices_0")]:
        with pytest.raises((tl.TulleError, TypeError), match=why):
            tl.asarray(Lent({"binsparse": {**of, **change}}, arrays))
    with pytest.raises(tl.TulleError, match="pointers_to_1"):
        tl.asarray(Lent(described, {name: array for name, array in arrays.items() if name != "pointers_to_1"}))
    iso = {**of, "data_types": {**of["data_types"], "values": "iso[float64]"}}
    made = tl.asarray(Lent({"binsparse": iso}, {**arrays, "values": np.array([2.0])}))
    assert made.nnz == A.nnz and set(made.values) == {2.0}


def test_dask_maps_blocks_of_tensors(rng):
    import dask
    import dask.array as da

    S = sp.random_array((40, 30), density=0.2, format="csr", rng=rng)
    x = rng.random(30)
    rows = [tl.asarray(S[first : first + 10]) for first in range(0, 40, 10)]
    blocks = [da.from_delayed(dask.delayed(part), part.shape, dtype=part.dtype, meta=np.empty((0, 0))) for part in rows]
    A = da.concatenate(blocks)
    spmv = tl.compile("y(i) = A(i,j) * x(j)", A="CSR", threads=1)
    y = da.map_blocks(lambda block, v: spmv(block, v), A, x, drop_axis=1, dtype=float, meta=np.empty(0))
    np.testing.assert_allclose(y.compute(scheduler="threads"), S @ x)
    doubled = A.map_blocks(lambda block: block * 2, meta=np.empty((0, 0)))
    same(doubled.blocks[1].compute(scheduler="synchronous"), 2 * S[10:20].toarray())
