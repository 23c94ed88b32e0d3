#include "MlirSparsifier.h"
#include <fmt/format.h>

namespace tulle::bench {

// Everything is marked restrict and the sparse buffers writable, so that MLIR copies nothing: only its loops
// are timed.
static std::string matrixText(int64_t rows, int64_t columns) {
  return fmt::format(R"(
  %p = bufferization.to_tensor %pos restrict writable : memref<?xi32> to tensor<?xi32>
  %c = bufferization.to_tensor %crd restrict writable : memref<?xi32> to tensor<?xi32>
  %v = bufferization.to_tensor %val restrict writable : memref<?xf64> to tensor<?xf64>
  %A = sparse_tensor.assemble (%p, %c), %v : (tensor<?xi32>, tensor<?xi32>), tensor<?xf64> to tensor<{}x{}xf64, #CSR>
  %zero = arith.constant 0.0 : f64
)",
                     rows, columns);
}

static const char *header =
    "#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = "
    "32 }>\n"
    "func.func @kernel(%pos: memref<?xi32>, %crd: memref<?xi32>, %val: memref<?xf64>, ";

/// `result = A * operand`, with the loops and subscripts given.
static std::string product(int64_t rows, int64_t columns, const std::string &operand,
                           const std::string &result, const std::string &maps, const std::string &iterators) {
  return header +
         fmt::format("%xm: memref<{0}>, %ym: memref<{1}>) attributes {{ llvm.emit_c_interface }} {{", operand,
                     result) +
         matrixText(rows, columns) +
         fmt::format(R"(
  %x = bufferization.to_tensor %xm restrict : memref<{0}> to tensor<{0}>
  %old = bufferization.to_tensor %ym restrict writable : memref<{1}> to tensor<{1}>
  %y = linalg.fill ins(%zero : f64) outs(%old : tensor<{1}>) -> tensor<{1}>
  %r = linalg.generic {{ indexing_maps = [{2}], iterator_types = [{3}] }}
    ins(%A, %x : tensor<{4}x{5}xf64, #CSR>, tensor<{0}>) outs(%y : tensor<{1}>) {{
    ^bb0(%a: f64, %b: f64, %o: f64):
      %m = arith.mulf %a, %b : f64
      %s = arith.addf %o, %m : f64
      linalg.yield %s : f64
  }} -> tensor<{1}>
  bufferization.materialize_in_destination %r in restrict writable %ym : (tensor<{1}>, memref<{1}>) -> ()
  return
}}
)",
                     operand, result, maps, iterators, rows, columns);
}

std::string spmvText(int64_t rows, int64_t columns) {
  return product(rows, columns, fmt::format("{}xf64", columns), fmt::format("{}xf64", rows),
                 "affine_map<(i,j) -> (i,j)>, affine_map<(i,j) -> (j)>, affine_map<(i,j) -> (i)>",
                 R"("parallel", "reduction")");
}

std::string spmmText(int64_t rows, int64_t columns, int64_t n) {
  return product(rows, columns, fmt::format("{}x{}xf64", columns, n), fmt::format("{}x{}xf64", rows, n),
                 "affine_map<(i,j,k) -> (i,j)>, affine_map<(i,j,k) -> (j,k)>, affine_map<(i,j,k) -> (i,k)>",
                 R"("parallel", "reduction", "parallel")");
}

std::string sddmmText(int64_t rows, int64_t columns, int64_t n) {
  return header +
         fmt::format("%dm: memref<{0}x{2}xf64>, %em: memref<{1}x{2}xf64>) -> memref<?xf64> attributes {{ "
                     "llvm.emit_c_interface }} {{",
                     rows, columns, n) +
         matrixText(rows, columns) +
         fmt::format(R"(
  %d = bufferization.to_tensor %dm restrict : memref<{0}x{2}xf64> to tensor<{0}x{2}xf64>
  %e = bufferization.to_tensor %em restrict : memref<{1}x{2}xf64> to tensor<{1}x{2}xf64>
  %r = linalg.generic {{
    indexing_maps = [affine_map<(i,j,k) -> (i,k)>, affine_map<(i,j,k) -> (j,k)>, affine_map<(i,j,k) -> (i,j)>],
    iterator_types = ["parallel", "parallel", "reduction"] }}
    ins(%d, %e : tensor<{0}x{2}xf64>, tensor<{1}x{2}xf64>) outs(%A : tensor<{0}x{1}xf64, #CSR>) {{
    ^bb0(%a: f64, %b: f64, %o: f64):
      %u = sparse_tensor.unary %o : f64 to f64
        present={{ ^bb0(%q: f64):
          %m = arith.mulf %a, %b : f64
          sparse_tensor.yield %m : f64 }}
        absent={{}}
      %s = sparse_tensor.reduce %o, %u, %zero : f64 {{ ^bb0(%f: f64, %g: f64):
          %t = arith.addf %f, %g : f64
          sparse_tensor.yield %t : f64 }}
      linalg.yield %s : f64
  }} -> tensor<{0}x{1}xf64, #CSR>
  %values = sparse_tensor.values %r : tensor<{0}x{1}xf64, #CSR> to memref<?xf64>
  return %values : memref<?xf64>
}}
)",
                     rows, columns, n);
}

} // namespace tulle::bench
