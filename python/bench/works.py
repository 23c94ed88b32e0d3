"""What is timed: each work as Tulle's call, and as what its user would write with another package."""

import dataclasses

import numpy as np
import scipy.sparse as sp
import tulle as tl

import loops
import peers


@dataclasses.dataclass
class Work:
    name: str
    tulle: object  # a function without parameters
    peers: dict  # package -> a function that prepares, and returns such a function

    @staticmethod
    def numbers(result) -> np.ndarray:
        """What can be compared, whatever package the result is of: its elements, or the arrays of CSR."""
        if isinstance(result, tl.Tensor):
            result = result.to_scipy()
        if type(result).__module__.startswith("graphblas"):
            result = peers.module("graphblas").io.to_scipy_sparse(result, "csr") if result.ndim == 2 else result.to_dense(0.0)
        if type(result).__module__.startswith("sparse."):
            result = result.tocoo().to_scipy_sparse() if result.ndim == 2 else result.todense()
        if hasattr(result, "tocsr"):
            matrix = sp.csr_array(result, copy=True)
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            return np.concatenate([matrix.indptr, matrix.indices, matrix.data])
        return np.asarray(result.todense() if hasattr(result, "todense") else result)


def _matrices():
    rng = np.random.default_rng(1)
    yield "grid2d:700", tl.generate("grid2d:700", format="CSR").to_scipy()
    yield "rmat:16:16", tl.generate("rmat:16:16", format="CSR").to_scipy()
    yield "uniform", sp.random_array((200_000, 200_000), density=1e-4, format="csr", rng=rng)


def _graphblas(S):
    return peers.module("graphblas").io.from_scipy_sparse(S)


def _bcoo(S):
    from jax.experimental import sparse

    return sparse.BCOO.from_scipy_sparse(S.tocoo()).sort_indices()


def _jitted(function, *operands):
    call = peers.module("jax").jit(function)
    return lambda: call(*operands).block_until_ready()


def _products(threads):
    rng = np.random.default_rng(2)
    spmv = tl.compile("y(i) = A(i,j) * x(j)", A="CSR", threads=threads)
    spmm = tl.compile("Y(i,k) = A(i,j) * X(j,k)", A="CSR", threads=threads)
    for label, S in _matrices():
        A, x, X = tl.asarray(S), rng.random(S.shape[1]), rng.random((S.shape[1], 32))
        for name, kernel, dense, loop in [("SpMV", spmv, x, "spmv"), ("SpMM 32", spmm, X, "spmm")]:
            yield Work(f"{name} {label}", lambda kernel=kernel, A=A, dense=dense: kernel(A, dense), {
                "scipy": lambda S=S, dense=dense: lambda: S @ dense,
                "mkl": lambda S=S, dense=dense: lambda: peers.module("mkl").dot_product_mkl(S, dense),
                "numba": lambda S=S, dense=dense, loop=loop: lambda: loops.compiled(loop, threads)(S.indptr, S.indices, S.data, dense),
                "jax": lambda S=S, dense=dense: _jitted(lambda M, v: M @ v, _bcoo(S), dense),
                **({"graphblas": lambda S=S, x=x: _graphblas_spmv(S, x)} if dense is x else {}),
            })


def _graphblas_spmv(S, x):
    A, v = _graphblas(S), peers.module("graphblas").Vector.from_dense(x)
    return lambda: A.mxv(v).new()


def _sampled(threads):
    rng = np.random.default_rng(3)
    for label, S in list(_matrices())[:2]:
        A, U, V = tl.asarray(S), rng.random((S.shape[0], 64)), rng.random((S.shape[1], 64))
        kernel = tl.compile("C(i,j) = A(i,j) * U(i,k) * V(j,k)", A="CSR", C="CSR", threads=threads)
        rows = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
        like = lambda data, S=S: sp.csr_array((data, S.indices, S.indptr), shape=S.shape)
        yield Work(f"SDDMM 64 {label}", lambda: kernel(A, U, V), {
            "scipy": lambda S=S, rows=rows: lambda: like(S.data * np.einsum("pk,pk->p", U[rows], V[S.indices])),
            "numba": lambda S=S: lambda: like(loops.compiled("sddmm", threads)(S.indptr, S.indices, S.data, U, V)),
        })


def _sparse_results(threads):
    S = tl.generate("rmat:14:8", format="CSR").to_scipy()
    grid = tl.generate("grid2d:400", format="CSR").to_scipy()
    product = tl.compile("C(i,j) = A(i,k) * B(k,j)", A="CSR", B="CSR", C="CSR", threads=threads)
    masked = tl.compile("C(i,j) = A(i,k) * B(k,j) where A", A="CSR", B="CSR", C="CSR", threads=threads)
    added = tl.compile("C(i,j) = A(i,j) + B(i,j)", A="CSR", B="CSR", C="CSR", threads=threads)
    for label, M in [("rmat:14:8", S), ("grid2d:400", grid)]:
        A, T = tl.asarray(M), M.T.tocsr()
        B = tl.asarray(T)
        yield Work(f"A @ B {label}", lambda A=A: product(A, A), {
            "scipy": lambda M=M: lambda: M @ M,
            "mkl": lambda M=M: lambda: peers.module("mkl").dot_product_mkl(M, M),
            "graphblas": lambda M=M: (lambda G: lambda: G.mxm(G).new())(_graphblas(M)),
        })
        yield Work(f"A + B {label}", lambda A=A, B=B: added(A, B), {
            "scipy": lambda M=M, T=T: lambda: M + T,
            "graphblas": lambda M=M, T=T: (lambda G, H: lambda: G.ewise_add(H, "plus").new())(_graphblas(M), _graphblas(T)),
        })
        yield Work(f"masked A @ A {label}", lambda A=A: masked(A, A), {
            "graphblas": lambda M=M: _graphblas_masked(M),
            "scipy": lambda M=M: (lambda P: lambda: (M @ M).multiply(P))(sp.csr_array((np.ones_like(M.data), M.indices, M.indptr), shape=M.shape)),
        })


def _graphblas_masked(M):
    G = _graphblas(M)
    return lambda: G.mxm(G).new(mask=G.S)


def _conversions(threads):
    S = tl.generate("rmat:16:16", format="CSR").to_scipy().tocoo()
    order = np.random.default_rng(4).permutation(len(S.data))
    row, col, data = S.row[order].astype(np.int64), S.col[order].astype(np.int64), S.data[order]
    yield Work("COO to CSR shuffled", lambda: tl.from_coo(S.shape, (row, col), data, format="CSR"), {
        "scipy": lambda: lambda: sp.coo_array((data, (row, col)), shape=S.shape).tocsr(),
        "graphblas": lambda: lambda: peers.module("graphblas").Matrix.from_coo(row, col, data, nrows=S.shape[0], ncols=S.shape[1]),
        "sparse": lambda: lambda: peers.module("sparse").COO((row, col), data, shape=S.shape).asformat("csr"),
    })


def _tensors(threads):
    rng = np.random.default_rng(5)
    shape, count = (2000, 1500, 1000), 1_000_000
    flat = np.unique(rng.integers(0, np.prod(shape), count))
    i, j, k = np.unravel_index(flat, shape)
    values, B, C, v = rng.random(len(flat)), rng.random((1500, 32)), rng.random((1000, 32)), rng.random(1000)
    starts = np.searchsorted(i, np.arange(shape[0] + 1))
    T = tl.from_coo(shape, (i, j, k), values, format="CSF")
    mttkrp = tl.compile("D(i,r) = T(i,j,k) * B(j,r) * C(k,r)", T="CSF", threads=threads)
    ttv = tl.compile("D(i,j) = T(i,j,k) * v(k)", T="CSF", threads=threads)
    yield Work("MTTKRP 32", lambda: mttkrp(T, B, C), {
        "numba": lambda: lambda: loops.compiled("mttkrp", threads)(starts, j, k, values, B, C, shape[0]),
    })
    yield Work("TTV", lambda: ttv(T, v), {
        "numba": lambda: lambda: loops.compiled("ttv", threads)(starts, j, k, values, v, shape[0], shape[1]),
        "sparse": lambda: (lambda M: lambda: peers.module("sparse").tensordot(M, v, axes=([2], [0])))(
            peers.module("sparse").COO((i, j, k), values, shape=shape)),
    })


def _programs(threads):
    S = tl.generate("rmat:16:16", format="CSR").to_scipy()
    A = tl.asarray(S)
    softmax = tl.compile("""m(i) max= A(i,j) where A
        e(i,j) = exp(A(i,j) - m(i)) where A
        s(i) = e(i,j)
        p(i,j) = e(i,j) / s(i)""", A="CSR", formats={"e": "CSR", "p": "CSR"}, threads=threads)
    like = lambda data: sp.csr_array((data, S.indices, S.indptr), shape=S.shape)
    yield Work("softmax rmat:16:16", lambda: softmax(A), {
        "numba": lambda: lambda: like(loops.compiled("softmax", threads)(S.indptr, S.data)),
    })
    rng = np.random.default_rng(6)
    X, rows = rng.random((100_000, 64), dtype=np.float32), rng.integers(0, 100_000, 200_000, dtype=np.int32)
    Y = rng.random((200_000, 64), dtype=np.float32)
    gather = tl.compile("Y(i,k) = X(p(i),k)", X=("dense", "f32"), p=("dense", "i32"), threads=threads)
    scatter = tl.compile("Z(p(i),k) += Y(i,k)", Z=("dense", "f32"), Y=("dense", "f32"), p=("dense", "i32"),
                         shapes={"Z": (100_000, 64)}, threads=threads)
    given = {"X": X, "p": rows, "Y": Y}
    yield Work("gather rows", lambda: gather(*(given[name] for name in gather.inputs)), {
        "numpy": lambda: lambda: X[rows],
        "numba": lambda: lambda: loops.compiled("gather", threads)(X, rows),
    })

    def added():
        Z = np.zeros((100_000, 64), np.float32)
        np.add.at(Z, rows, Y)
        return Z

    yield Work("scatter rows", lambda: scatter(*(given[name] for name in scatter.inputs)), {
        "numpy": lambda: added,
        "numba": lambda: lambda: loops.compiled("scatter", threads)(Y, rows, 100_000),
    })


def all_works(threads: int):
    for group in (_products, _sampled, _sparse_results, _conversions, _tensors, _programs):
        yield from group(threads)
