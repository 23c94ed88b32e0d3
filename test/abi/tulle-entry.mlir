// RUN: tulle-opt %s --convert-to-llvm --tulle-noalias --tulle-entry | FileCheck %s
// RUN: tulle-opt %s --convert-to-llvm --tulle-noalias --tulle-entry | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=IR

// One buffer (five slots) and one dimension (one slot).
// CHECK: llvm.func internal @statement0(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64) attributes {{.*}}no_inline
// CHECK: llvm.func @statement0_entry(%[[SLOTS:.*]]: !llvm.ptr)
// CHECK: llvm.getelementptr %[[SLOTS]][0] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: llvm.getelementptr %[[SLOTS]][5] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT: %[[SIZE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK-NEXT: llvm.call @statement0(%{{.*}}, %[[SIZE]])
// IR: define internal void @statement0(ptr noalias %0, ptr noalias %1, i64 %2, i64 %3, i64 %4, i64 %5) #[[ATTRS:[0-9]+]]
// IR: define void @statement0_entry(ptr %0)
func.func @statement0(%y: memref<?xf64>, %n: index) {
  %zero = arith.constant 0.0 : f64
  memref.store %zero, %y[%n] : memref<?xf64>
  return
}

// Other functions keep their form.
// CHECK: llvm.func @helper(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr
// CHECK-NOT: helper_entry
func.func @helper(%y: memref<?xf64>) {
  return
}

// Regions that were outlined are functions of their own: convert-to-llvm drops what says so.
// CHECK: llvm.func internal @block0_helper({{.*}}) attributes {{.*}}no_inline
// IR: define internal void @block0_helper({{.*}}) #[[ATTRS]]
func.func private @block0_helper(%y: memref<?xf64>) attributes {no_inline} {
  return
}

// IR: attributes #[[ATTRS]] = { noinline }

// No pass asks for the processor after this one.
// RUN: tulle explain 'y(i) = A(i,j) * x(j)' -f A=CSR --stage llvm | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=WHOLE
// WHOLE: define internal void @statement0(
// WHOLE: define void @statement0_entry(
