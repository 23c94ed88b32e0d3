// RUN: tulle-opt %s --tulle-launch --tulle-noalias --tulle-entry | FileCheck %s

// The region's function keeps its alias facts, and is not inlined.
// CHECK: llvm.func internal @task0_statement0(%{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64) attributes {no_inline, tulle.noalias}
llvm.func @task0_statement0(%task: i64, %x: !llvm.ptr, %n: i64) attributes {tulle.noalias} {
  llvm.store %n, %x : i64, !llvm.ptr
  llvm.return
}

// CHECK: llvm.func internal @enter_task0_statement0(%[[CONTEXT:.*]]: !llvm.ptr, %[[TASK:.*]]: i64)
// CHECK: llvm.getelementptr %[[CONTEXT]][0, 0]
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> !llvm.ptr
// CHECK: llvm.getelementptr %[[CONTEXT]][0, 1]
// CHECK: %[[N:.*]] = llvm.load {{.*}} -> i64
// CHECK: llvm.call @task0_statement0(%[[TASK]], %[[X]], %[[N]])

// CHECK: llvm.func internal @launch0_statement0(%[[TASKS:.*]]: i64, %[[X:.*]]: !llvm.ptr, %[[N:.*]]: i64)
// CHECK: %[[MEMORY:.*]] = llvm.alloca
// CHECK: llvm.store %[[X]],
// CHECK: llvm.store %[[N]],
// CHECK: %[[ENTER:.*]] = llvm.mlir.addressof @enter_task0_statement0
// CHECK: llvm.call @tulle_parallel(%[[TASKS]], %[[ENTER]], %[[MEMORY]])
llvm.func @launch0_statement0(i64, !llvm.ptr, i64)

// CHECK: llvm.func internal @statement0
llvm.func @statement0(%n: i64, %x: !llvm.ptr) {
  llvm.call @launch0_statement0(%n, %x, %n) : (i64, !llvm.ptr, i64) -> ()
  llvm.return
}

// A name is no alias fact.
// CHECK: llvm.func @partition(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) {
llvm.func @partition(%x: !llvm.ptr, %y: !llvm.ptr) {
  llvm.return
}
// CHECK: llvm.func @tulle_parallel(i64, !llvm.ptr, !llvm.ptr)
