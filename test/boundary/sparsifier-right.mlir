// RUN: tulle-opt %s --tulle-sparsifier=vl=8 | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: tulle-opt %s --tulle-sparsifier=cpu=native | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: tulle-opt %s --tulle-sparsifier='threads=true parallelization-strategy=any-storage-any-loop' | sed 's/(16384 : i64)/(1 : i64)/' | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so,/usr/lib/llvm-22/lib/libomp.so | FileCheck %s

// What is right here, and is not with mlir-opt-22 --sparsifier (LLVM 22.1), whose result is said at each function. Threads give the
// same, each task as large as one entry.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
#BSR = #sparse_tensor.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense) }>
#N24 = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4]) }>
#matvec = { indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"] }
#matmul = { indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"] }
#add = { indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"] }

#TRIPLES = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(nonunique, soa)) }>

func.func private @print5(%x: tensor<5xf64>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f64
  %v = vector.transfer_read %x[%c0], %z : tensor<5xf64>, vector<5xf64>
  vector.print %v : vector<5xf64>
  return
}

func.func private @print5x5(%x: tensor<5x5xf64>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f64
  %v = vector.transfer_read %x[%c0, %c0], %z : tensor<5x5xf64>, vector<5x5xf64>
  vector.print %v : vector<5x5xf64>
  return
}

func.func private @matrix() -> tensor<5x5xf64> {
  %d = arith.constant dense<[[1.0, 2.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0, 4.0], [0.0, 0.0, 5.0, 0.0, 0.0], [6.0, 0.0, 0.0, 7.0, 0.0], [0.0, 8.0, 0.0, 0.0, 9.0]]> : tensor<5x5xf64>
  return %d : tensor<5x5xf64>
}

// A list of entries with vl=8. Upstream, enable-runtime-library=false vl=8: ( 3, 70, 500, 7006, 90080 ).
// CHECK: ( 21, 40030, 500, 7006, 90080 )
func.func @coo() {
  %d = call @matrix() : () -> tensor<5x5xf64>
  %x = arith.constant dense<[1.0, 10.0, 100.0, 1000.0, 10000.0]> : tensor<5xf64>
  %y = arith.constant dense<0.0> : tensor<5xf64>
  %a = sparse_tensor.convert %d : tensor<5x5xf64> to tensor<5x5xf64, #COO>
  %r = linalg.generic #matvec ins(%a, %x : tensor<5x5xf64, #COO>, tensor<5xf64>) outs(%y : tensor<5xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %m = arith.mulf %p, %q : f64
    %s = arith.addf %o, %m : f64
    linalg.yield %s : f64
  } -> tensor<5xf64>
  call @print5(%r) : (tensor<5xf64>) -> ()
  bufferization.dealloc_tensor %a : tensor<5x5xf64, #COO>
  return
}

// Blocks that do not divide the sizes. Upstream: mlir-opt crashes.
// CHECK-NEXT: ( 21, 40030, 500, 7006, 90080 )
func.func @blocks() {
  %d = call @matrix() : () -> tensor<5x5xf64>
  %x = arith.constant dense<[1.0, 10.0, 100.0, 1000.0, 10000.0]> : tensor<5xf64>
  %y = arith.constant dense<0.0> : tensor<5xf64>
  %a = sparse_tensor.convert %d : tensor<5x5xf64> to tensor<5x5xf64, #BSR>
  %r = linalg.generic #matvec ins(%a, %x : tensor<5x5xf64, #BSR>, tensor<5xf64>) outs(%y : tensor<5xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %m = arith.mulf %p, %q : f64
    %s = arith.addf %o, %m : f64
    linalg.yield %s : f64
  } -> tensor<5xf64>
  call @print5(%r) : (tensor<5xf64>) -> ()
  bufferization.dealloc_tensor %a : tensor<5x5xf64, #BSR>
  return
}

// Entries with one coordinate are added where the result has each once. Upstream: with the library an exception (std::length_error),
// without it the first value, ( 1, 4 ).
// CHECK: nse = 2
// CHECK: crd[1] : ( 2, 0 )
// CHECK-NEXT: values : ( 3, 4 )
// CHECK-NEXT: ----
func.func @duplicates() {
  %p = arith.constant dense<[0, 3]> : tensor<2xindex>
  %i = arith.constant dense<[1, 1, 3]> : tensor<3xindex>
  %j = arith.constant dense<[2, 2, 0]> : tensor<3xindex>
  %v = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf64>
  %a = sparse_tensor.assemble (%p, %i, %j), %v : (tensor<2xindex>, tensor<3xindex>, tensor<3xindex>), tensor<3xf64> to tensor<5x5xf64, #TRIPLES>
  %b = sparse_tensor.convert %a : tensor<5x5xf64, #TRIPLES> to tensor<5x5xf64, #CSR>
  sparse_tensor.print %b : tensor<5x5xf64, #CSR>
  return
}

// A product of row-wise matrices into a column-wise one. Upstream: error, it finds no order of the loops.
// CHECK: nse = 11
// CHECK: pos[1] : ( 0, 2, 6, 7, 8, 11 )
// CHECK-NEXT: crd[1] : ( 0, 3, 0, 1, 3, 4, 2, 3, 0, 1, 4 )
// CHECK-NEXT: values : ( 1, 48, 8, 41, 12, 96, 25, 49, 8, 48, 113 )
// CHECK-NEXT: ----
func.func @product_csc() {
  %d = call @matrix() : () -> tensor<5x5xf64>
  %a = sparse_tensor.convert %d : tensor<5x5xf64> to tensor<5x5xf64, #CSR>
  %e = tensor.empty() : tensor<5x5xf64, #CSC>
  %r = linalg.generic #matmul ins(%a, %a : tensor<5x5xf64, #CSR>, tensor<5x5xf64, #CSR>) outs(%e : tensor<5x5xf64, #CSC>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %m = arith.mulf %p, %q : f64
    %s = arith.addf %o, %m : f64
    linalg.yield %s : f64
  } -> tensor<5x5xf64, #CSC>
  sparse_tensor.print %r : tensor<5x5xf64, #CSC>
  bufferization.dealloc_tensor %a : tensor<5x5xf64, #CSR>
  bufferization.dealloc_tensor %r : tensor<5x5xf64, #CSC>
  return
}

// Columns by columns into a dense result: with threads, each task has columns of its own.
// CHECK-NEXT: ( ( 1, 8, 0, 0, 8 ), ( 0, 41, 0, 0, 48 ), ( 0, 0, 25, 0, 0 ), ( 48, 12, 0, 49, 0 ), ( 0, 96, 0, 0, 113 ) )
func.func @product_csc_csc() {
  %d = call @matrix() : () -> tensor<5x5xf64>
  %a = sparse_tensor.convert %d : tensor<5x5xf64> to tensor<5x5xf64, #CSC>
  %y = arith.constant dense<0.0> : tensor<5x5xf64>
  %r = linalg.generic #matmul ins(%a, %a : tensor<5x5xf64, #CSC>, tensor<5x5xf64, #CSC>) outs(%y : tensor<5x5xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %m = arith.mulf %p, %q : f64
    %s = arith.addf %o, %m : f64
    linalg.yield %s : f64
  } -> tensor<5x5xf64>
  call @print5x5(%r) : (tensor<5x5xf64>) -> ()
  bufferization.dealloc_tensor %a : tensor<5x5xf64, #CSC>
  return
}

// Blocks by blocks. Upstream: mlir-opt crashes on these sizes.
// CHECK-NEXT: ( ( 1, 8, 0, 0, 8 ), ( 0, 41, 0, 0, 48 ), ( 0, 0, 25, 0, 0 ), ( 48, 12, 0, 49, 0 ), ( 0, 96, 0, 0, 113 ) )
func.func @product_blocks() {
  %d = call @matrix() : () -> tensor<5x5xf64>
  %a = sparse_tensor.convert %d : tensor<5x5xf64> to tensor<5x5xf64, #BSR>
  %y = arith.constant dense<0.0> : tensor<5x5xf64>
  %r = linalg.generic #matmul ins(%a, %a : tensor<5x5xf64, #BSR>, tensor<5x5xf64, #BSR>) outs(%y : tensor<5x5xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %m = arith.mulf %p, %q : f64
    %s = arith.addf %o, %m : f64
    linalg.yield %s : f64
  } -> tensor<5x5xf64>
  call @print5x5(%r) : (tensor<5x5xf64>) -> ()
  bufferization.dealloc_tensor %a : tensor<5x5xf64, #BSR>
  return
}

// Blocks and rows. Upstream: mlir-opt crashes on these sizes.
// CHECK-NEXT: ( ( 2, 4, 0, 0, 0 ), ( 0, 6, 0, 0, 8 ), ( 0, 0, 10, 0, 0 ), ( 12, 0, 0, 14, 0 ), ( 0, 16, 0, 0, 18 ) )
func.func @sum_blocks() {
  %d = call @matrix() : () -> tensor<5x5xf64>
  %a = sparse_tensor.convert %d : tensor<5x5xf64> to tensor<5x5xf64, #BSR>
  %b = sparse_tensor.convert %d : tensor<5x5xf64> to tensor<5x5xf64, #CSR>
  %y = arith.constant dense<0.0> : tensor<5x5xf64>
  %r = linalg.generic #add ins(%a, %b : tensor<5x5xf64, #BSR>, tensor<5x5xf64, #CSR>) outs(%y : tensor<5x5xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %s = arith.addf %p, %q : f64
    linalg.yield %s : f64
  } -> tensor<5x5xf64>
  call @print5x5(%r) : (tensor<5x5xf64>) -> ()
  bufferization.dealloc_tensor %a : tensor<5x5xf64, #BSR>
  bufferization.dealloc_tensor %b : tensor<5x5xf64, #CSR>
  return
}

// Groups of two among four, with one entry or none. Upstream: the code reads behind its buffers (a segmentation fault).
// CHECK-NEXT: ( 11, 200, 30000, 0, 0 )
func.func @groups() {
  %d = arith.constant dense<[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<5x8xf64>
  %x = arith.constant dense<[1.0, 7.0, 100.0, 7.0, 7.0, 10000.0, 10.0, 7.0]> : tensor<8xf64>
  %y = arith.constant dense<0.0> : tensor<5xf64>
  %a = sparse_tensor.convert %d : tensor<5x8xf64> to tensor<5x8xf64, #N24>
  %r = linalg.generic #matvec ins(%a, %x : tensor<5x8xf64, #N24>, tensor<8xf64>) outs(%y : tensor<5xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %m = arith.mulf %p, %q : f64
    %s = arith.addf %o, %m : f64
    linalg.yield %s : f64
  } -> tensor<5xf64>
  call @print5(%r) : (tensor<5xf64>) -> ()
  bufferization.dealloc_tensor %a : tensor<5x8xf64, #N24>
  return
}

func.func @main() {
  call @coo() : () -> ()
  call @blocks() : () -> ()
  call @duplicates() : () -> ()
  call @product_csc() : () -> ()
  call @product_csc_csc() : () -> ()
  call @product_blocks() : () -> ()
  call @sum_blocks() : () -> ()
  call @groups() : () -> ()
  return
}
