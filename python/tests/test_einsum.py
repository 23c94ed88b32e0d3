"""Programs on other packages' arrays."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
import tulle as tl


def test_spmv_reads_scipys_memory(matrix, rng):
    S, x = matrix(), rng.random(45)
    A = tl.asarray(S)
    assert A.values.ctypes.data == S.data.ctypes.data
    assert A.coordinates(1).ctypes.data == S.indices.ctypes.data
    assert A.positions(1).ctypes.data == S.indptr.ctypes.data
    y = tl.einsum("y(i) = A(i,j) * x(j)", A=S, x=x)
    assert type(y) is np.ndarray and y.flags.writeable
    np.testing.assert_allclose(y, S @ x)


@pytest.mark.parametrize("subscripts, shapes", [
    ("...ij,j->...i", [(2, 3, 4, 5), (5,)]),
    ("...ij,...jk", [(2, 3, 4), (2, 4, 5)]),
    ("...ij,...jk->...ik", [(6, 1, 3, 4), (2, 4, 5)]),
    ("...,...", [(3, 4), (4,)]),
    ("i...->...i", [(3, 4, 2)]),
    ("i...j->...", [(3, 4)]),
    ("...ii->...i", [(2, 3, 3)]),
])
def test_ellipses_of_subscripts(rng, subscripts, shapes):
    operands = [rng.random(shape) for shape in shapes]
    np.testing.assert_allclose(tl.einsum(subscripts, *operands), np.einsum(subscripts, *operands))
    first = tl.asarray(operands[0]).to("CSF")
    np.testing.assert_allclose(tl.einsum(subscripts, first, *operands[1:]), np.einsum(subscripts, *operands))


def test_subscripts_that_mean_nothing_are_refused(rng):
    x = rng.random((2, 3))
    for subscripts, operands, what in [
        ("...ijk->...", [x], "more indices than an operand has dimensions"),
        ("...i...", [x], "stands twice"),
        ("...i->i", [x], "has the dimensions of '...'"),
        ("ij,j->i", [x], "has 2 operands, but 1 are given"),
        ("y(i) = A(i,j)", [x], r"given by name: einsum\('y\(i\) = A\(i,j\)', A=…\)"),
        (None, [x], "expected a text"),
        ("ij", [np.ma.masked_array(x)], "a masked array; say what stands"),
    ]:
        with pytest.raises(tl.TulleError, match=what):
            tl.einsum(subscripts, *operands)


@pytest.mark.parametrize("subscripts, count", [("ij,j->i", 1), ("ij,j", 1), ("ij->j", 0), ("ij->", 0), ("ij->ji", 0)])
def test_numpys_subscripts(matrix, rng, subscripts, count):
    S = matrix()
    operands = [rng.random(45)] * count
    np.testing.assert_allclose(tl.einsum(subscripts, S, *operands),
                               np.einsum(subscripts, S.toarray(), *operands))


def test_sparse_results_have_the_format_that_is_named(matrix):
    S, T = matrix(), matrix(45, 30)
    C = tl.einsum("ik,kj->ij", S, T, format="CSR")
    assert isinstance(C, tl.Tensor) and C.format == "CSR"
    np.testing.assert_allclose(C.todense(), (S @ T).toarray())
    D = tl.einsum("C(i,j) = A(i,k) * B(k,j) where ~M", A=S, B=T, M=C, formats={"C": "CSR"})
    assert D.nnz == 0


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128, np.int8, np.int64])
def test_types_stay_as_they_are(matrix, index, dtype):
    S = matrix(dtype=dtype)
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    A = tl.asarray(S)
    assert A.dtype == dtype and A.positions(1).itemsize == np.dtype(index).itemsize
    C = tl.einsum("C(i,j) = A(i,j) + A(i,j)", A=A, format="CSR")
    assert C.dtype == dtype
    np.testing.assert_array_equal(C.todense(), (S + S).toarray())


def test_programs_have_several_results(matrix):
    S = matrix()
    r = tl.run("""
        m(i) max= A(i,j) where A      # the largest of each row
        p(i,j) = exp(A(i,j) - m(i)) where A
        s(i) = p(i,j)
        q(i,j) = p(i,j) / s(i)
        """, A=S, formats={"p": "CSR", "q": "CSR"}, results=["m"])
    assert set(r) == {"m", "q"}
    dense = np.where(S.toarray() != 0, np.exp(S.toarray() - r.m[:, None]), 0)
    expected = dense / np.where(dense.sum(axis=1) == 0, 1, dense.sum(axis=1))[:, None]
    np.testing.assert_allclose(r.q.todense(), expected)
    with pytest.raises(AttributeError, match="computes no 'x'"):
        r.x


def test_statements_add_to_what_is_given():
    p, Y = np.array([0, 2, 0]), np.ones((3, 2))
    np.testing.assert_array_equal(tl.einsum("Z(p(i),k) += Y(i,k)", p=p, Y=Y, shapes={"Z": (4, 2)})[:, 0], [2, 0, 1, 0])
    Z = np.full((4, 2), 10.0)
    np.testing.assert_array_equal(tl.einsum("Z(p(i),k) += Y(i,k)", Z=Z, p=p, Y=Y)[:, 0], [12, 10, 11, 10])
    assert (Z == 10).all()
    add = tl.compile("y(i) += x(i)", given=["y"])
    assert sorted(add.inputs) == ["x", "y"]
    with pytest.raises(tl.TulleError, match="'z' is given a first value"):
        tl.compile("y(i) += x(i)", given=["z"])


def test_lines_are_statements():
    from tulle._program import _statements

    program = """
    y(i) = A(i,j)    # rows
           * x(j)

    // a comment
    z(i) = min(y(i),
               2)    // at most 2
    w(i) = z(i) where
      A; v(i) = w(i)
    repeat 3 {
      v(i) = 2 * v(i)
      s = v(i)
    } until s > 9
    t = s"""
    text = _statements(program)
    assert text.count("\n") == program.count("\n")
    assert [line.strip() for line in text.split("\n") if line.strip()] == [
        "y(i) = A(i,j)", "* x(j);", "z(i) = min(y(i),", "2);", "w(i) = z(i) where", "A; v(i) = w(i);", "repeat 3 {",
        "v(i) = 2 * v(i);", "s = v(i)", "} until s > 9;", "t = s"]
    with pytest.raises(tl.TulleError) as raised:
        tl.einsum("# a comment\ny(i) = x(i)\n\nz(i) = y(j", x=np.ones(3))
    assert (raised.value.line, raised.value.column) == (4, 11)


def test_loops_run_until_their_condition():
    r = tl.run("repeat 100 { y(i) = A(i,j) * x(j); s = y(i); x(i) = y(i) } until s > 50",
               A=sp.csr_array(np.array([[0, 2.0], [3.0, 0]])), x=np.ones(2))
    assert r.s == 72


def test_jit_takes_formats_from_annotations(matrix, rng):
    @tl.jit
    def sddmm(A: "CSR", U, V) -> "CSR":
        "C(i,j) = A(i,j) * U(i,k) * V(k,j)"

    S, U, V = matrix(), rng.random((60, 8)), rng.random((8, 45))
    C = sddmm(S.tocoo(), U, V=V)
    assert C.format == "CSR"
    np.testing.assert_allclose(C.todense(), S.toarray() * (U @ V))


def test_kernels_have_free_sizes(matrix, rng):
    spmv = tl.compile("y(i) = A(i,j) * x(j)", A="CSR", x="dense")
    assert spmv.inputs == ["A", "x"] and spmv.results == ["y"]
    for rows, columns in [(3, 5), (50, 70), (1, 1), (3, 5)]:
        S, x = matrix(rows, columns, 0.5), rng.random(columns)
        np.testing.assert_allclose(spmv(S, x), S @ x)
    with pytest.raises(tl.TulleError, match="index 'j' has size"):
        spmv(matrix(3, 5), rng.random(4))


LINEAR = "(i, j) -> (i * 45 + j : compressed)"
WINDOW = """level window {
  query select [p] -> min(c) as first;
  query select [p] -> max(c) as last;
  coordinates crd[p] = first[p];
  edges pos[p + 1] = pos[p] + min(last[p] + 1, N) - min(first[p], last[p] + 1);
  positions(p) = pos[p] to pos[p + 1];
  coordinate(p, q) = crd[p] + q - pos[p];
  insert(p, c) = pos[p] + c - crd[p];
}"""
WINDOWS = f"{{ map = (i, j) -> (i : dense, j : window), levels = {{ {WINDOW} }} }}"


@pytest.mark.parametrize("format", [LINEAR, WINDOWS], ids=["linear", "declared"])
def test_kernels_of_formats_that_limit_sizes_or_declare_levels(matrix, rng, format):
    S, x = matrix(), rng.random(45)
    kernel = tl.compile("y(i) = x(j) * A(i,j)", A=format)
    A = tl.asarray(S).to(format)
    np.testing.assert_allclose(kernel(x, A), S @ x)
    twice = tl.einsum("B(i,j) = A(i,j) + S(i,j)", A=A, S=S, format=format)
    np.testing.assert_allclose(tl.einsum("y(i) = B(i,j) * x(j)", B=twice, x=x), 2 * (S @ x))


def test_level_formats_are_declared_as_text_or_in_a_file(matrix, rng, tmp_path):
    S, x = matrix(), rng.random(45)
    file = tmp_path / "window.levels"
    file.write_text(WINDOW)
    map = "(i, j) -> (i : dense, j : window)"
    for encoding in [map, f"map = {map}", f"{{ map = {map} }}", f"#tulle.encoding<{{ map = {map} }}>"]:
        for levels in [WINDOW, file]:
            A = tl.asarray(S).to(tl.with_levels(encoding, levels))
            assert A.encoding == tl.asarray(S).to(WINDOWS).encoding
    np.testing.assert_allclose(tl.einsum("y(i) = A(i,j) * x(j)", A=A, x=x), S @ x)
    assert tl.asarray(S).to(A.format).encoding == A.encoding  # the name of a format gives it again
    file.write_text(WINDOW.replace("max(c)", "most(c)"))
    with pytest.raises(tl.TulleError, match="window.levels:3:23: error: unknown query 'most'"):
        tl.with_levels(map, file)
    with pytest.raises(tl.TulleError, match="<format>:1:.*unknown level format 'windw'; did you mean 'window'"):
        tl.with_levels(map.replace("window", "windw"), WINDOW)
    with pytest.raises(tl.TulleError, match="the second argument"):
        tl.with_levels(map, 3)


def test_a_declaration_that_contradicts_itself_shows_where(matrix):
    wrong = tl.with_levels("(i, j) -> (i : dense, j : window)", WINDOW.replace("+ q - pos[p]", "+ (q - pos[p]) * 2"))
    with pytest.raises(tl.TulleError, match=r"level 1 \(window\)(.|\n)*coordinate\(p, q\) = .* \* 2;\n *\^~"):
        tl.asarray(matrix()).to(wrong)


def test_formats_that_would_store_two_coordinates_as_one_are_refused(matrix):
    with pytest.raises(tl.TulleError, match="the factor 20 has to be at least 45"):
        tl.asarray(matrix()).to("(i, j) -> (i * 20 + j : compressed)")


def test_kernels_take_any_width_that_their_format_leaves_open(matrix, rng):
    kernel = tl.compile("y(i) = A(i,j) * B(j,k) * x(k)", A="CSR", B="CSC")
    S = matrix()
    x = rng.random(S.shape[0])
    for width in (np.int64, np.int32, np.int64):
        for other in (np.int32, np.int64):
            A, B = S.copy(), sp.csc_matrix(S.T)
            A.indices, A.indptr = A.indices.astype(width), A.indptr.astype(width)
            B.indices, B.indptr = B.indices.astype(other), B.indptr.astype(other)
            assert tl.asarray(A).coordinates(1).ctypes.data == A.indices.ctypes.data  # not copied to another width
            np.testing.assert_allclose(kernel(tl.asarray(A), tl.asarray(B), x),
                                       S @ (S.T @ x))


def test_kernels_refuse_another_format_or_width_than_was_named(matrix):
    S = matrix()
    wide = S.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    x = np.ones(45)
    kernel = tl.compile("y(i) = A(i,j) * x(j)", A="CSR")
    kernel(tl.asarray(wide), x)  # a version of its own, of which another format is none
    with pytest.raises(tl.TulleError, match="'A' is stored as .*singleton.* compiled for"):
        kernel(tl.asarray(wide.tocoo()), x)
    narrow = tl.compile("y(i) = A(i,j) * x(j)",
                        A="#tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>")
    with pytest.raises(tl.TulleError, match="'A' is stored as .*posWidth = 64.* compiled for .*posWidth = 32"):
        narrow(tl.asarray(wide), x)


def test_kernels_write_to_the_callers_memory(matrix, rng):
    spmv = tl.compile("y(i) = A(i,j) * x(j)", A="CSR")
    S, x, y = matrix(), rng.random(45), np.full(60, 7.0)
    assert spmv(S, x, out=y) is y
    np.testing.assert_allclose(y, S @ x)
    fixed = np.ones(60)
    fixed.flags.writeable = False
    for wrong, why in [(np.ones(59), "60"), (np.ones(60, np.float32), "f32"), (np.ones(120)[::2], "contiguous"),
                       (fixed, "read-only")]:
        with pytest.raises(tl.TulleError, match=why):
            spmv(S, x, out=wrong)
    square = tl.compile("y(i) = A(i,j) * x(j)", A="CSR")
    S = matrix(45, 45)
    with pytest.raises(tl.TulleError, match="shares memory"):
        square(S, x, out=x)


def test_one_kernel_runs_in_several_threads(matrix, rng):
    spmv = tl.compile("y(i) = A(i,j) * x(j)", A="CSR")
    wrong = []

    def work(rows):
        S, x = matrix(rows, 40, 0.2), np.random.default_rng(rows).random(40)
        for _ in range(200):
            if not np.allclose(spmv(S, x), S @ x):
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(10 + k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_errors_have_message_line_and_column():
    with pytest.raises(tl.TulleError) as raised:
        tl.compile("y(i) = A(i,j) * x(j);\nz(i) = y(i) +", A="CSR")
    assert (raised.value.line, raised.value.column) == (2, 14)
    assert "^" in str(raised.value) and "\n" not in raised.value.message
    assert isinstance(raised.value, ValueError)
    with pytest.raises(tl.TulleError, match="reads 'x'|'x' is not given|x") as raised:
        tl.einsum("y(i) = A(i,j) * x(j)", A=np.eye(3))
    assert raised.value.line is None
    with pytest.raises(tl.TulleError, match="'v' is given, but the program does not use it; it uses y, A, x"):
        tl.einsum("y(i) = A(i,j) * x(j)", A=np.eye(3), v=np.ones(3))
    with pytest.raises(tl.TulleError, match="jit: expected a function"):
        tl.jit("y(i) = A(i,j) * x(j)")


def test_kernels_describe_themselves():
    kernel = tl.compile("y(i) = A(i,j) * x(j)", A="CSR", x=("dense", "f32"))
    assert repr(kernel) == "<tulle.Kernel 'y(i) = A(i,j) * x(j)', A: CSR f64, x: dense f32>"


def test_schedules_options_and_remarks(matrix, rng):
    S, x = matrix(), rng.random(45)
    y = tl.einsum("y(i) = A(i,j) * x(j)", A=S, x=x, schedule="parallelize(i)", threads=2, deterministic=True)
    np.testing.assert_allclose(y, S @ x)
    kernel = tl.compile("y(j) = A(i,j) * x(i)", A="CSR")
    assert "tulle.iterate" in kernel.explain("iteration")
    page = kernel.explain()._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "stage-asm" in page and "scf.for" in page
    assert kernel.origin in ("compiled", "memory cache", "disk cache") and kernel.compile_ms > 0
    with pytest.raises(tl.TulleError, match="no loop|reorder") as raised:
        tl.compile("y(i) = A(i,j) * x(j)", A="CSR", schedule="reorder(k)")
    assert "^" in str(raised.value)


@pytest.mark.parametrize("options", [dict(vl=2), dict(vl=8, tail="mask"), dict(tail="mask"), dict(vl=4, index32=False)])
def test_vectors_of_every_kind_compute_the_same(matrix, rng, options):
    S, x = matrix(), rng.random(45)
    np.testing.assert_allclose(tl.einsum("y(i) = A(i,j) * x(j)", A=S, x=x, **options), S @ x)
    np.testing.assert_allclose(tl.run("y(i) = A(i,j) * x(j)", A=S, x=x, **options).y, S @ x)
    kernel = tl.compile("y(i) = A(i,j) * x(j)", A="CSR", **options)
    np.testing.assert_allclose(kernel(tl.asarray(S), x), S @ x)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(kernel))(tl.asarray(S), x), S @ x)
    vectors = str(kernel.explain("vector"))
    assert f"vector<{options.get('vl', '')}" in vectors
    assert ("vector.create_mask" in vectors) >= ("tail" in options)
    assert ("xindex>" in vectors) >= ("index32" in options)


def test_options_of_vectors_are_checked():
    compile = lambda **options: tl.compile("y(i) = A(i,j) * x(j)", A="CSR", **options)
    with pytest.raises(tl.TulleError, match="tail 'none': expected one of auto, mask"):
        compile(tail="none")
    for name in ("tail", "schedule"):
        with pytest.raises(tl.TulleError, match=f"{name}: expected a text, got int"):
            compile(**{name: 3})
    with pytest.raises(tl.TulleError, match="expected a power of 2"):
        compile(vl=3)
    with pytest.raises(tl.TulleError, match="scalable vectors: give the vector length"):
        compile(scalable=True)
