// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-tile-reductions,canonicalize,cse))' | FileCheck %s

module attributes {tulle.cpu = #tulle.cpu<x86-64-v4>} {
  // C = A * B^T: eight rows of B at a time, a vector of partial sums each. A vector of A is loaded once for all of them; what is
  // behind the last whole vector is masked; the horizontal sums are one tree of shuffles.
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
  // CHECK: vector.shuffle %[[ALL]]#0, %[[ALL]]#1 [0, 2, 4, 6, 8, 10, 12, 14]
  // CHECK-COUNT-8: memref.store %{{.*}}, %[[C]]
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

  // Rows that coordinates select (SDDMM): four at a time, as segments are short; halves are added first.
  // CHECK-LABEL: func.func @selected
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4 {
  // CHECK: scf.if
  // CHECK-COUNT-4: memref.prefetch
  // CHECK: %{{.*}}:4 = scf.for %{{.*}} step %c8 iter_args
  // CHECK: vector.extract_strided_slice
  // CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6] : vector<4xf64>, vector<4xf64>
  // CHECK-COUNT-4: memref.store
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
