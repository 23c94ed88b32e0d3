// RUN: tulle-opt %s --tulle-import-sparse-tensor | FileCheck %s --check-prefix=ORDER
// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-import-sparse-tensor{reassociate=true})' | FileCheck %s --check-prefix=ANY
// RUN: tulle-opt %s --tulle-sparsifier | FileCheck %s --check-prefix=SCALAR
// RUN: tulle-opt %s --tulle-sparsifier=reassociate-fp-reductions | FileCheck %s --check-prefix=VECTORS

// Sums keep their order unless the caller says that they need not. What other ops say stays.
// ORDER: arith.mulf %{{.*}}, %{{.*}} fastmath<nnan> : f64
// ORDER: arith.addf %{{.*}}, %{{.*}} : f64
// ANY: arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc,nnan,contract> : f64
// ANY: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f64
// SCALAR-NOT: vector<
// VECTORS: vector<{{[248]}}xf64>
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#matvec = {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
  iterator_types = ["parallel", "reduction"]
}
func.func @matvec(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic #matvec ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %v: f64, %out: f64):
    %p = arith.mulf %a, %v fastmath<nnan> : f64
    %f = arith.truncf %p : f64 to f32
    %d = arith.extf %f : f32 to f64
    %s = arith.addf %out, %d : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}
