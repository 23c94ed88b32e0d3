// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-tile-reductions,canonicalize,cse))' | FileCheck %s

module attributes {tulle.cpu = #tulle.cpu<x86-64-v4>} {
  // C = A * B^T: eight rows of B at a time, a vector of partial sums each. A vector of A is loaded once for all of them; what is
  // behind the last whole vector is masked; the horizontal sums are one tree of shuffles, of which one operand of each sum is a blend. What a row
  // does with its sum is a loop, which tulle-vectorize makes a vector of.
  // CHECK-LABEL: func.func @dense
  // CHECK-SAME: %[[A:[a-z0-9]*]]: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %[[ROWS:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index
  // CHECK: scf.for %{{.*}} = %c0 to %[[BEHIND:.*]] step %c8 {
  // CHECK: %[[WHOLE:.*]]:8 = scf.for %{{.*}} = %c0 to %{{.*}} step %c8 iter_args
  // CHECK-COUNT-1: vector.load %[[A]]
  // CHECK-COUNT-8: vector.load %[[B]]
  // CHECK-NOT: vector.load
  // CHECK: scf.yield
  // CHECK: %[[ALL:.*]]:8 = scf.if
  // CHECK: %[[MASK:.*]] = vector.create_mask
  // CHECK-COUNT-1: vector.maskedload %[[A]][%{{.*}}], %[[MASK]]
  // CHECK-COUNT-8: vector.maskedload %[[B]][%{{.*}}], %[[MASK]]
  // CHECK: vector.shuffle %[[ALL]]#0, %[[ALL]]#4 [0, 1, 2, 3, 12, 13, 14, 15]
  // CHECK: vector.shuffle %[[ALL]]#0, %[[ALL]]#4 [4, 5, 6, 7, 8, 9, 10, 11]
  // CHECK: vector.store %[[SUMS:.*]], %[[BUFFER:.*]][%c0] : memref<8xf64>, vector<8xf64>
  // CHECK: scf.for %[[R:.*]] = %c0 to %c8 step %c1 {
  // CHECK: memref.load %[[BUFFER]][%[[R]]]
  // CHECK: memref.store %{{.*}}, %[[C]]
  // CHECK: } {tulle.loop = #tulle.loop<parallel>}
  // CHECK: scf.for %{{.*}} = %[[BEHIND]] to %[[ROWS]] step %c1 {
  // CHECK: memref.store %{{.*}}, %[[C]]
  func.func @dense(%a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    scf.for %j = %c0 to %rows step %c1 {
      %bj = arith.muli %j, %n : index
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f64) {
        %x = memref.load %a[%k] : memref<?xf64>
        %at = arith.addi %bj, %k : index
        %y = memref.load %b[%at] : memref<?xf64>
        %m = arith.mulf %x, %y fastmath<reassoc,contract> : f64
        %t = arith.addf %sum, %m fastmath<reassoc,contract> : f64
        scf.yield %t : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %s, %c[%j] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  // Rows that coordinates select (SDDMM): eight at a time, then four, as segments may be short, for which halves are added first. Lines of
  // one row after the other are prefetched.
  // CHECK-LABEL: func.func @selected
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c8 {
  // CHECK: scf.if
  // CHECK-COUNT-8: scf.for %{{.*}} step %c8 {{{[[:space:]].*[[:space:]].*}}memref.prefetch
  // CHECK: %{{.*}}:8 = scf.for %{{.*}} step %c8 iter_args
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4 {
  // CHECK: %{{.*}}:4 = scf.for %{{.*}} step %c8 iter_args
  // CHECK: vector.extract_strided_slice
  // CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 6, 7] : vector<4xf64>, vector<4xf64>
  // CHECK: vector.store %{{.*}} : memref<4xf64>, vector<4xf64>
  func.func @selected(%crd: memref<?xi32>, %a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    scf.for %p = %lo to %hi step %c1 {
      %j32 = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %bj = arith.muli %j, %n : index
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f64) {
        %x = memref.load %a[%k] : memref<?xf64>
        %at = arith.addi %bj, %k : index
        %y = memref.load %b[%at] : memref<?xf64>
        %m = arith.mulf %x, %y fastmath<reassoc,contract> : f64
        %t = arith.addf %sum, %m fastmath<reassoc,contract> : f64
        scf.yield %t : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %s, %c[%p] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  // Factors that are the same in all terms of a sum are multiplied with the sum: that of the row, and one of all rows.
  // CHECK-LABEL: func.func @scaled
  // CHECK-SAME: %[[ALPHA:[a-z0-9]*]]: f64, %[[V:[a-z0-9]*]]: memref<?xf64>
  // CHECK: %{{.*}}:8 = scf.for %{{.*}} step %c8 iter_args
  // CHECK-COUNT-8: arith.mulf
  // CHECK-NOT: arith.mulf
  // CHECK: scf.yield
  // CHECK: vector.store %{{.*}}, %[[BUFFER:.*]][%c0] : memref<8xf64>, vector<8xf64>
  // CHECK: memref.load %[[BUFFER]]
  // CHECK: memref.load %[[V]]
  // CHECK-COUNT-2: arith.mulf
  // CHECK: memref.store
  func.func @scaled(%alpha: f64, %v: memref<?xf64>, %a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    scf.for %j = %c0 to %rows step %c1 {
      %vj = memref.load %v[%j] : memref<?xf64>
      %bj = arith.muli %j, %n : index
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f64) {
        %x = memref.load %a[%k] : memref<?xf64>
        %at = arith.addi %bj, %k : index
        %y = memref.load %b[%at] : memref<?xf64>
        %p = arith.mulf %alpha, %x fastmath<reassoc,contract> : f64
        %q = arith.mulf %vj, %p fastmath<reassoc,contract> : f64
        %m = arith.mulf %q, %y fastmath<reassoc,contract> : f64
        %t = arith.addf %sum, %m fastmath<reassoc,contract> : f64
        scf.yield %t : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %s, %c[%j] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  // A sum whose order must stay, and rows that share nothing, stay as they are.
  // CHECK-LABEL: func.func @strict
  // CHECK-NOT: vector
  func.func @strict(%a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    scf.for %j = %c0 to %rows step %c1 {
      %bj = arith.muli %j, %n : index
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f64) {
        %x = memref.load %a[%k] : memref<?xf64>
        %at = arith.addi %bj, %k : index
        %y = memref.load %b[%at] : memref<?xf64>
        %m = arith.mulf %x, %y : f64
        %t = arith.addf %sum, %m : f64
        scf.yield %t : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %s, %c[%j] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  // CHECK-LABEL: func.func @nothing_shared
  // CHECK-NOT: vector
  func.func @nothing_shared(%b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    scf.for %j = %c0 to %rows step %c1 {
      %bj = arith.muli %j, %n : index
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f64) {
        %at = arith.addi %bj, %k : index
        %y = memref.load %b[%at] : memref<?xf64>
        %t = arith.addf %sum, %y fastmath<reassoc,contract> : f64
        scf.yield %t : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %s, %c[%j] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }
}
