// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-version-by-sampling,canonicalize))' --split-input-file | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-version-by-sampling,tulle-vectorize,canonicalize))' --split-input-file | FileCheck %s --check-prefix=VECTOR

// 32 rows, spread without a period, tell which of two copies runs: how many entries each leaves behind the last vector, and, where the
// operand is larger than the cache, how far the row reaches.
// CHECK-LABEL: func.func @spmv
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[A:[a-z0-9]*]]: memref<?xf64>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[MANY:.*]] = arith.cmpi sge, %[[N]], %c8192
// CHECK: %[[SAMPLE:.*]] = scf.if %[[MANY]]
// CHECK:   %[[SIZE:.*]] = memref.dim %[[X]]
// CHECK:   %[[LARGE:.*]] = arith.cmpi ugt, %[[SIZE]], %c131072
// CHECK:   scf.for %[[S:.*]] = %c0 to %c32
// CHECK:     %[[SPREAD:.*]] = arith.muli %[[S]], %c2654435761
// CHECK:     %[[LOW:.*]] = arith.andi %[[SPREAD]], %c4294967295
// CHECK:     %[[SCALED:.*]] = arith.muli %[[LOW]]
// CHECK:     %[[ROW:.*]] = arith.shrui %[[SCALED]], %c32
// CHECK:     memref.load %[[POS]][%[[ROW]]]
// CHECK:     %[[DIFFERENT:.*]] = arith.xori
// CHECK:     arith.andi %[[DIFFERENT]], %c3
// CHECK:     %[[LONG:.*]] = arith.cmpi sge, %{{.*}}, %c8
// CHECK:     arith.andi %[[LONG]], %[[LARGE]]
// CHECK: scf.if %[[SAMPLE]] {
// CHECK:   scf.for %{{.*}} = %c0 to %[[N]]
// CHECK:     } {tulle.kind = "reduction", tulle.reads_on}
// CHECK: } else {
// CHECK:   scf.for %{{.*}} = %c0 to %[[N]]
// CHECK:     } {tulle.kind = "reduction"}

// A vector that reads four entries, of which those of the row count.
// VECTOR-LABEL: func.func @spmv
// VECTOR: arith.ori
// VECTOR: scf.if %{{.*}} {
// VECTOR: %[[END:.*]] = arith.index_castui
// VECTOR-NEXT: scf.for
// VECTOR:   %[[VECTORS:.*]]:2 = scf.for
// VECTOR:   %[[BEHIND:.*]] = arith.addi %[[VECTORS]]#0, %c4
// VECTOR:   %[[FITS:.*]] = arith.cmpi sle, %[[BEHIND]], %[[END]]
// VECTOR:   scf.if %[[FITS]] -> (f64) {
// VECTOR:     %[[MASK:.*]] = vector.create_mask
// VECTOR-NOT: vector.maskedload
// VECTOR:     vector.load %arg2[%[[VECTORS]]#0]
// VECTOR-COUNT-4: memref.load %arg3
// VECTOR:     %[[SUM:.*]] = arith.addf %[[VECTORS]]#1
// VECTOR:     arith.select %[[MASK]], %[[SUM]], %[[VECTORS]]#1
// VECTOR:   } else {
// VECTOR:     scf.for %{{.*}} = %[[VECTORS]]#0
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
  func.func @spmv(%pos: memref<?xi32>, %crd: memref<?xi32>, %a: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %b = memref.load %pos[%i] : memref<?xi32>
      %begin = arith.index_castui %b : i32 to index
      %next = arith.addi %i, %c1 : index
      %e = memref.load %pos[%next] : memref<?xi32>
      %end = arith.index_castui %e : i32 to index
      %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
        %c = memref.load %crd[%k] : memref<?xi32>
        %j = arith.index_castui %c : i32 to index
        %v = memref.load %a[%k] : memref<?xf64>
        %w = memref.load %x[%j] : memref<?xf64>
        %p = arith.mulf %v, %w fastmath<reassoc,contract> : f64
        %t = arith.addf %s, %p fastmath<reassoc,contract> : f64
        scf.yield %t : f64
      } {tulle.kind = "reduction"}
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.kind = "parallel"}
    return
  }
}

// -----

// Rows with room between them: what stands behind a row may be anything.
// CHECK-LABEL: func.func @loose
// CHECK-NOT: tulle.reads_on
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
  func.func @loose(%pos: memref<?xi32>, %crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    scf.for %i = %c0 to %n step %c1 {
      %twice = arith.muli %i, %c2 : index
      %b = memref.load %pos[%twice] : memref<?xi32>
      %begin = arith.index_castui %b : i32 to index
      %next = arith.addi %twice, %c1 : index
      %e = memref.load %pos[%next] : memref<?xi32>
      %end = arith.index_castui %e : i32 to index
      %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
        %c = memref.load %crd[%k] : memref<?xi32>
        %j = arith.index_castui %c : i32 to index
        %w = memref.load %x[%j] : memref<?xf64>
        %t = arith.addf %s, %w fastmath<reassoc,contract> : f64
        scf.yield %t : f64
      } {tulle.kind = "reduction"}
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.kind = "parallel"}
    return
  }
}

// -----

// What a table has at the next row's coordinates may be anything; and a mark on a loop without rows around it is none.
// CHECK-LABEL: func.func @table
// CHECK-NOT: tulle.reads_on
// CHECK: func.func @alone
// VECTOR-LABEL: func.func @table
// VECTOR-LABEL: func.func @alone
// VECTOR-NOT: vector.create_mask
// VECTOR-LABEL: func.func @pieces
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
  func.func @table(%pos: memref<?xi32>, %crd: memref<?xi32>, %t: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %b = memref.load %pos[%i] : memref<?xi32>
      %begin = arith.index_castui %b : i32 to index
      %next = arith.addi %i, %c1 : index
      %e = memref.load %pos[%next] : memref<?xi32>
      %end = arith.index_castui %e : i32 to index
      %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
        %c = memref.load %crd[%k] : memref<?xi32>
        %j = arith.index_castui %c : i32 to index
        %l = memref.load %t[%j] : memref<?xi32>
        %p = arith.index_castui %l : i32 to index
        %w = memref.load %x[%p] : memref<?xf64>
        %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
        scf.yield %r : f64
      } {tulle.kind = "reduction"}
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.kind = "parallel"}
    return
  }
  func.func @alone(%crd: memref<?xi32>, %x: memref<?xf64>, %begin: index, %end: index) -> f64 {
    %zero = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %c = memref.load %crd[%k] : memref<?xi32>
      %j = arith.index_castui %c : i32 to index
      %w = memref.load %x[%j] : memref<?xf64>
      %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
      scf.yield %r : f64
    } {tulle.kind = "reduction", tulle.reads_on}
    return %sum : f64
  }
}

// -----

// The part of the rows that a thread has, whatever loop is around the region: a sixteenth of as many rows is worth a sample.
// CHECK-LABEL: func.func @pieces
// CHECK: tulle.parallel
// CHECK: %[[MANY:.*]] = arith.cmpi sge, %{{.*}}, %c512
// CHECK: scf.if %[[MANY]]
// CHECK: tulle.reads_on
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
  func.func @pieces(%pos: memref<?xi32>, %crd: memref<?xi32>, %a: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index, %tasks: index) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %share = %c0 to %tasks step %c1 {
      tulle.parallel %task of %tasks {
        %first = arith.muli %task, %n : index
        %last = arith.addi %first, %n : index
        scf.for %i = %first to %last step %c1 {
          %b = memref.load %pos[%i] : memref<?xi32>
          %begin = arith.index_castui %b : i32 to index
          %next = arith.addi %i, %c1 : index
          %e = memref.load %pos[%next] : memref<?xi32>
          %end = arith.index_castui %e : i32 to index
          %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
            %c = memref.load %crd[%k] : memref<?xi32>
            %j = arith.index_castui %c : i32 to index
            %v = memref.load %a[%k] : memref<?xf64>
            %w = memref.load %x[%j] : memref<?xf64>
            %p = arith.mulf %v, %w fastmath<reassoc,contract> : f64
            %t = arith.addf %s, %p fastmath<reassoc,contract> : f64
            scf.yield %t : f64
          } {tulle.kind = "reduction"}
          memref.store %sum, %y[%i] : memref<?xf64>
        } {tulle.kind = "parallel"}
      }
    }
    return
  }
}

// -----

// A loop within another one is asked too often.
// CHECK-LABEL: func.func @within
// CHECK-NOT: tulle.reads_on
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
  func.func @within(%pos: memref<?xi32>, %crd: memref<?xi32>, %a: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index, %m: index) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %g = %c0 to %m step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        %b = memref.load %pos[%i] : memref<?xi32>
        %begin = arith.index_castui %b : i32 to index
        %next = arith.addi %i, %c1 : index
        %e = memref.load %pos[%next] : memref<?xi32>
        %end = arith.index_castui %e : i32 to index
        %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
          %c = memref.load %crd[%k] : memref<?xi32>
          %j = arith.index_castui %c : i32 to index
          %v = memref.load %a[%k] : memref<?xf64>
          %w = memref.load %x[%j] : memref<?xf64>
          %p = arith.mulf %v, %w fastmath<reassoc,contract> : f64
          %t = arith.addf %s, %p fastmath<reassoc,contract> : f64
          scf.yield %t : f64
        } {tulle.kind = "reduction"}
        memref.store %sum, %y[%i] : memref<?xf64>
      } {tulle.kind = "parallel"}
    }
    return
  }
}
