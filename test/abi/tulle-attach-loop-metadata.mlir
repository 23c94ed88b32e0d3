// RUN: tulle-opt %s --tulle-attach-loop-metadata | FileCheck %s

// The discardable attribute that the conversion of scf.for leaves becomes the branch's own.
#never = #llvm.loop_vectorize<disable = true>
#hint = #llvm.loop_annotation<vectorize = #never>

// CHECK-LABEL: llvm.func @loop
// CHECK: llvm.br ^bb1 {loop_annotation = #{{.*}}}
// CHECK: llvm.cond_br %{{.*}}, ^bb1, ^bb2 {loop_annotation = #{{.*}}}
// CHECK-NOT: llvm.loop_annotation =
llvm.func @loop(%more: i1) {
  llvm.br ^bb1 {llvm.loop_annotation = #hint}
^bb1:
  llvm.cond_br %more, ^bb1, ^bb2 {llvm.loop_annotation = #hint}
^bb2:
  llvm.return
}
