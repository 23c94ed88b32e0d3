"""How tensors are made, shown, cut, and given to others."""

import copy
import gc
import os
import pickle
import random
import warnings
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
import tulle as tl


@pytest.mark.parametrize("format, name", [("csr", "CSR"), ("csc", "CSC"), ("coo", "COO-soa"), ("bsr", "BCSR(2,3)")])
def test_scipys_formats_are_borrowed_and_given_back(matrix, format, name):
    S = matrix(60, 45)
    S = S.tobsr(blocksize=(2, 3)) if format == "bsr" else S.asformat(format)
    if format == "bsr":
        S.sort_indices()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        A = tl.asarray(S, copy=False)
    assert A.format == name
    assert A.values.ctypes.data == S.data.ctypes.data
    np.testing.assert_array_equal(A.todense(), S.toarray())
    back = A.to_scipy()
    assert back.format == format and back.data.ctypes.data == S.data.ctypes.data
    np.testing.assert_array_equal(back.toarray(), S.toarray())


@pytest.mark.parametrize("shape", [(5, 5), (4, 7), (7, 4)])
def test_scipys_diagonals(shape, rng):
    S = sp.dia_array((rng.random((3, shape[1])), [-2, 0, 3]), shape=shape)
    A = tl.asarray(S, copy=False)
    assert A.values.ctypes.data == S.data.ctypes.data
    np.testing.assert_array_equal(A.todense(), S.toarray())
    np.testing.assert_array_equal(A.to("DIA").to_scipy().toarray(), S.toarray())
    unordered = sp.dia_array((rng.random((2, shape[1])), [1, -1]), shape=shape)
    np.testing.assert_array_equal(tl.asarray(unordered).todense(), unordered.toarray())


def test_unsorted_and_repeated_coordinates_are_summed_in_a_copy():
    S = sp.csr_array((np.array([1.0, 2, 3, 4]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    with pytest.raises(tl.TulleError, match="copy=False"):
        tl.asarray(S, copy=False)
    with pytest.warns(tl.CopyWarning, match="unsorted or stand twice"):
        A = tl.asarray(S)
    np.testing.assert_array_equal(A.todense(), [[2, 0, 1], [0, 7, 0]])
    np.testing.assert_array_equal(S.indices, [2, 0, 1, 1])  # the caller's array is as it was
    coo = sp.coo_array((np.array([1.0, 2, 3]), (np.array([1, 0, 1]), np.array([2, 1, 2]))), shape=(2, 3))
    with pytest.warns(tl.CopyWarning):
        np.testing.assert_array_equal(tl.asarray(coo).todense(), [[0, 2, 0], [0, 0, 4]])


@pytest.mark.parametrize("change, why", [
    (dict(indices=np.array([0, 3, 1])), r"indices\[1\] = 3 is outside"),
    (dict(indices=np.array([0, -1, 1])), r"indices\[1\]"),
    (dict(indptr=np.array([0, 5, 3])), "indptr|indices"),
    (dict(indptr=np.array([1, 2, 3])), "indptr.*start at 0"),
])
def test_broken_arrays_are_refused(change, why):
    S = sp.csr_array((np.ones(3), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 3))
    for name, value in change.items():
        setattr(S, name, value)
    with pytest.raises(tl.TulleError, match=why):
        tl.asarray(S)


@pytest.mark.parametrize("array, why", [
    (np.array([object()]), "objects"), (np.ones(3, ">f8"), "byte order"), (np.ones(3, np.uint8), "uint8"),
    (np.array(["a"]), "<U1"), (np.zeros(2, "datetime64[s]"), "datetime64"),
])
def test_element_types_that_do_not_exist_are_refused_by_name(array, why):
    with pytest.raises(tl.TulleError, match=why):
        tl.asarray(array)
    with pytest.raises(tl.TulleError, match="x: .*" + why):
        tl.einsum("y(i) = 2 * x(i)", x=array)


def test_arrays_of_numpy_and_dlpack(rng):
    x = rng.random((4, 5))
    assert tl.asarray(x).values.ctypes.data == x.ctypes.data
    columns = np.asfortranarray(x)
    A = tl.asarray(columns, copy=False)
    assert A.values.ctypes.data == columns.ctypes.data and A.format == "denseColMajor"
    np.testing.assert_array_equal(A.todense(), x)
    with pytest.raises(tl.TulleError, match="contiguous"):
        tl.asarray(x[:, ::2], copy=False)
    np.testing.assert_array_equal(tl.asarray(x[:, ::-1]).todense(), x[:, ::-1])
    assert tl.asarray(3.5).shape == () and tl.asarray([[1, 2]]).shape == (1, 2)

    class OnlyDlpack:
        def __dlpack__(self, **how):
            return x.__dlpack__(**how)

        def __dlpack_device__(self):
            return x.__dlpack_device__()

    assert tl.asarray(OnlyDlpack()).values.ctypes.data == x.ctypes.data


def test_memory_lives_as_long_as_what_reads_it(matrix):
    made = matrix()
    data = made.data.copy()
    alive = weakref.ref(data)
    S = sp.csr_array((data, made.indices, made.indptr), shape=made.shape, copy=False)
    del data
    A = tl.asarray(S)
    values = A[5:20].T.values
    del S, A
    gc.collect()
    assert alive() is not None and not values.flags.writeable
    np.testing.assert_array_equal(values, made.data)
    del values
    gc.collect()
    assert alive() is None


def test_results_share_nothing_that_can_change(matrix):
    A = tl.from_coo((2, 2), ([0, 1], [1, 0]), np.array([1.0, 2.0]), format="CSR")
    with pytest.raises(ValueError, match="read-only"):
        A.values[0] = 5
    B = A.to("COO-soa")
    np.testing.assert_array_equal(B.todense(), [[0, 1], [2, 0]])


def test_from_coo_keeps_the_fill_of_a_format():
    csr = "(i, j) -> (i : dense, j : compressed)"
    A = tl.from_coo((2, 2), ([1, 0], [1, 0]), np.array([1.0, 2.0]), format=f"{{ map = {csr}, fill = inf }}")
    assert A.fill_value == np.inf and A.nnz == 2
    np.testing.assert_array_equal(A.todense(), [[2, np.inf], [np.inf, 1]])
    C = tl.from_coo((2, 2), ([1], [0]), np.array([3j]), format=f"{{ map = {csr}, fill = (1, -2) }}")
    np.testing.assert_array_equal(C.todense(), [[1 - 2j, 1 - 2j], [3j, 1 - 2j]])


def test_entries_in_any_order_are_summed():
    A = tl.from_coo((3, 4), ([2, 0, 2], [1, 3, 1]), np.array([1, 2, 3], np.int32), format="CSR")
    assert A.dtype == np.int32 and A.nnz == 2
    np.testing.assert_array_equal(A.todense()[[0, 2], [3, 1]], [2, 4])
    for coords, why in [(([0, 5], [0, 0]), r"coords\[0\]\[1\] = 5 is outside"), (([0], [0, 0]), r"coords\[0\]: has shape \(1,\)"),
                        (([0.5, 1], [0, 0]), "integers"), (([-1, 1], [0, 0]), r"coords\[0\]\[0\] = ")]:
        with pytest.raises(tl.TulleError, match=why):
            tl.from_coo((3, 4), coords, np.ones(2))


def test_buffers_of_any_format():
    A = tl.from_buffers((2, 3), "CSR", positions={1: np.array([0, 1, 3], np.uint32)},
                        coordinates={1: np.array([2, 0, 1], np.uint32)}, values=np.array([1.0, 2, 3]))
    np.testing.assert_array_equal(A.todense(), [[0, 0, 1], [2, 3, 0]])
    pattern = tl.from_buffers((2, 3), "(i, j) -> (i : dense, j : compressed), explicitVal = 1",
                              positions={1: np.array([0, 1, 3])}, coordinates={1: np.array([2, 0, 1])}, values=3)
    assert pattern.dtype == bool and pattern.todense().sum() == 3
    with pytest.raises(tl.TulleError, match="positions of level 1"):
        tl.from_buffers((2, 3), "CSR", coordinates={1: np.array([2, 0, 1])}, values=np.ones(3))
    with pytest.raises(tl.TulleError, match="no positions of level 0"):
        tl.from_buffers((2, 3), "CSR", positions={0: np.zeros(1, int), 1: np.array([0, 1, 3])},
                        coordinates={1: np.array([2, 0, 1])}, values=np.ones(3))
    with pytest.raises(tl.TulleError, match=r"coordinates\[1\]\[0\] = 3 is outside"):
        tl.from_buffers((2, 3), "CSR", positions={1: np.array([0, 1, 3])}, coordinates={1: np.array([3, 0, 1])},
                        values=np.ones(3))


FORMATS = ["CSR", "CSC", "COO", "COO-soa", "DCSR", "BCSR(2,3)", "DIA", "ELL", "ELLR", "JDS", "SELL(4,8)", "DOK",
           "bitmap", "HiCOO(2)", "dense", "denseColMajor"]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_converted_to_pickled_and_rebuilt(matrix, format):
    S = matrix(12, 9, 0.3)
    A = tl.asarray(S).to(format)
    np.testing.assert_array_equal(A.todense(), S.toarray())
    for other in (pickle.loads(pickle.dumps(A)), copy.copy(A), copy.deepcopy(A)):
        assert (other.encoding, other.dtype, other.shape) == (A.encoding, A.dtype, A.shape)
        np.testing.assert_array_equal(other.todense(), S.toarray())


def test_copies_have_memory_of_their_own(matrix):
    S = matrix(12, 9, 0.3)
    A = tl.asarray(S)
    want, copies = S.toarray(), [A.copy(), np.copy(A), A[2:9].copy()]
    S.data[:] = 0
    assert not A.todense().any()
    for made, rows in zip(copies, [slice(None), slice(None), slice(2, 9)]):
        np.testing.assert_array_equal(made.todense(), want[rows])


@pytest.mark.parametrize("seed", range(40))
def test_slices_are_converted_between_formats(matrix, seed):
    draw = random.Random(seed)

    def part(size):
        begin, end = sorted(draw.sample(range(size + 1), 2))
        return draw.choice([slice(None), slice(begin, end), slice(begin, end, draw.randint(2, 3))])

    S = matrix(12, 9, draw.choice([0.05, 0.3, 0.8]))
    at = part(12), part(9)
    shown = tl.asarray(S).to(draw.choice(FORMATS))[at]
    made = shown.to(draw.choice(FORMATS))
    np.testing.assert_array_equal(made.todense(), S.toarray()[at])
    assert made.shape == S.toarray()[at].shape


def test_slices_are_pickled_as_what_they_show(matrix):
    A = tl.asarray(matrix(24, 36, 0.2))
    for part in (A[2:9], A[:, ::2], A[[3, 1]], A.T[4:7], A.reshape(4, 6, 36)[1:3]):
        other = pickle.loads(pickle.dumps(part))
        assert other.shape == part.shape and other.nbytes < A.nbytes
        np.testing.assert_array_equal(other.todense(), part.todense())


def test_truth_values_are_false_where_nothing_is_stored():
    A = tl.from_coo((2, 2), ([0], [1]), np.array([True]), format="CSR")
    assert A.fill_value.dtype == bool and not A.fill_value


def test_pickles_leave_large_buffers_out_of_band(matrix):
    A = tl.asarray(matrix())
    lent = []
    data = pickle.dumps(A, protocol=5, buffer_callback=lent.append)
    assert sum(memoryview(b).nbytes for b in lent) == A.nbytes
    B = pickle.loads(data, buffers=lent)
    assert B.values.ctypes.data == A.values.ctypes.data


KEYS = [np.s_[3], np.s_[-1], np.s_[3:10], np.s_[:, 2], np.s_[::2, 1:30:3], np.s_[::-1], np.s_[10:3:-2, ::-1],
        np.s_[..., 4], np.s_[2, 3], np.s_[5:5], np.s_[[4, 0, 4]], np.s_[:, [3, -1]], np.s_[-3:, ...]]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("format", ["CSR", "CSC", "COO", "BCSR(2,3)", "JDS", "dense"])
def test_indexing_is_numpys(matrix, key, format):
    S = matrix(24, 36, 0.2)
    got = tl.asarray(S).to(format)[key]
    expected = S.toarray()[key]
    assert np.shape(expected) == np.shape(got) if np.isscalar(got) else got.shape == expected.shape
    np.testing.assert_array_equal(got.todense() if isinstance(got, tl.Tensor) else got, expected)


def test_indices_out_of_range_are_refused(matrix):
    A = tl.asarray(matrix(5, 5))
    for key in [5, -6, (0, 7), (1, 1, 1), [9], "a", 1.5]:
        with pytest.raises((IndexError, tl.TulleError)):
            A[key]


def test_shapes_change_as_numpys(matrix):
    S = matrix(12, 10)
    A = tl.asarray(S)
    np.testing.assert_array_equal(A.reshape(20, -1).todense(), S.toarray().reshape(20, 6))
    np.testing.assert_array_equal(A.T.todense(), S.toarray().T)
    assert A.T.values.ctypes.data == A.values.ctypes.data
    for format in ("JDS", "SELL(4,8)", "DIA", "ELL", "DOK"):
        np.testing.assert_array_equal(A.to(format).reshape(5, 24).todense(), S.toarray().reshape(5, 24))
    assert A[5:5].reshape(3, 0, 2).shape == (3, 0, 2)
    with pytest.raises(tl.TulleError, match="elements"):
        A.reshape(7, 7)


@pytest.mark.parametrize("shape", [(8, 15), (1, 120), (120, 1), (1, 1, 120, 1), (5, 1, 24), (2, 1, 1, 60), (7, 1)])
@pytest.mark.parametrize("format", ["CSR", "CSC", "COO", "BCSR(2,5)"])
def test_a_shape_that_no_level_has_is_a_copy(matrix, shape, format):
    S = matrix(7, 1) if shape == (7, 1) else matrix(12, 10)
    A = tl.asarray(S).to(format)
    made = A.reshape(*shape)
    np.testing.assert_array_equal(made.todense(), S.toarray().reshape(shape))
    np.testing.assert_array_equal(made.reshape(S.shape).todense(), S.toarray())


def test_nothing_becomes_dense_by_itself(matrix):
    A = tl.asarray(matrix())
    with pytest.raises(TypeError, match="todense"):
        np.asarray(A)
    with pytest.raises(TypeError):
        hash(A)


def test_groups_with_fewer_entries_than_slots():
    A = tl.from_coo((2, 8), ([1, 0, 0], [7, 3, 1]), np.array([3.0, 2.0, 1.0]), format="NV24")
    assert "crd[2] : ( 1, 3, 0, 1, 0, 1, 0, 3 )" in A.print() and "values : ( 1, 2, 0, 0, 0, 0, 0, 3 )" in A.print()
    np.testing.assert_array_equal(A.todense(), tl.from_coo((2, 8), ([1, 0, 0], [7, 3, 1]), np.array([3.0, 2.0, 1.0]), format="CSR").todense())
    with pytest.raises(tl.TulleError, match=r"group \(i = 0, j = 0..3\) has 3 entries, this level holds at most 2"):
        tl.from_coo((2, 8), ([0, 0, 0], [0, 1, 2]), np.ones(3), format="NV24")


def test_queries_of_computed_coordinates(matrix):
    S = matrix()
    A, S = tl.asarray(S), S.tocoo()
    diagonals = np.bincount(S.col - S.row + 59, minlength=104)
    np.testing.assert_array_equal(tl.query("select [j - i] -> count(i) as n", A)["n"], diagonals)
    blocks = np.zeros((30, 23), int)
    np.add.at(blocks, (S.row // 2, S.col // 2), 1)
    np.testing.assert_array_equal(tl.query("select [i / 2, j / 2] -> count(i, j) as n", A)["n"], blocks)
    assert tl.query("select [] -> max(#i) as most", A)["most"] == np.bincount(S.row).max() - 1
    np.testing.assert_array_equal(tl.query("select [k] -> id() as nz", A.to("DIA"))["nz"], diagonals > 0)


def test_queries_and_descriptions(matrix):
    S = matrix()
    A = tl.asarray(S)
    np.testing.assert_array_equal(tl.query("select [i] -> count(j) as n", A)["n"], np.diff(S.indptr))
    assert repr(A) == f"<tulle.Tensor 60 x 45, float64, CSR, {S.nnz} stored, {A.nbytes} bytes>"
    part = A[7:31:3, 4:]
    assert part.nnz == S[7:31:3, 4:].nnz and A.T[4:][:, 7:31:3].nnz == part.nnz
    assert A.to("BCSR(4,3)")[4:8, 3:6].nnz == 12 * (S[4:8, 3:6].nnz > 0)
    assert "a view, " in repr(part) and "stored" not in repr(part)
    assert (A.ndim, A.size, len(A), A.fill_value) == (2, 2700, 60, 0.0)
    assert "nse = " in A.print()
    with pytest.raises(tl.TulleError) as raised:
        tl.query("select [i] -> cuont(j) as n", A)
    assert raised.value.column


def test_files(matrix, tmp_path):
    S = matrix()
    for name in ["a.mtx", "a.mtx.gz", "a.tns"]:
        tl.save(tmp_path / name, S)
        np.testing.assert_allclose(tl.load(tmp_path / name, format="CSR").todense(), S.toarray())
    assert tl.load(tmp_path / "a.mtx", dtype="f32").dtype == np.float32
    with pytest.raises(tl.TulleError, match="b.mtx"):
        tl.load(tmp_path / "b.mtx")


def test_pictures(matrix, capsys):
    S = sp.csr_array(np.array([[1.0, 0, 0], [0, 0, 2.0]]))
    tl.show(S, storage=True)
    shown = capsys.readouterr().out
    assert "│█  │\n│  █│\n" in shown and "j : compressed" in shown
    picture = tl.asarray(S)._repr_html_()
    assert "<svg" in picture and "2 of them" not in picture and "&lt;tulle.Tensor" in picture
    assert "<svg" not in tl.asarray(1.5)._repr_html_()


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "dia"])
def test_scipys_files(matrix, tmp_path, format):
    S = matrix(20, 30)
    S = S.tobsr(blocksize=(2, 3)) if format == "bsr" else S.asformat(format)
    sp.save_npz(tmp_path / "a.npz", S)
    A = tl.load(tmp_path / "a.npz")
    np.testing.assert_array_equal(A.todense(), S.toarray())
    assert tl.load(tmp_path / "a.npz", format="CSC", dtype="f32").dtype == np.float32
    tl.save(tmp_path / "b.npz", A)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "b.npz").toarray(), S.toarray())
    unsorted = sp.csr_array((np.array([1.0, 2, 3]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    sp.save_npz(tmp_path / "u.npz", unsorted)
    np.testing.assert_array_equal(tl.load(tmp_path / "u.npz").todense(), [[2, 0, 4]])


def test_damaged_archives_are_refused(matrix, tmp_path):
    S = matrix(20, 30)
    sp.save_npz(tmp_path / "a.npz", S)
    whole = (tmp_path / "a.npz").read_bytes()
    path = tmp_path / "c.npz"
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(tl.TulleError, match="c.npz") as refused:
            tl.load(path)
        opened = [os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
        assert str(path) not in opened, refused
    arrays = dict(format=b"csr", shape=[20, 30], data=S.data, indices=S.indices, indptr=S.indptr)
    for wrong in [dict(format=b"xyz"), dict(shape=[2]), dict(indices=S.indices + 30), dict(indptr=S.indptr[::-1]),
                  dict(indptr=S.indptr[:-1]), dict(data=S.data[:-3]), dict(indices=S.indices * 0.5)]:
        np.savez(path, **{**arrays, **wrong})
        with pytest.raises(tl.TulleError, match="c.npz"):
            tl.load(path)
    np.savez(path, format=b"csr", shape=[20, 30])
    with pytest.raises(tl.TulleError, match="'data' is missing"):
        tl.load(path)
    with pytest.raises(tl.TulleError, match="no-such"):
        tl.save(tmp_path / "no-such" / "a.npz", S)


@pytest.mark.parametrize("format", ["CSR", "CSC", "COO-soa", "DCSR", "dense", "denseColMajor", "BCSR(2,3)"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.bool_, np.int64])
def test_binsparse_files(matrix, tmp_path, format, dtype):
    A = tl.asarray(matrix(12, 9, 0.3)).astype(dtype).to(format)
    tl.save(tmp_path / "a.h5", A)
    B = tl.load(tmp_path / "a.h5")
    assert B.dtype == dtype and (B.format == format or format.startswith("BCSR"))
    np.testing.assert_array_equal(B.todense(), A.todense())


def test_damaged_binsparse_files_are_refused(matrix, tmp_path):
    import h5py

    path = tmp_path / "c.h5"
    tl.save(path, matrix(12, 9, 0.3))
    whole = path.read_bytes()
    for cut in (0, 100, len(whole) // 2):
        (tmp_path / "cut.h5").write_bytes(whole[:cut])
        with pytest.raises(tl.TulleError, match="cut.h5"):
            tl.load(tmp_path / "cut.h5")
    for damage in ["del file['values']", "file.attrs['binsparse'] = '{'", "file['indices_1'][0] = 99",
                   "del file.attrs['binsparse']", "file.attrs['binsparse'] = '{\"binsparse\": {\"shape\": [2]}}'"]:
        path.write_bytes(whole)
        with h5py.File(path, "r+") as file:
            exec(damage)
        with pytest.raises(tl.TulleError, match="c.h5"):
            tl.load(path)
    with pytest.raises(tl.TulleError, match="no-such"):
        tl.save(tmp_path / "no-such" / "a.h5", matrix(2, 2, 1))
