// RUN: tulle-opt %s --tulle-rewrite-sparse-ops | FileCheck %s

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#BSR = #sparse_tensor.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense) }>
#DIA = #tulle.encoding<{ map = (i, j) -> (j - i : squeezed, i : banded) }>
#matmul = {
  indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
  iterator_types = ["parallel", "parallel", "reduction"]
}
#scale = {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
  iterator_types = ["parallel", "parallel"]
}

// A dense product that is sampled: upstream's fusion takes inits that alloc_tensor makes, and crashes on others (mlir-opt-22
// --pre-sparsification-rewrite).
// CHECK-LABEL: @sampled
// CHECK: %[[INIT:.*]] = bufferization.alloc_tensor() copy(%{{.*}}) : tensor<8x8xf64>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64, #{{.*}}>) outs(%[[INIT]]
// CHECK-NOT: linalg.generic
// CHECK-NOT: alloc_tensor
// CHECK: return
func.func @sampled(%s: tensor<8x8xf64, #CSR>, %a: tensor<8x8xf64>, %b: tensor<8x8xf64>) -> tensor<8x8xf64> {
  %zeros = arith.constant dense<0.0> : tensor<8x8xf64>
  %p = linalg.generic #matmul ins(%a, %b : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<8x8xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %m = arith.mulf %x, %y : f64
    %n = arith.addf %o, %m : f64
    linalg.yield %n : f64
  } -> tensor<8x8xf64>
  %e = tensor.empty() : tensor<8x8xf64>
  %r = linalg.generic #scale ins(%p, %s : tensor<8x8xf64>, tensor<8x8xf64, #CSR>) outs(%e : tensor<8x8xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %m = arith.mulf %x, %y : f64
    linalg.yield %m : f64
  } -> tensor<8x8xf64>
  return %r : tensor<8x8xf64>
}

// What is not fused keeps its inits.
// CHECK-LABEL: @added
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.0
// CHECK-NOT: alloc_tensor
// CHECK: linalg.generic {{.*}} outs(%[[ZEROS]]
// CHECK-NOT: alloc_tensor
// CHECK: return
func.func @added(%s: tensor<8x8xf64, #CSR>, %a: tensor<8x8xf64>, %b: tensor<8x8xf64>) -> tensor<8x8xf64> {
  %zeros = arith.constant dense<0.0> : tensor<8x8xf64>
  %p = linalg.generic #matmul ins(%a, %b : tensor<8x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<8x8xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %m = arith.mulf %x, %y : f64
    %n = arith.addf %o, %m : f64
    linalg.yield %n : f64
  } -> tensor<8x8xf64>
  %e = tensor.empty() : tensor<8x8xf64>
  %r = linalg.generic #scale ins(%p, %s : tensor<8x8xf64>, tensor<8x8xf64, #CSR>) outs(%e : tensor<8x8xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %m = arith.addf %x, %y : f64
    linalg.yield %m : f64
  } -> tensor<8x8xf64>
  return %r : tensor<8x8xf64>
}

// Outside of linalg scalars are there.
// CHECK-LABEL: @scalars
// CHECK-SAME: (%[[X:.*]]: f64, %[[Y:.*]]: f64)
// CHECK: %[[NEG:.*]] = arith.negf %[[X]]
// CHECK: %[[SUM:.*]] = arith.addf %[[NEG]], %[[Y]]
// CHECK: %[[IS:.*]] = arith.cmpf ogt, %[[SUM]], %[[Y]]
// CHECK: %[[KEPT:.*]] = arith.select %[[IS]], %[[SUM]], %{{.*}} : f64
// CHECK: %[[MIN:.*]] = arith.minimumf %[[KEPT]], %[[Y]]
// CHECK: return %[[MIN]]
func.func @scalars(%x: f64, %y: f64) -> f64 {
  %id = arith.constant 0x7FF0000000000000 : f64
  %a = sparse_tensor.unary %x : f64 to f64
    present={ ^bb0(%v: f64): %n = arith.negf %v : f64
              sparse_tensor.yield %n : f64 }
    absent={ sparse_tensor.yield %id : f64 }
  %b = sparse_tensor.binary %a, %y : f64, f64 to f64
    overlap={ ^bb0(%v: f64, %w: f64): %s = arith.addf %v, %w : f64
              sparse_tensor.yield %s : f64 }
    left=identity
    right={}
  %c = sparse_tensor.select %b : f64 { ^bb0(%v: f64): %g = arith.cmpf ogt, %v, %y : f64
                                       sparse_tensor.yield %g : i1 }
  %d = sparse_tensor.reduce %c, %y, %id : f64 { ^bb0(%v: f64, %w: f64): %m = arith.minimumf %v, %w : f64
                                                sparse_tensor.yield %m : f64 }
  return %d : f64
}

// CHECK-LABEL: @translated
// CHECK: affine.apply
// CHECK-NOT: crd_translate
func.func @translated(%i: index, %j: index) -> (index, index) {
  %a, %b, %c, %d = sparse_tensor.crd_translate dim_to_lvl [%i, %j] as #BSR : index, index, index, index
  %k, %l = sparse_tensor.crd_translate lvl_to_dim [%a, %b, %c, %d] as #BSR : index, index
  return %k, %l : index, index
}

// A scalar operand is a value from outside of the body.
// CHECK-LABEL: @scalar_operand
// CHECK-SAME: %[[Q:[^:]*]]: f64
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8x8xf64, #{{.*}}>) outs
// CHECK: arith.mulf %{{.*}}, %[[Q]]
func.func @scalar_operand(%s: tensor<8x8xf64, #CSR>, %q: f64, %x: tensor<8x8xf64>) -> tensor<8x8xf64> {
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%s, %q : tensor<8x8xf64, #CSR>, f64) outs(%x : tensor<8x8xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %m = arith.mulf %a, %b : f64
    %n = arith.addf %o, %m : f64
    linalg.yield %n : f64
  } -> tensor<8x8xf64>
  return %r : tensor<8x8xf64>
}

// Casts between encodings are conversions, those of a shape stay.
// CHECK-LABEL: @casts
// CHECK: %[[C:.*]] = sparse_tensor.convert %{{.*}} : tensor<8x8xf64> to tensor<8x8xf64, #encoding>
// CHECK: tensor.cast %[[C]] : tensor<8x8xf64, #encoding> to tensor<?x?xf64, #encoding>
func.func @casts(%x: tensor<8x8xf64>) -> tensor<?x?xf64, #DIA> {
  %a = tensor.cast %x : tensor<8x8xf64> to tensor<8x8xf64, #DIA>
  %b = tensor.cast %a : tensor<8x8xf64, #DIA> to tensor<?x?xf64, #DIA>
  return %b : tensor<?x?xf64, #DIA>
}
