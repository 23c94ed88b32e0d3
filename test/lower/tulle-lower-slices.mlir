// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-lower,func.func(canonicalize,cse))' --split-input-file | FileCheck %s

// Two tiles of a matrix by rows: the rows that have these entries are found by binary search in the positions.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 64 }>
// CHECK-LABEL: func.func @entries_of_rows
// CHECK-SAME: %[[POS:[a-z0-9_]+]]: memref<?xi64>, %{{.*}}: memref<?xi64>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %{{.*}}: index, %[[LO:[a-z0-9_]+]]: index, %[[HI:[a-z0-9_]+]]: index
func.func @entries_of_rows(%a: tensor<?x?xf64, #CSR>, %lo: index, %hi: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %all = tulle.range %c0 to %m
  // CHECK: scf.while
  // CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c1
  // CHECK: memref.load %[[POS]][%[[NEXT]]]
  // CHECK: arith.cmpi ule, %{{.*}}, %[[LO]] : index
  // CHECK: scf.while
  // CHECK: %[[MIDDLE:.*]] = arith.addi
  // CHECK: memref.load %[[POS]][%[[MIDDLE]]]
  // CHECK: arith.cmpi ult, %{{.*}}, %[[HI]] : index
  // CHECK: scf.for
  // CHECK: %[[FIRST:.*]] = arith.maxsi %[[LO]], %
  // CHECK: %[[LAST:.*]] = arith.minsi %[[HI]], %
  // CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]] step
  %rows = tulle.enclosing %all[%lo to %hi] by %a : tensor<?x?xf64, #CSR> : !tulle.range
  %n = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %c0) -> (index) loop = <reduction, index = i> {
    %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %row = tulle.space %a level(1) under %it : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %part = tulle.slice %row[%lo to %hi] : !tulle.space<#CSR, 1>
    %s = tulle.iterate %j, %at in %part : !tulle.space<#CSR, 1> iter_args(%now = %acc) -> (index) loop = <reduction, index = j> {
      %next = arith.addi %now, %j : index
      tulle.yield %next : index
    }
    tulle.yield %s : index
  }
  return %n : index
}

// -----

// Of a list of coordinates, positions of the next level are those of the level.
#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton), posWidth = 64, crdWidth = 64 }>
// CHECK-LABEL: func.func @positions_of_a_list
// CHECK-SAME: %[[POS:[a-z0-9_]+]]: memref<?xi64>
// CHECK: memref.load %[[POS]][%c0]
// CHECK: %[[BEGIN:.*]] = arith.index_castui
// CHECK: memref.load %[[POS]][%c1]
// CHECK: %[[LAST:.*]] = arith.index_castui
// CHECK: %[[END:.*]] = arith.maxsi %[[BEGIN]], %[[LAST]]
// CHECK-NEXT: %[[SIZE:.*]] = arith.addi %[[BEGIN]], %[[END]]
// CHECK-NEXT: return %[[SIZE]]
func.func @positions_of_a_list(%a: tensor<?x?xf64, #COO>) -> index {
  %all = tulle.space %a level(0) : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 0>
  %begin, %end = tulle.bounds_below %all : !tulle.space<#COO, 0>
  %sum = arith.addi %begin, %end : index
  return %sum : index
}

// -----

// Columns lo to hi of a row, counted from lo: their ends are searched, and what is stored is lo more than the coordinate of the loop.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 64 }>
// CHECK-LABEL: func.func @columns
// CHECK-SAME: %[[POS:[a-z0-9_]+]]: memref<?xi64>, %[[CRD:[a-z0-9_]+]]: memref<?xi64>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %{{.*}}: index, %[[I:[a-z0-9_]+]]: index, %[[LO:[a-z0-9_]+]]: index, %[[HI:[a-z0-9_]+]]: index
// CHECK: scf.while
// CHECK: %[[AT:.*]] = arith.index_castui
// CHECK: arith.cmpi {{.*}} %[[AT]], %[[LO]]
// CHECK: scf.while
// CHECK: arith.cmpi {{.*}}, %[[HI]]
// CHECK: scf.for %[[P:.*]] = %{{.*}} to
// CHECK: %[[LOADED:.*]] = memref.load %[[CRD]][%[[P]]]
// CHECK: %[[STORED:.*]] = arith.index_castui %[[LOADED]]
// CHECK: %[[J:.*]] = arith.subi %[[STORED]], %[[LO]] : index
// CHECK: arith.addi %{{.*}}, %[[J]]
func.func @columns(%a: tensor<?x?xf64, #CSR>, %i: index, %lo: index, %hi: index) -> index {
  %c0 = arith.constant 0 : index
  %range = tulle.range %lo to %hi
  %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
  %row = tulle.space %a level(1) under %it : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
  %part = tulle.restrict %row to %range : !tulle.space<#CSR, 1>
  %from = tulle.shift %part by %lo : !tulle.space<#CSR, 1>
  %s = tulle.iterate %j, %at in %from : !tulle.space<#CSR, 1> iter_args(%acc = %c0) -> (index) loop = <reduction, index = j> {
    %next = arith.addi %acc, %j : index
    tulle.yield %next : index
  }
  return %s : index
}
