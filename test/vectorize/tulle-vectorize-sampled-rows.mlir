// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{sample-rows=true},canonicalize))' --split-input-file | FileCheck %s

// RUN: sed 's/znver3/znver4/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-vectorize{sample-rows=true},canonicalize))' --split-input-file | FileCheck %s --check-prefix=GATHERS

// RUN: sed 's/znver3/sapphirerapids/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-vectorize{sample-rows=true},canonicalize))' --split-input-file | FileCheck %s --check-prefix=MASKED

// 32 rows, spread without a period, select versions: how many entries each leaves behind the last vector, and, where the operand is larger
// than L2, how far the row reaches. Rows of the first version end with a vector that loads four entries, with lanes behind the end of the
// row inactive in the sum: so do all rows with four entries behind them (a vector of eight may be chosen elsewhere). Others have a scalar epilogue.
// CHECK-LABEL: func.func @spmv
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[A:[a-z0-9]*]]: memref<?xf64>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[MANY:.*]] = arith.cmpi sge, %[[N]], %c8192
// CHECK: %[[SAMPLE:.*]] = scf.if %[[MANY]]
// CHECK:   scf.for %[[S:.*]] = %c0 to %c32
// CHECK:     %[[SPREAD:.*]] = arith.muli %[[S]], %c2654435761
// CHECK:     %[[LOW:.*]] = arith.andi %[[SPREAD]], %c4294967295
// CHECK:     %[[SCALED:.*]] = arith.muli %[[LOW]]
// CHECK:     %[[ROW:.*]] = arith.shrui %[[SCALED]], %c32
// CHECK:     memref.load %[[POS]][%[[ROW]]]
// CHECK:     %[[DIFFERENT:.*]] = arith.xori
// CHECK:     arith.andi %[[DIFFERENT]], %c3
// CHECK:     %[[LONG:.*]] = arith.cmpi sge, %{{.*}}, %c8
// CHECK:     scf.if %[[LONG]]
// CHECK:   %[[HALF:.*]] = arith.cmpi sge, %{{.*}}, %c16
// CHECK:   %[[SIZE:.*]] = memref.dim %[[X]]
// CHECK:   %[[LARGE:.*]] = arith.cmpi ugt, %[[SIZE]], %c131072
// CHECK:   arith.andi %[[HALF]], %[[LARGE]]
// CHECK: %[[SPLIT:.*]] = scf.if %[[SAMPLE]] -> (index) {
// CHECK:   memref.load %[[POS]][%[[N]]]
// CHECK:   %[[E:.*]] = arith.index_castui
// CHECK:   scf.while (%[[R:.*]] = %[[N]])
// CHECK:     arith.cmpi sgt, %[[R]], %c0
// CHECK:     memref.load %[[POS]][%[[R]]]
// CHECK:     %[[BEHIND:.*]] = arith.subi %[[E]]
// CHECK:     arith.cmpi slt, %[[BEHIND]], %c8
// CHECK: scf.for %{{.*}} = %c0 to %[[SPLIT]]
// CHECK:   %[[VECTORS:.*]]:2 = scf.for
// CHECK:   %[[MASK:.*]] = vector.create_mask
// CHECK-NOT: vector.maskedload
// CHECK:   vector.load %[[A]][%[[VECTORS]]#0]
// CHECK-COUNT-4: memref.load %[[X]]
// CHECK:   %[[SUM:.*]] = arith.addf %[[VECTORS]]#1
// CHECK:   arith.select %[[MASK]], %[[SUM]], %[[VECTORS]]#1
// CHECK-NOT: scf.for
// CHECK: memref.store
// CHECK: scf.for %{{.*}} = %[[SPLIT]] to %[[N]]
// CHECK:   %[[WHOLE:.*]]:2 = scf.for
// CHECK:   scf.for %{{.*}} = %[[WHOLE]]#0
// CHECK-NOT: vector.create_mask

// Where gathers are an instruction, loads take its place for what stays in the caches, and for large operands of whose elements half of the
// rows reach few. Rows of different lengths are vectors of eight there, of which the first one always runs; the test of that is one of the
// row, of which LLVM does not make a loop for each answer.
// GATHERS-LABEL: func.func @spmv
// GATHERS-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[A:[a-z0-9]*]]: memref<?xf64>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[N:[a-z0-9]*]]: index)
// GATHERS: %[[SAMPLE:.*]]:2 = scf.if
// GATHERS:   arith.cmpi ult, %{{.*}}, %c16384
// GATHERS:   arith.cmpi ugt, %{{.*}}, %c131072
// GATHERS: %[[COORDINATES:.*]] = memref.dim %[[CRD]]
// GATHERS: %[[C:.*]] = arith.muli %[[COORDINATES]], %c4
// GATHERS: %[[VALUES:.*]] = memref.dim %[[A]]
// GATHERS: %[[V:.*]] = arith.muli %[[VALUES]], %c8
// GATHERS: %[[STREAMED:.*]] = arith.addi %[[C]], %[[V]]
// GATHERS: %[[SIZE:.*]] = memref.dim %[[X]]
// GATHERS: %[[GATHERED:.*]] = arith.muli %[[SIZE]], %c8
// GATHERS: %[[NEAR:.*]] = arith.cmpi ule, %[[GATHERED]], %c2097152
// GATHERS: %[[FITS:.*]] = arith.cmpi ule, %[[STREAMED]], %c8388608
// GATHERS: %[[RESIDENT:.*]] = arith.andi %[[NEAR]], %[[FITS]]
// GATHERS: %[[LOADS:.*]] = arith.ori %[[RESIDENT]], %[[SAMPLE]]#1
// GATHERS: %[[SPLIT:.*]] = scf.if %[[SAMPLE]]#0
// GATHERS: %[[LOADED:.*]] = arith.select %[[LOADS]], %[[SPLIT]], %c0
// GATHERS: scf.for %[[I:.*]] = %c0 to %[[SPLIT]]
// GATHERS:   %[[BEGIN:.*]] = arith.index_castui
// GATHERS:   %[[END:.*]] = arith.index_castui
// GATHERS:   %[[LOAD:.*]] = arith.cmpi slt, %[[I]], %[[LOADED]]
// GATHERS:   scf.if %[[LOAD]]
// GATHERS:     %[[ONE:.*]] = arith.addi %[[BEGIN]], %c1
// GATHERS:     %[[LIMIT:.*]] = arith.maxsi %[[END]], %[[ONE]]
// GATHERS:     scf.for %{{.*}} = %[[BEGIN]] to %[[LIMIT]] step %c8 iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<8xf64>) {
// GATHERS:       %[[LEFT:.*]] = arith.minsi %{{.*}}, %c8
// GATHERS:       %[[COUNT:.*]] = arith.index_cast %[[LEFT]] : index to i32
// GATHERS:       arith.shli %c-1_i32, %[[COUNT]]
// GATHERS:       %[[MASK:.*]] = vector.bitcast %{{.*}} : vector<1xi8> to vector<8xi1>
// GATHERS-COUNT-8: memref.load %[[X]]
// GATHERS:       %[[SUM:.*]] = arith.addf %[[ACC]]
// GATHERS:       arith.select %[[MASK]], %[[SUM]], %[[ACC]]
// GATHERS-NOT: vector.gather
// GATHERS:   } else {
// GATHERS:     vector.gather
// GATHERS:     vector.create_mask
// GATHERS-COUNT-4: memref.load %[[X]]
// GATHERS:     arith.select
// GATHERS: scf.for %{{.*}} = %[[SPLIT]] to %[[N]]
// GATHERS:   scf.if %[[LOADS]]
// GATHERS:     scf.for
// GATHERS-COUNT-4: memref.load %[[X]]
// GATHERS-NOT: vector.gather
// GATHERS:   } else {
// GATHERS:     vector.gather
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
// MASKED: scf.for %{{.*}} = %c0 to %{{[0-9]+}}
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
// MASKED: scf.for %{{.*}} = %{{.*}} to %[[N]]
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

// The rows of one partition, whatever loop is around the region: a sample is profitable where all partitions have as many rows.
// CHECK-LABEL: func.func @pieces
// CHECK: tulle.parallel %{{.*}} of %[[TASKS:[a-z0-9]*]]
// CHECK: %[[PAIRS:.*]] = arith.subi %{{.*}}, %c1
// CHECK: %[[ROWS:.*]] = arith.muli %[[PAIRS]], %[[TASKS]]
// CHECK: %[[MANY:.*]] = arith.cmpi sge, %[[ROWS]], %c8192
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

// -----

// As many vectors at a time as the schedule says, of rows that over-read and of others: four, and one behind them.
// CHECK-LABEL: func.func @unrolled
// GATHERS-LABEL: func.func @unrolled
// GATHERS-COUNT-10: vector.gather
// GATHERS-NOT: vector.gather
// GATHERS: return
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
  func.func @unrolled(%pos: memref<?xi32>, %crd: memref<?xi32>, %a: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
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
      } {tulle.loop = #tulle.loop<reduction, index = j, directives = <unroll = 4>>}
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = i>}
    return
  }
}
