"""The programs, formats and data that Tulle must get right, each with its answer from NumPy or SciPy."""
import dataclasses
import itertools
import pathlib
import re

import numpy
import scipy.io
import scipy.sparse

import data
import presets

MATRIX_FORMATS = ["dense", "COO", "COO-soa", "CSR", "CSC", "DCSR", "DCSC", "BCSR(2,3)", "BCSR(4,4)", "BCSC(8,8)",
                  "(i,j) -> (i : batch, j : compressed)", "(i,j) -> (i : dense, j : loose_compressed)",
                  "(i,j) -> (i : batch, j : loose_compressed)",
                  "(i,j) -> (j : dense, i : dense)",
                  "(i,j) -> (j : compressed(nonunique), i : singleton)",
                  "map = (i,j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 16"]
NV24 = "NV24"
CSF_ORDERS = ["(i,j,k) -> (%s)" % ", ".join(f"{v} : compressed" for v in order)
              for order in itertools.permutations("ijk")]


@dataclasses.dataclass
class Case:
    name: str
    program: str
    inputs: dict  # name -> (file, format)
    output: pathlib.Path
    result_format: str
    want: numpy.ndarray
    tolerance: float = 1e-12
    options: tuple = ()
    stored: int | None = None  # entries of the result's .mtx file, if that is to be checked

    def arguments(self):
        result = self.output.name.split("-")[0]
        args = [self.program, "-o", f"{result}={self.output}", *self.options]
        if self.result_format and result not in self.inputs:
            args += ["-f", f"{result}={self.result_format}"]
        for name, (file, form) in self.inputs.items():
            args += ["-t", f"{name}={file}"] + (["-f", f"{name}={form}"] if form else [])
        return args


class Maker:
    """Writes inputs once and numbers the cases."""

    def __init__(self, folder):
        self.folder, self.count, self.files = folder, 0, {}

    def file(self, array, ending):
        key = (id(array), ending)
        if key not in self.files:
            # The array is kept alive with its file, so that its id stays its own.
            self.files[key] = (data.write(self.folder / f"in{len(self.files)}{ending}", array), array)
        return self.files[key][0]

    def case(self, name, program, inputs, want, ending=".npy", result_format="", tolerance=1e-12, options=(),
             stored=None):
        """`inputs`: name -> (array or file, format or "" for a dense .npy)."""
        self.count += 1
        result = re.findall(r"(?:^|;)\s*(\w+)[^;]*?=", program)[-1]
        files = {}
        for tensor, (source, form) in inputs.items():
            if not isinstance(source, pathlib.Path):
                order = numpy.ndim(source)
                source = self.file(source, ".npy" if not form or order == 0 else ".mtx" if order == 2 else ".tns")
            files[tensor] = (source, form)
        return Case(f"{name} [{', '.join(f'{t}:{f}' for t, (_, f) in files.items() if f)}]", program, files,
                    self.folder / f"{result}-{self.count}{ending}", result_format, numpy.asarray(want), tolerance, tuple(options),
                    stored)


def is_dense(form):
    return form == "dense" or "i : dense)" in form


def spmv(make):
    for shape, density in [((5, 7), 0.4), ((16, 16), 0.2), ((33, 12), 0.1), ((1, 9), 0.5), ((9, 1), 0.5), ((4, 4), 0)]:
        A = data.sparse(shape, density, 1)
        x = data.sparse(shape[1], 1, 2)
        for form in MATRIX_FORMATS:
            yield make.case(f"SpMV {shape}", "y(i) = A(i,j) * x(j)", {"A": (A, form), "x": (x, "")}, A @ x)
    A = data.two_of_four(16, 16, 3)
    x = data.sparse(16, 1, 2)
    B, dense = data.sparse((16, 5), 1, 33), data.sparse((16, 16), 0.3, 34)
    for form in [NV24, "NM(2,4)", "map = (i,j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4]), crdWidth = 2"]:
        for program, operands, want in [("y(i) = A(i,j) * x(j)", {"x": (x, "")}, A @ x),
                                        ("C(i,k) = A(i,j) * B(j,k)", {"B": (B, "")}, A @ B),
                                        ("C(j,k) = A(i,j) * B(i,k)", {"B": (B, "")}, A.T @ B),
                                        ("C(i,j) = A(i,j) + D(i,j)", {"D": (dense, "CSR")}, A + dense),
                                        ("C(i,j) = A(i,j) * D(i,j)", {"D": (dense, "COO")}, A * dense)]:
            yield make.case("2:4", program, {"A": (A, form), **operands}, want)
    real = pathlib.Path(__file__).resolve().parents[2] / "demo" / "ldg_diffusion.mtx.gz"
    matrix = scipy.io.mmread(real).tocsr()
    x = data.sparse(matrix.shape[1], 1, 4)
    for form in MATRIX_FORMATS + ["BCSR(21,21)"]:
        yield make.case("SpMV ldg_diffusion", "y(i) = A(i,j) * x(j)", {"A": (real, form), "x": (x, "")}, matrix @ x)


def products(make):
    A, B = data.sparse((11, 14), 0.3, 5), data.sparse((14, 9), 0.3, 6)
    square, other = data.sparse((12, 12), 0.3, 7), data.sparse((12, 12), 0.3, 8)
    D, E = data.sparse((11, 6), 1, 9), data.sparse((6, 14), 1, 10)
    x, y, b = data.sparse(14, 1, 11), data.sparse(11, 1, 12), data.sparse(11, 1, 13)
    sampled = A * (D @ E)
    for form in MATRIX_FORMATS:
        yield make.case("SpMM", "C(i,j) = A(i,k) * B(k,j)", {"A": (A, form), "B": (B, "")}, A @ B)
        yield make.case("SpMM dense-sparse", "C(i,j) = B(k,i) * A(j,k)", {"A": (A, form), "B": (B, "")}, (A @ B).T)
        for second in ["CSR", "CSC", "COO", "BCSR(2,3)"]:
            yield make.case("SpGEMM to dense", "C(i,j) = A(i,k) * B(k,j)", {"A": (A, form), "B": (B, second)}, A @ B)
        yield make.case("SDDMM dense", "C(i,j) = A(i,j) * D(i,k) * E(k,j)", {"A": (A, form), "D": (D, ""), "E": (E, "")},
                        sampled)
        if not is_dense(form):
            yield make.case("SDDMM sparse", "C(i,j) = A(i,j) * D(i,k) * E(k,j)",
                            {"A": (A, form), "D": (D, ""), "E": (E, "")}, sampled, ".mtx", form)
            yield make.case("scaling", "C(i,j) = 2 * A(i,j)", {"A": (A, form)}, 2 * A, ".mtx", form)
            if not form.startswith("B"):  # a block stores its zeros, too
                yield make.case("SDDMM where", "C(i,j) = D(i,k) * E(k,j) where A",
                                {"A": (A, form), "D": (D, ""), "E": (E, "")}, (A != 0) * (D @ E), ".mtx", form)
        yield make.case("residual", "y(i) = b(i) - A(i,j) * x(j)", {"A": (A, form), "x": (x, ""), "b": (b, "")}, b - A @ x)
        yield make.case("transposed", "z(j) = A(i,j) * y(i)", {"A": (A, form), "y": (y, "")}, A.T @ y)
        yield make.case("bilinear", "s = y(i) * A(i,j) * x(j)", {"A": (A, form), "x": (x, ""), "y": (y, "")}, y @ A @ x)
        yield make.case("row sums", "r(i) = A(i,j)", {"A": (A, form)}, A.sum(1))
        yield make.case("row maxima", "r(i) max= A(i,j)", {"A": (A, form)}, A.max(1))
        yield make.case("column minima", "r(j) min= A(i,j)", {"A": (A, form)}, A.min(0))
        yield make.case("same tensor twice", "C(i,j) = A(i,k) * A(k,j)", {"A": (square, form)}, square @ square)
        yield make.case("gram", "C(i,j) = A(i,k) * A(j,k)", {"A": (A, form)}, A @ A.T)
        yield make.case("transpose", "C(j,i) = A(i,j)", {"A": (A, form)}, A.T)
        for second in MATRIX_FORMATS:
            yield make.case("sum", "C(i,j) = A(i,j) + B(i,j)", {"A": (square, form), "B": (other, second)}, square + other)
            yield make.case("product", "C(i,j) = A(i,j) * B(i,j)", {"A": (square, form), "B": (other, second)}, square * other)


def unions(make):
    A, B, D = (data.sparse((13, 10), 0.3, seed) for seed in (14, 15, 16))
    triples = [("CSR", "CSR", "CSR"), ("CSR", "DCSR", "COO"), ("dense", "CSR", "DCSR"), ("BCSR(2,3)", "CSR", "COO-soa"),
               ("CSC", "CSC", "DCSC"), ("CSR", "CSC", "BCSC(8,8)"), ("COO", "COO", "COO")]
    for forms in triples:
        inputs = {"A": (A, forms[0]), "B": (B, forms[1]), "D": (D, forms[2])}
        for program, want in [("C(i,j) = A(i,j) * B(i,j) * D(i,j)", A * B * D), ("C(i,j) = A(i,j) + B(i,j) + D(i,j)", A + B + D),
                              ("C(i,j) = A(i,j) * B(i,j) + D(i,j)", A * B + D), ("C(i,j) = (A(i,j) + B(i,j)) * D(i,j)", (A + B) * D),
                              ("C(i,j) = A(i,j) - B(i,j) - D(i,j)", A - B - D),
                              ("C(i,j) = max(A(i,j), min(B(i,j), D(i,j)))", numpy.maximum(A, numpy.minimum(B, D))),
                              ("C(i,j) = A(i,j) where B & D", A * ((B != 0) & (D != 0))),
                              ("C(i,j) = A(i,j) where B \\ D", A * ((B != 0) & (D == 0))),
                              ("C(i,j) = A(i,j) + 1 where ~B", (A + 1) * (B == 0)),
                              ("C(i,j) = A(i,j) where B | D", A * ((B != 0) | (D != 0)))]:
            if "where" in program and any(form == "dense" or form.startswith("B") for form in forms):
                continue  # a dense format stores its zeros
            used = {name: given for name, given in inputs.items() if re.search(rf"\b{name}\b", program)}
            yield make.case("three operands", program, used, want)
        yield make.case("union into sums", "y(i) = A(i,j) + B(i,j) * D(i,j)", inputs, (A + B * D).sum(1))


def complements(make):
    """A mask that forbids everything leaves the reduction's identity."""
    A = 1 + data.sparse((4, 5), 1, 35) ** 2
    for form in MATRIX_FORMATS[1:]:
        if is_dense(form) or form.startswith("B"):
            continue
        for program, want in [("r(i) max= A(i,j) where ~A", numpy.full(4, -numpy.inf)), ("s min= A(i,j) where ~A", numpy.inf),
                              ("s = A(i,j) where ~A", 0.0), ("s *= A(i,j) where ~A", 1.0), ("r(i) max= A(i,j)", A.max(1))]:
            yield make.case("complement", program, {"A": (A, form)}, want)


def vectors(make):
    a, b = data.sparse(40, 0.4, 17), data.sparse(40, 0.3, 18)
    for first, second in itertools.product(["dense", "(i) -> (i : compressed)"], repeat=2):
        inputs = {"a": (a, first), "b": (b, second)}
        yield make.case("dot", "s = a(i) * b(i)", inputs, a @ b)
        yield make.case("vector sum", "c(i) = a(i) + b(i)", inputs, a + b)
        yield make.case("outer", "C(i,j) = a(i) * b(j)", inputs, numpy.outer(a, b))
    yield make.case("norm", "s = a(i) * a(i)", {"a": (a, "(i) -> (i : compressed)")}, a @ a)


def tensors(make):
    T, U = data.sparse((6, 7, 8), 0.15, 19), data.sparse((6, 7, 8), 0.15, 20)
    u, v, w = (data.sparse(n, 1, n) for n in (6, 7, 8))
    M, N = data.sparse((7, 5), 1, 21), data.sparse((8, 5), 1, 22)
    K = data.sparse((6, 5), 1, 26)
    for form in CSF_ORDERS + ["COO", "CSF", "dense", "BCOO", "(i,j,k) -> (i : batch, j : compressed(nonunique), k : singleton)", "(i,j,k) -> (i : batch, j : dense, k : compressed)",
                              "(i,j,k) -> (i : dense, j : compressed, k : dense)",
                              "(i,j,k) -> (i floordiv 2 : dense, j : compressed, k : compressed, i mod 2 : dense)"]:
        inputs = {"T": (T, form)}
        for program, want in [("C(i,j) = T(i,j,k) * w(k)", T @ w), ("C(i,k) = T(i,j,k) * v(j)", numpy.einsum("ijk,j", T, v)),
                              ("C(j,k) = T(i,j,k) * u(i)", numpy.einsum("ijk,i", T, u)),
                              ("C(i,j,r) = T(i,j,k) * N(k,r)", numpy.einsum("ijk,kr->ijr", T, N)),
                              ("C(i,r) = T(i,j,k) * M(j,r) * N(k,r)", numpy.einsum("ijk,jr,kr->ir", T, M, N)),
                              ("C(j,r) = T(i,j,k) * K(i,r) * N(k,r)", numpy.einsum("ijk,ir,kr->jr", T, K, N)),
                              ("C(k,r) = T(i,j,k) * K(i,r) * M(j,r)", numpy.einsum("ijk,ir,jr->kr", T, K, M)),
                              ("C(k,i,j) = T(i,j,k)", T.transpose(2, 0, 1)), ("s = T(i,j,k) * T(i,j,k)", (T * T).sum())]:
            dense = {"u": u, "v": v, "w": w, "M": M, "N": N, "K": K}
            used = {name: (array, "") for name, array in dense.items() if f"{name}(" in program}
            yield make.case("tensor", program, {**inputs, **used}, want)
        for second in ["CSF", "COO", CSF_ORDERS[-1]]:
            yield make.case("inner product", "s = T(i,j,k) * U(i,j,k)", {**inputs, "U": (U, second)}, (T * U).sum())
    Q = data.sparse((4, 5, 6, 3), 0.1, 23)
    P = [data.sparse((n, 4), 1, 30 + n) for n in (5, 6, 3)]
    for order in ["ijkl", "lkji", "jlik", "kilj"]:
        form = "(i,j,k,l) -> (%s)" % ", ".join(f"{v} : compressed" for v in order)
        yield make.case("MTTKRP of order 4", "C(i,r) = T(i,j,k,l) * A(j,r) * B(k,r) * D(l,r)",
                        {"T": (Q, form), "A": (P[0], ""), "B": (P[1], ""), "D": (P[2], "")},
                        numpy.einsum("ijkl,jr,kr,lr->ir", Q, *P))


def others(make):
    I, F = data.sparse((10, 12), 0.3, 24), data.sparse((3, 3), 1, 25)
    windows = numpy.lib.stride_tricks.sliding_window_view(I, F.shape)
    A = data.sparse((9, 11), 0.4, 27)
    low = numpy.where(A != 0, A, -numpy.inf).max(1)
    filled = (A != 0).any(1)
    exps = numpy.where(A != 0, numpy.exp(A - numpy.where(filled, low, 0)[:, None]), 0)
    softmax = exps / numpy.where(filled, exps.sum(1), 1)[:, None]
    for form in ["dense", "CSR", "CSC", "DCSR", "COO", "BCSR(2,3)"]:
        yield make.case("convolution", "O(i,k) = I(i+r, k+s) * F(r,s)", {"I": (I, form), "F": (F, "")},
                        numpy.einsum("ikrs,rs->ik", windows, F))
    for form in ["CSR", "DCSR", "COO", "COO-soa", "CSC"]:
        yield make.case("softmax", "m(i) max= A(i,j) where A; e(i,j) = exp(A(i,j) - m(i)) where A; d(i) = e(i,j); "
                        "p(i,j) = e(i,j) / d(i) where A", {"A": (A, form)}, softmax, ".mtx", form,
                        options=("-f", f"e={form}"))
    both = data.sparse((8, 8), 0.4, 28)
    yield make.case("two statements", "z(i,j) = A(i,j) + 2*B(i,j); n() += z(i,j)*z(i,j)",
                    {"A": (both, "CSR"), "B": (both.T.copy(), "DCSR")}, ((both + 2 * both.T) ** 2).sum())
    yield make.case("square brackets", "y[i] += A[i,j]*x[j]", {"A": (both, "CSR"), "x": (both[0].copy(), "")}, both @ both[0])


def stored_exactly(form, pattern):
    """How many entries a result holds that has this pattern: blocks hold more."""
    return None if form.startswith("B") else int(numpy.count_nonzero(pattern))


RESULT_FORMATS = ["CSR", "CSC", "DCSR", "DCSC", "COO", "COO-soa", "BCSR(2,3)", "BCSC(2,2)"]


def sparse_sums(make):
    """Unions, intersections, transposes: what is stored is what the pattern algebra says, whatever the formats."""
    A, B, D = (data.sparse((13, 10), 0.3, seed) for seed in (41, 42, 43))
    operands = ["CSR", "CSC", "COO", "DCSR", "BCSR(2,3)"]
    for first, second in itertools.product(operands, repeat=2):
        inputs = {"A": (A, first), "B": (B, second)}
        plain = "B" not in first + second
        for form in RESULT_FORMATS:
            yield make.case("sparse sum", "C(i,j) = A(i,j) + B(i,j)", inputs, A + B, ".mtx", form,
                            stored=stored_exactly(form, A + B) if plain else None)
        for program, want, pattern in [("C(i,j) = A(i,j) - B(i,j)", A - B, A - B), ("C(i,j) = A(i,j) * B(i,j)", A * B, A * B),
                                       ("C(i,j) = min(A(i,j), B(i,j))", numpy.minimum(A, B), A + B),
                                       ("C(i,j) = max(A(i,j), B(i,j))", numpy.maximum(A, B), A + B)]:
            yield make.case("sparse elementwise", program, inputs, want, ".mtx", "CSR",
                            stored=stored_exactly("CSR", pattern) if plain else None)
    for form in operands:
        for result in RESULT_FORMATS:
            yield make.case("sparse transpose", "C(j,i) = A(i,j)", {"A": (A, form)}, A.T, ".mtx", result)
            yield make.case("sparse sum of three", "C(i,j) = A(i,j) + B(i,j) * D(i,j)",
                            {"A": (A, form), "B": (B, "CSR"), "D": (D, "COO")}, A + B * D, ".mtx", result)
    cancelled = {"A": (A, "CSR"), "B": (A.copy(), "CSR")}
    yield make.case("cancellation is stored", "C(i,j) = A(i,j) - B(i,j)", cancelled, 0 * A, ".mtx", "CSR",
                    stored=int(numpy.count_nonzero(A)))
    yield make.case("cancellation is dropped", "C(i,j) = A(i,j) - B(i,j)", cancelled, 0 * A, ".mtx", "CSR",
                    options=("--drop-zeros",), stored=0)


def sparse_products(make):
    A, B = data.sparse((11, 14), 0.25, 44), data.sparse((14, 9), 0.25, 45)
    M, N, C = (data.sparse((11, 9), 0.4, seed) for seed in (46, 47, 48))
    hits = (A != 0).astype(int) @ (B != 0).astype(int)
    operands = ["CSR", "CSC", "DCSR", "COO", "BCSR(2,3)"]
    for first, second in itertools.product(operands, repeat=2):
        inputs = {"A": (A, first), "B": (B, second)}
        for form in RESULT_FORMATS if first == second or first == "CSR" else ["CSR"]:
            plain = "B" not in first + second
            yield make.case("SpGEMM", "C(i,j) = A(i,k) * B(k,j)", inputs, A @ B, ".mtx", form,
                            stored=stored_exactly(form, hits) if plain else None)
    inputs = {"A": (A, "CSR"), "B": (B, "CSR")}
    for mask, allowed in [("M", M != 0), ("~M", M == 0), ("M & ~N", (M != 0) & (N == 0)), ("M | N", (M != 0) | (N != 0)),
                          ("~(M & N)", (M == 0) | (N == 0))]:
        used = {name: (array, "CSR") for name, array in {"M": M, "N": N}.items() if name in mask}
        stored = None if mask == "M" else stored_exactly("CSR", hits * allowed)
        for form in ["CSR", "DCSR", "COO", "CSC"]:
            yield make.case("masked SpGEMM", f"C(i,j) = A(i,k) * B(k,j) where {mask}", {**inputs, **used}, (A @ B) * allowed,
                            ".mtx", form, stored=stored)
    for form in ["CSR", "COO", "DCSR", "BCSR(2,3)", "CSC"]:
        yield make.case("accumulated SpGEMM", "C(i,j) += A(i,k) * B(k,j)", {**inputs, "C": (C, form)}, C + A @ B, ".mtx", form,
                        stored=stored_exactly(form, (C != 0) | (hits != 0)))
        yield make.case("two SpGEMM", "C(i,j) = A(i,k) * B(k,j); C(i,j) += M(i,j)", {**inputs, "M": (M, "CSR")}, A @ B + M,
                        ".mtx", form)
    far = "map = (i,j) -> (i : dense, j : compressed), fill = inf"
    distance = lambda array: numpy.where(array != 0, array, numpy.inf)
    nearest = (distance(A)[:, :, None] + distance(B)[None]).min(1)
    yield make.case("shortest paths", "C(i,j) min= A(i,k) + B(k,j)", {"A": (A, far), "B": (B, far)},
                    numpy.where(hits, nearest, 0), ".mtx", far, stored=int(numpy.count_nonzero(hits)))
    products = numpy.where((A != 0)[:, :, None] & (B != 0)[None], A[:, :, None] * B[None], -numpy.inf).max(1)
    yield make.case("max-times", "C(i,j) max= A(i,k) * B(k,j) where A(i,k) & B(k,j)", inputs, numpy.where(hits, products, 0),
                    ".mtx", "CSR", stored=int(numpy.count_nonzero(hits)))
    for type_name, dtype in [("f32", "f4"), ("f16", "f2"), ("c128", "c16"), ("i32", "i4")]:
        P, Q = data.sparse((12, 12), 0.3, 49, dtype), data.sparse((12, 12), 0.3, 50, dtype)
        wide = (lambda a: a.astype("f8")) if dtype in ("f2", "f4") else (lambda a: a)
        yield make.case(f"SpGEMM {type_name}", "C(i,j) = A(i,k) * B(k,j)", {"A": (P, "CSR"), "B": (Q, "CSR")}, wide(P) @ wide(Q),
                        ".mtx", "CSR", {"f4": 1e-5, "f2": 5e-3, "c16": 1e-12, "i4": 0}[dtype], ("--type", type_name))


def sparse_tensors(make):
    T, U = data.sparse((6, 7, 8), 0.15, 51), data.sparse((6, 7, 8), 0.15, 52)
    N, w = data.sparse((8, 5), 0.4, 53), data.sparse(8, 0.6, 54)
    A, B = data.sparse((6, 4), 0.4, 55), data.sparse((7, 4), 0.4, 56)
    a, b = data.sparse(9, 0.5, 57), data.sparse(12, 0.4, 58)
    vector = "(i) -> (i : compressed)"
    for form in ["CSF", "COO", CSF_ORDERS[-1]]:
        inputs = {"T": (T, form)}
        for result in ["CSF", "COO"]:
            yield make.case("sparse TTM", "C(i,j,r) = T(i,j,k) * N(k,r)", {**inputs, "N": (N, "CSR")},
                            numpy.einsum("ijk,kr->ijr", T, N), ".tns", result)
            yield make.case("sparse tensor sum", "C(i,j,k) = T(i,j,k) + U(i,j,k)", {**inputs, "U": (U, "CSF")}, T + U, ".tns", result)
            yield make.case("sparse permutation", "C(k,i,j) = T(i,j,k)", inputs, T.transpose(2, 0, 1), ".tns", result)
        for result in ["CSR", "DCSR", "COO"]:
            yield make.case("sparse TTV", "C(i,j) = T(i,j,k) * w(k)", {**inputs, "w": (w, vector)}, T @ w, ".mtx", result)
            yield make.case("sparse contraction", "C(i,l) = T(i,j,k) * U(l,j,k)", {**inputs, "U": (U, "CSF")},
                            numpy.einsum("ijk,ljk->il", T, U), ".mtx", result)
        yield make.case("sparse sums of fibers", "y(k) = T(i,j,k)", inputs, T.sum((0, 1)), ".tns", vector)
    yield make.case("sparse Khatri-Rao", "C(i,j,r) = A(i,r) * B(j,r)", {"A": (A, "CSR"), "B": (B, "CSR")},
                    numpy.einsum("ir,jr->ijr", A, B), ".tns", "CSF")
    for result in ["CSR", "CSC", "DCSR", "COO"]:
        yield make.case("sparse outer product", "C(i,j) = a(i) * b(j)", {"a": (a, vector), "b": (b, vector)}, numpy.outer(a, b),
                        ".mtx", result, stored=int(numpy.count_nonzero(numpy.outer(a, b))))
    for form in ["CSR", "CSC", "COO", "DCSR"]:
        yield make.case("sparse row sums", "y(i) = A(i,j)", {"A": (N, form)}, N.sum(1), ".tns", vector)


def types(make):
    for type_name, dtype, tolerance in [("f32", "f4", 1e-5), ("f16", "f2", 5e-3), ("bf16", "f4", 3e-2), ("c64", "c8", 1e-5),
                                        ("c128", "c16", 1e-12), ("i8", "i1", 0), ("i16", "i2", 0), ("i32", "i4", 0),
                                        ("i64", "i8", 0)]:
        A, x = data.sparse((12, 10), 0.3, 29, dtype), data.sparse(10, 1, 30, dtype)
        B = data.sparse((10, 4), 1, 31, dtype)
        wide = (lambda a: a.astype("f8")) if dtype in ("f2", "f4") else (lambda a: a)
        for form in ["CSR", "COO", "BCSR(2,3)", "CSC"]:
            yield make.case(f"SpMV {type_name}", "y(i) = A(i,j) * x(j)", {"A": (A, form), "x": (x, "")}, wide(A) @ wide(x),
                            ".mtx", "", tolerance, ("--type", type_name))
            yield make.case(f"SpMM {type_name}", "C(i,k) = A(i,j) * B(j,k)", {"A": (A, form), "B": (B, "")}, wide(A) @ wide(B),
                            ".mtx", "", tolerance, ("--type", type_name))


def files(make):
    """SciPy's archives in every format it has, read and written; some with columns out of order or stored twice."""
    A = data.sparse((12, 20), 0.3, 61)
    x = data.sparse(20, 1, 62)
    matrix = scipy.sparse.csr_matrix(A)
    unsorted = scipy.sparse.csr_matrix((matrix.data[::-1], matrix.indices[::-1], matrix.indptr[-1] - matrix.indptr[::-1]),
                                       matrix.shape)
    twice = scipy.sparse.csr_matrix((numpy.repeat(matrix.data, 2) / 2, numpy.repeat(matrix.indices, 2), 2 * matrix.indptr),
                                    matrix.shape)
    sources = {"csr": matrix, "csc": matrix.tocsc(), "coo": matrix.tocoo(), "bsr": matrix.tobsr((3, 4)), "dia": matrix.todia(),
               "unsorted": unsorted, "twice": twice,
               "wide": scipy.sparse.csr_matrix((matrix.data, matrix.indices.astype("i8"), matrix.indptr.astype("i8")), A.shape)}
    for name, source in sources.items():
        path = make.folder / f"scipy-{name}.npz"
        scipy.sparse.save_npz(path, source)
        for form in ["", "CSR", "CSC", "COO", "DCSR", "BCSR(3,4)", "dense"]:
            yield make.case(f"{name}.npz", "y(i) = A(i,j) * x(j)", {"A": (path, form), "x": (x, "")}, source @ x)
    for form in MATRIX_FORMATS:
        yield make.case("to .npz", "C(i,j) = 2 * A(i,j)", {"A": (A, form)}, 2 * A, ".npz", form)


def indirect(make):
    """Subscripts that tensors of integers give."""
    rng = numpy.random.default_rng(70)
    A = data.sparse((9, 7), 0.4, 71)
    x, W = data.sparse(9, 1, 72), data.sparse((9, 4), 1, 73)
    p, q = rng.integers(0, 9, 12).astype("i4"), rng.integers(0, 7, 12).astype("i8")
    for form in MATRIX_FORMATS:
        yield make.case("gather of rows", "Y(i,k) = A(p(i),k)", {"A": (A, form), "p": (p, "")}, A[p])
        yield make.case("gather of columns", "Y(i,k) = A(i,q(k))", {"A": (A, form), "q": (q, "")}, A[:, q])
        yield make.case("gather of elements", "y(i) = A(p(i),q(i))", {"A": (A, form), "p": (p, ""), "q": (q, "")}, A[p, q])
        if not is_dense(form):
            yield make.case("gather, sparse result", "Y(i,k) = A(p(i),k)", {"A": (A, form), "p": (p, "")}, A[p], ending=".mtx",
                            result_format="CSR")
        want = numpy.zeros((11, 7))
        to = rng.integers(0, 11, 9).astype("i2")
        numpy.add.at(want, to, A)
        for result in ["", "CSR", "CSC", "COO"]:
            yield make.case("scatter of rows", "Z(t(i),k) = A(i,k)", {"A": (A, form), "t": (to, "")}, want, result_format=result,
                            ending=".mtx" if result else ".npy", options=("-d", "Z=11x7"))
    # Onto the entries of a matrix that is given: they stay where nothing arrives, of which dense values are as much as sparse ones.
    given, cells = data.sparse((7, 7), 0.4, 83), data.sparse((5, 3, 3), 1, 84)
    corners = rng.integers(0, 7, (5, 3)).astype("i4")
    assembled = given.copy()
    numpy.add.at(assembled, (corners[:, :, None], corners[:, None, :]), cells)
    column = data.sparse(7, 0.6, 85)
    below = given.copy()
    below[q[:7], numpy.arange(7)] += column
    for form in ["CSR", "CSC", "COO", "DCSR", "BCSR(2,3)"]:
        yield make.case("elements onto a matrix", "K(d(e,a),d(e,b)) += E(e,a,b)", {"K": (given, form), "E": (cells, ""), "d": (corners, "")},
                        assembled, ending=".mtx")
        yield make.case("column entries onto a matrix", "K(p(i),i) += x(i)",
                        {"K": (given, form), "x": (column, "(i) -> (i : compressed)"), "p": (q[:7].copy(), "")}, below, ending=".mtx")
    # One place for all elements: the loop over columns is none over rows.
    row = numpy.array(1, "i2")
    for outside in ["", " clamp", " else skip"]:
        want = numpy.zeros((11, 3))
        want[row] = x.sum()
        yield make.case("scatter to a row", f"Z(p(){outside},l) = x(i)", {"x": (x, ""), "p": (row, "")}, want, options=("-d", "Z=11x3"))
        yield make.case("scatter of rows to a row, threads", f"Z(p(){outside},l) = T(k,i,l)", {"T": (data.sparse((17, 5, 3), 0.3, 86), CSF_ORDERS[0]), "p": (row, "")},
                        numpy.outer(numpy.arange(4) == 1, data.sparse((17, 5, 3), 0.3, 86).sum((0, 1))), options=("-d", "Z=4x3", "--threads", "3"))
    # Two sums of one statement, in blocks of rows whose work the second one's integers say.
    shift = rng.integers(0, 4, (2, 7)).astype("i1")
    u = data.sparse(4, 1, 83)
    at = shift + 2
    factor = numpy.where(at < 4, u[numpy.minimum(at, 3)], 0).sum(0)
    yield make.case("two sums of gathers", "y(k) = (2 - A(j,q(k))) * u(s(i,k)+2 else 0)",
                    {"A": (A, ""), "q": (q[:7], ""), "u": (u, ""), "s": (shift, "")}, 2 * factor - A[:, q[:7]].sum(0) * factor)
    order = rng.permutation(9).astype("i4")
    square = data.sparse((9, 9), 0.3, 74)
    for form in ["CSR", "CSC", "COO", "DCSR"]:
        yield make.case("permuted matrix", "B(i,j) = A(p(i),p(j))", {"A": (square, form), "p": (order, "")}, square[order][:, order],
                        result_format=form, ending=".mtx")
    source, target = rng.integers(0, 9, 20).astype("i4"), rng.integers(0, 9, 20).astype("i4")
    weight = data.sparse(20, 1, 75)
    edges = {"s": (source, ""), "d": (target, "")}
    yield make.case("scores of edges", "E(e) = Q(s(e),k) * K(d(e),k)", {**edges, "Q": (W, ""), "K": (W[::-1].copy(), "")},
                    (W[source] * W[::-1][target]).sum(1))
    messages = numpy.zeros((9, 4))
    numpy.add.at(messages, target, weight[:, None] * W[source])
    for threads in ["1", "2", "3"]:
        yield make.case("messages along edges", "Z(d(e),k) = w(e) * X(s(e),k)", {**edges, "w": (weight, ""), "X": (W, "")}, messages,
                        options=("-d", "Z=9x4", "--threads", threads))
    # The table that lists no coordinate by -1.
    table = numpy.where(rng.random((6, 3)) < 0.3, -1, rng.integers(0, 9, (6, 3))).astype("i4")
    taps = data.sparse((3, 4, 5), 1, 76)
    rows = numpy.where(table[:, :, None] >= 0, W[table], 0)
    yield make.case("convolution by a table", "O(o,c) = I(t(o,r) else 0, d) * W(r,d,c)",
                    {"I": (W, ""), "t": (table, ""), "W": (taps, "")}, numpy.einsum("ord,rdc->oc", rows, taps))
    # Outputs in tiles of rows, of which some lack a tap: what these do not have stays out, whatever the weights are.
    lacking = numpy.where(rng.random((37, 5)) < 0.4, -1, rng.integers(0, 9, (37, 5))).astype("i4")
    lacking[8:24] = -1
    lacking[16:24, 1], lacking[:, 3] = 4, -1
    lacking[20, 3] = 2
    wide = data.sparse((5, 4, 43), 1, 86)
    wide[3, 1, 7] = numpy.inf
    want = numpy.zeros((37, 43))
    for o, r in zip(*numpy.nonzero(lacking >= 0)):
        want[o] += W[lacking[o, r]] @ wide[r]
    for threads in ["1", "3"]:
        yield make.case("convolution by a table, tiles of rows", "O(o,c) = I(t(o,r) else 0, d) * W(r,d,c)",
                        {"I": (W, ""), "t": (lacking, ""), "W": (wide, "")}, want,
                        options=("--threads", threads))
    sparse_table = numpy.where(table < 4, 0, table)  # what is not stored is 0, the first coordinate
    yield make.case("sparse table", "y(o) = x(t(o,r))", {"x": (x, ""), "t": (sparse_table, "CSR")}, x[sparse_table].sum(1), options=("--type", "t=i32"))
    bag, offsets = rng.integers(0, 9, (6, 3)).astype("i4"), data.sparse((6, 3), 1, 77)
    yield make.case("embedding bag", "B(b,k) = u(b,n) * W(p(b,n),k)", {"W": (W, ""), "p": (bag, ""), "u": (offsets, "")},
                    (offsets[:, :, None] * W[bag]).sum(1))
    for form in MATRIX_FORMATS:
        if "BCS" not in form:  # blocks are no digits of rows of seven
            yield make.case("matrix as vector", "v(l) = A(l / 7, l % 7)", {"A": (A, form)}, A.ravel())
            yield make.case("matrix as vector, product", "s() = A(l / 7, l % 7) * z(l)", {"A": (A, form), "z": (data.sparse(63, 1, 79), "")},
                            A.ravel() @ data.sparse(63, 1, 79))
    B = data.sparse((4, 6), 0.5, 80)
    for form in ["BCSR(2,3)", "BCSC(2,2)", "CSR", "DCSC"]:
        yield make.case("blocks as vector", "v(l) = A(l / 6, l % 6)", {"A": (B, form)}, B.ravel())
        yield make.case("columns as vector", "v(l) = A(l % 4, l / 4)", {"A": (B, form)}, B.T.ravel())
    T = data.sparse((3, 4, 5), 0.4, 81)
    yield make.case("tensor as matrix", "M(l,k) = T(l / 4, l % 4, k)", {"T": (T, CSF_ORDERS[0])}, T.reshape(12, 5))
    yield make.case("tensor as vector", "v(l) = T(l / 20, l / 5 % 4, l % 5)", {"T": (T, CSF_ORDERS[0])}, T.ravel())
    v = data.sparse(63, 0.3, 83)
    for form in ["COO", "bitmap", "DOK", "dense"]:
        yield make.case("vector as matrix", "B(i,j) = v(7*i + j)", {"v": (v, form)}, v.reshape(9, 7), options=("-d", "B=9x7"))
        yield make.case("vector as tensor, product", "y(i) = v(21*i + 3*j + k) * w(j,k)", {"v": (v, form), "w": (data.sparse((7, 3), 1, 84), "")},
                        (v.reshape(3, 7, 3) * data.sparse((7, 3), 1, 84)).sum((1, 2)), options=("-d", "y=3"))
    blocks, w32 = data.two_of_four(8, 4, 3), data.sparse(32, 0.3, 90)
    yield make.case("vector as matrix, blocks as wide", "y(k) = A(k,j) * w(4*k + j)", {"A": (blocks, NV24), "w": (w32, "COO")}, (blocks * w32.reshape(8, 4)).sum(1))
    # The fusion of the RFC on structured codegen beyond rectangular arrays: a product, as a vector, minus another.
    P, Q, x2688 = data.sparse((42, 32), 1, 87), data.sparse((32, 64), 1, 88), data.sparse(2688, 1, 89)
    fused = {"P": (P, ""), "Q": (Q, ""), "z": (x2688, "")}
    for threads in ["1", "3"]:
        yield make.case("product as vector", "C(i,j) = P(i,k) * Q(k,j); v(l) = C(l/64, l%64) - z(l)", fused, (P @ Q).ravel() - x2688, options=("--threads", threads))
    yield make.case("product by columns", "C(i,j) = P(i,k) * Q(k,j); v(l) = C(l%42, l/42) - l * z(l)", fused, (P @ Q).T.ravel() - numpy.arange(2688) * x2688)
    yield make.case("product as vector, summed", "C(i,j) = P(i,k) * Q(k,j); s() = C(l/64, l%64) * z(l)", fused, (P @ Q).ravel() @ x2688)
    yield make.case("product as rows of another length", "C(i,j) = P(i,k) * Q(k,j); v(l) += C(l/64, l%64) * z(l)", {**fused, "v": (x2688, "")}, x2688 + (P @ Q).ravel() * x2688)
    for form in MATRIX_FORMATS:
        yield make.case("matrix with rows of rows", "M(i,j,k) = A(3*i + j, k)", {"A": (A, form)}, A.reshape(3, 3, 7), options=("-d", "M=3x3x7"))
    for form in ["CSR", "CSC", "COO"]:
        yield make.case("matrix of other dimensions", "v(l) = A(l / 6, l % 6); M(i,j) = v(8*i + j)", {"A": (B, form)}, B.reshape(3, 8), ending=".mtx",
                        result_format=form, options=("-d", "v=24", "-d", "M=3x8", "-f", "v=COO"))
    yield make.case("repeated and tiled", "y(l) = x(l / 2) + w(l % 6)", {"x": (x, ""), "w": (data.sparse(6, 1, 82), "")},
                    numpy.repeat(x, 2) + numpy.tile(data.sparse(6, 1, 82), 3))
    # The gathers of the RFC on structured codegen beyond rectangular arrays: a cube at coordinates, and whole slices of it.
    cube, at = numpy.arange(64.0).reshape(4, 4, 4), numpy.array([[0, 1, 2], [3, 3, 3]])
    yield make.case("gather of points", "y(n) = T(c(n,0), c(n,1), c(n,2))", {"T": (cube, ""), "c": (at, "")}, [6.0, 63.0])
    # Each column of the coordinates is checked against the size of its own dimension.
    cells = rng.integers(0, [2, 3, 4], (7, 3))
    yield make.case("gather of points of a box", "y(n) = T(c(n,0), c(n,1), c(n,2))", {"T": (data.sparse((2, 3, 4), 1, 78), ""), "c": (cells, "")},
                    data.sparse((2, 3, 4), 1, 78)[tuple(cells.T)])
    yield make.case("scatter to points", "M(c(n,2), c(n,0)) = x(n)", {"x": (data.sparse(7, 1, 85), ""), "c": (cells, "")},
                    scipy.sparse.coo_matrix((data.sparse(7, 1, 85), (cells[:, 2], cells[:, 0])), (4, 2)).toarray(), options=("-d", "M=4x2"))
    # Threads have the rows that integers select.
    many, rows = data.sparse((3000, 32), 1, 100), rng.integers(0, 700, 3000)
    sums = numpy.zeros((700, 32))
    numpy.add.at(sums, rows, many)
    for options in (["--threads", "2"], ["--threads", "3", "--deterministic"], ["--threads", "2", "--strict-fp"]):
        yield make.case("scatter of rows, threads", "Z(p(i),k) = Y(i,k)", {"Y": (many, ""), "p": (rows, "")}, sums, options=("-d", "Z=700x32", *options))
    box, idx = data.sparse((2, 3, 4), 1, 78), rng.integers(0, 3, (5, 6))
    yield make.case("gather of slices", "out(a,b,i,k) = T(i, idx(a,b), k)", {"T": (box, ""), "idx": (idx, "")},
                    box[:, idx, :].transpose(1, 2, 0, 3))


def concatenations(make):
    """Tensors one behind the other, side by side, and as blocks of a diagonal."""
    A, B, C = data.sparse((7, 5), 0.4, 90), data.sparse((7, 8), 0.4, 91), data.sparse((4, 5), 0.4, 92)
    forms = [form for form in MATRIX_FORMATS if form != "BCSC(8,8)"]
    for first, second, result in zip(forms, forms[3:] + forms[:3], forms[5:] + forms[:5]):
        ending = ".npy" if is_dense(result) else ".mtx"
        pair = {"A": (A, first), "B": (B, second)}
        yield make.case("side by side", "S(i,j) = concat(A, B; 1)", pair, numpy.hstack([A, B]), ending, result)
        yield make.case("one below the other", "S(i,j) = concat(A, C, A; 0)", {"A": (A, first), "C": (C, second)},
                        numpy.vstack([A, C, A]), ending, result)
        yield make.case("blocks of a diagonal", "S(i,j) = concat(A, B; 0, 1)", pair, scipy.sparse.block_diag([A, B]).toarray(),
                        ending, result)
        yield make.case("blocks", "T(i,j) = concat(A, B; 1); U(i,j) = concat(B, A; 1); S(i,j) = concat(T, U; 0)", pair,
                        numpy.block([[A, B], [B, A]]), ending, result)
    for threads in ["1", "2", "3"]:
        yield make.case("side by side, threads", "S(i,j) = concat(A, B; 1)", {"A": (A, "CSR"), "B": (B, "CSR")}, numpy.hstack([A, B]),
                        ".mtx", "CSR", options=("--threads", threads))
    # Those of the RFC on structured codegen beyond rectangular arrays: 3x4xn and 3x5xn along dimension 1.
    T, U = data.sparse((3, 4, 6), 0.5, 93), data.sparse((3, 5, 6), 0.5, 94)
    for form in ["dense", CSF_ORDERS[0], CSF_ORDERS[3]]:
        yield make.case("tensors", "S(i,j,k) = concat(T, U; 1)", {"T": (T, form), "U": (U, form)}, numpy.concatenate([T, U], 1))
        yield make.case("tensors, sparse", "S(i,j,k) = concat(T, U; 1)", {"T": (T, form), "U": (U, CSF_ORDERS[0])},
                        numpy.concatenate([T, U], 1), ".tns", CSF_ORDERS[0])
    # A dimension that the parts lack, at every place; values are converted.
    V = data.sparse((3, 4, 6), 0.5, 98)
    for form, result in [("dense", "dense"), (CSF_ORDERS[0], CSF_ORDERS[2]), (CSF_ORDERS[3], "dense")]:
        for dim, text in enumerate(["l,i,j,k", "i,l,j,k", "i,j,l,k", "i,j,k,l"]):
            yield make.case("stack of tensors", f"S({text}) = stack(T, V; {dim})", {"T": (T, form), "V": (V, CSF_ORDERS[0])},
                            numpy.stack([T, V], dim), ".npy" if is_dense(result) else ".tns",
                            result if is_dense(result) else "COO")
    for first, result in zip(forms, forms[5:] + forms[:5]):
        for dim, text in enumerate(["l,i", "i,l"]):
            x = data.sparse(9, 0.5, 99)
            yield make.case("stack of vectors", f"S({text}) = stack(x, y; {dim})", {"x": (x, "(i) -> (i : compressed)"), "y": (2 * x, "")},
                            numpy.stack([x, 2 * x], dim), ".npy" if is_dense(result) else ".mtx", result)
        yield make.case("parts of two types", "S(i,j) = concat(A, N; 1)", {"A": (A, first), "N": ((100 * B).astype("i4"), "CSR")},
                        numpy.hstack([A, (100 * B).astype("i4")]), ".npy" if is_dense(result) else ".mtx", result)
    x, y = data.sparse(6, 1, 95), data.sparse(3, 1, 96).astype("f4")
    yield make.case("vectors of two types", "z(i) = concat(x, y, x; 0)", {"x": (x, ""), "y": (y, "")}, numpy.concatenate([x, y, x]))
    yield make.case("made, put together, read", "P(i,k) = 2 * A(i,k); Q(i,k) = C(i,k) + 1; S(i,k) = concat(P, Q; 0); s(i) = S(i,k) * u(k)",
                    {"A": (A, "CSR"), "C": (C, "CSR"), "u": (data.sparse(5, 1, 97), "")},
                    numpy.vstack([2 * A, C + 1]) @ data.sparse(5, 1, 97), result_format="")


def small(make):
    for group in (spmv, products, unions, complements, vectors, tensors, others, sparse_sums, sparse_products, sparse_tensors, types,
                  files, indirect, concatenations, presets.every):
        for case in group(make):
            # LLVM takes most of the time: one program of eight is optimized all the way.
            yield case if make.count % 8 == 0 else dataclasses.replace(case, options=(*case.options, "--quick"))


def from_folder(make, folder):
    for path in sorted(folder.glob("*.mtx.gz")):
        matrix = scipy.io.mmread(path).tocsr()
        x = data.sparse(matrix.shape[1], 1, 40)
        for form in MATRIX_FORMATS:
            if is_dense(form) and matrix.shape[0] * matrix.shape[1] > 5e7:
                continue
            if "crdWidth = 16" in form and matrix.shape[1] > 65536:
                continue
            yield make.case(f"SpMV {path.name}", "y(i) = A(i,j) * x(j)", {"A": (path, form), "x": (x, "")}, matrix @ x)
        yield make.case(f"row sums {path.name}", "y(i) = A(i,j)", {"A": (path, "CSC")}, numpy.asarray(matrix.sum(1)).ravel())
    for path in sorted(folder.glob("*.tns.gz")):
        yield from from_tns(make, path)


def from_tns(make, path):
    at, values = data.read_tns(path)
    dims = at.max(0) + 1
    order = len(dims)
    names = "ijklm"[:order]
    factors = [data.sparse((n, 4), 1, 50 + n % 7) for n in dims[1:]]
    want = numpy.zeros((dims[0], 4))
    terms = values[:, None] * numpy.ones((1, 4))
    for d, factor in enumerate(factors):
        terms = terms * factor[at[:, d + 1]]
    numpy.add.at(want, at[:, 0], terms)
    program = f"C({names[0]},r) = T({','.join(names)})" + "".join(f" * F{d}({names[d + 1]},r)" for d in range(order - 1))
    for levels in (names, names[::-1]):
        form = f"({','.join(names)}) -> ({', '.join(f'{v} : compressed' for v in levels)})"
        yield make.case(f"MTTKRP {path.name}", program, {"T": (path, form), **{f"F{d}": (f, "") for d, f in enumerate(factors)}},
                        want)
