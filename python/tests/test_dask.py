"""Matrices in partitions of rows, on threads of this process and on workers."""

import os
import re

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from dask import delayed

import tulle as tl
import tulle.dask as td


@pytest.fixture(autouse=True)
def on_threads():
    with dask.config.set(scheduler="threads"):
        yield


def same(computed, expected):
    np.testing.assert_allclose(tl.asarray(computed).todense(), expected.toarray() if sp.issparse(expected) else expected)


# Partitions.


@pytest.mark.parametrize("npartitions", [1, 2, 3, 7, 60, 100])
@pytest.mark.parametrize("format", ["CSR", "DCSR", "COO", "CSC", "dense", "BCSR(4,4)"])
def test_a_tensor_in_partitions_is_the_tensor(matrix, npartitions, format):
    S = matrix()
    A = td.from_tensor(S, npartitions, format=format)
    assert A.npartitions == min(npartitions, 60) and A.shape == S.shape and A.dtype == S.dtype
    assert A.bounds[0] == 0 and A.bounds[-1] == 60 and (np.diff(A.bounds) > 0).all()
    same(A.compute(), S)
    assert A.row_counts().sum() == A.entries.sum()


def test_partitions_have_about_as_many_entries():
    lengths = np.r_[np.full(10, 90), np.full(990, 1)]
    S = sp.csr_array((np.ones(lengths.sum()), np.concatenate([np.arange(n) for n in lengths]), np.r_[0, np.cumsum(lengths)]), shape=(1000, 90))
    A = td.from_tensor(S, 4)
    assert A.entries.max() <= S.nnz / 4 + 90 and A.imbalance < 1.2
    assert A.bounds[1] < 10  # by entries, not by rows
    one_row = sp.csr_array((np.ones(5), np.arange(5), [0, 0, 5, 5, 5]), shape=(4, 5))
    assert td.from_tensor(one_row, 4).bounds.tolist() == [0, 1, 2, 3, 4]


def test_other_partitions_of_the_same_rows(matrix):
    S = matrix()
    A = td.from_tensor(S, 4)
    same(A.repartition(7).compute(), S)
    moved = A.repartition(bounds=[0, 1, 1, 59, 60])
    same(moved.compute(), S)
    assert moved.entries.tolist() == [S[:1].nnz, 0, S[1:59].nnz, S[59:].nnz]
    for bounds in ([0, 61], [1, 60], [0, 30, 20, 60], [0]):
        with pytest.raises(tl.TulleError, match="bounds: expected ascending numbers from 0 to 60"):
            td.from_tensor(S, bounds=bounds)


def test_files_are_partitions(matrix, tmp_path):
    S = matrix()
    for k, (first, last) in enumerate([(0, 20), (20, 21), (21, 60)]):
        tl.save(tmp_path / f"part-{k}.mtx", tl.asarray(S[first:last]))
    A = td.from_files(tmp_path / "part-*.mtx")
    assert A.bounds.tolist() == [0, 20, 21, 60] and A.entries.tolist() == [S[:20].nnz, S[20:21].nnz, S[21:].nnz]
    same(A.compute(), S)
    same(td.einsum("y(i) = A(i,j) * x(j)", A=A.repartition(2), x=np.ones(45)).compute(), S @ np.ones(45))
    tl.save(tmp_path / "part-3.mtx", tl.asarray(S[:, :44]))
    with pytest.raises(tl.TulleError, match=r"part-3.mtx has the sizes \(60, 44\), but the first file has \(20, 45\)"):
        td.from_files(tmp_path / "part-*.mtx")
    with pytest.raises(tl.TulleError, match="there is no such file"):
        td.from_files(tmp_path / "none-*.mtx")


def test_dask_arrays_are_partitions_and_come_back(matrix, rng):
    S = matrix()
    dense = da.from_array(S.toarray(), chunks=(17, 20))
    A = td.from_array(dense, format="CSR")
    assert A.bounds.tolist() == [0, 17, 34, 51, 60]
    X = rng.random((45, 3))
    Y = td.einsum("Y(i,k) = A(i,j) * X(j,k)", A=A, X=td.from_array(da.from_array(X, chunks=(10, 2))))
    array = Y.to_dask_array()
    assert array.chunks == ((17, 17, 17, 9), (3,))
    np.testing.assert_allclose((array + 1).compute(), S @ X + 1)
    with pytest.raises(tl.TulleError, match="stored as CSR"):
        A.to_dask_array()


# Programs.

_PRODUCTS = {
    "spmv": ("y(i) = A(i,j) * x(j)", {}, lambda v: v["S"] @ v["x"]),
    "spmm": ("Y(i,k) = A(i,j) * X(j,k)", {}, lambda v: v["S"] @ v["X"]),
    "sddmm": ("C(i,j) = A(i,j) * U(i,k) * X(j,k)", {"C": "CSR"}, lambda v: v["S"].toarray() * (v["U"] @ v["X"].T)),
    "masked product": ("C(i,j) = U(i,k) * X(j,k) where A", {"C": "CSR"}, lambda v: (v["S"] != 0).toarray() * (v["U"] @ v["X"].T)),
    "product": ("C(i,j) = A(i,k) * B(k,j)", {"C": "CSR"}, lambda v: v["S"] @ v["T"]),
    "product, dense": ("C(i,j) = A(i,k) * B(k,j)", {}, lambda v: v["S"] @ v["T"]),
    "columns of B": ("C(i,k) = A(i,j) * D(k,j)", {"C": "CSR"}, lambda v: v["S"] @ v["T"]),
    "element-wise": ("C(i,j) = A(i,j) + G(i,j)", {"C": "CSR"}, lambda v: v["S"] + v["H"]),
    "a dense term": ("y(i) = A(i,j) * x(j) + u(i)", {}, lambda v: v["S"] @ v["x"] + v["u"]),
    "sums of columns": ("y(j) = A(i,j) * u(i)", {}, lambda v: v["S"].T @ v["u"]),
    "sum": ("s = A(i,j) * A(i,j)", {}, lambda v: (v["S"].multiply(v["S"])).sum()),
    "largest": ("m(j) max= A(i,j)", {}, lambda v: v["S"].toarray().max(axis=0)),
    "sparse total": ("G2(j,l) = A(i,j) * G(i,l)", {"G2": "CSR"}, lambda v: v["S"].T @ v["H"]),
    "columns of a whole": ("Y(k,j) = W(k,i) * A(i,j)", {}, lambda v: v["W"] @ v["S"]),
    "indices": ("y(i) = A(i,j) * x(j) where (j < 20)", {}, lambda v: v["S"][:, :20] @ v["x"][:20]),
    "shifted": ("y(i) = A(i,j) * z(j+1)", {}, lambda v: v["S"] @ v["z"][1:46]),
    "gathered": ("y(i) = A(i,j) * x(p(j))", {}, lambda v: v["S"] @ v["x"][v["p"]]),
}


@pytest.fixture
def values(matrix, rng):
    made = {"S": matrix(), "T": matrix(45, 50), "H": matrix(), "x": rng.random(45), "X": rng.random((45, 5)), "U": rng.random((60, 5)),
            "u": rng.random(60), "W": rng.random((4, 60)), "z": rng.random(46), "p": rng.permutation(45)}
    return made


@pytest.mark.parametrize("npartitions", [1, 3, 8])
@pytest.mark.parametrize("where", ["caller", "partitions"])
@pytest.mark.parametrize("name", _PRODUCTS)
def test_programs(values, name, npartitions, where):
    program, formats, expected = _PRODUCTS[name]
    matrices = {"A": values["S"], "B": values["T"], "D": sp.csr_array(values["T"].T), "G": values["H"]}
    whole = {k: v for k, v in {**matrices, **values}.items() if k in tl._core.operands(program)}
    shared = ("B", "X", "x", "G")
    operands = {k: td.from_tensor(v, npartitions) if k == "A" else td.from_tensor(v, 3) if where == "partitions" and k in shared else v
                for k, v in whole.items()}
    result = td.einsum(program, formats=formats, **operands)
    plan = result.explain()
    assert plan.npartitions == npartitions and plan.entries.sum() == values["S"].nnz
    same(result.compute(), expected(values))


def test_a_program_of_statements_keeps_rows_together(matrix, rng):
    S, X = matrix(), rng.random((45, 3))
    program = """m(i) max= A(i,j) where A
                 p(i,j) = exp(A(i,j) - m(i)) where A
                 s(i) = p(i,j)
                 q(i,j) = p(i,j) / s(i) where A
                 o(i,l) = q(i,j) * X(j,l)"""
    of = dict(X=X, formats={"p": "CSR", "q": "CSR"}, results=("q",))
    here, there = tl.run(program, A=S, **of), td.run(program, A=td.from_tensor(S, 5), **of)
    assert set(there) == set(here)
    for name in here:
        same(there[name].compute(), tl.asarray(here[name]).todense())


def test_of_other_operands_partitions_get_what_their_entries_name(rng):
    S = sp.random_array((400, 100_000), density=2e-5, format="csr", rng=rng)
    x = rng.random(100_000)
    A = td.from_tensor(S, 4)
    expected = [np.unique(S[a:b].indices) for a, b in zip(A.bounds, A.bounds[1:])]
    for operand in (x, td.from_tensor(x, 6)):
        y = td.einsum("y(i) = A(i,j) * x(j)", A=A, x=operand)
        plan = y.explain()
        assert plan.received["x"].tolist() == [8 * len(named) for named in expected] and plan.broadcast["x"] == 800_000
        assert "% of sending all to all" in str(plan) and "4 partitions of 400 rows" in str(plan)
        same(y.compute(), S @ x)
    # Where it adds to what is not stored, all of it matters.
    y = td.einsum("Y(i,j) = A(i,j) + x(j)", A=A, x=x)
    assert y.explain().received["x"].tolist() == [800_000] * 4
    T = sp.random_array((100_000, 30), density=1e-2, format="csr", rng=rng)
    C = td.einsum("C(i,j) = A(i,k) * B(k,j)", A=A, B=td.from_tensor(T, 5), format="CSR")
    rows = [T[named].nnz for named in expected]
    assert C.explain().received["B"].tolist() == [12 * n + 4 * len(named) for n, named in zip(rows, expected)]
    same(C.compute(), S @ T)
    V = rng.random((100_000, 3))
    C = td.einsum("C(i,j) = A(i,j) * U(i,k) * V(k,j)", A=A, U=rng.random((400, 3)), V=V.T, format="CSR")
    assert C.explain().received["V"].max() < 24 * max(map(len, expected)) + 24
    assert C.compute().nnz == S.nnz


def test_own_rows_need_not_be_sent(rng):
    S = sp.csr_array(sp.diags_array(np.ones((3, 1000)), offsets=[-1, 0, 1], shape=(1000, 1000)))
    A = td.from_tensor(S, 4)
    x = td.from_tensor(rng.random(1000), bounds=A.bounds)
    assert td.einsum("y(i) = A(i,j) * x(j)", A=A, x=x).explain().received["x"].tolist() == [8, 16, 16, 8]


@pytest.mark.parametrize("program, why", [
    ("y(i) = A(i,i) * B(i)", "'A' is read at (i,i)"),
    ("C(i,j) = A(j,i) * A(i,j)", "'A' is in partitions of rows, but i counts its dimension 1"),
    ("C(i,j) = A(i,k) * A(k,j)", "'A' is read by the rows of each partition, and by others: give it under two names"),
    ("y(i) = A(i+1,j) * B(j)", "the first subscript there must be an index, alone"),
    ("s = A(i,j) * B(j); y(i) = A(i,j) * s", "'s' is known when all partitions have contributed"),
    ("y(i) = A(i,j) * B(j); z(i) = A(i,j) * y(j)", "'y' is computed row by row, but read at other rows"),
    ("y(i) = A(i,j) * B(j) where (i < 3)", "the value of i, which counts the rows of partitions"),
    ("repeat 3 { y(i) = A(i,j) * B(j) }", "a loop"),
    ("y(i) = A(i,j) * ", "expected"),
])
def test_what_partitions_cannot_do_is_said(matrix, program, why):
    operands = {"A": td.from_tensor(matrix(45, 45), 3), "B": np.ones(45)}
    with pytest.raises(tl.TulleError, match=re.escape(why)):
        td.einsum(program, **{name: operands[name] for name in operands if name in program})


def test_options_of_vectors_reach_the_kernel(matrix):
    S, x = matrix(), np.ones(45)
    A = td.from_tensor(S, 3)
    for options in (dict(vl=8, tail="mask"), dict(vl=4, index32=False)):
        same(td.einsum("y(i) = A(i,j) * x(j)", A=A, x=x, **options).compute(), S @ x)
    for options, message in ((dict(tail="none"), "tail 'none'"), (dict(vl=3), "power of 2"), (dict(scalable=True), "vector length")):
        with pytest.raises(tl.TulleError, match=message):
            td.run("y(i) = A(i,j) * x(j)", A=A, x=x, **options)


def test_operands_of_any_storage(matrix, rng):
    S, X = matrix(), rng.random((45, 3))
    A = td.from_tensor(S, 3)
    for operand in (np.asfortranarray(X), tl.asarray(X).to("denseColMajor"), np.repeat(X, 2, axis=0)[::2], td.from_tensor(np.asfortranarray(X), 2)):
        same(td.einsum("Y(i,k) = A(i,j) * X(j,k)", A=A, X=operand).compute(), S @ X)
    half = tl.asarray(S.astype(np.float32)).astype("bf16")
    y = td.einsum("y(i) = A(i,j) * x(j)", A=td.from_tensor(half, 3), x=np.ones(45, dtype=np.float32))
    np.testing.assert_allclose(y.compute(), half.astype("f32").todense().sum(axis=1), rtol=1e-5)
    nothing = td.from_tensor(sp.csr_array((0, 45)), 3)
    assert td.einsum("y(i) = A(i,j) * x(j)", A=nothing, x=np.ones(45)).compute().shape == (0,)


def test_shortest_distances_have_another_fill(rng):
    D = np.where(rng.random((12, 12)) < 0.3, rng.random((12, 12)), np.inf)
    i, j = np.nonzero(np.isfinite(D))
    A = tl.from_coo((12, 12), (i, j), D[i, j], format="{ map = (i, j) -> (i : dense, j : compressed), fill = inf }")
    d = rng.random(12)
    y = td.einsum("y(i) min= A(i,j) + d(j)", A=td.from_tensor(A, 4), d=d)
    np.testing.assert_allclose(y.compute(), (D + d).min(axis=1))
    z = td.einsum("y(j) min= A(i,j) + d(i)", A=td.from_tensor(A, 4), d=d)
    np.testing.assert_allclose(z.compute(), (D + d[:, None]).min(axis=0))


def test_operands_are_checked(matrix):
    A = td.from_tensor(matrix(), 3)
    with pytest.raises(tl.TulleError, match="no operand is in partitions of rows"):
        td.einsum("y(i) = A(i,j) * x(j)", A=matrix(), x=np.ones(45))
    with pytest.raises(tl.TulleError, match="'u' has 59 rows, but A has 60"):
        td.einsum("y(i) = A(i,j) * u(i)", A=A, u=np.ones(59))
    with pytest.raises(tl.TulleError, match="'W' is read by the rows of each partition, and by others"):
        td.einsum("Y(i,j) = A(i,j) * W(i,k) * W(k,i)", A=A, W=np.ones((60, 60)))
    with pytest.raises(tl.TulleError, match="npartitions: 0 partitions"):
        td.from_tensor(matrix(), 0)
    with pytest.raises(tl.TulleError, match="a scalar has no rows"):
        td.from_tensor(np.float64(1), 2)


# Workers.


def spec(tmp_path, count: int, **environment):
    from distributed import Nanny

    return {k: {"cls": Nanny, "options": {"nthreads": 1, "memory_limit": "1 GiB", "env": {"TULLE_CACHE_DIR": str(tmp_path / f"cache{k}"), **environment.get(f"of{k}", {})}}}
            for k in range(count)}


def cluster(tmp_path, count: int, **environment):
    from distributed import Scheduler, SpecCluster

    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "port": 0, "host": "127.0.0.1"}}
    return SpecCluster(workers=spec(tmp_path, count, **environment), scheduler=scheduler)


def origin(kernel):
    return kernel.origin


@pytest.mark.parametrize("workers", [2, 4])
def test_workers_compute_and_get_object_code(values, tmp_path, workers):
    from distributed import Client

    others = {"of1": {"TULLE_CPU": "x86-64-v2" if os.uname().machine == "x86_64" else "generic"}}
    with cluster(tmp_path, workers, **others) as of, Client(of) as client, dask.config.set(scheduler=client):
        A = td.from_tensor(values["S"], 6).persist()
        y = td.einsum("y(i) = A(i,j) * x(j)", A=A, x=values["x"])
        same(y.compute(), values["S"] @ values["x"])
        C = td.einsum("C(i,j) = A(i,k) * B(k,j)", A=A, B=td.from_tensor(values["T"], 3), format="CSR").persist()
        same(C.compute(), values["S"] @ values["T"])
        same(td.einsum("s(j) = C(i,j)", C=C).compute(), (values["S"] @ values["T"]).sum(axis=0))
        # Code for this processor runs as it is where the processor is the same; the other worker compiled it.
        kernel = tl.compile("z(i) = A(i,j) * x(j) * 3", A="CSR", threads=1)
        origins = sorted(client.run(origin, kernel).values())
        assert origins == ["compiled"] + ["object code"] * (workers - 1)


def block_or_death(marker, block):
    """Ends its process the first time."""
    if not marker.exists():
        marker.touch()
        os._exit(1)
    return block


def test_a_killed_worker_is_replaced(values, tmp_path):
    from distributed import Client

    dense = values["S"].toarray()
    pieces = [delayed(block_or_death)(tmp_path / f"died{k}", dense[20 * k : 20 * k + 20]) if k == 1 else delayed(dense[20 * k : 20 * k + 20])
              for k in range(3)]
    array = da.concatenate([da.from_delayed(piece, (20, 45), dtype=float) for piece in pieces])
    with cluster(tmp_path, 2) as of, Client(of) as client, dask.config.set(scheduler=client):
        y = td.einsum("y(i) = A(i,j) * x(j)", A=td.from_array(array, format="CSR"), x=values["x"])
        same(y.compute(), values["S"] @ values["x"])
        assert (tmp_path / "died1").exists()


def spilled(dask_worker):
    return len(dask_worker.data.disk)


def test_partitions_spill_to_disk(rng, tmp_path):
    from distributed import Client

    S = sp.random_array((2000, 2000), density=0.1, format="csr", rng=rng)
    limits = {"distributed.worker.memory.target": 0.001, "distributed.worker.memory.spill": False}
    with dask.config.set(limits):
        with cluster(tmp_path, 2) as of, Client(of) as client, dask.config.set(scheduler=client):
            A = td.from_tensor(S, 8).persist()
            x = rng.random(2000)
            for _ in range(2):
                same(td.einsum("y(i) = A(i,j) * x(j)", A=A, x=x).compute(), S @ x)
            assert sum(client.run(spilled).values()) > 0
