// RUN: tulle-opt %s --tulle-sparsifier | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed), posWidth = 32, crdWidth = 8 }>

// More entries than a list has room for at first, not in the order of the levels.
func.func @tridiagonal(%n: index) -> tensor<?x?xf64, #CSC> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f64
  %one = arith.constant -1.0 : f64
  %e = tensor.empty(%n, %n) : tensor<?x?xf64, #CSC>
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%x = %e) -> tensor<?x?xf64, #CSC> {
    %first = arith.cmpi eq, %i, %c0 : index
    %y = scf.if %first -> tensor<?x?xf64, #CSC> {
      scf.yield %x : tensor<?x?xf64, #CSC>
    } else {
      %before = arith.subi %i, %c1 : index
      %l = tensor.insert %one into %x[%i, %before] : tensor<?x?xf64, #CSC>
      %u = tensor.insert %one into %l[%before, %i] : tensor<?x?xf64, #CSC>
      scf.yield %u : tensor<?x?xf64, #CSC>
    }
    %z = tensor.insert %two into %y[%i, %i] : tensor<?x?xf64, #CSC>
    scf.yield %z : tensor<?x?xf64, #CSC>
  }
  %r = sparse_tensor.load %t hasInserts : tensor<?x?xf64, #CSC>
  return %r : tensor<?x?xf64, #CSC>
}

func.func @main() {
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  %A = call @tridiagonal(%c8) : (index) -> tensor<?x?xf64, #CSC>
  // CHECK: nse = 22
  // CHECK: pos[1] : ( 0, 2, 5, 8, 11, 14, 17, 20, 22 )
  // CHECK-NEXT: crd[1] : ( 0, 1, 0, 1, 2, 1, 2, 3,
  // CHECK-NEXT: values : ( 2, -1, -1, 2, -1, -1, 2, -1,
  sparse_tensor.print %A : tensor<?x?xf64, #CSC>
  %sum = sparse_tensor.foreach in %A init(%zero) : tensor<?x?xf64, #CSC>, f64 -> f64 do {
  ^bb0(%i: index, %j: index, %v: f64, %t: f64):
    %u = arith.addf %t, %v : f64
    sparse_tensor.yield %u : f64
  }
  // CHECK: 2
  vector.print %sum : f64
  // Entries of narrower elements, in another order.
  %B = sparse_tensor.convert %A : tensor<?x?xf64, #CSC> to tensor<?x?xi16, #CSR>
  // CHECK: values : ( 2, -1, -1, 2, -1,
  sparse_tensor.print %B : tensor<?x?xi16, #CSR>
  bufferization.dealloc_tensor %A : tensor<?x?xf64, #CSC>
  bufferization.dealloc_tensor %B : tensor<?x?xi16, #CSR>
  return
}
