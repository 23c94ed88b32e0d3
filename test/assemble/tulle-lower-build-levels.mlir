// Levels are made one after the other, each by traversals of the sorted entries.
// RUN: tulle-opt %s --tulle-lower-build-levels | FileCheck %s

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)) }>
#Banded = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : banded) }>

// CHECK-LABEL: @build
// CHECK: tulle.stored_count
// CHECK-COUNT-3: tulle.iterate
// CHECK: tulle.storage
func.func @build(%sorted: tensor<?x?xf64, #COO>, %m: index, %n: index) -> tensor<?x?xf64, #Banded> {
  %t = tulle.build_levels %sorted sizes(%m, %n) : tensor<?x?xf64, #COO> -> tensor<?x?xf64, #Banded>
  return %t : tensor<?x?xf64, #Banded>
}
