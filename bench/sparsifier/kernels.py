"""The kernels: those of MLIR's tests of its sparsifier (integration and dialect tests), at a million entries."""
from module import Kernel

ROWS, VECTOR = 65536, 4_000_000
SQUARE = {"i": ROWS, "j": ROWS, "k": ROWS}
SMALL = {"i": 2048, "j": 2048}
FULLER = {"i": 8192, "j": 8192, "k": 8192}  # upstream walks all rows of B for each of A
THICK = {**SQUARE, "k": 32}
CUBE = {"i": 1024, "j": 64, "k": 1024, "l": 32}
WIDE = {"i": 2048, "j": 2048, "k": 64}
MILLION = dict(entries=1_000_000, sizes={"i": VECTOR})

#: Of what a generic yields, by the text of its body.
ADD = "%s = arith.addf %a, %b : f64\n    linalg.yield %s : f64"
TIMES = "%s = arith.mulf %a, %b : f64\n    linalg.yield %s : f64"
SCALE = "%c = arith.constant 2.0 : f64\n    %s = arith.mulf %a, %c : f64\n    linalg.yield %s : f64"
COPY = "linalg.yield %a : f64"
SQRT = "%s = math.sqrt %a : f64\n    linalg.yield %s : f64"
ABS = "%s = math.absf %a : f64\n    linalg.yield %s : f64"
SIGN = "%z = arith.negf %a : f64\n    linalg.yield %z : f64"
CEIL = "%z = math.ceil %a : f64\n    %y = arith.mulf %z, %a : f64\n    linalg.yield %y : f64"
MAXIMUM = "%m = arith.maximumf %out, %a : f64\n    linalg.yield %m : f64"
CAST = "%s = arith.extf %a : f32 to f64\n    linalg.yield %s : f64"
QUANTIZED = """%x = arith.extsi %a : i8 to i32
    %y = arith.extsi %b : i8 to i32
    %p = arith.muli %x, %y : i32
    %s = arith.addi %out, %p : i32
    linalg.yield %s : i32"""
RELU = """%r = sparse_tensor.unary %a : f64 to f64
      present={ ^bb0(%x : f64):
        %c = arith.constant 1.0 : f64
        %m = arith.maximumf %x, %c : f64
        sparse_tensor.yield %m : f64 } absent={}
    linalg.yield %r : f64"""
SYMMETRIC = """%r = sparse_tensor.binary %a, %b : f64, f64 to f64
      overlap={ ^bb0(%x : f64, %y : f64):
        %m = arith.maximumf %x, %y : f64
        sparse_tensor.yield %m : f64 } left=identity right=identity
    linalg.yield %r : f64"""
LOWER = """%i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %r = sparse_tensor.select %a : f64 { ^bb0(%x : f64):
        %keep = arith.cmpi ult, %j, %i : index
        sparse_tensor.yield %keep : i1 }
    linalg.yield %r : f64"""
LARGE = """%r = sparse_tensor.select %a : f64 { ^bb0(%x : f64):
        %c = arith.constant 2.0 : f64
        %keep = arith.cmpf ogt, %x, %c : f64
        sparse_tensor.yield %keep : i1 }
    linalg.yield %r : f64"""
PRODUCT = """%one = arith.constant 1.0 : f64
    %r = sparse_tensor.reduce %out, %a, %one : f64 { ^bb0(%x : f64, %y : f64):
        %m = arith.maximumf %x, %y : f64
        sparse_tensor.yield %m : f64 }
    linalg.yield %r : f64"""
COORDINATES = """%i = linalg.index 0 : index
    %x = arith.index_cast %i : index to i64
    %y = arith.sitofp %x : i64 to f64
    %s = arith.mulf %a, %y : f64
    linalg.yield %s : f64"""

KERNELS = [
    # Matrix times vector
    Kernel("matvec CSR", "ij,j->i", "csr,dense->dense", SQUARE),
    Kernel("matvec CSR, 32 bits", "ij,j->i", "csr,dense->dense", SQUARE, width=32),
    Kernel("matvec CSR, f32, 32 bits", "ij,j->i", "csr,dense->dense", SQUARE, type="f32", width=32),
    Kernel("matvec CSC", "ij,j->i", "csc,dense->dense", SQUARE),
    Kernel("matvec COO", "ij,j->i", "coo,dense->dense", SQUARE),
    Kernel("matvec COO, structure of arrays", "ij,j->i", "coo_soa,dense->dense", SQUARE),
    Kernel("matvec DCSR", "ij,j->i", "dcsr,dense->dense", SQUARE),
    Kernel("matvec 2x2 blocks", "ij,j->i", "bsr,dense->dense", SQUARE),
    Kernel("matvec 2:4, f32", "ij,j->i", "nv24,dense->dense", SMALL, entries=1024, type="f32"),
    Kernel("vecmat CSR", "i,ij->j", "dense,csr->dense", SQUARE),
    # Matrix times matrix
    Kernel("matmul CSR, dense", "ij,jk->ik", "csr,dense->dense", THICK),
    Kernel("matmul CSC, dense", "ij,jk->ik", "csc,dense->dense", THICK),
    Kernel("matmul 2x2 blocks, dense", "ij,jk->ik", "bsr,dense->dense", THICK),
    Kernel("matmul 2:4, dense, f32", "ij,jk->ik", "nv24,dense->dense", WIDE, entries=1024, type="f32"),
    Kernel("matmul quantized", "ij,jk->ik", "dense,dcsr->dense", {"i": 64, "j": ROWS, "k": 2048}, QUANTIZED,
           type="i8", result_type="i32"),
    Kernel("matmul CSR, CSR to CSR", "ij,jk->ik", "csr,csr->csr", SQUARE),
    Kernel("matmul DCSR, DCSR to DCSR", "ij,jk->ik", "dcsr,dcsr->dcsr", FULLER, entries=32),
    Kernel("sampled matmul CSR", "ij,ik,kj->ij", "csr,dense,dense->csr", THICK),
    Kernel("sampled matmul CSR to dense", "ij,ik,kj->ij", "csr,dense,dense->dense", WIDE, entries=512),
    # Elementwise, of matrices
    Kernel("scale CSR", "ij->ij", "csr->csr", SQUARE, SCALE),
    Kernel("add CSR, CSR", "ij,ij->ij", "csr,csr->csr", SQUARE, ADD),
    Kernel("multiply CSR, CSR", "ij,ij->ij", "csr,csr->csr", SQUARE, TIMES),
    Kernel("add DCSR, DCSR", "ij,ij->ij", "dcsr,dcsr->dcsr", SQUARE, ADD),
    Kernel("multiply CSR, dense", "ij,ij->ij", "csr,dense->csr", SMALL, TIMES, entries=512),
    Kernel("add CSR, dense", "ij,ij->ij", "csr,dense->dense", SMALL, ADD, entries=512),
    Kernel("absolute values CSR", "ij->ij", "csr->csr", SQUARE, ABS),
    Kernel("transpose CSR", "ij->ji", "csr->csc", SQUARE, COPY),
    Kernel("f32 to f64 CSR", "ij->ij", "csr->csr", SQUARE, CAST, type="f32", result_type="f64"),
    Kernel("unary CSR", "ij->ij", "csr->csr", SQUARE, RELU),
    Kernel("binary CSR, CSR", "ij,ij->ij", "csr,csr->csr", SQUARE, SYMMETRIC),
    Kernel("select below the diagonal CSR", "ij->ij", "csr->csr", SQUARE, LOWER),
    Kernel("select by value CSR", "ij->ij", "csr->csr", SQUARE, LARGE),
    Kernel("times the row's number CSR", "ij->ij", "csr->csr", SQUARE, COORDINATES),
    # Reductions
    Kernel("sum CSR", "ij->", "csr->dense", SQUARE),
    Kernel("sum COO", "ij->", "coo->dense", SQUARE),
    Kernel("sums of rows CSR", "ij->i", "csr->dense", SQUARE),
    Kernel("sums of columns CSR", "ij->j", "csr->dense", SQUARE),
    Kernel("maxima of rows CSR", "ij->i", "csr->dense", SMALL, MAXIMUM, entries=512),
    Kernel("custom reduction of rows CSR", "ij->i", "csr->dense", SQUARE, PRODUCT),
    # Vectors
    Kernel("dot, dense", "i,i->", "vector,dense->dense", **MILLION),
    Kernel("dot, sparse", "i,i->", "vector,vector->dense", **MILLION),
    Kernel("add vectors", "i,i->i", "vector,vector->vector", body=ADD, **MILLION),
    Kernel("multiply vectors", "i,i->i", "vector,vector->vector", body=TIMES, **MILLION),
    Kernel("square roots", "i->i", "vector->vector", body=SQRT, **MILLION),
    # Tensors of order three
    Kernel("sum CSF", "ijk->", "csf->dense", CUBE),
    Kernel("mttkrp CSF", "ijk,jl,kl->il", "csf,dense,dense->dense", CUBE),
    Kernel("ttv CSF", "ijk,k->ij", "csf,dense->dense", CUBE),
    Kernel("ttm CSF", "ijk,kl->ijl", "csf,dense->dense", CUBE),
    Kernel("add CSF, CSF", "ijk,ijk->ijk", "csf,csf->csf", CUBE, ADD),
    Kernel("convolution, filter CSR", "i+k_j+l,kl->ij", "dense,csr->dense",
           {"i": 510, "j": 510, "k": 3, "l": 3, "i+k": 512, "j+l": 512}, entries=2),
]

MATRICES = ["coo", "coo_soa", "csr", "csc", "dcsr", "dcsc", "bsr", "bcsc"]
TENSORS = ["coo3", "csf", "csf_kij", "ddc", "dcc"]


def conversion(letters, source, target, sizes, **options):
    return Kernel(f"{source} to {target}", f"{letters}->{letters}", f"{source}->{target}", sizes,
                  op="  %result = sparse_tensor.convert %arg0 : {0} to {result}\n  return %result : {result}",
                  **options)


CONVERSIONS = (
    [conversion("ij", a, b, SQUARE) for a in MATRICES for b in MATRICES if a != b]
    + [conversion("ijk", a, b, CUBE) for a in TENSORS for b in TENSORS if a != b]
    + [conversion("ij", a, b, SMALL, entries=512) for a, b in [("dense", "csr"), ("dense", "csc"), ("csr", "dense"),
                                                               ("csc", "dense"), ("coo", "dense")]])

FLAT = "tensor<{}xf64, #sparse_tensor.encoding<{{{{ map = (i) -> (i : compressed) }}}}>>".format(ROWS * ROWS)
COLLAPSE = "tensor.collapse_shape %arg0 [[0, 1]] : {0} into "
RESHAPES = [
    Kernel("collapse CSR", "ij->k", "csr->vector", {"i": ROWS, "j": ROWS, "k": ROWS * ROWS},
           op="  %result = " + COLLAPSE + "{result}\n  return %result : {result}"),
    Kernel("collapse CSR, expand to CSR", "ij->kl", "csr->csr", {"i": ROWS, "j": ROWS, "k": ROWS // 2, "l": ROWS * 2},
           op="  %flat = " + COLLAPSE + FLAT + "\n"
              f"  %result = tensor.expand_shape %flat [[0, 1]] output_shape [{ROWS // 2}, {ROWS * 2}] : " + FLAT +
              " into {result}\n  return %result : {result}"),
]
