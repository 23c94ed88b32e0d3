// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{sample-rows=true},canonicalize))' --split-input-file | FileCheck %s

// RUN: sed 's/znver3/znver4/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-vectorize{sample-rows=true},canonicalize))' --split-input-file | FileCheck %s --check-prefix=GATHERS

// RUN: sed 's/znver3/sapphirerapids/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-vectorize{sample-rows=true},canonicalize))' --split-input-file | FileCheck %s --check-prefix=MASKED

// 32 rows, spread without a period, select one of two versions: how many entries each leaves behind the last vector, and, where the
// operand is larger than L2, how far the row reaches. The epilogue of the first version is a vector that loads four entries, with lanes
// behind the end of the row inactive in the sum.
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
// CHECK: %[[END:.*]] = arith.index_castui
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %[[N]]
// CHECK:   %[[VECTORS:.*]]:2 = scf.for
// CHECK:   %[[BEHIND:.*]] = arith.addi %[[VECTORS]]#0, %c4
// CHECK:   %[[FITS:.*]] = arith.cmpi sle, %[[BEHIND]], %[[END]]
// CHECK:   scf.if %[[FITS]] -> (f64) {
// CHECK:     %[[MASK:.*]] = vector.create_mask
// CHECK-NOT: vector.maskedload
// CHECK:     vector.load %[[A]][%[[VECTORS]]#0]
// CHECK-COUNT-4: memref.load %[[X]]
// CHECK:     %[[SUM:.*]] = arith.addf %[[VECTORS]]#1
// CHECK:     arith.select %[[MASK]], %[[SUM]], %[[VECTORS]]#1
// CHECK:   } else {
// CHECK:     scf.for %{{.*}} = %[[VECTORS]]#0
// CHECK: } else {
// CHECK:   scf.for %{{.*}} = %c0 to %[[N]]
// CHECK-NOT: vector.create_mask

// Where gathers are an instruction, predictors know more rows. Whole vectors are gathered, or loaded where the row is local; the last one is loaded.
// GATHERS-LABEL: func.func @spmv
// GATHERS: arith.cmpi sge, %{{.*}}, %c32768
// GATHERS: vector.gather
// GATHERS: vector.create_mask
// GATHERS-NOT: vector.gather
// GATHERS: vector.load
// GATHERS-COUNT-4: memref.load
// GATHERS: arith.select
// GATHERS: } else {
// GATHERS: vector.gather
// GATHERS-NOT: vector.create_mask
// GATHERS: return

// Where masked gathers are best, long rows count wherever they reach, and in the mean where rows are too few for a sample. The version for rows of different lengths begins with one masked vector of
// eight, whatever is in the row, and goes on with others.
// MASKED-LABEL: func.func @spmv
// MASKED-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[A:[a-z0-9]*]]: memref<?xf64>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[N:[a-z0-9]*]]: index)
// MASKED: arith.cmpi sge, %[[N]], %c512
// MASKED-NOT: memref.load %[[CRD]]
// MASKED: %[[ANY:.*]] = arith.cmpi sgt, %[[N]], %c0
// MASKED: scf.if %[[ANY]]
// MASKED: memref.load %[[POS]][%c0]
// MASKED: memref.load %[[POS]][%[[N]]]
// MASKED: %[[ENTRIES:.*]] = arith.subi
// MASKED: %[[EIGHT:.*]] = arith.muli %[[N]], %c8
// MASKED: arith.cmpi sge, %[[ENTRIES]], %[[EIGHT]]
// MASKED: scf.for %{{.*}} = %c0 to %[[N]]
// MASKED-NOT: scf.
// MASKED: %[[LEFT:.*]] = arith.minsi %{{.*}}, %c8
// MASKED: %[[MASK:.*]] = vector.create_mask %[[LEFT]] : vector<8xi1>
// MASKED: %[[STORED:.*]] = vector.maskedload %[[CRD]][%[[BEGIN:.*]]], %[[MASK]]
// MASKED: %[[COLUMNS:.*]] = arith.index_castui %[[STORED]]
// MASKED: vector.maskedload %[[A]][%[[BEGIN]]], %[[MASK]]
// MASKED: vector.gather %[[X]][%c0] [%[[COLUMNS]]], %[[MASK]]
// MASKED: memref.prefetch %[[CRD]]
// MASKED: memref.prefetch %[[A]]
// MASKED: %[[REST:.*]] = arith.addi %[[BEGIN]], %c8
// MASKED: scf.for %{{.*}} = %[[REST]] to %{{.*}} step %c8 iter_args
// MASKED: vector.create_mask
// MASKED: vector.gather
// MASKED: vector.reduction <add>
// MASKED: } else {
// MASKED-NOT: vector.create_mask
// MASKED: return
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
  func.func @spmv(%pos: memref<?xi32>, %crd: memref<?xi32>, %a: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
      %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
        %c = memref.load %crd[%k] : memref<?xi32>
        %j = arith.index_castui %c : i32 to index
        %v = memref.load %a[%k] : memref<?xf64>
        %w = memref.load %x[%j] : memref<?xf64>
        %p = arith.mulf %v, %w fastmath<reassoc,contract> : f64
        %t = arith.addf %s, %p fastmath<reassoc,contract> : f64
        scf.yield %t : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }
}

// -----

// Rows with unused capacity between them: what follows a row may be anything.
// CHECK-LABEL: func.func @loose
// CHECK-NOT: vector.create_mask
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
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }
}

// -----

// A table's element at the next row's coordinates may be anything.
// CHECK-LABEL: func.func @table
// CHECK-NOT: vector.create_mask
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
  func.func @table(%pos: memref<?xi32>, %crd: memref<?xi32>, %t: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
      %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
        %c = memref.load %crd[%k] : memref<?xi32>
        %j = arith.index_castui %c : i32 to index
        %l = memref.load %t[%j] : memref<?xi32>
        %p = arith.index_castui %l : i32 to index
        %w = memref.load %x[%p] : memref<?xf64>
        %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
        scf.yield %r : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }
}

// -----

// The rows of one partition, whatever loop is around the region: a sample is profitable for a sixteenth of as many rows.
// CHECK-LABEL: func.func @pieces
// CHECK: tulle.parallel
// CHECK: %[[MANY:.*]] = arith.cmpi sge, %{{.*}}, %c512
// CHECK: scf.if %[[MANY]]
// CHECK: vector.create_mask
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
          %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
          %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
            %c = memref.load %crd[%k] : memref<?xi32>
            %j = arith.index_castui %c : i32 to index
            %v = memref.load %a[%k] : memref<?xf64>
            %w = memref.load %x[%j] : memref<?xf64>
            %p = arith.mulf %v, %w fastmath<reassoc,contract> : f64
            %t = arith.addf %s, %p fastmath<reassoc,contract> : f64
            scf.yield %t : f64
          } {tulle.loop = #tulle.loop<reduction>}
          memref.store %sum, %y[%i] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      }
    }
    return
  }
}

// -----

// A loop within another one would be sampled too often.
// CHECK-LABEL: func.func @within
// CHECK-NOT: vector.create_mask
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
  func.func @within(%pos: memref<?xi32>, %crd: memref<?xi32>, %a: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index, %m: index) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %g = %c0 to %m step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
        %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
          %c = memref.load %crd[%k] : memref<?xi32>
          %j = arith.index_castui %c : i32 to index
          %v = memref.load %a[%k] : memref<?xf64>
          %w = memref.load %x[%j] : memref<?xf64>
          %p = arith.mulf %v, %w fastmath<reassoc,contract> : f64
          %t = arith.addf %s, %p fastmath<reassoc,contract> : f64
          scf.yield %t : f64
        } {tulle.loop = #tulle.loop<reduction>}
        memref.store %sum, %y[%i] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    }
    return
  }
}
