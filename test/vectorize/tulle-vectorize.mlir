// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{index32=true}))' | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{index32=false}))' | FileCheck %s --check-prefix=WIDE
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{vl=2 scalable=true}))' | FileCheck %s --check-prefix=SVE

// A row of CSR times a vector: whole vectors, one horizontal sum that starts from the caller's value, a scalar epilogue that
// continues where the vectors ended. A row of two vectors or more whose ends are local scalarizes its gathers, and has no
// software prefetch: the hardware prefetcher covers its streams.
// CHECK-LABEL: func.func @row
// CHECK-SAME: %[[CRD:.*]]: memref<?xi32>, %[[VAL:.*]]: memref<?xf64>, %[[X:.*]]: memref<?xf64>, %[[LO:.*]]: index, %[[HI:.*]]: index, %[[INIT:.*]]: f64
// CHECK-SAME: attributes {tulle.scalar_lanes}
// CHECK: %[[TWO:.*]] = arith.muli %{{.*}}, %c2
// CHECK: %[[HIGHEST:.*]] = arith.subi %[[HI]], %[[TWO]]
// CHECK: %[[ENOUGH:.*]] = arith.cmpi sle, %[[LO]], %[[HIGHEST]]
// CHECK: %[[NEAR:.*]] = scf.if %[[ENOUGH]] -> (i1)
// CHECK:   %[[LAST:.*]] = arith.subi %[[HI]]
// CHECK:   memref.load %[[CRD]][%[[LO]]]
// CHECK:   memref.load %[[CRD]][%[[LAST]]]
// CHECK:   arith.cmpi ult, %{{.*}}, %c16384
// CHECK: %[[V:.*]]:2 = scf.if %[[NEAR]] -> (index, vector<4xf64>)
// CHECK:   scf.for %[[Q:.*]] = %[[LO]] to {{.*}} step {{.*}} iter_args(%{{.*}} = %[[LO]], %[[ACC0:.*]] = %{{.*}}) -> (index, vector<4xf64>)
// CHECK:     %[[A0:.*]] = vector.load %[[VAL]][%[[Q]]] : memref<?xf64>, vector<4xf64>
// CHECK:     %[[Q0:.*]] = arith.addi %[[Q]], %c0
// CHECK:     %[[C0:.*]] = memref.load %[[CRD]][%[[Q0]]] : memref<?xi32>
// CHECK:     %[[J0:.*]] = arith.index_castui %[[C0]] : i32 to index
// CHECK:     %[[X0:.*]] = memref.load %[[X]][%[[J0]]]
// CHECK:     %[[Q3:.*]] = arith.addi %[[Q]], %c3
// CHECK:     %[[C3:.*]] = memref.load %[[CRD]][%[[Q3]]] : memref<?xi32>
// CHECK:     %[[J3:.*]] = arith.index_castui %[[C3]] : i32 to index
// CHECK:     %[[X3:.*]] = memref.load %[[X]][%[[J3]]]
// CHECK:     %[[XS:.*]] = vector.from_elements %[[X0]], {{.*}}, %[[X3]]
// CHECK:     %[[M0:.*]] = arith.mulf %[[A0]], %[[XS]] fastmath<reassoc,contract> : vector<4xf64>
// CHECK:     arith.addf %[[ACC0]], %[[M0]] fastmath<reassoc,contract> : vector<4xf64>
// CHECK-NOT: memref.prefetch
// CHECK: } else {
// CHECK:   scf.for %[[P:.*]] = %[[LO]] to {{.*}} step {{.*}} iter_args(%{{.*}} = %[[LO]], %[[ACC:.*]] = %{{.*}}) -> (index, vector<4xf64>)
// CHECK:   %[[J:.*]] = vector.load %[[CRD]][%[[P]]] : memref<?xi32>, vector<4xi32>
// CHECK:   %[[A:.*]] = vector.load %[[VAL]][%[[P]]] : memref<?xf64>, vector<4xf64>
// CHECK:   %[[XJ:.*]] = vector.gather %[[X]][%{{.*}}] [%[[J]]], {{.*}} vector<4xi32>
// CHECK:   %[[M:.*]] = arith.mulf %[[A]], %[[XJ]] fastmath<reassoc,contract> : vector<4xf64>
// CHECK:   arith.addf %[[ACC]], %[[M]] fastmath<reassoc,contract> : vector<4xf64>
// CHECK:   %[[LATER:.*]] = arith.addi %[[P]], %c256
// CHECK:   memref.prefetch %[[CRD]][%[[LATER]]], read
// CHECK:   memref.prefetch %[[VAL]]
// CHECK: %[[SUM:.*]] = vector.reduction <add>, %[[V]]#1, %[[INIT]] fastmath<reassoc,contract>
// CHECK: scf.for %{{.*}} = %[[V]]#0 to %[[HI]] step %{{.*}} iter_args(%{{.*}} = %[[SUM]]) -> (f64)
// CHECK:   memref.load %[[X]]
// WIDE-LABEL: func.func @row
// WIDE: %[[J:.*]] = arith.index_castui %{{.*}} : vector<4xi32> to vector<4xindex>
// WIDE: vector.gather {{.*}} [%[[J]]], {{.*}} vector<4xindex>
// SVE-LABEL: func.func @row
// SVE: %[[SCALE:.*]] = vector.vscale
// SVE: vector.gather {{.*}} into vector<[2]xf64>
func.func @row(%crd: memref<?xi32>, %val: memref<?xf64>, %x: memref<?xf64>, %lo: index, %hi: index, %init: f64) -> f64 {
  %c1 = arith.constant 1 : index
  %r = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %init) -> (f64) {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %a = memref.load %val[%p] : memref<?xf64>
    %xj = memref.load %x[%j] : memref<?xf64>
    %m = arith.mulf %a, %xj fastmath<reassoc,contract> : f64
    %s = arith.addf %acc, %m fastmath<reassoc,contract> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}

// Many rows are shorter than eight lanes: these have no vectors to reduce, and what their scalar loop streams is prefetched for them.
// CHECK-LABEL: func.func @row_of_floats
// CHECK-SAME: %[[CRD:.*]]: memref<?xi32>, %[[VAL:.*]]: memref<?xf32>, %{{.*}}: memref<?xf32>, %[[LO:.*]]: index, %[[HI:.*]]: index, %[[INIT:.*]]: f32
// CHECK: %[[HIGHEST:.*]] = arith.subi %[[HI]], %c8
// CHECK: %[[ANY:.*]] = arith.cmpi sle, %[[LO]], %[[HIGHEST]]
// CHECK: %[[ENDS:.*]]:2 = scf.if %[[ANY]] -> (index, f32)
// CHECK:   vector.gather
// CHECK:   %[[SUM:.*]] = vector.reduction <add>, %{{.*}}, %[[INIT]]
// CHECK:   scf.yield %{{.*}}, %[[SUM]] : index, f32
// CHECK: } else {
// CHECK:   %[[LATER:.*]] = arith.addi %[[LO]], %c256
// CHECK:   memref.prefetch %[[CRD]][%[[LATER]]], read
// CHECK:   memref.prefetch %[[VAL]]
// CHECK:   scf.yield %[[LO]], %[[INIT]] : index, f32
// CHECK: scf.for %{{.*}} = %[[ENDS]]#0 to %[[HI]] step %{{.*}} iter_args(%{{.*}} = %[[ENDS]]#1) -> (f32)
func.func @row_of_floats(%crd: memref<?xi32>, %val: memref<?xf32>, %x: memref<?xf32>, %lo: index, %hi: index, %init: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %r = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %init) -> (f32) {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %a = memref.load %val[%p] : memref<?xf32>
    %xj = memref.load %x[%j] : memref<?xf32>
    %m = arith.mulf %a, %xj fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %m fastmath<reassoc,contract> : f32
    scf.yield %s : f32
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f32
}

// The same sum without reassoc: nothing may change.
// CHECK-LABEL: func.func @strict
// CHECK-NOT: vector.
// CHECK: return
func.func @strict(%crd: memref<?xi32>, %val: memref<?xf64>, %x: memref<?xf64>, %lo: index, %hi: index, %init: f64) -> f64 {
  %c1 = arith.constant 1 : index
  %r = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %init) -> (f64) {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %xj = memref.load %x[%j] : memref<?xf64>
    %s = arith.addf %acc, %xj : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}

// A maximum is associative: it needs no flag. Lanes start from the initial value. f32: eight lanes.
// CHECK-LABEL: func.func @maximum
// CHECK-SAME: %[[INIT:[a-z0-9]*]]: f32)
// CHECK: %[[START:.*]] = vector.broadcast %[[INIT]] : f32 to vector<8xf32>
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: vector.reduction <maximumf>, %{{.*}}, %[[INIT]] : vector<8xf32> into f32
func.func @maximum(%val: memref<?xf32>, %lo: index, %hi: index, %init: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %r = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %init) -> (f32) {
    %a = memref.load %val[%p] : memref<?xf32>
    %s = arith.maximumf %acc, %a : f32
    scf.yield %s : f32
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f32
}

// Consecutive data: four chains of partial sums, then single vectors, then scalars.
// CHECK-LABEL: func.func @dot
// CHECK: scf.for {{.*}} -> (index, vector<4xf64>, vector<4xf64>, vector<4xf64>, vector<4xf64>)
// CHECK-COUNT-8: vector.load
// CHECK: scf.for {{.*}} -> (index, vector<4xf64>)
// CHECK: vector.reduction <add>
// CHECK: scf.for {{.*}} -> (f64)
func.func @dot(%a: memref<?xf64>, %b: memref<?xf64>, %base: index, %n: index, %init: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (f64) {
    %p = arith.addi %base, %k : index
    %x = memref.load %a[%p] : memref<?xf64>
    %y = memref.load %b[%k] : memref<?xf64>
    %m = arith.mulf %x, %y fastmath<reassoc,contract> : f64
    %s = arith.addf %m, %acc fastmath<reassoc,contract> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}

// A conditional reduction: inactive lanes keep their partial result.
// CHECK-LABEL: func.func @where
// CHECK: %[[C:.*]] = arith.cmpi ne, %{{.*}} : vector<8xi32>
// CHECK: %[[S:.*]] = arith.addi %[[ACC:.*]], %{{.*}} : vector<8xi32>
// CHECK: arith.select %[[C]], %[[S]], %[[ACC]] : vector<8xi1>, vector<8xi32>
func.func @where(%a: memref<?xi32>, %n: index, %init: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (i32) {
    %x = memref.load %a[%k] : memref<?xi32>
    %c = arith.cmpi ne, %x, %zero : i32
    %s = arith.addi %acc, %x : i32
    %t = arith.select %c, %s, %acc : i32
    scf.yield %t : i32
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : i32
}

// A gather without a reduction, stored consecutively.
// CHECK-LABEL: func.func @scale_columns
// CHECK: vector.gather
// CHECK: vector.store %{{.*}}, %{{.*}} : memref<?xf64>, vector<4xf64>
func.func @scale_columns(%crd: memref<?xi32>, %val: memref<?xf64>, %d: memref<?xf64>, %out: memref<?xf64>, %lo: index, %hi: index) {
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %a = memref.load %val[%p] : memref<?xf64>
    %dj = memref.load %d[%j] : memref<?xf64>
    %m = arith.mulf %a, %dj : f64
    memref.store %m, %out[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Left alone: a scatter (two lanes may conflict), a buffer loaded at another index than it is stored, a loop that LLVM vectorizes well.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: vector.
// CHECK: return
func.func @left_alone(%crd: memref<?xi32>, %val: memref<?xf64>, %y: memref<?xf64>, %s: f64, %lo: index, %hi: index) {
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %i32 = memref.load %crd[%p] : memref<?xi32>
    %i = arith.index_castui %i32 : i32 to index
    %a = memref.load %val[%p] : memref<?xf64>
    %o = memref.load %y[%i] : memref<?xf64>
    %m = arith.addf %o, %a fastmath<reassoc> : f64
    memref.store %m, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<reduction>}
  scf.for %p = %lo to %hi step %c1 {
    %i32 = memref.load %crd[%p] : memref<?xi32>
    %i = arith.index_castui %i32 : i32 to index
    %o = memref.load %y[%i] : memref<?xf64>
    memref.store %o, %y[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<reduction>}
  scf.for %p = %lo to %hi step %c1 {
    %a = memref.load %val[%p] : memref<?xf64>
    %m = arith.mulf %a, %s : f64
    memref.store %m, %y[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Coordinates of COO lie interleaved with those of the other dimension: every second element of two loads, of which the
// second ends with the last one needed.
// CHECK-LABEL: func.func @interleaved
// CHECK-SAME: %[[CRD:.*]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %[[X:.*]]: memref<?xf64>
// Where gathers are local, they are scalarized.
// CHECK: scf.if {{.*}} -> (index, vector<4xf64>)
// CHECK: %[[Q3:.*]] = arith.addi %{{.*}}, %c6
// CHECK: %[[J3:.*]] = memref.load %[[CRD]][%[[Q3]]]
// CHECK: %[[K3:.*]] = arith.index_castui %[[J3]]
// CHECK: memref.load %[[X]][%[[K3]]]
// CHECK: else
// CHECK: %[[TWICE:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: %[[FIRST:.*]] = arith.addi %[[TWICE]], %{{.*}} : index
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %[[C3]] : index
// CHECK: %[[LOW:.*]] = vector.load %[[CRD]][%[[FIRST]]]
// CHECK: %[[HIGH:.*]] = vector.load %[[CRD]][%[[SECOND]]]
// CHECK: %[[J:.*]] = vector.shuffle %[[LOW]], %[[HIGH]] [0, 2, 5, 7]
// CHECK: vector.gather %[[X]][%{{.*}}] [%[[J]]]
func.func @interleaved(%crd: memref<?xi32>, %val: memref<?xf64>, %x: memref<?xf64>, %lo: index, %hi: index, %init: f64) -> f64 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %init) -> (f64) {
    %p2 = arith.muli %p, %c2 : index
    %p21 = arith.addi %p2, %c1 : index
    %j32 = memref.load %crd[%p21] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %a = memref.load %val[%p] : memref<?xf64>
    %xj = memref.load %x[%j] : memref<?xf64>
    %m = arith.mulf %a, %xj fastmath<reassoc,contract> : f64
    %s = arith.addf %acc, %m fastmath<reassoc,contract> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}

// A stride of three: gathered.
// CHECK-LABEL: func.func @third
// CHECK: arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>
// CHECK: %[[P:.*]] = arith.muli %{{.*}}, %{{.*}} : vector<4xindex>
// CHECK: vector.gather %{{.*}}[%{{.*}}] [%[[P]]]
func.func @third(%val: memref<?xf64>, %lo: index, %hi: index, %init: f64) -> f64 {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %init) -> (f64) {
    %p3 = arith.muli %p, %c3 : index
    %a = memref.load %val[%p3] : memref<?xf64>
    %s = arith.addf %acc, %a fastmath<reassoc,contract> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}

// The two entries of a structured[2,4] group are left to LLVM.
// CHECK-LABEL: func.func @few
// CHECK-NOT: vector.
// CHECK: return
func.func @few(%val: memref<?xf64>, %lo: index, %init: f64) -> f64 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %hi = arith.addi %lo, %c2 : index
  %r = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %init) -> (f64) {
    %a = memref.load %val[%p] : memref<?xf64>
    %s = arith.addf %acc, %a fastmath<reassoc,contract> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}
