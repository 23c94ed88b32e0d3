// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-choose-assembly,tulle-expand-assembly{parallel=true},tulle-lower-build-levels,tulle-lower-workspace,tulle-lower-collect,tulle-lower-sort,tulle-lower-append,tulle-lower-sort-segments,tulle-lower-unique,tulle-lower-histogram,tulle-lower-scan,tulle-lower-scatter-entries,tulle-lower-chained-scan,tulle-inline-entries,func.func(canonicalize))' | FileCheck %s
// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly --tulle-lower-build-levels --tulle-lower-workspace --tulle-lower-collect --tulle-lower-sort --tulle-lower-append --tulle-lower-sort-segments --tulle-lower-unique --tulle-lower-histogram --tulle-lower-scan --tulle-lower-scatter-entries --tulle-lower-chained-scan --tulle-inline-entries --canonicalize | FileCheck %s --check-prefix=ALONE

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#BCSR = #tulle.encoding<{ map = (i, j) -> (i floordiv 4 : dense, j floordiv 4 : compressed, i mod 4 : dense, j mod 4 : dense), posWidth = 32, crdWidth = 32 }>
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed), posWidth = 32, crdWidth = 32 }>

// ALONE-NOT: tulle.parallel

// Each thread takes the next piece of the rows, appends it to its room, learns in its turn where the pieces before it end,
// and moves it there. The bound is cut with the rows, by all threads, and says how large a room is; where
// that does not fit into memory, a copy of the loops counts.
// CHECK-LABEL: @rows(
// CHECK: %[[THREADS:.*]] = tulle.threads
// CHECK: %[[SEVERAL:.*]] = arith.cmpi ugt, %[[THREADS]]
// CHECK: %[[PIECES:.*]] = arith.select %[[SEVERAL]]
// CHECK: tulle.parallel %{{.*}} of %[[THREADS]]
// CHECK:   scf.for
// CHECK:   %[[PIECE:.*]] = tulle.partition %{{.*}}, %{{.*}} of %[[PIECES]]
// CHECK:   tulle.work %[[PIECE]]
// CHECK:   arith.maxui
// CHECK: %[[LARGEST:.*]]:2 = scf.for %{{.*}} to %[[THREADS]]
// CHECK: scf.if
// CHECK:   call @tulle_fits
// CHECK:   %[[PLAN:.*]]:2 = scf.if
// CHECK:     scf.yield %{{.*}}, %[[LARGEST]]#1
// CHECK:   memref.alloc() : memref<5xi32>
// CHECK:   %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK:   %[[CRD:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK:   tulle.parallel %{{.*}} of %[[THREADS]]
// CHECK:     %[[SIZE:.*]] = arith.minui %[[PLAN]]#1
// CHECK:     memref.alloc(%[[SIZE]]) : memref<?xf64>
// CHECK:     %[[ROOM:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK:     memref.atomic_rmw addi
// CHECK:     scf.while
// CHECK:       arith.cmpi ult, %{{.*}}, %[[PIECES]]
// CHECK:     do
// CHECK:       %[[PIECE:.*]] = tulle.partition %{{.*}}, %[[NUMBER:.*]] of %[[PIECES]]
// CHECK:       tulle.iterate %{{.*}}, %{{.*}} in %[[PIECE]]
// CHECK:         tulle.iterate
// CHECK:           scf.if
// CHECK:             memref.store %{{.*}}, %[[ROOM]]
// CHECK:       func.call @tulle_ordered_scan
// CHECK:       vector.load %[[ROOM]]
// CHECK:       vector.store %{{.*}}, %[[CRD]][%{{.*}}] {alignment = 64 : i64, nontemporal = true}
// CHECK:       memref.load %[[ROOM]]
// CHECK:       memref.store %{{.*}}, %[[CRD]]
// CHECK:       memref.store %{{.*}}, %[[VALUES]]
// CHECK:       memref.atomic_rmw addi
// CHECK: else
// CHECK-NOT: tulle.parallel
// CHECK: return
func.func @rows(%A: tensor<4x6xf64, #CSR>) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %zero = arith.constant 0.0 : f64
  %count = tulle.stored_count %A : tensor<4x6xf64, #CSR>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<4x6xf64, #CSR> -> f64
        %w = arith.addf %v, %v : f64
        %wanted = arith.cmpf ogt, %v, %zero : f64
        scf.if %wanted {
          tulle.insert %w at (%i, %j) : f64
        }
      }
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}

// Where each position of a row is an entry, its length is the count: a piece is counted before it is stored where it belongs.
// CHECK-LABEL: @lengths(
// CHECK: tulle.parallel
// CHECK: tulle.parallel
// CHECK-NOT: memref.alloc(
// CHECK:   scf.while
// CHECK:     tulle.iterate
// CHECK:       tulle.space_size
// CHECK:     func.call @tulle_ordered_scan
// CHECK:     tulle.iterate
// CHECK:       tulle.iterate
// CHECK:         memref.store
// CHECK-NOT: nontemporal
// CHECK: return
func.func @lengths(%A: tensor<4x6xf64, #CSR>) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %count = tulle.stored_count %A : tensor<4x6xf64, #CSR>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<4x6xf64, #CSR> -> f64
        %row = arith.index_cast %i : index to i64
        %x = arith.sitofp %row : i64 to f64
        %w = arith.mulf %v, %x : f64
        tulle.insert %w at (%i, %j) : f64
      }
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}

// With the plan to count, the threads go through the pieces without values first, and what they find is allocated.
// CHECK-LABEL: @counted(
// CHECK: scf.if
// CHECK:   tulle.parallel
// CHECK:     scf.while
// CHECK:       tulle.iterate
// CHECK-NOT:   memref.store %{{.*}} : memref<?xf64>
// CHECK:   %[[EXACT:.*]]:2 = scf.for
// CHECK:   memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK:   tulle.parallel
// CHECK:     scf.while
// CHECK:       func.call @tulle_ordered_scan
// CHECK: return
func.func @counted(%A: tensor<4x6xf64, #CSR>) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %count = tulle.stored_count %A : tensor<4x6xf64, #CSR>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique, plan = #tulle<plan count>} {
    %si = tulle.space %A level(0) : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<4x6xf64, #CSR> -> f64
        %row = arith.index_cast %i : index to i64
        %x = arith.sitofp %row : i64 to f64
        %w = arith.mulf %v, %x : f64
        tulle.insert %w at (%i, %j) : f64
      }
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}

// The blocks of all threads but the last are counted by marking them, and a thread stores its own ones where they belong, past the
// caches where the tensor is large. No piece waits for another one.
// CHECK-LABEL: @blocks(
// CHECK: %[[BEFORE:.*]] = memref.load %[[MARKS:.*]][%[[J:.*]]] : memref<150xi32>
// CHECK-NEXT: memref.store %[[OWN:.*]], %[[MARKS]][%[[J]]]
// CHECK-NEXT: arith.cmpi ne, %[[BEFORE]], %[[OWN]] : i32
// CHECK: memref.dealloc %[[MARKS]]
// CHECK: tulle.parallel
// CHECK:   scf.for
// CHECK:     tulle.partition
// CHECK:     tulle.iterate
// CHECK:       tulle.load
// CHECK:       %[[BLOCK:.*]] = vector.load
// CHECK:       vector.store %[[BLOCK]], %{{.*}}nontemporal = true
// CHECK-NOT: func.call @tulle_ordered_scan
// CHECK: return
func.func @blocks(%A: tensor<400x600xf64, #CSR>) -> tensor<400x600xf64, #BCSR> {
  %m = arith.constant 400 : index
  %n = arith.constant 600 : index
  %count = tulle.stored_count %A : tensor<400x600xf64, #CSR>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<400x600xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<400x600xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<400x600xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<400x600xf64, #BCSR>
  return %C : tensor<400x600xf64, #BCSR>
}

// Of a product, counting is as much work as multiplying. Blocks stay where they are collected until the piece has had its turn, and
// then go to where they belong. The operands are read once.
// CHECK-LABEL: @product(
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: tulle.parallel
// CHECK:   %[[ROOM:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK:   scf.while
// CHECK:     tulle.partition
// CHECK:     tulle.iterate
// CHECK:       tulle.load
// CHECK:       memref.store %{{.*}}, %[[ROOM]]
// CHECK:     func.call @tulle_ordered_scan
// CHECK-NOT: tulle.iterate
// CHECK:     %[[BLOCK:.*]] = vector.load %[[ROOM]]
// CHECK:     vector.store %{{.*}}, %[[ROOM]]
// CHECK:     vector.store %[[BLOCK]], %[[VALUES]]{{.*}}nontemporal = true
// CHECK-NOT: func.call @tulle_ordered_scan
// CHECK:     memref.atomic_rmw addi
// CHECK: return
func.func @product(%A: tensor<400x400xf64, #CSR>) -> tensor<400x400xf64, #BCSR> {
  %n = arith.constant 400 : index
  %count = tulle.stored_count %A : tensor<400x400xf64, #CSR>
  %C = tulle.assemble (%n, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>} {
    %si = tulle.space %A level(0) : tensor<400x400xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sk = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<400x400xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %k, %rk in %sk : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rk : !tulle.iterator<#CSR, 1>] : tensor<400x400xf64, #CSR> -> f64
        %row = tulle.locate %A level(0) at %k : tensor<400x400xf64, #CSR> -> !tulle.iterator<#CSR, 0>
        %sj = tulle.space %A level(1) under %row : !tulle.iterator<#CSR, 0> : tensor<400x400xf64, #CSR> -> !tulle.space<#CSR, 1>
        tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
          %w = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<400x400xf64, #CSR> -> f64
          %x = arith.mulf %v, %w : f64
          tulle.insert %x at (%i, %j) : f64
        }
      }
    }
  } : tensor<400x400xf64, #BCSR>
  return %C : tensor<400x400xf64, #BCSR>
}

// Rows of two operands, in pieces of all coordinates: each run takes its turn, and the positions of the second are moved by
// where its entries begin.
// CHECK-LABEL: @intersection(
// CHECK: tulle.parallel
// CHECK:   scf.while
// CHECK:     %[[PIECE:.*]] = tulle.partition
// CHECK:     %[[A:.*]] = tulle.restrict %{{.*}} to %[[PIECE]]
// CHECK:     %[[B:.*]] = tulle.restrict %{{.*}} to %[[PIECE]]
// CHECK:     tulle.coiterate %{{.*}} in "a & b" (%[[A]], %[[B]]
// CHECK:     %[[FIRST:.*]] = func.call @tulle_ordered_scan
// CHECK:     %[[SECOND:.*]] = func.call @tulle_ordered_scan
// CHECK: return
func.func @intersection(%A: tensor<4x6xf64, #DCSR>, %B: tensor<4x6xf64, #DCSR>) -> tensor<4x6xf64, #DCSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %a = tulle.stored_count %A : tensor<4x6xf64, #DCSR>
  %b = tulle.stored_count %B : tensor<4x6xf64, #DCSR>
  %count = arith.addi %a, %b : index
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %sa = tulle.space %A level(0) : tensor<4x6xf64, #DCSR> -> !tulle.space<#DCSR, 0>
    %sb = tulle.space %B level(0) : tensor<4x6xf64, #DCSR> -> !tulle.space<#DCSR, 0>
    tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#DCSR, 0>, !tulle.space<#DCSR, 0>) loop = <reduction> strategy = auto
    case "a & b" (%ra, %rb) {
      %sj = tulle.space %A level(1) under %ra : !tulle.iterator<#DCSR, 0> : tensor<4x6xf64, #DCSR> -> !tulle.space<#DCSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#DCSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#DCSR, 1>] : tensor<4x6xf64, #DCSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
      tulle.yield
    }
  } : tensor<4x6xf64, #DCSR>
  return %C : tensor<4x6xf64, #DCSR>
}
