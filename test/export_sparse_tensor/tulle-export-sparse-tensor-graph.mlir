// RUN: tulle-opt %s --tulle-import-sparse-tensor --tulle-export-sparse-tensor | FileCheck %s

// A body is a graph: repeated squaring has 2^40 paths to what it reads, and each value is looked at once.
// CHECK: sparse_tensor.unary
// CHECK-COUNT-40: arith.mulf
// CHECK: linalg.yield
#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#t = { indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"] }
func.func @f(%a: tensor<8xf64, #V>) -> tensor<8xf64, #V> {
  %e = tensor.empty() : tensor<8xf64, #V>
  %r = linalg.generic #t ins(%a : tensor<8xf64, #V>) outs(%e : tensor<8xf64, #V>) {
  ^bb0(%x: f64, %out: f64):
    %s0 = sparse_tensor.unary %x : f64 to f64 present={ ^bb0(%q: f64): %w = arith.negf %q : f64
      sparse_tensor.yield %w : f64 } absent={}
    %s1 = arith.mulf %s0, %s0 : f64
    %s2 = arith.mulf %s1, %s1 : f64
    %s3 = arith.mulf %s2, %s2 : f64
    %s4 = arith.mulf %s3, %s3 : f64
    %s5 = arith.mulf %s4, %s4 : f64
    %s6 = arith.mulf %s5, %s5 : f64
    %s7 = arith.mulf %s6, %s6 : f64
    %s8 = arith.mulf %s7, %s7 : f64
    %s9 = arith.mulf %s8, %s8 : f64
    %s10 = arith.mulf %s9, %s9 : f64
    %s11 = arith.mulf %s10, %s10 : f64
    %s12 = arith.mulf %s11, %s11 : f64
    %s13 = arith.mulf %s12, %s12 : f64
    %s14 = arith.mulf %s13, %s13 : f64
    %s15 = arith.mulf %s14, %s14 : f64
    %s16 = arith.mulf %s15, %s15 : f64
    %s17 = arith.mulf %s16, %s16 : f64
    %s18 = arith.mulf %s17, %s17 : f64
    %s19 = arith.mulf %s18, %s18 : f64
    %s20 = arith.mulf %s19, %s19 : f64
    %s21 = arith.mulf %s20, %s20 : f64
    %s22 = arith.mulf %s21, %s21 : f64
    %s23 = arith.mulf %s22, %s22 : f64
    %s24 = arith.mulf %s23, %s23 : f64
    %s25 = arith.mulf %s24, %s24 : f64
    %s26 = arith.mulf %s25, %s25 : f64
    %s27 = arith.mulf %s26, %s26 : f64
    %s28 = arith.mulf %s27, %s27 : f64
    %s29 = arith.mulf %s28, %s28 : f64
    %s30 = arith.mulf %s29, %s29 : f64
    %s31 = arith.mulf %s30, %s30 : f64
    %s32 = arith.mulf %s31, %s31 : f64
    %s33 = arith.mulf %s32, %s32 : f64
    %s34 = arith.mulf %s33, %s33 : f64
    %s35 = arith.mulf %s34, %s34 : f64
    %s36 = arith.mulf %s35, %s35 : f64
    %s37 = arith.mulf %s36, %s36 : f64
    %s38 = arith.mulf %s37, %s37 : f64
    %s39 = arith.mulf %s38, %s38 : f64
    %s40 = arith.mulf %s39, %s39 : f64
    linalg.yield %s40 : f64
  } -> tensor<8xf64, #V>
  return %r : tensor<8xf64, #V>
}
