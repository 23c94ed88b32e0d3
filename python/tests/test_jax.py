"""JAX's sparse arrays go in as they are."""

import importlib.util
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import tulle as tl


class Array(np.ndarray):
    """What Tulle asks of a dense array of JAX's."""

    def devices(self):
        return {CPU}


class CPU:
    platform = "cpu"


class Sparse:
    """What Tulle asks of JAX's sparse arrays: their parts."""

    def __init__(self, shape, n_batch=0, n_dense=0, **parts):
        self.shape, self.n_batch, self.n_dense = shape, n_batch, n_dense
        for name, part in parts.items():
            setattr(self, name, part.view(Array))


def stand_in(name: str):
    """A class of that name where JAX keeps its own."""
    return type(name, (Sparse,), {"__module__": "jax.experimental.sparse"})


def make(name: str, shape, n_batch=0, n_dense=0, **parts):
    """An array of JAX's where it is installed, or what stands for one."""
    if not importlib.util.find_spec("jax"):
        return stand_in(name)(shape, n_batch, n_dense, **parts)
    import jax
    from jax.experimental import sparse

    jax.config.update("jax_enable_x64", True)
    kinds = {"BCOO": ("data", "indices"), "BCSR": ("data", "indices", "indptr"), "COO": ("data", "row", "col"),
             "CSR": ("data", "indices", "indptr"), "CSC": ("data", "indices", "indptr")}
    of = getattr(sparse, name)
    if name == "CSC":
        from jax.experimental.sparse.csr import CSC as of
    elif name == "CSR":
        from jax.experimental.sparse.csr import CSR as of
    elif name == "COO":
        from jax.experimental.sparse.coo import COO as of
    return of(tuple(jax.numpy.asarray(parts[kind]) for kind in kinds[name]), shape=shape)


def borrowed(theirs):
    """The tensor of an array whose memory it shares."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tensor = tl.asarray(theirs, copy=False)
    assert tensor.values.ctypes.data == np.asarray(theirs.data).ctypes.data
    assert tensor.values.ctypes.data != tl.asarray(theirs, copy=True).values.ctypes.data
    return tensor


@pytest.fixture
def S(matrix):
    S = sp.csr_array(matrix(60, 45))
    S.sort_indices()
    return S


def test_rows_and_columns_are_borrowed(S):
    for name, T in [("BCSR", S), ("CSR", S), ("CSC", S.tocsc())]:
        T.sort_indices()
        A = borrowed(make(name, S.shape, data=T.data, indices=T.indices, indptr=T.indptr))
        assert A.format == ("CSC" if name == "CSC" else "CSR")
        np.testing.assert_array_equal(A.todense(), S.toarray())


def test_entries_are_borrowed(S):
    E = S.tocoo()
    lists = make("COO", S.shape, data=E.data, row=E.coords[0], col=E.coords[1])
    pairs = make("BCOO", S.shape, data=E.data, indices=np.stack(E.coords, axis=-1))
    for theirs in lists, pairs:
        np.testing.assert_array_equal(borrowed(theirs).todense(), S.toarray())


def test_batches_and_dense_dimensions(rng):
    indices = np.array([[[0, 1], [2, 0]], [[1, 0], [1, 1]]], dtype=np.int32)
    data = rng.random((2, 2, 3))
    expected = np.zeros((2, 3, 2, 3))
    for b in range(2):
        for e in range(2):
            expected[(b, *indices[b, e])] = data[b, e]
    A = borrowed(make("BCOO", expected.shape, 1, 1, data=data, indices=indices))
    np.testing.assert_array_equal(A.todense(), expected)
    # The coordinates of all batches, once.
    expected[1] = 0
    for e in range(2):
        expected[(1, *indices[0, e])] = data[1, e]
    np.testing.assert_array_equal(tl.asarray(make("BCOO", expected.shape, 1, 1, data=data, indices=indices[:1])).todense(), expected)
    # A vector, and rows with a dense dimension below.
    x = make("BCOO", (7,), data=np.array([1.0, 2.0]), indices=np.array([[1], [4]]))
    np.testing.assert_array_equal(borrowed(x).todense(), [0, 1, 0, 0, 2, 0, 0])
    rows = make("BCSR", (2, 3, 2), 0, 1, data=np.arange(6.0).reshape(3, 2), indices=np.array([2, 0, 1]), indptr=np.array([0, 1, 3]))
    np.testing.assert_array_equal(borrowed(rows).todense(), [[[0, 0], [0, 0], [0, 1]], [[2, 3], [4, 5], [0, 0]]])


def test_entries_that_are_none_are_left_out():
    # As JAX pads: coordinates that are the sizes.
    filled = make("BCSR", (2, 3), data=np.array([1.0, 2.0, 0.0, 0.0]), indices=np.array([0, 2, 3, 3]), indptr=np.array([0, 1, 2]))
    np.testing.assert_array_equal(borrowed(filled).todense(), [[1, 0, 0], [0, 0, 2]])
    padded = make("BCOO", (2, 3), data=np.array([1.0, 2.0, 7.0]), indices=np.array([[0, 0], [1, 2], [2, 3]]))
    with pytest.raises(tl.TulleError, match=r"indices.*copy=False was given"):
        tl.asarray(padded, copy=False)
    with pytest.warns(tl.CopyWarning, match="BCOO array has .* beyond the sizes"):
        A = tl.asarray(padded)
    assert A.nnz == 2
    np.testing.assert_array_equal(A.todense(), [[1, 0, 0], [0, 0, 2]])
    batches = make("BCOO", (2, 3), 1, data=np.array([[1.0, 2.0], [3.0, 7.0]]), indices=np.array([[[2], [0]], [[1], [3]]]))
    with pytest.warns(tl.CopyWarning):
        np.testing.assert_array_equal(tl.asarray(batches).todense(), [[2, 0, 1], [0, 3, 0]])


def test_what_is_unsorted_or_stands_twice_is_summed():
    pairs = make("BCOO", (3, 4), data=np.array([1.0, 2, 4, 8]), indices=np.array([[2, 1], [0, 3], [2, 1], [0, 0]]))
    lists = make("COO", (3, 4), data=np.array([1.0, 2, 4, 8]), row=np.array([2, 0, 2, 0]), col=np.array([1, 3, 1, 0]))
    rows = make("BCSR", (3, 4), data=np.array([2.0, 8, 4, 1]), indices=np.array([3, 0, 1, 1]), indptr=np.array([0, 2, 2, 4]))
    for theirs in pairs, lists, rows:
        with pytest.warns(tl.CopyWarning, match="unsorted, stand twice"):
            A = tl.asarray(theirs)
        assert A.nnz == 3
        np.testing.assert_array_equal(A.todense(), [[8, 0, 0, 2], [0, 0, 0, 0], [0, 5, 0, 0]])
        with pytest.raises(tl.TulleError, match="copy=False was given"):
            tl.asarray(theirs, copy=False)


def test_operands_of_programs(S, rng):
    x = rng.random(45)
    theirs = make("BCSR", S.shape, data=S.data, indices=S.indices, indptr=S.indptr)
    np.testing.assert_allclose(tl.einsum("y(i) = A(i,j) * x(j)", A=theirs, x=x), S @ x)


def test_what_cannot_be_borrowed():
    negative = make("BCOO", (2, 3), data=np.array([1.0]), indices=np.array([[0, -1]]))
    with pytest.raises(tl.TulleError, match=r"^A: indices\[0, 1\] = -1 is negative"):
        tl.einsum("s = A(i,j)", A=negative)
    falling = make("BCSR", (2, 3), data=np.array([1.0, 2]), indices=np.array([0, 1]), indptr=np.array([0, 3, 2]))
    with pytest.raises(tl.TulleError, match="indptr"):
        tl.asarray(falling)
    with pytest.raises(tl.TulleError, match=r"BCOO array without sparse dimensions"):
        tl.asarray(make("BCOO", (3,), 0, 1, data=np.ones((1, 3)), indices=np.zeros((1, 0), dtype=np.int32)))
    with pytest.raises(tl.TulleError, match=r"of type Other; say x\.todense\(\)"):
        tl.asarray(stand_in("Other")((2, 2)))


def test_arrays_on_other_devices_and_traced_ones(S):
    class Elsewhere(Array):
        def devices(self):
            return {type("GPU", (), {"platform": "gpu"})}

    class Tracer:
        pass

    theirs = stand_in("BCSR")(S.shape, data=S.data, indices=S.indices, indptr=S.indptr)
    theirs.data = S.data.view(Elsewhere)
    np.testing.assert_array_equal(tl.asarray(theirs).todense(), S.toarray())
    with pytest.raises(tl.TulleError, match="on gpu, which needs a copy"):
        tl.asarray(theirs, copy=False)
    theirs.data = type("DynamicTracer", (Tracer,), {})()
    with pytest.raises(tl.TulleError, match="traces has no memory yet"):
        tl.asarray(theirs)


def test_dense_bfloat16_numbers():
    numbers = np.array([1.0, 2.5, -3.0]).astype(pytest.importorskip("ml_dtypes").bfloat16)

    class Dense:
        """Lends what NumPy does not know by DLPack."""

        dtype, shape = numbers.dtype, numbers.shape

        def __dlpack__(self, **how):
            raise BufferError("Unsupported dtype in DLTensor.")

        def __dlpack_device__(self):
            return (1, 0)

        def __array__(self, dtype=None, copy=None):
            return numbers

    A = tl.asarray(Dense())
    assert A.values.ctypes.data == numbers.ctypes.data
    np.testing.assert_array_equal(A.astype("f64").todense(), [1, 2.5, -3])


def test_narrow_indices():
    count = 200
    expected = np.zeros((count, 2, 100))
    expected[:, 1, 99] = np.arange(1.0, count + 1)
    indices = np.tile(np.array([[1, 99]], dtype=np.int8), (count, 1, 1))
    data = np.arange(1.0, count + 1).reshape(count, 1)
    np.testing.assert_array_equal(tl.asarray(make("BCOO", expected.shape, 1, data=data, indices=indices)).todense(), expected)
    padded = np.concatenate((indices, np.full_like(indices, 100)), axis=1)  # in a copy, batches are coordinates
    with pytest.warns(tl.CopyWarning):
        A = tl.asarray(make("BCOO", expected.shape, 1, data=np.repeat(data, 2, axis=1), indices=padded))
    np.testing.assert_array_equal(A.todense(), expected)
    row, col = np.arange(1, 101, dtype=np.int8), np.zeros(100, dtype=np.int8)
    pairs = make("COO", (101, 1), data=np.ones(100), row=row, col=col)
    assert tl.asarray(pairs).todense().sum() == 100
