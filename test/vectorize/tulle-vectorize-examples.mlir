// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{vl=8}))' | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{vl=4 scalable=true}))' | FileCheck %s --check-prefix=VLA
// RUN: tulle-opt %s --remarks-filter-missed='tulle-vectorize' --remark-format=emitRemark --pass-pipeline='builtin.module(func.func(tulle-vectorize{vl=8}))' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{vl=2 scalable=true},tulle-expand-segments),convert-scf-to-cf,convert-vector-to-llvm,finalize-memref-to-llvm,convert-to-llvm,reconcile-unrealized-casts)' | mlir-translate --mlir-to-llvmir | llc -O2 -mtriple=aarch64-linux-gnu -mattr=+sve | FileCheck %s --check-prefix=SVE

// The loops by which the vectorization of MLIR's sparse compiler is explained, and what each becomes here.

// sum += f(i): a reduction that may be reassociated. Four chains of vectors, then single vectors, then a scalar epilogue;
// one horizontal reduction. With scalable vectors the step is vscale * 4.
// CHECK-LABEL: func.func @sum
// CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : vector<8xf64>
// CHECK: scf.for {{.*}} -> (index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>)
// CHECK: %[[V:.*]]:2 = scf.for {{.*}} -> (index, vector<8xf64>)
// CHECK: %[[X:.*]] = vector.load %{{.*}} : memref<?xf64>, vector<8xf64>
// CHECK: arith.addf %{{.*}}, %[[X]] fastmath<reassoc> : vector<8xf64>
// CHECK: %[[S:.*]] = vector.reduction <add>, %[[V]]#1, %{{.*}} fastmath<reassoc> : vector<8xf64> into f64
// CHECK: scf.for %{{.*}} = %[[V]]#0 to %{{.*}} iter_args(%{{.*}} = %[[S]]) -> (f64)
// VLA-LABEL: func.func @sum
// VLA: %[[C4:.*]] = arith.constant 4 : index
// VLA: %[[VSCALE:.*]] = vector.vscale
// VLA: %[[STEP:.*]] = arith.muli %[[C4]], %[[VSCALE]] : index
// VLA: scf.for %{{.*}} step %[[STEP]] iter_args({{.*}}) -> (index, vector<[4]xf64>)
// VLA: vector.reduction <add>, %{{.*}} : vector<[4]xf64> into f64
// SVE-LABEL: sum:
// SVE: ld1d { z{{[0-9]+}}.d }, p{{[0-9]+}}/z
// SVE: faddv d{{[0-9]+}}, p{{[0-9]+}}, z{{[0-9]+}}.d
func.func @sum(%x: memref<?xf64>, %n: index, %init: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (f64) {
    %v = memref.load %x[%i] : memref<?xf64>
    %s = arith.addf %acc, %v fastmath<reassoc> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}

// Lanes subtract; the horizontal reduction adds.
// CHECK-LABEL: func.func @difference
// CHECK: arith.subi %{{.*}}, %{{.*}} : vector<8xi64>
// CHECK: arith.addi %{{.*}}, %{{.*}} : vector<8xi64>
// CHECK: vector.reduction <add>, %{{.*}} : vector<8xi64> into i64
// CHECK: arith.subi %{{.*}}, %{{.*}} : i64
func.func @difference(%x: memref<?xi64>, %n: index, %init: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (i64) {
    %v = memref.load %x[%i] : memref<?xi64>
    %s = arith.subi %acc, %v : i64
    scf.yield %s : i64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : i64
}

// and, or, xor, and products: each with lanes that start from the identity.
// CHECK-LABEL: func.func @bits
// CHECK: vector.broadcast %{{.*}} : i64 to vector<8xi64>
// CHECK: arith.andi %{{.*}} : vector<8xi64>
// CHECK: vector.reduction <and>
func.func @bits(%x: memref<?xi64>, %n: index, %init: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (i64) {
    %v = memref.load %x[%i] : memref<?xi64>
    %s = arith.andi %acc, %v : i64
    scf.yield %s : i64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : i64
}

// a(i) = b(i) + c: a parallel loop, without results. 128 iterations are 16 vectors of 8: nothing is masked.
// CHECK-LABEL: func.func @parallel
// CHECK: scf.for %[[I:[a-z0-9]*]] = %c0
// CHECK: %[[B:.*]] = vector.load %{{.*}}[%[[I]]] : memref<?xf32>, vector<8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[B]], %{{.*}} : vector<8xf32>
// CHECK: vector.store %[[SUM]], %{{.*}}[%[[I]]]
// CHECK-NOT: mask
// SVE-LABEL: parallel:
// SVE: fadd z{{[0-9]+}}
// SVE: st1w
func.func @parallel(%a: memref<?xf32>, %b: memref<?xf32>, %c: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %c128 step %c1 {
    %v = memref.load %b[%i] : memref<?xf32>
    %s = arith.addf %v, %c : f32
    memref.store %s, %a[%i] : memref<?xf32>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// A(i+1) = A(i): each iteration needs the one before.
// CHECK-LABEL: func.func @carried
// CHECK-NOT: vector
// CHECK: return
// REMARK: Missed{{.*}}'memref.load' may access an element that another lane stores
func.func @carried(%a: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %a[%i] : memref<?xf64>
    %next = arith.addi %i, %c1 : index
    memref.store %v, %a[%next] : memref<?xf64>
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// A step that is not 1.
// CHECK-LABEL: func.func @strides
// CHECK-NOT: vector
// CHECK: return
// REMARK: 'scf.for' has a step other than 1
func.func @strides(%a: memref<?xf64>, %n: index, %v: f64) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c2 {
    memref.store %v, %a[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Loaded indices: gathers and scatters, where the loop is parallel.
// CHECK-LABEL: func.func @gather_scatter
// CHECK: %[[J:.*]] = vector.load
// CHECK: %[[OLD:.*]] = vector.gather %[[Y:.*]][%{{.*}}] [%[[P:.*]]],
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]]
// CHECK: vector.scatter %[[Y]][%{{.*}}] [%[[P]]], %{{.*}}, %[[NEW]]
// SVE-LABEL: gather_scatter:
// SVE: ld1d { z{{[0-9]+}}.d }, p{{[0-9]+}}/z, [x{{[0-9]+}}, z{{[0-9]+}}.d
// SVE: st1d { z{{[0-9]+}}.d }, p{{[0-9]+}}, [x{{[0-9]+}}, z{{[0-9]+}}.d
func.func @gather_scatter(%crd: memref<?xi64>, %val: memref<?xf64>, %y: memref<?xf64>, %lo: index, %hi: index) {
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %j64 = memref.load %crd[%p] : memref<?xi64>
    %j = arith.index_castui %j64 : i64 to index
    %v = memref.load %val[%p] : memref<?xf64>
    %old = memref.load %y[%j] : memref<?xf64>
    %new = arith.addf %old, %v : f64
    memref.store %new, %y[%j] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Iterations that a branch skips are inactive lanes.
// CHECK-LABEL: func.func @guarded
// CHECK: %[[MASK:.*]] = arith.cmpi ne, %{{.*}} : vector<8xindex>
// CHECK: %[[SUM:.*]] = arith.addf %[[ACC:.*]], %{{.*}} : vector<8xf64>
// CHECK: arith.select %[[MASK]], %[[SUM]], %[[ACC]]
func.func @guarded(%crd: memref<?xi32>, %val: memref<?xf64>, %n: index, %init: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = arith.constant 4294967295 : index
  %r = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %init) -> (f64) {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %entry = arith.cmpi ne, %j, %empty : index
    %next = scf.if %entry -> (f64) {
      %v = memref.load %val[%p] : memref<?xf64>
      %s = arith.addf %acc, %v fastmath<reassoc> : f64
      scf.yield %s : f64
    } else {
      scf.yield %acc : f64
    }
    scf.yield %next : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}

// A sum over rows: the loops around carry the vector accumulator too, and one horizontal reduction follows all of them. Each row begins with
// the accumulator of the row before; the scalar epilogue of a row goes into the scalar next to it.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[INIT:[a-z0-9]*]]: f64)
// CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : vector<8xf64>
// CHECK: %[[ALL:.*]]:2 = scf.for {{.*}} iter_args(%[[S:.*]] = %[[INIT]], %[[L:.*]] = %[[ZERO]]) -> (f64, vector<8xf64>)
// CHECK:   scf.for {{.*}} iter_args({{.*}}, %{{.*}} = %[[L]]{{.*}}) -> (index, vector<8xf64>
// CHECK-NOT: vector.reduction
// CHECK:   %[[REST:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[S]]) -> (f64)
// CHECK:   scf.yield %[[REST]], %{{.*}} : f64, vector<8xf64>
// CHECK: %[[SUM:.*]] = vector.reduction <add>, %[[ALL]]#1, %[[ALL]]#0 fastmath<reassoc> : vector<8xf64> into f64
// CHECK: return %[[SUM]]
func.func @rows(%pos: memref<?xi64>, %x: memref<?xf64>, %n: index, %init: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %init) -> (f64) {
    %lo, %hi = tulle.segment %pos[%i] : memref<?xi64>
    %row = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %sum) -> (f64) {
      %v = memref.load %x[%p] : memref<?xf64>
      %s = arith.addf %acc, %v fastmath<reassoc> : f64
      scf.yield %s : f64
    } {tulle.loop = #tulle.loop<reduction>}
    scf.yield %row : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}
