// RUN: tulle-opt %s --tulle-outline --split-input-file | FileCheck %s

// Constants are made again inside, everything else is an argument; buffers and sizes in the order of their use.
// CHECK-LABEL: func.func @statement0(
// CHECK-SAME: %[[X:.*]]: memref<?xf64>, %[[N:.*]]: index)
// CHECK: call @launch0_statement0(%[[N]], %[[X]]) : (index, memref<?xf64>) -> ()
// CHECK-NOT: tulle.parallel
// CHECK: func.func private @task0_statement0(%[[TASK:.*]]: index, %[[BUFFER:.*]]: memref<?xf64>) attributes {tulle.noalias} {
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: memref.store %[[ONE]], %[[BUFFER]][%[[TASK]]]
// CHECK: return
// CHECK: func.func private @launch0_statement0(index, memref<?xf64>)
func.func @statement0(%x: memref<?xf64>, %n: index) {
  %one = arith.constant 1.0 : f64
  tulle.parallel %task of %n {
    memref.store %one, %x[%task] : memref<?xf64>
  }
  return
}

// -----

// A region inside another one is a call there.
// CHECK-LABEL: func.func @statement0(
// CHECK: call @launch1_statement0(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: func.func private @task0_statement0(
// CHECK: memref.store
// CHECK: func.func private @launch0_statement0
// CHECK: func.func private @task1_statement0(
// CHECK: call @launch0_statement0(
// CHECK: func.func private @launch1_statement0
func.func @statement0(%x: memref<?xindex>, %n: index) {
  tulle.parallel %outer of %n {
    tulle.parallel %inner of %n {
      memref.store %outer, %x[%inner] : memref<?xindex>
    }
  }
  return
}

// -----

// Two views of one buffer may overlap.
// CHECK: func.func private @task0_statement0(%{{.*}}: index, %{{.*}}: memref<?xf64>, %{{.*}}: memref<2xf64>) {
func.func @statement0(%x: memref<?xf64>, %n: index) {
  %first = memref.reinterpret_cast %x to offset: [0], sizes: [2], strides: [1] : memref<?xf64> to memref<2xf64>
  tulle.parallel %task of %n {
    %v = memref.load %x[%task] : memref<?xf64>
    memref.store %v, %first[%task] : memref<2xf64>
  }
  return
}

// -----

// What must not be inlined is a function, too.
// CHECK-LABEL: func.func @statement1(
// CHECK-SAME: %[[X:.*]]: memref<?xf64>, %[[N:.*]]: index)
// CHECK: call @block0_statement1(%[[X]], %[[N]]) : (memref<?xf64>, index) -> ()
// CHECK-NOT: scf.execute_region
// CHECK: func.func private @block0_statement1(%[[BUFFER:.*]]: memref<?xf64>, %[[AT:.*]]: index) attributes {no_inline, tulle.noalias} {
// CHECK: memref.store %{{.*}}, %[[BUFFER]][%[[AT]]]
// CHECK: return
func.func @statement1(%x: memref<?xf64>, %n: index) {
  %one = arith.constant 1.0 : f64
  scf.execute_region no_inline {
    memref.store %one, %x[%n] : memref<?xf64>
    scf.yield
  }
  return
}

// -----

// LLVM looks from each loop of a function at those before it: of 17 loops, each becomes a function, and returns what it carries.
// CHECK-LABEL: func.func @statement0(
// CHECK-NOT: scf.for
// CHECK: %[[FIRST:.*]] = call @block0_statement0(%{{.*}}) : (memref<?xf64>, index) -> f64
// CHECK: memref.store %[[FIRST]]
// CHECK-COUNT-16: call @block{{[0-9]+}}_statement0(
// CHECK-NOT: scf.for
// CHECK: func.func private @block0_statement0(%[[X:.*]]: memref<?xf64>, %[[N:.*]]: index) -> f64 attributes {no_inline, tulle.noalias} {
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: return %[[SUM]] : f64
func.func @statement0(%x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) {
    %v = memref.load %x[%i] : memref<?xf64>
    %next = arith.addf %acc, %v : f64
    scf.yield %next : f64
  }
  memref.store %sum, %y[%c0] : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  return
}
