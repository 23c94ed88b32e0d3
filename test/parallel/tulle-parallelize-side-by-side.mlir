// RUN: tulle-opt %s --tulle-parallelize --split-input-file | FileCheck %s

// Parts of an operand that no row has entries in two of: one region, in which each task has a chunk of both. The number of
// chunks follows from the work of both. Rows of one length are not split; a row of the other part may be, and what combines its
// partial results stands behind the region.
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
#FOUR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : fixed[4](padded)) }>
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
// CHECK-LABEL: @rows
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf64, #{{[^>]*}}> {tulle.disjoint = {{.*}}}, %[[B:[^:]*]]: tensor<?x?xf64, #DCSR>
// CHECK: %[[WA:.*]] = tulle.stored_count %[[A]]
// CHECK: %[[WB:.*]] = tulle.stored_count %[[B]]
// CHECK: %[[WORK:.*]] = arith.addi %[[WA]], %[[WB]]
// CHECK: tulle.threads %[[WORK]]
// CHECK-NOT: tulle.threads
// CHECK: tulle.parallel %[[TASK:.*]] of %[[CHUNKS:[^ ]*]] iter_args
// CHECK: tulle.partition %{{.*}}, %[[TASK]] of %[[CHUNKS]]
// CHECK: tulle.iterate
// CHECK: tulle.partition_boundary %{{.*}}, %[[TASK]] of %[[CHUNKS]]
// CHECK: tulle.yield
// CHECK-NOT: tulle.parallel
// CHECK: return
func.func @rows(%a: tensor<?x?xf64, #FOUR> {tulle.disjoint = array<i64: 0, -1>},
                %b: tensor<?x?xf64, #DCSR> {tulle.disjoint = array<i64: 0, -1>}, %y: tensor<?xf64, #D>) -> tensor<?xf64, #D> {
  %zero = arith.constant 0.0 : f64
  %sa = tulle.space %a level(0) : tensor<?x?xf64, #FOUR> -> !tulle.space<#FOUR, 0>
  %r = tulle.iterate %i, %it in %sa : !tulle.space<#FOUR, 0> iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %old = tulle.load %acc[%at : !tulle.iterator<#D, 0>] : tensor<?xf64, #D> -> f64
    %row = tulle.space %a level(1) under %it : !tulle.iterator<#FOUR, 0> : tensor<?x?xf64, #FOUR> -> !tulle.space<#FOUR, 1>
    %sum = tulle.iterate %j, %jt in %row : !tulle.space<#FOUR, 1> iter_args(%s = %old) -> (f64) loop = <reduction> {
      %v = tulle.load %a[%jt : !tulle.iterator<#FOUR, 1>] : tensor<?x?xf64, #FOUR> -> f64
      %m = arith.addf %s, %v fastmath<reassoc> : f64
      tulle.yield %m : f64
    }
    %n = tulle.store %sum, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  %sb = tulle.space %b level(0) : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 0>
  %q = tulle.iterate %i, %it in %sb : !tulle.space<#DCSR, 0> iter_args(%acc = %r) -> (tensor<?xf64, #D>) loop = <parallel> {
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %old = tulle.load %acc[%at : !tulle.iterator<#D, 0>] : tensor<?xf64, #D> -> f64
    %row = tulle.space %b level(1) under %it : !tulle.iterator<#DCSR, 0> : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 1>
    %sum = tulle.iterate %j, %jt in %row : !tulle.space<#DCSR, 1> iter_args(%s = %old) -> (f64) loop = <reduction> {
      %v = tulle.load %b[%jt : !tulle.iterator<#DCSR, 1>] : tensor<?x?xf64, #DCSR> -> f64
      %m = arith.addf %s, %v fastmath<reassoc> : f64
      tulle.yield %m : f64
    }
    %n = tulle.store %sum, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  return %q : tensor<?xf64, #D>
}

// -----

// The same of vectors.
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
// CHECK-LABEL: @alike
// CHECK-COUNT-1: tulle.parallel
// CHECK-NOT: tulle.parallel
// CHECK: return
func.func @alike(%a: tensor<?xf64, #SV> {tulle.disjoint = array<i64: 3>}, %b: tensor<?xf64, #SV> {tulle.disjoint = array<i64: 3>}, %y: tensor<?xf64, #D>) -> tensor<?xf64, #D> {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %r = tulle.iterate %i, %it in %sa : !tulle.space<#SV, 0> iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %v = tulle.load %a[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %q = tulle.iterate %i, %it in %sb : !tulle.space<#SV, 0> iter_args(%acc = %r) -> (tensor<?xf64, #D>) loop = <parallel> {
    %v = tulle.load %b[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  return %q : tensor<?xf64, #D>
}

// -----

// Nothing says that coordinates differ: one region after the other.
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
// CHECK-LABEL: @unknown
// CHECK-COUNT-2: tulle.parallel
// CHECK-NOT: tulle.parallel
// CHECK: return
func.func @unknown(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>, %y: tensor<?xf64, #D>) -> tensor<?xf64, #D> {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %r = tulle.iterate %i, %it in %sa : !tulle.space<#SV, 0> iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %v = tulle.load %a[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %q = tulle.iterate %i, %it in %sb : !tulle.space<#SV, 0> iter_args(%acc = %r) -> (tensor<?xf64, #D>) loop = <parallel> {
    %v = tulle.load %b[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  return %q : tensor<?xf64, #D>
}

// -----

// Neither do different numbers, nor -1.
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
// CHECK-LABEL: @others
// CHECK-COUNT-2: tulle.parallel
// CHECK-NOT: tulle.parallel
// CHECK: return
func.func @others(%a: tensor<?xf64, #SV> {tulle.disjoint = array<i64: 0>}, %b: tensor<?xf64, #SV> {tulle.disjoint = array<i64: 1>}, %y: tensor<?xf64, #D>) -> tensor<?xf64, #D> {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %r = tulle.iterate %i, %it in %sa : !tulle.space<#SV, 0> iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %v = tulle.load %a[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %q = tulle.iterate %i, %it in %sb : !tulle.space<#SV, 0> iter_args(%acc = %r) -> (tensor<?xf64, #D>) loop = <parallel> {
    %v = tulle.load %b[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  return %q : tensor<?xf64, #D>
}

// -----

#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
// CHECK-LABEL: @nothing
// CHECK-COUNT-2: tulle.parallel
// CHECK-NOT: tulle.parallel
// CHECK: return
func.func @nothing(%a: tensor<?xf64, #SV> {tulle.disjoint = array<i64: -1>}, %b: tensor<?xf64, #SV> {tulle.disjoint = array<i64: -1>}, %y: tensor<?xf64, #D>) -> tensor<?xf64, #D> {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %r = tulle.iterate %i, %it in %sa : !tulle.space<#SV, 0> iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %v = tulle.load %a[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %q = tulle.iterate %i, %it in %sb : !tulle.space<#SV, 0> iter_args(%acc = %r) -> (tensor<?xf64, #D>) loop = <parallel> {
    %v = tulle.load %b[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  return %q : tensor<?xf64, #D>
}

// -----

// What the second stores is not at its own coordinate.
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
// CHECK-LABEL: @elsewhere
// CHECK-COUNT-2: tulle.parallel
// CHECK-NOT: tulle.parallel
// CHECK: return
func.func @elsewhere(%a: tensor<?xf64, #SV> {tulle.disjoint = array<i64: 0>}, %b: tensor<?xf64, #SV> {tulle.disjoint = array<i64: 0>}, %y: tensor<?xf64, #D>) -> tensor<?xf64, #D> {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %r = tulle.iterate %i, %it in %sa : !tulle.space<#SV, 0> iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %v = tulle.load %a[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %q = tulle.iterate %i, %it in %sb : !tulle.space<#SV, 0> iter_args(%acc = %r) -> (tensor<?xf64, #D>) loop = <parallel> {
    %c1 = arith.constant 1 : index
    %k = arith.addi %i, %c1 : index
    %v = tulle.load %b[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %at = tulle.locate %y level(0) at %k : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  return %q : tensor<?xf64, #D>
}
