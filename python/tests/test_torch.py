"""PyTorch's tensors go in as they are, and come back."""

import importlib.util
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import tulle as tl


@pytest.fixture
def torch(monkeypatch):
    if importlib.util.find_spec("torch"):
        warnings.filterwarnings("ignore", ".*beta state")
        warnings.filterwarnings("ignore", ".*invariant checks")
        return importlib.import_module("torch")
    import torch_stand_in

    monkeypatch.setitem(sys.modules, "torch", torch_stand_in)
    return torch_stand_in


def stored(torch, layout, S, block=None):
    """The matrix in a layout of PyTorch, and the dense array."""
    S = S.tobsr(blocksize=block) if layout == "bsr" else S.asformat("csc" if layout in ("csc", "bsc") else "csr")
    if layout == "bsc":
        T = S.T.tobsr(blocksize=block[::-1])
        T.sort_indices()
        arrays = T.indptr, T.indices, np.ascontiguousarray(T.data.transpose(0, 2, 1))
    else:
        S.sort_indices()
        arrays = S.indptr, S.indices, S.data
    return getattr(torch, f"sparse_{layout}_tensor")(*map(torch.from_numpy, arrays), size=S.shape), arrays[-1]


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "bsc"])
def test_compressed_layouts_are_borrowed(torch, matrix, layout):
    S = matrix(60, 45)
    theirs, values = stored(torch, layout, S, (2, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        A = tl.asarray(theirs, copy=False)
    assert A.values.ctypes.data == values.ctypes.data
    np.testing.assert_array_equal(A.todense(), S.toarray())
    assert A.values.ctypes.data != tl.asarray(theirs, copy=True).values.ctypes.data
    if layout != "bsc":  # whose storage has no name of Tulle's, and goes back as coo
        back = A.to_torch()
        assert str(back.layout) == f"torch.sparse_{layout}" and tuple(back.shape) == S.shape
        assert back.values().data_ptr() == values.ctypes.data
    np.testing.assert_array_equal(tl.asarray(A.to_torch()).todense(), S.toarray())


def test_coordinates_are_borrowed_sorted_or_summed(torch):
    ordered = torch.tensor([[0, 0, 2], [1, 3, 0]]), torch.tensor([1.0, 2.0, 3.0])
    A = tl.asarray(torch.sparse_coo_tensor(*ordered, size=(3, 4)), copy=False)
    assert A.values.ctypes.data == ordered[1].data_ptr()
    np.testing.assert_array_equal(A.todense(), [[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 0]])
    back = A.to_torch()
    assert back.is_coalesced() and str(back.layout) == "torch.sparse_coo"
    twice = torch.sparse_coo_tensor(torch.tensor([[2, 0, 2], [0, 3, 0]]), ordered[1], size=(3, 4))
    with pytest.raises(tl.TulleError, match="copy=False"):
        tl.asarray(twice, copy=False)
    with pytest.warns(tl.CopyWarning, match="unsorted or stand twice"):
        B = tl.asarray(twice)
    np.testing.assert_array_equal(B.todense(), [[0, 0, 0, 2], [0, 0, 0, 0], [4, 0, 0, 0]])


def test_batches_and_dense_dimensions(torch, rng):
    parts = [sp.csr_array(np.where(rng.random((4, 5)) < 0, 0, np.eye(4, 5, k) * rng.random((4, 5)))) for k in (0, 1)]
    crow, col, values = (np.stack([getattr(p, name) for p in parts]) for name in ("indptr", "indices", "data"))
    batch = torch.sparse_csr_tensor(*map(torch.from_numpy, (crow, col, values)), size=(2, 4, 5))
    np.testing.assert_array_equal(tl.asarray(batch, copy=False).todense(), np.stack([p.toarray() for p in parts]))
    blocks = torch.sparse_bsr_tensor(
        *map(torch.from_numpy, (np.array([[0, 1, 2]] * 2), np.array([[0, 1], [1, 0]]), rng.random((2, 2, 2, 3)))), size=(2, 4, 6))
    B = tl.asarray(blocks, copy=False).todense()
    np.testing.assert_array_equal(B[1, :2, 3:], blocks.values().numpy()[1, 0])
    np.testing.assert_array_equal(B[0, 2:, 3:], blocks.values().numpy()[0, 1])
    assert np.count_nonzero(B) == 2 * 2 * 2 * 3
    below = torch.sparse_csr_tensor(
        *map(torch.from_numpy, (np.array([0, 1, 2]), np.array([2, 0]), rng.random((2, 4)))), size=(2, 3, 4))
    dense = tl.asarray(below, copy=False).todense()
    np.testing.assert_array_equal([dense[0, 2], dense[1, 0]], below.values().numpy())
    rows = rng.random((3, 2))
    hybrid = torch.sparse_coo_tensor(torch.tensor([[0, 1, 3]]), torch.from_numpy(rows), size=(4, 2))
    H = tl.asarray(hybrid, copy=False)
    np.testing.assert_array_equal(H.todense(), np.array([rows[0], rows[1], [0, 0], rows[2]]))
    assert H.values.ctypes.data == rows.ctypes.data


def test_dense_tensors_and_bfloat16(torch, rng):
    array = rng.random((3, 4))
    A = tl.asarray(torch.from_numpy(array), copy=False)
    assert A.values.ctypes.data == array.ctypes.data == A.to_torch().data_ptr()
    bits = np.array([0x3F80, 0x4000, -0x4080], dtype=np.int16)  # 1, 2, -1
    b = tl.asarray(torch.from_numpy(bits).view(torch.bfloat16))
    np.testing.assert_array_equal(b.astype("f64").todense(), [1, 2, -1])
    assert float(tl.asarray(np.float64(2.5)).to_torch().numpy()) == 2.5
    columns = tl.asarray(np.asfortranarray(array)).to_torch()
    np.testing.assert_array_equal(columns.numpy(), array)
    back = b.to_torch()
    assert back.dtype == torch.bfloat16 and back.view(torch.int16).numpy().tolist() == bits.tolist()


def test_operands_of_programs(torch, matrix, rng):
    S, x = matrix(30, 20), rng.random(20)
    theirs, _ = stored(torch, "csr", S)
    np.testing.assert_allclose(tl.einsum("y(i) = A(i,j) * x(j)", A=theirs, x=torch.from_numpy(x)), S @ x)
    np.testing.assert_allclose(np.asarray(tl.asarray(S) @ torch.from_numpy(x)), S @ x)


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_rows_are_sorted_or_summed(torch, layout):
    arrays = np.array([0, 3, 3, 5]), np.array([2, 0, 2, 1, 0]), np.array([1.0, 2, 4, 8, 16])
    theirs = getattr(torch, f"sparse_{layout}_tensor")(*map(torch.from_numpy, arrays), size=(3, 3))
    with pytest.warns(tl.CopyWarning, match="unsorted or stand twice"):
        A = tl.asarray(theirs)
    expected = np.array([[2, 0, 5], [0, 0, 0], [16, 8, 0]])
    np.testing.assert_array_equal(A.todense(), expected if layout == "csr" else expected.T)
    assert A.nnz == 4
    with pytest.raises(tl.TulleError, match="sorting it needs a copy"):
        tl.asarray(theirs, copy=False)


def test_blocks_are_sorted(torch):
    arrays = np.array([0, 2]), np.array([1, 0]), np.arange(12.0).reshape(2, 2, 3)
    theirs = torch.sparse_bsr_tensor(*map(torch.from_numpy, arrays), size=(2, 6))
    with pytest.warns(tl.CopyWarning):
        A = tl.asarray(theirs)
    np.testing.assert_array_equal(A.todense(), [[6, 7, 8, 0, 1, 2], [9, 10, 11, 3, 4, 5]])


def test_what_cannot_be_borrowed(torch, monkeypatch):
    ones = torch.from_numpy(np.ones(3))
    ones.requires_grad = True
    with pytest.raises(tl.TulleError, match=r"asks for gradients.*x\.detach\(\)"):
        tl.asarray(ones)
    with pytest.raises(tl.TulleError, match=r"^x: the tensor asks for gradients"):
        tl.einsum("s = x(i)", x=ones)
    beyond = torch.sparse_csr_tensor(*map(torch.from_numpy, (np.array([0, 1, 2]), np.array([0, 0]), np.ones(2))), size=(2, 2))
    beyond.col_indices().numpy()[1] = 7
    with pytest.raises(tl.TulleError, match=r"col_indices\[1\] = 7 is outside"):
        tl.asarray(beyond)
