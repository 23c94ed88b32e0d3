// RUN: tulle-opt %s --tulle-sparsifier | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s

// Tensors that are inserted into: empty ones and others, row by row through sparse_tensor.expand and compress, and with no load
// behind; lists that are sorted.
#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#UNORDERED = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered)) }>
#ORDERED = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>

func.func @insert(%a: tensor<100xf64, #SV>, %i: index, %v: f64) -> tensor<100xf64, #SV> {
  %b = tensor.insert %v into %a[%i] : tensor<100xf64, #SV>
  %c = sparse_tensor.load %b hasInserts : tensor<100xf64, #SV>
  return %c : tensor<100xf64, #SV>
}

// The end of insertions is the op that takes the tensor elsewhere.
func.func @insert_only(%a: tensor<100xf64, #SV>, %n: index, %v: f64) -> tensor<100xf64, #SV> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<100xf64, #SV> {
    %y = tensor.insert %v into %x[%i] : tensor<100xf64, #SV>
    scf.yield %y : tensor<100xf64, #SV>
  }
  return %b : tensor<100xf64, #SV>
}

func.func @not_inserted(%a: tensor<100xf64, #SV>) -> tensor<100xf64, #SV> {
  %c = sparse_tensor.load %a hasInserts : tensor<100xf64, #SV>
  return %c : tensor<100xf64, #SV>
}

// A column of the result: two elements in an order of their own, the first added to once more.
func.func @column(%t: tensor<3x4xf64, #CSC>, %j: index, %v: f64) -> tensor<3x4xf64, #CSC> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %true = arith.constant true
  %values, %filled, %added, %count = sparse_tensor.expand %t : tensor<3x4xf64, #CSC> to memref<?xf64>, memref<?xi1>, memref<?xindex>
  memref.store %v, %values[%c2] : memref<?xf64>
  memref.store %true, %filled[%c2] : memref<?xi1>
  memref.store %c2, %added[%c0] : memref<?xindex>
  memref.store %v, %values[%c1] : memref<?xf64>
  memref.store %true, %filled[%c1] : memref<?xi1>
  memref.store %c1, %added[%c1] : memref<?xindex>
  %before = memref.load %values[%c2] : memref<?xf64>
  %sum = arith.addf %before, %v : f64
  memref.store %sum, %values[%c2] : memref<?xf64>
  %r = sparse_tensor.compress %values, %filled, %added, %c2 into %t[%j] : memref<?xf64>, memref<?xi1>, memref<?xindex>, tensor<3x4xf64, #CSC>
  return %r : tensor<3x4xf64, #CSC>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c40 = arith.constant 40 : index
  %c60 = arith.constant 60 : index
  %v = arith.constant 7.0 : f64
  %d = arith.constant sparse<[[50], [70]], [1.0, 2.0]> : tensor<100xf64>
  %a = sparse_tensor.convert %d : tensor<100xf64> to tensor<100xf64, #SV>
  %b = call @insert(%a, %c60, %v) : (tensor<100xf64, #SV>, index, f64) -> tensor<100xf64, #SV>
  %e = call @not_inserted(%b) : (tensor<100xf64, #SV>) -> tensor<100xf64, #SV>
  // CHECK: nse = 3
  // CHECK: crd[0] : ( 50, 60, 70 )
  // CHECK-NEXT: values : ( 1, 7, 2 )
  sparse_tensor.print %e : tensor<100xf64, #SV>
  %f = call @insert_only(%e, %c40, %v) : (tensor<100xf64, #SV>, index, f64) -> tensor<100xf64, #SV>
  // CHECK: nse = 43
  // CHECK: crd[0] : ( 0, 1, 2,
  // CHECK-SAME: 39, 50, 60, 70 )
  sparse_tensor.print %f : tensor<100xf64, #SV>
  bufferization.dealloc_tensor %f : tensor<100xf64, #SV>

  // CHECK: pos[1] : ( 0, 0, 0, 0, 2 )
  // CHECK-NEXT: crd[1] : ( 1, 2 )
  // CHECK-NEXT: values : ( 7, 14 )
  %empty = tensor.empty() : tensor<3x4xf64, #CSC>
  %r = call @column(%empty, %c3, %v) : (tensor<3x4xf64, #CSC>, index, f64) -> tensor<3x4xf64, #CSC>
  sparse_tensor.print %r : tensor<3x4xf64, #CSC>
  bufferization.dealloc_tensor %r : tensor<3x4xf64, #CSC>

  %l = arith.constant dense<[[2, 1], [0, 3], [0, 2]]> : tensor<3x2xindex>
  %p = arith.constant dense<[0, 3]> : tensor<2xindex>
  %w = arith.constant dense<[5.0, 6.0, 8.0]> : tensor<3xf64>
  %u = sparse_tensor.assemble (%p, %l), %w : (tensor<2xindex>, tensor<3x2xindex>), tensor<3xf64> to tensor<3x4xf64, #UNORDERED>
  %o = sparse_tensor.reorder_coo quick_sort %u : tensor<3x4xf64, #UNORDERED> to tensor<3x4xf64, #ORDERED>
  // CHECK: crd[0] : ( 0, 2, 0, 3, 2, 1 )
  // CHECK-NEXT: values : ( 8, 6, 5 )
  sparse_tensor.print %o : tensor<3x4xf64, #ORDERED>
  bufferization.dealloc_tensor %o : tensor<3x4xf64, #ORDERED>
  return
}
