// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s

// Rows of a constant number of elements are left to LLVM. It makes vectors of those that are whole vectors if it does not unroll them; of
// others it unrolls, and must not make vectors of several rows behind that.
module attributes {tulle.cpu = #tulle.cpu<znver4>} {

// CHECK-DAG: #[[UNROLL:.*]] = #llvm.loop_unroll<disable = true>
// CHECK-DAG: #[[VECTORIZE:.*]] = #llvm.loop_vectorize<disable = true>
// CHECK-DAG: #[[WHOLE:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>
// CHECK-DAG: #[[ROWS:.*]] = #llvm.loop_annotation<vectorize = #[[VECTORIZE]]>

// CHECK-LABEL: func.func @whole(
// CHECK: memref.store
// CHECK: } {llvm.loop_annotation = #[[WHOLE]], tulle.loop
// CHECK: } {tulle.loop
func.func @whole(%q: memref<?xf64>, %y: memref<?xf64>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  scf.for %i = %c0 to %rows step %c1 {
    %row = arith.muli %i, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %at = arith.addi %row, %k : index
      %x = memref.load %q[%at] : memref<?xf64>
      %s = arith.addf %x, %x : f64
      memref.store %s, %y[%at] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// CHECK-LABEL: func.func @partial(
// CHECK: memref.store
// CHECK: } {tulle.loop
// CHECK: } {llvm.loop_annotation = #[[ROWS]], tulle.loop
func.func @partial(%q: memref<?xf64>, %y: memref<?xf64>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 12 : index
  scf.for %i = %c0 to %rows step %c1 {
    %row = arith.muli %i, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %at = arith.addi %row, %k : index
      %x = memref.load %q[%at] : memref<?xf64>
      %s = arith.addf %x, %x : f64
      memref.store %s, %y[%at] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Nothing is said of rows of any number of elements.
// CHECK-LABEL: func.func @any(
// CHECK-NOT: llvm.loop_annotation
// CHECK: return
func.func @any(%q: memref<?xf64>, %y: memref<?xf64>, %rows: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %row = arith.muli %i, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %at = arith.addi %row, %k : index
      %x = memref.load %q[%at] : memref<?xf64>
      %s = arith.addf %x, %x : f64
      memref.store %s, %y[%at] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

}
