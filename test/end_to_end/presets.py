"""Every preset as operand of kernels and as result, each answer from NumPy."""
import numpy

import data

VECTOR = "(i) -> (i : compressed)"
# Which store the nonzeros and nothing else, so that `where` and the number of stored entries say something.
EXACT = ["COO", "COO-soa", "CSR", "CSC", "DCSR", "DCSC", "JDS", "BCOO", "CSF", "CSF(1,0)", "HiCOO(1)", "DOK", "bitmap", "NV24", "NM(2,4)",
         "ELL", "ELLR", "SELL(2,4)", "(i,j) -> (i : dense, j : loose_compressed[2])",
         "(i,j) -> (j : compressed(nonordered), i : compressed(nonordered))"]
PADDED = ["dense", "denseColMajor", "BCSR(2,3)", "BCSC(3,2)", "DIA", "skyline", "ragged", "jagged"]
TWO_OF_FOUR = ["NV24", "NM(2,4)"]
TENSORS = ["dense", "denseColMajor", "COO", "COO-soa", "CSF", "CSF(2,0,1)", "CSF(1,2,0)", "BCOO", "HiCOO(1)", "DOK", "bitmap", "ragged", "jagged"]


def operands(make):
    A, B = data.two_of_four(10, 12, 71), data.sparse((10, 12), 0.3, 72)
    E, S, D = data.sparse((12, 5), 1, 73), data.sparse((12, 9), 0.3, 74), data.sparse((10, 4), 1, 75)
    F, x, y = data.sparse((4, 12), 1, 76), data.sparse(12, 1, 77), data.sparse(10, 1, 78)
    for form in EXACT + PADDED:
        kernels = [("y(i) = A(i,j) * x(j)", {"x": (x, "")}, A @ x), ("z(j) = A(i,j) * y(i)", {"y": (y, "")}, A.T @ y),
                   ("y(i) = A(i,j) * x(j)", {"x": (S[:, 0].copy(), VECTOR)}, A @ S[:, 0]),
                   ("C(i,k) = A(i,j) * E(j,k)", {"E": (E, "")}, A @ E), ("C(i,k) = A(i,j) * S(j,k)", {"S": (S, "CSR")}, A @ S),
                   ("C(k,l) = A(i,k) * A(i,l)", {}, A.T @ A), ("C(i,j) = A(i,j) * D(i,k) * F(k,j)", {"D": (D, ""), "F": (F, "")}, A * (D @ F)),
                   ("C(i,j) = A(i,j) + B(i,j)", {"B": (B, "CSR")}, A + B), ("C(i,j) = A(i,j) * B(i,j)", {"B": (B, "CSC")}, A * B),
                   ("C(i,j) = max(A(i,j), B(i,j), 0)", {"B": (B, "DCSR")}, numpy.maximum(numpy.maximum(A, B), 0)),
                   ("r(i) min= A(i,j)", {}, A.min(1)), ("s max= A(i,j)", {}, A.max())]
        if form in EXACT:
            kernels += [("C(i,j) = B(i,j) where A", {"B": (B, "CSR")}, B * (A != 0)),
                        ("C(i,j) = B(i,j) where ~A", {"B": (B, "CSR")}, B * (A == 0))]
        for program, others, want in kernels:
            yield make.case("preset as operand", program, {"A": (A, form), **others}, want)
        if form not in TWO_OF_FOUR:
            yield make.case("presets of the same kind", "C(i,j) = A(i,j) + B(i,j)", {"A": (A, form), "B": (B, form)}, A + B)
            yield make.case("presets of the same kind", "C(i,k) = A(i,j) * S(j,k)", {"A": (A, form), "S": (S, form)}, A @ S)


def results(make):
    A, B = data.sparse((9, 11), 0.3, 81), data.sparse((9, 11), 0.3, 82)
    S, M = data.sparse((11, 11), 0.3, 83), data.sparse((9, 11), 0.4, 84)
    a, b = data.sparse(9, 0.5, 85), data.sparse(11, 0.5, 86)
    a[-1] = b[-1] = 1.5  # which a .tns file stores in any case
    hits = (A != 0).astype(int) @ (S != 0).astype(int)
    programs = [("C(i,j) = A(i,j) + B(i,j)", {"A": A, "B": B}, A + B, A + B),
                ("C(i,j) = A(i,k) * S(k,j)", {"A": A, "S": S}, A @ S, hits),
                ("C(i,j) = A(i,k) * S(k,j) where M", {"A": A, "S": S, "M": M}, (A @ S) * (M != 0), None),
                ("C(i,j) = A(i,k) * S(k,j) where ~M", {"A": A, "S": S, "M": M}, (A @ S) * (M == 0), hits * (M == 0)),
                ("C(i,j) = min(A(i,j), B(i,j), M(i,j))", {"A": A, "B": B, "M": M}, numpy.minimum(numpy.minimum(A, B), M), None),
                ("C(j,i) = A(i,j)", {"A": A}, A.T, A), ("C(i,j) = a(i) * b(j)", {"a": a, "b": b}, numpy.outer(a, b), numpy.outer(a, b))]
    for form in EXACT + PADDED:
        if form in TWO_OF_FOUR:
            full = data.two_of_four(10, 12, 71)
            yield make.case("preset as result", "C(i,j) = 2 * A(i,j)", {"A": (full, "CSR")}, 2 * full, ".mtx", form)
            continue
        for program, inputs, want, pattern in programs:
            stored = int(numpy.count_nonzero(pattern)) if pattern is not None and form in EXACT else None
            for source in ["CSR", "CSC", "COO"]:
                used = {name: (array, source if array.ndim == 2 else VECTOR) for name, array in inputs.items()}
                yield make.case("preset as result", program, used, want, ".mtx", form, stored=stored)


def tensors(make):
    T, U = data.sparse((5, 6, 7), 0.2, 91), data.sparse((5, 6, 7), 0.2, 92)
    M, N, w = data.sparse((6, 4), 1, 93), data.sparse((7, 4), 1, 94), data.sparse(7, 0.6, 95)
    for form in TENSORS:
        inputs = {"T": (T, form)}
        for program, others, want in [("C(i,j) = T(i,j,k) * w(k)", {"w": (w, VECTOR)}, T @ w),
                                      ("C(i,j,r) = T(i,j,k) * N(k,r)", {"N": (N, "")}, numpy.einsum("ijk,kr->ijr", T, N)),
                                      ("C(i,r) = T(i,j,k) * M(j,r) * N(k,r)", {"M": (M, ""), "N": (N, "")},
                                       numpy.einsum("ijk,jr,kr->ir", T, M, N)),
                                      ("C(i,l) = T(i,j,k) * U(l,j,k)", {"U": (U, "CSF")}, numpy.einsum("ijk,ljk->il", T, U)),
                                      ("s = T(i,j,k) * U(i,j,k)", {"U": (U, form)}, (T * U).sum())]:
            yield make.case("preset of order 3 as operand", program, {**inputs, **others}, want)
        for program, others, want in [("C(i,j,k) = T(i,j,k) + U(i,j,k)", {"U": (U, "COO")}, T + U),
                                      ("C(k,i,j) = T(i,j,k)", {}, T.transpose(2, 0, 1)),
                                      ("C(i,j,r) = T(i,j,k) * N(k,r)", {"N": (N, "CSR")}, numpy.einsum("ijk,kr->ijr", T, N))]:
            used = {"T": (T, "CSF"), **others}
            yield make.case("preset of order 3 as result", program, used, want, ".tns", form)


def batched(make):
    """An irregular batched product: every matrix of the batch has sizes of its own."""
    rng = numpy.random.default_rng(96)
    A, B = numpy.zeros((5, 4, 4)), numpy.zeros((5, 4, 6))
    for at, (n, k, m) in enumerate([(3, 2, 4), (0, 3, 1), (2, 1, 0), (4, 4, 6), (1, 0, 2)]):
        A[at, :n, :k], B[at, :k, :m] = rng.standard_normal((n, k)), rng.standard_normal((k, m))
    for form in ["(b,i,j) -> (b : dense, i : ragged, j : ragged)", "(b,i,j) -> (b : batch, i : dense, j : compressed)", "ragged", "jagged", "CSF"]:
        for result in ["(b,i,j) -> (b : dense, i : ragged, j : ragged)", "CSF"]:
            yield make.case("irregular batched product", "C(b,i,k) += A(b,i,j) * B(b,j,k)", {"A": (A, form), "B": (B, form)},
                            numpy.einsum("bij,bjk->bik", A, B), ".tns", result)


def every(make):
    for group in (operands, results, tensors, batched):
        yield from group(make)
