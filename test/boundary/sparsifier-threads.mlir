// RUN: tulle-opt %s --tulle-sparsifier='threads=true parallelization-strategy=any-storage-any-loop' | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so,/usr/lib/llvm-22/lib/libomp.so | FileCheck %s
// RUN: tulle-opt %s --tulle-sparsifier='threads=true parallelization-strategy=any-storage-any-loop' | FileCheck %s --check-prefix=CODE
// RUN: tulle-opt %s --tulle-sparsifier=threads=true | FileCheck %s --check-prefix=SERIAL
// RUN: tulle-opt %s --tulle-sparsifier=parallelization-strategy=any-storage-any-loop | FileCheck %s --check-prefix=SERIAL

// With threads the product runs in tasks, which are claimed one by one by OpenMP's threads; rows of the new tensor are put in order by a
// chained scan. Without, or without a strategy, nothing calls OpenMP.
// CODE-DAG: llvm.func @GOMP_parallel
// CODE-DAG: llvm.func internal @tulle_parallel
// CODE-DAG: llvm.func internal @tulle_threads
// CODE-DAG: llvm.func internal @tulle_ordered_scan
// SERIAL-NOT: GOMP_parallel
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#matmul = {
  indexing_maps = [affine_map<(i, k, j) -> (i, k)>, affine_map<(i, k, j) -> (k, j)>, affine_map<(i, k, j) -> (i, j)>],
  iterator_types = ["parallel", "reduction", "parallel"]
}

func.func @product(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>, %n: index) -> tensor<?x?xf64, #CSR> {
  %e = tensor.empty(%n, %n) : tensor<?x?xf64, #CSR>
  %r = linalg.generic #matmul ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %p = arith.mulf %x, %y : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}

// The square of a matrix with 1 at (i, i) and (i, i + 1): a band of 1, 2, 1.
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100000 : index
  %last = arith.subi %n, %c1 : index
  %one = arith.constant 1.0 : f64
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%n, %n) : tensor<?x?xf64, #CSR>
  %t = scf.for %i = %c0 to %last step %c1 iter_args(%x = %e) -> tensor<?x?xf64, #CSR> {
    %next = arith.addi %i, %c1 : index
    %y = tensor.insert %one into %x[%i, %i] : tensor<?x?xf64, #CSR>
    %z = tensor.insert %one into %y[%i, %next] : tensor<?x?xf64, #CSR>
    scf.yield %z : tensor<?x?xf64, #CSR>
  }
  %a = sparse_tensor.load %t hasInserts : tensor<?x?xf64, #CSR>
  %r = call @product(%a, %a, %n) : (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>, index) -> tensor<?x?xf64, #CSR>
  // CHECK: 299996
  %count = sparse_tensor.number_of_entries %r : tensor<?x?xf64, #CSR>
  vector.print %count : index
  %values = sparse_tensor.values %r : tensor<?x?xf64, #CSR> to memref<?xf64>
  %crd = sparse_tensor.coordinates %r { level = 1 : index } : tensor<?x?xf64, #CSR> to memref<?xindex>
  // CHECK-NEXT: ( 1, 2, 1, 1, 2, 1 )
  %some = vector.transfer_read %values[%last], %zero : memref<?xf64>, vector<6xf64>
  vector.print %some : vector<6xf64>
  // CHECK-NEXT: ( 33333, 33334, 33335, 33334, 33335, 33336 )
  %where = vector.transfer_read %crd[%last], %c0 : memref<?xindex>, vector<6xindex>
  vector.print %where : vector<6xindex>
  bufferization.dealloc_tensor %a : tensor<?x?xf64, #CSR>
  bufferization.dealloc_tensor %r : tensor<?x?xf64, #CSR>
  return
}
