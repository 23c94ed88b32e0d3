// Modules that no stage of the pipeline makes, but that are legal.

// Functions without a body.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func private @dense(tensor<4x5xf64>) -> tensor<4x5xf64>
func.func private @sparse(tensor<4x5xf64, #CSR> {tulle.name = "A"}, index) -> tensor<4x5xf64, #CSR>
func.func private @buffers(memref<?xf64>, memref<?xi32>)
func.func private @nothing()
llvm.func @external(!llvm.ptr, i64) -> i64
llvm.func @variadic(!llvm.ptr, ...) -> i32

// -----

// Nothing at all.
module {}

// -----

// Nothing of Tulle's.
llvm.mlir.global internal @number(1 : i32) : i32
llvm.func @low() { llvm.return }
func.func @empty() { return }
func.func @scalar(%x: f64) -> f64 {
  %y = arith.addf %x, %x : f64
  return %y : f64
}
func.func @tensors(%x: tensor<4xf64>, %y: tensor<?x3xf32>) -> tensor<4xf64> {
  %unused = tensor.empty() : tensor<4xf64>
  return %x : tensor<4xf64>
}
func.func @caller(%x: f64) -> f64 {
  %y = func.call @scalar(%x) : (f64) -> f64
  return %y : f64
}

// -----

// Loops of every stage behind a branch.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
func.func @statement(%c: i1, %A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>, %C: tensor<?x?xf64>) -> tensor<?x?xf64> {
  cf.cond_br %c, ^compute, ^end(%C : tensor<?x?xf64>)
^compute:
  %zero = arith.constant 0.0 : f64
  %init = tulle.fill %zero, %C : f64, tensor<?x?xf64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%A, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%init : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  cf.br ^end(%r : tensor<?x?xf64>)
^end(%result: tensor<?x?xf64>):
  return %result : tensor<?x?xf64>
}
func.func @converted(%A: tensor<?x?xf64, #CSC>) -> tensor<?x?xf64, #CSR> {
  cf.br ^next
^next:
  %C = tulle.convert %A : tensor<?x?xf64, #CSC> to tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}
func.func @rows(%a: tensor<?x?xf64, #DCSR>, %y: tensor<?xf64, #D>, %v: f64) -> tensor<?xf64, #D> {
  %zero = arith.constant 0.0 : f64
  %f = tulle.fill %zero, %y : f64, tensor<?xf64, #D>
  cf.br ^next
^next:
  %s = tulle.space %a level(0) : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 0>
  %r = tulle.iterate %i, %it in %s : !tulle.space<#DCSR, 0> iter_args(%acc = %f) -> (tensor<?xf64, #D>) loop = <parallel> {
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  return %r : tensor<?xf64, #D>
}
func.func @buffers(%c: i1, %p: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.cond_br %c, ^loop, ^end
^loop:
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %p[%i] : memref<?xi32>
    %at = arith.index_cast %k : i32 to index
    %v = memref.load %x[%at] : memref<?xf64>
    memref.store %v, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  cf.br ^end
^end:
  return
}
llvm.func @low(%c: i1, %p: !llvm.ptr) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.cond_br %c, ^next, ^end
^next:
  llvm.br ^end
^end:
  llvm.return %zero : i64
}

// -----

// Modules in modules, whose names are their own.
module {
  module @inner {
    module {}
    func.func private @external(memref<?xf64>)
    func.func @statement0(%x: memref<?xf64>, %n: index) {
      %one = arith.constant 1.0 : f64
      tulle.parallel %task of %n {
        memref.store %one, %x[%task] : memref<?xf64>
      }
      return
    }
    llvm.func @launch0_f(i64)
    llvm.func @task0_f(%task: i64) { llvm.return }
  }
  func.func @statement0() { return }
}
