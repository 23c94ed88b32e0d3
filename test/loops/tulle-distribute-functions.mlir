// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-distribute-functions,tulle-coalesce-segments))' | FileCheck %s

// In a block of rows, the operand of exp is stored row by row; exp then runs over all entries of the block.
// CHECK-LABEL: func.func @softmax_rows
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[A:[a-z0-9]*]]: memref<?xf64>, %[[M:[a-z0-9]*]]: memref<?xf64>, %[[E:[a-z0-9]*]]: memref<?xf64>
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to
// CHECK: scf.for %[[I:.*]] = %{{.*}} to
// CHECK: scf.for %[[P:.*]] = %{{.*}} to
// CHECK: %[[X:.*]] = arith.subf
// CHECK-NOT: math.exp
// CHECK: memref.store %[[X]], %[[E]][%[[P]]]
// CHECK: scf.for %[[ALL:.*]] = %{{.*}} to
// CHECK-NOT: scf.for
// CHECK-NOT: memref.load %[[M]]
// CHECK: %[[AGAIN:.*]] = memref.load %[[E]][%[[ALL]]]
// CHECK: %[[F:.*]] = math.exp %[[AGAIN]]
// CHECK: memref.store %[[F]], %[[E]][%[[ALL]]]
func.func @softmax_rows(%pos: memref<?xi32>, %a: memref<?xf64>, %m: memref<?xf64>, %e: memref<?xf64>, %blocks: index, %size: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %block = %c0 to %blocks step %c1 {
    %first = arith.muli %block, %size : index
    %last = arith.addi %first, %size : index
    scf.for %i = %first to %last step %c1 {
      %mi = memref.load %m[%i] : memref<?xf64>
      %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
      scf.for %p = %begin to %end step %c1 {
        %v = memref.load %a[%p] : memref<?xf64>
        %x = arith.subf %v, %mi : f64
        %f = math.exp %x : f64
        memref.store %f, %e[%p] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<parallel, index = i>}
  } {tulle.loop = #tulle.loop<parallel, index = i_block, blocks>}
  return
}

// Outside of a block what is stored is not in the cache; what else depends on the row keeps the function there.
// CHECK-LABEL: func.func @no_block
func.func @no_block(%pos: memref<?xi32>, %a: memref<?xf64>, %m: memref<?xf64>, %e: memref<?xf64>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %mi = memref.load %m[%i] : memref<?xf64>
    %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
    // CHECK: arith.subf
    // CHECK-NEXT: math.exp
    // CHECK-NOT: math.exp
    scf.for %p = %begin to %end step %c1 {
      %v = memref.load %a[%p] : memref<?xf64>
      %x = arith.subf %v, %mi : f64
      %f = math.exp %x : f64
      memref.store %f, %e[%p] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel, index = i>}
  return
}

// CHECK-LABEL: func.func @scaled
func.func @scaled(%pos: memref<?xi32>, %a: memref<?xf64>, %m: memref<?xf64>, %e: memref<?xf64>, %blocks: index, %size: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %block = %c0 to %blocks step %c1 {
    %first = arith.muli %block, %size : index
    %last = arith.addi %first, %size : index
    scf.for %i = %first to %last step %c1 {
      %mi = memref.load %m[%i] : memref<?xf64>
      %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
      // CHECK: math.exp
      // CHECK-NEXT: arith.mulf
      // CHECK-NEXT: memref.store
      scf.for %p = %begin to %end step %c1 {
        %v = memref.load %a[%p] : memref<?xf64>
        %x = arith.subf %v, %mi : f64
        %f = math.exp %x : f64
        %g = arith.mulf %f, %mi : f64
        memref.store %g, %e[%p] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<parallel, index = i>}
  } {tulle.loop = #tulle.loop<parallel, index = i_block, blocks>}
  return
}

// A loop that has such a name, but is over no blocks.
// CHECK-LABEL: func.func @named
// CHECK: math.exp
// CHECK-NEXT: memref.store
// CHECK-NOT: scf.for
// CHECK: return
func.func @named(%pos: memref<?xi32>, %a: memref<?xf64>, %m: memref<?xf64>, %e: memref<?xf64>, %blocks: index, %size: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %block = %c0 to %blocks step %c1 {
    %first = arith.muli %block, %size : index
    %last = arith.addi %first, %size : index
    scf.for %i = %first to %last step %c1 {
      %mi = memref.load %m[%i] : memref<?xf64>
      %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
      scf.for %p = %begin to %end step %c1 {
        %v = memref.load %a[%p] : memref<?xf64>
        %x = arith.subf %v, %mi : f64
        %f = math.exp %x : f64
        memref.store %f, %e[%p] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<parallel, index = i>}
  } {tulle.loop = #tulle.loop<parallel, index = i_block>}
  return
}

// The maximum of a row is found in the loop over rows that stores the operand; exp leaves both.
// CHECK-LABEL: func.func @maximum_too
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[A:[a-z0-9]*]]: memref<?xf64>, %[[E:[a-z0-9]*]]: memref<?xf64>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to
// CHECK: %[[M:.*]] = scf.for
// CHECK: arith.maximumf
// CHECK: scf.for %[[P:.*]] = %{{.*}} to
// CHECK: %[[X:.*]] = arith.subf %{{.*}}, %[[M]]
// CHECK-NEXT: memref.store %[[X]], %[[E]][%[[P]]]
// CHECK: scf.for %[[ALL:.*]] = %{{.*}} to
// CHECK-NOT: arith.maximumf
// CHECK: math.exp
// CHECK: memref.store %{{.*}}, %[[E]][%[[ALL]]]
func.func @maximum_too(%pos: memref<?xi32>, %a: memref<?xf64>, %e: memref<?xf64>, %blocks: index, %size: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = arith.constant 0xFFF0000000000000 : f64
  scf.for %block = %c0 to %blocks step %c1 {
    %first = arith.muli %block, %size : index
    %last = arith.addi %first, %size : index
    scf.for %i = %first to %last step %c1 {
      %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
      %m = scf.for %p = %begin to %end step %c1 iter_args(%most = %least) -> (f64) {
        %v = memref.load %a[%p] : memref<?xf64>
        %next = arith.maximumf %most, %v : f64
        scf.yield %next : f64
      } {tulle.loop = #tulle.loop<reduction>}
      scf.for %p = %begin to %end step %c1 {
        %v = memref.load %a[%p] : memref<?xf64>
        %x = arith.subf %v, %m : f64
        %f = math.exp %x : f64
        memref.store %f, %e[%p] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<parallel, index = i>}
  } {tulle.loop = #tulle.loop<parallel, index = i_block, blocks>}
  return
}

// A loop of the row reads what is stored: the function stays.
// CHECK-LABEL: func.func @reads_its_own
// CHECK: math.exp
// CHECK-NEXT: memref.store
// CHECK-NOT: scf.for
// CHECK: return
func.func @reads_its_own(%pos: memref<?xi32>, %a: memref<?xf64>, %e: memref<?xf64>, %blocks: index, %size: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = arith.constant 0xFFF0000000000000 : f64
  scf.for %block = %c0 to %blocks step %c1 {
    %first = arith.muli %block, %size : index
    %last = arith.addi %first, %size : index
    scf.for %i = %first to %last step %c1 {
      %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
      %m = scf.for %p = %begin to %end step %c1 iter_args(%most = %least) -> (f64) {
        %v = memref.load %e[%p] : memref<?xf64>
        %next = arith.maximumf %most, %v : f64
        scf.yield %next : f64
      } {tulle.loop = #tulle.loop<reduction>}
      scf.for %p = %begin to %end step %c1 {
        %v = memref.load %a[%p] : memref<?xf64>
        %x = arith.subf %v, %m : f64
        %f = math.exp %x : f64
        memref.store %f, %e[%p] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<parallel, index = i>}
  } {tulle.loop = #tulle.loop<parallel, index = i_block, blocks>}
  return
}
