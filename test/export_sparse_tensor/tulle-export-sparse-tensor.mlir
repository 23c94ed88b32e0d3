// RUN: tulle-opt %s --tulle-export-sparse-tensor | FileCheck %s
// RUN: tulle-opt %s --tulle-export-sparse-tensor | mlir-opt | FileCheck %s

// CHECK-DAG: #[[$CSR:.+]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed), posWidth = 32, crdWidth = 16 }>
// CHECK-DAG: #[[$BSR:.+]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 floordiv 2 : dense, d1 floordiv 3 : compressed, d0 mod 2 : dense, d1 mod 3 : dense) }>
// CHECK-DAG: #[[$ONES:.+]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed(nonunique), d1 : singleton(soa)), explicitVal = 1.000000e+00 : f32, implicitVal = 0.000000e+00 : f32 }>
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 16 }>
#BSR = #tulle.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense) }>
#ONES = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)), explicitVal = 1, implicitVal = 0 }>
#VEC = #tulle.encoding<{ map = (i) -> (i : compressed) }>

// CHECK-LABEL: @convert
// CHECK-SAME: (%[[A:.*]]: tensor<4x6xf64, #[[$BSR]]>, %{{.*}}: tensor<4x6xf32, #[[$ONES]]>) -> tensor<4x6xf64, #[[$CSR]]>
func.func @convert(%A: tensor<4x6xf64, #BSR>, %B: tensor<4x6xf32, #ONES>) -> tensor<4x6xf64, #CSR> {
  // CHECK: sparse_tensor.convert %[[A]] : tensor<4x6xf64, #[[$BSR]]> to tensor<4x6xf64, #[[$CSR]]>
  %C = tulle.convert %A : tensor<4x6xf64, #BSR> to tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}

// CHECK-LABEL: @fill
func.func @fill(%x: tensor<4xf64>, %v: f64) -> tensor<4xf64> {
  // CHECK: linalg.fill ins(%{{.*}} : f64) outs(%{{.*}} : tensor<4xf64>)
  %f = tulle.fill %v, %x : f64, tensor<4xf64>
  return %f : tensor<4xf64>
}

// Upstream's concatenate drops zeros, which parts of blocks store; tensor.concat does not say.
// CHECK-LABEL: @concat
func.func @concat(%A: tensor<4x6xf64, #CSR>, %B: tensor<4x6xf64, #BSR>) -> (tensor<8x6xf64, #CSR>, tensor<4x12xf64, #CSR>) {
  // CHECK: sparse_tensor.concatenate %{{.*}}, %{{.*}} {dimension = 0 : index}
  %c = tulle.concat %A, %A along [0] : (tensor<4x6xf64, #CSR>, tensor<4x6xf64, #CSR>) -> tensor<8x6xf64, #CSR>
  // CHECK: tensor.concat dim(1)
  %d = tulle.concat %A, %B along [1] : (tensor<4x6xf64, #CSR>, tensor<4x6xf64, #BSR>) -> tensor<4x12xf64, #CSR>
  return %c, %d : tensor<8x6xf64, #CSR>, tensor<4x12xf64, #CSR>
}

#id = affine_map<(i) -> (i)>
// Cases of two operands, with what each computes; the select that keeps the output goes without saying.
// CHECK-LABEL: @cases
func.func @cases(%a: tensor<8xf64, #VEC>, %b: tensor<8xf64, #VEC>) -> tensor<8xf64, #VEC> {
  %e = tensor.empty() : tensor<8xf64, #VEC>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<8xf64, #VEC>, tensor<8xf64, #VEC>) outs(%e : tensor<8xf64, #VEC>) {
  // CHECK: ^bb0(%[[X:.*]]: f64, %[[Y:.*]]: f64, %{{.*}}: f64):
  ^bb0(%x: f64, %y: f64, %o: f64):
    %zero = arith.constant 0.0 : f64
    %true = arith.constant true
    %sx = tulle.stored %x : f64
    %sy = tulle.stored %y : f64
    %both = arith.andi %sx, %sy : i1
    %p = arith.mulf %x, %y : f64
    %not = arith.xori %sy, %true : i1
    %alone = arith.andi %sx, %not : i1
    %one = arith.select %alone, %x, %zero : f64
    %v = arith.select %both, %p, %one : f64
    %any = arith.ori %both, %alone : i1
    %k = arith.select %any, %v, %o : f64
    // CHECK-NEXT: %[[V:.*]] = sparse_tensor.binary %[[X]], %[[Y]] : f64, f64 to f64
    // CHECK-NEXT: overlap = {
    // CHECK-NEXT: ^bb0(%[[L:.*]]: f64, %[[R:.*]]: f64):
    // CHECK-NEXT: %[[P:.*]] = arith.mulf %[[L]], %[[R]]
    // CHECK-NEXT: sparse_tensor.yield %[[P]]
    // CHECK: left = identity
    // CHECK-NEXT: right = {
    // CHECK-NEXT: }
    // CHECK-NEXT: linalg.yield %[[V]]
    linalg.yield %k : f64
  } -> tensor<8xf64, #VEC>
  return %r : tensor<8xf64, #VEC>
}

// CHECK-LABEL: @smallest
func.func @smallest(%a: tensor<8xf64, #VEC>, %x: tensor<f64>) -> tensor<f64> {
  %inf = arith.constant 0x7FF0000000000000 : f64
  %f = tulle.fill %inf, %x : f64, tensor<f64>
  // CHECK: linalg.generic {{.*}} outs(%arg1 : tensor<f64>)
  // CHECK: ^bb0(%[[V:.*]]: f64, %[[O:.*]]: f64):
  // CHECK-NEXT: %[[R:.*]] = sparse_tensor.reduce %[[V]], %[[O]], %{{.*}} : f64
  // CHECK: arith.minimumf
  // CHECK: linalg.yield %[[R]]
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<8xf64, #VEC>) outs(%f : tensor<f64>) {
  ^bb0(%v: f64, %o: f64):
    %s = tulle.stored %v : f64
    %m = arith.minimumf %v, %o : f64
    %k = arith.select %s, %m, %o : f64
    linalg.yield %k : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

// A result with the pattern of an argument is that argument; how to compile it is not said.
// CHECK-LABEL: @in_place
// CHECK-SAME: (%[[A:[^:]*]]: tensor<8xf64, #{{[^>]*}}> {tulle.name = "A"}) -> tensor<8xf64
func.func @in_place(%a: tensor<8xf64, #VEC> {tulle.name = "A"}, %r: tensor<8xf64, #VEC> {tulle.name = "A"}) -> tensor<8xf64, #VEC> {
  %l = tulle.like %r, %a : tensor<8xf64, #VEC>, tensor<8xf64, #VEC>
  // CHECK: linalg.generic {indexing_maps = [#{{[^,]*}}], iterator_types = ["parallel"]} outs(%[[A]] :
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf64, #VEC>) outs(%l : tensor<8xf64, #VEC>) {
  ^bb0(%x: f64, %o: f64):
    %d = arith.addf %o, %o : f64
    %b = tulle.stored %x : f64
    %k = arith.select %b, %d, %o : f64
    // CHECK: %[[D:.*]] = arith.addf
    // CHECK-NEXT: linalg.yield %[[D]]
    linalg.yield %k : f64
  } -> tensor<8xf64, #VEC>
  return %s : tensor<8xf64, #VEC>
}
