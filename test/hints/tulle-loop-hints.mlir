// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-loop-hints))' | FileCheck %s

// LLVM must not vectorize a store at a loaded index.
// CHECK-DAG: #[[NEVER:.*]] = #llvm.loop_vectorize<disable = true>
// CHECK-DAG: #[[NOUNROLL:.*]] = #llvm.loop_unroll<disable = true>
// CHECK-DAG: #[[ANNOTATION:.*]] = #llvm.loop_annotation<vectorize = #[[NEVER]]>{{$}}
// CHECK-DAG: #[[SHORT:.*]] = #llvm.loop_annotation<vectorize = #[[NEVER]], unroll = #[[NOUNROLL]]>
// CHECK-DAG: #[[ROWS:.*]] = #llvm.loop_annotation<unroll = #[[NOUNROLL]]>
// CHECK-LABEL: func.func @scatter
// CHECK: scf.for
// CHECK: } {llvm.loop_annotation = #[[ANNOTATION]], tulle.loop = #tulle.loop<reduction>}
func.func @scatter(%crd: memref<?xi32>, %values: memref<?xf64>, %out: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %c = memref.load %crd[%k] : memref<?xi32>
    %at = arith.index_castui %c : i32 to index
    %v = memref.load %values[%k] : memref<?xf64>
    memref.store %v, %out[%at] : memref<?xf64>
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Segments may be short: most of them would run in the epilogue of an unrolled loop. Iterations that may overlap gain by it.
// CHECK-LABEL: func.func @segments
// CHECK: scf.for
// CHECK: scf.for
// CHECK: } {llvm.loop_annotation = #[[SHORT]], tulle.loop = #tulle.loop<reduction>}
// CHECK: scf.for
// CHECK: } {llvm.loop_annotation = #[[ANNOTATION]], tulle.loop = #tulle.loop<parallel>}
// CHECK-NEXT: } {tulle.loop = #tulle.loop<reduction>}
func.func @segments(%pos: memref<?xindex>, %crd: memref<?xi32>, %out: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %begin = memref.load %pos[%i] : memref<?xindex>
    %next = arith.addi %i, %c1 : index
    %end = memref.load %pos[%next] : memref<?xindex>
    scf.for %k = %begin to %end step %c1 {
      %c = memref.load %crd[%k] : memref<?xi32>
      %at = arith.index_castui %c : i32 to index
      memref.store %i, %out[%at] : memref<?xindex>
    } {tulle.loop = #tulle.loop<reduction>}
    scf.for %k = %begin to %end step %c1 {
      %c = memref.load %crd[%k] : memref<?xi32>
      %at = arith.index_castui %c : i32 to index
      memref.store %i, %out[%at] : memref<?xindex>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Consecutive stores, whatever is stored, and loops around others are LLVM's to vectorize.
// CHECK-LABEL: func.func @copy
// CHECK-NOT: llvm.loop_annotation
// CHECK: return
func.func @copy(%crd: memref<?xi32>, %values: memref<?xf64>, %out: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %c = memref.load %crd[%k] : memref<?xi32>
      %at = arith.index_castui %c : i32 to index
      %v = memref.load %values[%at] : memref<?xf64>
      memref.store %v, %out[%k] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    %c = memref.load %crd[%i] : memref<?xi32>
    %at = arith.index_castui %c : i32 to index
    %v = memref.load %values[%i] : memref<?xf64>
    memref.store %v, %out[%at] : memref<?xf64>
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Sums at loaded indices: unrolled by two, with a prefetch of the streams, and an epilogue.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[VAL:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index)
// CHECK: %[[LIMIT:.*]] = arith.subi %[[HI]], %c1
// CHECK: %[[REST:.*]] = scf.for %[[P:.*]] = %[[LO]] to %[[LIMIT]] step %c2
// CHECK: %[[LATER:.*]] = arith.addi %[[P]], %c256
// CHECK: memref.prefetch %[[CRD]][%[[LATER]]], read
// CHECK: memref.prefetch %[[VAL]][%[[LATER]]], read
// CHECK: memref.store %{{.*}}, %[[Y]]
// CHECK: memref.load %[[Y]]
// CHECK: memref.store %{{.*}}, %[[Y]]
// CHECK: scf.for %{{.*}} = %[[REST]] to %[[HI]]
// CHECK: memref.store %{{.*}}, %[[Y]]
// CHECK-NOT: memref.store
// CHECK: return
func.func @sums(%crd: memref<?xi32>, %values: memref<?xf64>, %y: memref<?xf64>, %lo: index, %hi: index) {
  %c1 = arith.constant 1 : index
  scf.for %k = %lo to %hi step %c1 {
    %c = memref.load %crd[%k] : memref<?xi32>
    %at = arith.index_castui %c : i32 to index
    %v = memref.load %values[%k] : memref<?xf64>
    %old = memref.load %y[%at] : memref<?xf64>
    %sum = arith.addf %old, %v : f64
    memref.store %sum, %y[%at] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// A block of 64: sixteen coordinates of 32 bits are a cache line, and are prefetched at once.
// CHECK-LABEL: func.func @block
// CHECK-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c16
// CHECK: %[[LATER:.*]] = arith.addi %[[P]], %c256
// CHECK: memref.prefetch %[[CRD]][%[[LATER]]], read
// CHECK-COUNT-16: memref.store
// CHECK-NOT: memref.store
// CHECK: scf.for
// CHECK: return
func.func @block(%crd: memref<?xi32>, %values: memref<?xf64>, %y: memref<?xf64>, %lo: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %hi = arith.addi %lo, %c64 overflow<nsw, nuw> : index
  scf.for %k = %lo to %hi step %c1 {
    %c = memref.load %crd[%k] : memref<?xi32>
    %at = arith.index_castui %c : i32 to index
    %v = memref.load %values[%k] : memref<?xf64>
    %old = memref.load %y[%at] : memref<?xf64>
    %sum = arith.addf %old, %v : f64
    memref.store %sum, %y[%at] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// A sum of two vectors over a segment waits for itself, and the segment may be short: LLVM does not unroll it. Three sums overlap,
// and a loop over sixteen rows may be unrolled completely.
// CHECK-LABEL: func.func @few_vectors
// CHECK: scf.for
// CHECK: scf.yield %{{.*}}, %{{.*}} : vector<8xf64>, vector<8xf64>
// CHECK-NEXT: } {llvm.loop_annotation
func.func @few_vectors(%x: memref<?x16xf64>, %lo: index, %hi: index, %v: vector<8xf64>) -> (vector<8xf64>, vector<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %sums:2 = scf.for %k = %lo to %hi step %c1 iter_args(%a = %v, %b = %v) -> (vector<8xf64>, vector<8xf64>) {
    %left = vector.load %x[%k, %c0] : memref<?x16xf64>, vector<8xf64>
    %right = vector.load %x[%k, %c8] : memref<?x16xf64>, vector<8xf64>
    %more = arith.addf %a, %left : vector<8xf64>
    %most = arith.addf %b, %right : vector<8xf64>
    scf.yield %more, %most : vector<8xf64>, vector<8xf64>
  }
  return %sums#0, %sums#1 : vector<8xf64>, vector<8xf64>
}

// CHECK-LABEL: func.func @three_vectors
// CHECK: scf.for
// CHECK-NOT: llvm.loop_annotation
// CHECK-LABEL: func.func @few_rows
// CHECK: scf.for
// CHECK-NOT: llvm.loop_annotation
func.func @three_vectors(%x: memref<?x8xf64>, %lo: index, %hi: index, %v: vector<8xf64>) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sums:3 = scf.for %k = %lo to %hi step %c1 iter_args(%a = %v, %b = %v, %c = %v) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>) {
    %row = vector.load %x[%k, %c0] : memref<?x8xf64>, vector<8xf64>
    %d = arith.addf %a, %row : vector<8xf64>
    %e = arith.mulf %b, %row : vector<8xf64>
    %f = arith.maximumf %c, %row : vector<8xf64>
    scf.yield %d, %e, %f : vector<8xf64>, vector<8xf64>, vector<8xf64>
  }
  return %sums#0, %sums#1, %sums#2 : vector<8xf64>, vector<8xf64>, vector<8xf64>
}

func.func @few_rows(%x: memref<?x8xf64>, %v: vector<8xf64>) -> vector<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %sum = scf.for %k = %c0 to %c16 step %c1 iter_args(%a = %v) -> (vector<8xf64>) {
    %row = vector.load %x[%k, %c0] : memref<?x8xf64>, vector<8xf64>
    %b = arith.addf %a, %row : vector<8xf64>
    scf.yield %b : vector<8xf64>
  }
  return %sum : vector<8xf64>
}

// Nor are the rows around such sums, which would each be a copy of the loop.
// CHECK-LABEL: func.func @rows_of_sums
// CHECK: scf.yield
// CHECK-NEXT: } {llvm.loop_annotation = #[[SHORT]]}
// CHECK: vector.store
// CHECK-NEXT: } {llvm.loop_annotation = #[[ROWS]], tulle.loop = #tulle.loop<parallel>}
func.func @rows_of_sums(%pos: memref<?xindex>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index, %v: vector<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c1 {
    %lo = memref.load %pos[%i] : memref<?xindex>
    %next = arith.addi %i, %c1 : index
    %hi = memref.load %pos[%next] : memref<?xindex>
    %sum = scf.for %k = %lo to %hi step %c1 iter_args(%a = %v) -> (vector<8xf64>) {
      %at = arith.muli %k, %c8 : index
      %w = vector.load %x[%at] : memref<?xf64>, vector<8xf64>
      %b = arith.addf %a, %w : vector<8xf64>
      scf.yield %b : vector<8xf64>
    }
    %at = arith.muli %i, %c8 : index
    vector.store %sum, %y[%at] : memref<?xf64>, vector<8xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
