// RUN: tulle-opt %s --tulle-parallelize --split-input-file | FileCheck %s
// RUN: tulle-opt %s --tulle-parallelize='deterministic=true' --split-input-file | FileCheck %s --check-prefix=FIXED

// Iterations with disjoint stores. They combine nothing, so the number of tasks does not show in the results.
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
// CHECK-LABEL: @rows
// CHECK: %[[ALL:.*]] = tulle.space
// CHECK: %[[WORK:.*]] = tulle.stored_count
// CHECK: %[[TASKS:.*]] = tulle.threads %[[WORK]]
// CHECK: tulle.parallel %[[TASK:.*]] of %[[TASKS]] iter_args(%[[ACC:.*]] =
// CHECK: %[[CHUNK:.*]] = tulle.partition %[[ALL]], %[[TASK]] of %[[TASKS]]
// CHECK: tulle.iterate %{{.*}}, %{{.*}} in %[[CHUNK]] : {{.*}} iter_args(%{{.*}} = %[[ACC]])
// FIXED-LABEL: @rows
// FIXED: tulle.threads
// FIXED-NOT: fixed
func.func @rows(%a: tensor<?x?xf64, #DCSR>, %y: tensor<?xf64, #D>, %v: f64) -> tensor<?xf64, #D> {
  %s = tulle.space %a level(0) : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 0>
  %r = tulle.iterate %i, %it in %s : !tulle.space<#DCSR, 0> iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  return %r : tensor<?xf64, #D>
}

// -----

// Of coordinates of which no entries are counted, there are several chunks for each thread, where there is much work.
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
// CHECK-LABEL: @coordinates
// CHECK: %[[ALL:.*]] = tulle.range
// CHECK: %[[TASKS:.*]] = tulle.threads %[[WORK:.*]]
// CHECK: %[[EACH:.*]] = arith.divui %[[WORK]], %{{.*}} : index
// CHECK: arith.minui %[[EACH]], %c16
// CHECK: %[[MANY:.*]] = arith.muli %[[TASKS]], %{{.*}} : index
// CHECK: %[[CHUNKS:.*]] = arith.select %{{.*}}, %{{.*}}, %[[MANY]]
// CHECK: tulle.parallel %[[TASK:.*]] of %[[CHUNKS]]
// CHECK: tulle.partition %[[ALL]], %[[TASK]] of %[[CHUNKS]]
func.func @coordinates(%y: tensor<?xf64, #D>, %n: index, %v: f64) -> tensor<?xf64, #D> {
  %c0 = arith.constant 0 : index
  %s = tulle.range %c0 to %n
  %r = tulle.iterate %i in %s : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n1 = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n1 : tensor<?xf64, #D>
  }
  return %r : tensor<?xf64, #D>
}

// -----

// A sum: each task starts from the identity, a cache line apart; the init comes in once.
#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
// CHECK-LABEL: @sum
// CHECK-SAME: %{{.*}}, %[[INIT:.*]]: f64)
// CHECK: %[[TASKS:.*]] = tulle.threads %{{[0-9]+$}}
// CHECK: %[[PARTIALS:.*]] = memref.alloc
// CHECK: %[[ZERO:.*]] = arith.constant -0.0
// CHECK: tulle.parallel
// CHECK: %[[OWN:.*]] = tulle.iterate {{.*}} iter_args(%{{.*}} = %[[ZERO]])
// CHECK: memref.store %[[OWN]], %[[PARTIALS]]
// CHECK: %[[TOTAL:.*]] = scf.for {{.*}} iter_args(%[[SO_FAR:.*]] = %[[INIT]])
// CHECK: %[[NEXT:.*]] = memref.load %[[PARTIALS]]
// CHECK: arith.addf %[[SO_FAR]], %[[NEXT]] fastmath<reassoc>
// CHECK: memref.dealloc %[[PARTIALS]]
// CHECK: return %[[TOTAL]]
// FIXED-LABEL: @sum
// FIXED: tulle.threads %{{.*}} fixed
func.func @sum(%a: tensor<?xf64, #SV>, %init: f64) -> f64 {
  %s = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %r = tulle.iterate %i, %it in %s : !tulle.space<#SV, 0> iter_args(%acc = %init) -> (f64) loop = <reduction> {
    %v = tulle.load %a[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %n = arith.addf %acc, %v fastmath<reassoc> : f64
    tulle.yield %n : f64
  }
  return %r : f64
}

// -----

// A sum whose order was asked for, one that goes on from its own square, and an alternating one stay as they are.
#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
// CHECK-LABEL: @in_order
// CHECK-NOT: tulle.parallel
func.func @in_order(%a: tensor<?xf64, #SV>, %init: f64) -> (f64, f64, f64) {
  %s = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %strict = tulle.iterate %i, %it in %s : !tulle.space<#SV, 0> iter_args(%acc = %init) -> (f64) loop = <reduction> {
    %v = tulle.load %a[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %n = arith.addf %acc, %v : f64
    tulle.yield %n : f64
  }
  %square = tulle.iterate %i, %it in %s : !tulle.space<#SV, 0> iter_args(%acc = %init) -> (f64) loop = <reduction> {
    %v = arith.mulf %acc, %acc fastmath<reassoc> : f64
    %n = arith.addf %acc, %v fastmath<reassoc> : f64
    tulle.yield %n : f64
  }
  %minus = tulle.iterate %i, %it in %s : !tulle.space<#SV, 0> iter_args(%acc = %init) -> (f64) loop = <reduction> {
    %v = tulle.load %a[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %n = arith.subf %v, %acc fastmath<reassoc> : f64
    tulle.yield %n : f64
  }
  return %strict, %square, %minus : f64, f64, f64
}

// -----

// Columns reduce into one vector: private copies, each cleared and added to by its task, and reduced in chunks of the vector; where
// they are as much as the work, the loop as it was.
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
// CHECK-LABEL: @columns
// CHECK: %[[SIZE:.*]] = tulle.stored_count %{{.*}} : tensor<?xf64, #{{.*}}>
// CHECK: scf.if
// CHECK: %[[MEMORY:.*]] = memref.alloc
// CHECK: %[[COPIES:.*]] = tulle.storage(%[[MEMORY]])
// CHECK: tulle.parallel %[[TASK:.*]] of %{{.*}} iter_args(%[[MINE:.*]] = %[[COPIES]])
// CHECK: %[[OWN:.*]] = tulle.values %[[MINE]]
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[OWN]]
// CHECK: %[[CLEARED:.*]] = tulle.with_values %[[MINE]], %[[OWN]]
// CHECK: %[[COPY:.*]] = tulle.locate %[[CLEARED]] level(0) at %[[TASK]]
// CHECK: tulle.partition %{{.*}}, %[[TASK]] of %{{.*}} by %{{.*}}
// CHECK: tulle.locate %[[CLEARED]] level(1) under %[[COPY]]
// CHECK: tulle.parallel
// CHECK: %[[VALUES:.*]] = tulle.values
// CHECK: arith.addf
// CHECK: memref.store %{{.*}}, %[[VALUES]]
// CHECK: tulle.with_values %{{.*}}, %[[VALUES]]
// CHECK: memref.dealloc %[[MEMORY]]
// CHECK: } else {
// CHECK-NOT: tulle.parallel
// CHECK: tulle.iterate
// FIXED-LABEL: @columns
// FIXED: tulle.threads %{{.*}} fixed
func.func @columns(%a: tensor<?x?xf64, #CSC>, %y: tensor<?xf64, #D>, %n: index) -> tensor<?xf64, #D> {
  %c0 = arith.constant 0 : index
  %all = tulle.range %c0 to %n
  %r = tulle.iterate %j in %all : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <reduction> {
    %p = tulle.locate %a level(0) at %j : tensor<?x?xf64, #CSC> -> !tulle.iterator<#CSC, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSC, 0> : tensor<?x?xf64, #CSC> -> !tulle.space<#CSC, 1>
    %t = tulle.iterate %i, %it in %s : !tulle.space<#CSC, 1> iter_args(%now = %acc) -> (tensor<?xf64, #D>) loop = <parallel> {
      %v = tulle.load %a[%it : !tulle.iterator<#CSC, 1>] : tensor<?x?xf64, #CSC> -> f64
      %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
      %old = tulle.load %now[%at : !tulle.iterator<#D, 0>] : tensor<?xf64, #D> -> f64
      %new = arith.addf %old, %v fastmath<reassoc> : f64
      %next = tulle.store %new, %now[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
      tulle.yield %next : tensor<?xf64, #D>
    }
    tulle.yield %t : tensor<?xf64, #D>
  }
  return %r : tensor<?xf64, #D>
}

// -----

// A sum per row. Chunks have equal numbers of entries and may begin inside of a row that holds more than a sixteenth of a thread's
// entries: its sum is that of partial results, combined afterwards. Other rows are done by one task. There are up to sixteen chunks
// per thread, of 65,536 entries and more.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
// CHECK-LABEL: @row_sums
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf64, #{{.*}}>, %{{.*}}, %{{.*}}, %[[ZERO:.*]]: f64)
// CHECK: %[[ALL:.*]] = tulle.range
// CHECK: %[[THREADS:.*]] = tulle.threads %[[WORK:.*]]
// CHECK: %[[SMALLEST:.*]] = arith.muli %[[THREADS]], %c65536
// CHECK: %[[ROOM:.*]] = arith.divui %[[WORK]], %[[SMALLEST]]
// CHECK: %[[MOST:.*]] = arith.minui %[[ROOM]], %c16
// CHECK: %[[EACH:.*]] = arith.maxui %[[MOST]], %c1
// CHECK: %[[MANY:.*]] = arith.muli %[[THREADS]], %[[EACH]]
// CHECK: %[[ALONE:.*]] = arith.cmpi ule, %[[THREADS]], %c1
// CHECK: %[[PIECES:.*]] = arith.select %[[ALONE]], %c1{{.*}}, %[[MANY]]
// CHECK: %[[SLOTS:.*]] = arith.muli %[[PIECES]], %c2
// CHECK: %[[WEIGHT:.*]] = tulle.work %[[ALL]] by %[[A]]
// CHECK: %[[SIXTEENTHS:.*]] = arith.muli %[[THREADS]], %c16
// CHECK: %[[LEAST:.*]] = arith.divui %[[WEIGHT]], %[[SIXTEENTHS]]
// CHECK: %[[BEGINS:.*]] = memref.alloc(%[[SLOTS]]) : memref<?xindex>
// CHECK: %[[ENDS:.*]] = memref.alloc(%[[SLOTS]]) : memref<?xindex>
// CHECK: %[[SUMS:.*]] = memref.alloc
// CHECK: %[[R:.*]] = tulle.parallel %[[TASK:.*]] of %[[PIECES]]
// CHECK: %[[B0:.*]], %[[E0:.*]], %[[BEFORE0:.*]], %[[WHOLE0:.*]] = tulle.partition_boundary %[[ALL]], %[[TASK]] of %[[PIECES]] over %[[LEAST]] by %[[A]]
// CHECK: %[[B1:.*]], %[[E1:.*]], %[[BEFORE1:.*]], %[[WHOLE1:.*]] = tulle.partition_boundary
// CHECK: %[[TO:.*]] = arith.maxui %[[E0]], %[[B1]]
// CHECK: %[[LIGHT:.*]] = tulle.slice %[[ALL]][%[[E0]] to %[[TO]]] : !tulle.range
// The rows at both ends: the entries of them that are in the chunk, from the identity. Nothing is stored in the result.
// CHECK: scf.for
// CHECK: tulle.slice %[[ALL]]{{.*}} one : !tulle.range
// CHECK: tulle.iterate
// CHECK: %[[CHUNK:.*]] = tulle.partition %{{.*}}, %{{.*}} to %{{.*}} of %{{.*}} : !tulle.space
// CHECK: %[[NEUTRAL:.*]] = arith.constant -0.0
// CHECK: %[[OWN:.*]] = tulle.iterate %{{.*}} in %[[CHUNK]] {{.*}} iter_args(%{{.*}} = %[[NEUTRAL]])
// CHECK: memref.store %[[OWN]], %[[SUMS]]
// CHECK-NOT: tulle.store
// Rows between them.
// CHECK: tulle.iterate %{{.*}} in %[[LIGHT]] {{.*}} iter_args
// CHECK: tulle.iterate {{.*}} iter_args(%{{.*}} = %[[ZERO]])
// CHECK: tulle.store
// Rows that were split: what follows the sum happens once.
// CHECK: scf.for %[[SLOT:.*]] = %{{.*}} to %[[SLOTS]] {{.*}} iter_args(%[[DONE:.*]] = %{{.*}}, %{{.*}} = %[[R]])
// CHECK: %[[BEGIN:.*]] = memref.load %[[BEGINS]][%[[SLOT]]]
// CHECK: %[[END:.*]] = memref.load %[[ENDS]][%[[SLOT]]]
// CHECK: scf.if
// CHECK: tulle.slice %[[ALL]][%[[BEGIN]] to %[[END]]] one
// CHECK: tulle.iterate
// CHECK: scf.for %{{.*}} = %[[SLOT]] to %[[SLOTS]] {{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]])
// CHECK: memref.load %[[SUMS]]
// CHECK: arith.addf %[[SUM]], %{{.*}} fastmath<reassoc>
// CHECK: arith.select
// CHECK: tulle.store
// CHECK: memref.dealloc %[[BEGINS]]
// CHECK: memref.dealloc %[[ENDS]]
// CHECK: memref.dealloc %[[SUMS]]
// With deterministic results, where rows are split must not depend on the number of threads.
// FIXED-LABEL: @row_sums
// FIXED: tulle.threads %{{.*}} fixed
func.func @row_sums(%a: tensor<?x?xf64, #CSR>, %y: tensor<?xf64, #D>, %n: index, %zero: f64) -> tensor<?xf64, #D> {
  %c0 = arith.constant 0 : index
  %all = tulle.range %c0 to %n
  %r = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %p = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %sum = tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> iter_args(%so_far = %zero) -> (f64) loop = <reduction> {
      %v = tulle.load %a[%it : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %more = arith.addf %so_far, %v fastmath<reassoc> : f64
      tulle.yield %more : f64
    }
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %next = tulle.store %sum, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %next : tensor<?xf64, #D>
  }
  return %r : tensor<?xf64, #D>
}

// -----

// Rows that entries add to: a row that is split is summed in private rows of the chunks, of as many columns, which are reduced into it in
// order. None is split where such rows are as much as all of the work.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#D = #tulle.encoding<{ map = (i, k) -> (i : dense, k : dense) }>
// CHECK-LABEL: @heavy_rows_of_sums
// CHECK-SAME: %{{.*}}, %{{.*}}, %[[C:.*]]: tensor<?x?xf64, #{{.*}}>, %{{.*}}, %{{.*}})
// CHECK: %[[WORK:.*]] = arith.muli
// CHECK: tulle.threads %[[WORK]]
// CHECK: %[[WIDTH:.*]] = tulle.level_size %[[C]] level(1)
// CHECK: %[[COLUMNS:.*]] = arith.muli %c1{{.*}}, %[[WIDTH]]
// CHECK: %[[SIZE:.*]] = arith.muli %[[SLOTS:.*]], %[[COLUMNS]]
// CHECK: %[[FITS:.*]] = arith.cmpi ule, %[[SIZE]], %[[WORK]]
// CHECK: %[[LEAST:.*]] = arith.select %[[FITS]], %{{.*}}, %c9223372036854775807
// CHECK: %[[ROOM:.*]] = arith.select %[[FITS]], %[[SIZE]], %c0
// CHECK: %[[MEMORY:.*]] = memref.alloc(%[[ROOM]])
// CHECK: %[[ROWS:.*]] = tulle.storage(%[[MEMORY]]) sizes(%[[SLOTS]], %{{.*}}) : memref<?xf64> -> tensor<?x?xf64>
// CHECK: tulle.parallel {{.*}} iter_args(%[[ALL:.*]] = %[[C]], %[[MINE:.*]] = %[[ROWS]])
// CHECK: tulle.partition_boundary {{.*}} over %[[LEAST]]
// CHECK: scf.for {{.*}} iter_args(%[[NOW:.*]] = %[[MINE]])
// CHECK: %[[ROW:.*]] = tulle.locate %[[NOW]] level(0) at %[[SLOT:.*]] : tensor<?x?xf64>
// CHECK: tulle.iterate {{.*}} iter_args(%[[OF:.*]] = %[[NOW]])
// CHECK: %[[OWN:.*]] = tulle.values %[[OF]]
// CHECK: memref.store %{{.*}}, %[[OWN]]
// CHECK: tulle.with_values %[[OF]], %[[OWN]]
// CHECK: tulle.partition %{{.*}}, %{{.*}} to
// CHECK: tulle.locate %[[NOW]] level(1) under %[[ROW]]
// CHECK: tulle.iterate {{.*}} iter_args(%{{.*}} = %[[ALL]])
// CHECK: scf.for
// CHECK: %[[VALUES:.*]] = tulle.values
// CHECK: scf.if
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: memref.store %[[SUM]], %[[VALUES]]
// CHECK: tulle.with_values %{{.*}}, %[[VALUES]]
// CHECK: memref.dealloc %[[MEMORY]]
func.func @heavy_rows_of_sums(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #D>, %c: tensor<?x?xf64, #D>, %n: index, %columns: index) -> tensor<?x?xf64, #D> {
  %c0 = arith.constant 0 : index
  %rows = tulle.range %c0 to %n
  %all = tulle.range %c0 to %columns
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %c) -> (tensor<?x?xf64, #D>) loop = <parallel> {
    %p = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %ci = tulle.locate %c level(0) at %i : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %row = tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> iter_args(%now = %acc) -> (tensor<?x?xf64, #D>) loop = <reduction> {
      %v = tulle.load %a[%it : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %bj = tulle.locate %b level(0) at %j : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 0>
      %t = tulle.iterate %k in %all : !tulle.range iter_args(%then = %now) -> (tensor<?x?xf64, #D>) loop = <parallel> {
        %bk = tulle.locate %b level(1) under %bj : !tulle.iterator<#D, 0> at %k : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 1>
        %ck = tulle.locate %c level(1) under %ci : !tulle.iterator<#D, 0> at %k : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 1>
        %x = tulle.load %b[%bk : !tulle.iterator<#D, 1>] : tensor<?x?xf64, #D> -> f64
        %m = arith.mulf %v, %x : f64
        %old = tulle.load %then[%ck : !tulle.iterator<#D, 1>] : tensor<?x?xf64, #D> -> f64
        %sum = arith.addf %old, %m fastmath<reassoc> : f64
        %next = tulle.store %sum, %then[%ck : !tulle.iterator<#D, 1>] : f64, tensor<?x?xf64, #D>
        tulle.yield %next : tensor<?x?xf64, #D>
      }
      tulle.yield %t : tensor<?x?xf64, #D>
    }
    tulle.yield %row : tensor<?x?xf64, #D>
  }
  return %r : tensor<?x?xf64, #D>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>

// Which rows of B an iteration traverses depends on the coordinates in A's row: four chunks per thread, as equal numbers of A's
// entries are not equal work.
// CHECK-LABEL: @selected
// CHECK: %[[THREADS:.*]] = tulle.threads
// CHECK: %[[MANY:.*]] = arith.muli %[[THREADS]], %c4
// CHECK: %[[ALONE:.*]] = arith.cmpi ule, %[[THREADS]], %c1
// CHECK: %[[TASKS:.*]] = arith.select %[[ALONE]], %c1{{.*}}, %[[MANY]]
// CHECK: tulle.parallel %[[TASK:.*]] of %[[TASKS]]
// CHECK: tulle.partition %{{.*}}, %[[TASK]] of %[[TASKS]] by %arg0
func.func @selected(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>, %y: tensor<?xf64, #D>, %n: index) -> tensor<?xf64, #D> {
  %zero = arith.constant 0 : index
  %all = tulle.range %zero to %n
  %r = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %ai = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %yi = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %sa = tulle.space %a level(1) under %ai : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %s = tulle.iterate %k, %ak in %sa : !tulle.space<#CSR, 1> iter_args(%t = %acc) -> (tensor<?xf64, #D>) loop = <reduction> {
      %bk = tulle.locate %b level(0) at %k : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %sb = tulle.space %b level(1) under %bk : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      %u = tulle.iterate %j, %bj in %sb : !tulle.space<#CSR, 1> iter_args(%w = %t) -> (tensor<?xf64, #D>) loop = <reduction> {
        %v = tulle.load %b[%bj : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        %old = tulle.load %w[%yi : !tulle.iterator<#D, 0>] : tensor<?xf64, #D> -> f64
        %sum = arith.addf %old, %v : f64
        %st = tulle.store %sum, %w[%yi : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
        tulle.yield %st : tensor<?xf64, #D>
      }
      tulle.yield %u : tensor<?xf64, #D>
    }
    tulle.yield %s : tensor<?xf64, #D>
  }
  return %r : tensor<?xf64, #D>
}

// -----

// Entries with disjoint stores to the result: nothing remains to be done for a row that is split.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// CHECK-LABEL: @own_places
// CHECK: %[[R:.*]] = tulle.parallel {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[ENDS:.*]] = scf.for {{.*}} iter_args(%[[NOW:.*]] = %[[ACC]])
// CHECK: tulle.iterate {{.*}} iter_args(%{{.*}} = %[[NOW]])
// CHECK: tulle.partition %{{.*}}, %{{.*}} to
// CHECK: tulle.iterate {{.*}} iter_args(%{{.*}} = %[[ENDS]])
// CHECK: tulle.yield
// CHECK: return %[[R]]
func.func @own_places(%a: tensor<?x?xf64, #CSR>, %y: tensor<?x?xf64, #CSR>, %n: index) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %all = tulle.range %c0 to %n
  %r = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %y) -> (tensor<?x?xf64, #CSR>) loop = <parallel> {
    %p = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %t = tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> iter_args(%now = %acc) -> (tensor<?x?xf64, #CSR>) loop = <parallel> {
      %v = tulle.load %a[%it : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %next = tulle.store %v, %now[%it : !tulle.iterator<#CSR, 1>] : f64, tensor<?x?xf64, #CSR>
      tulle.yield %next : tensor<?x?xf64, #CSR>
    }
    tulle.yield %t : tensor<?x?xf64, #CSR>
  }
  return %r : tensor<?x?xf64, #CSR>
}

// -----

// A sum that needs another one of all of the row is no sum of partial results: only the first is.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
// CHECK-LABEL: @one_after_the_other
// CHECK: tulle.parallel
// CHECK: tulle.partition %{{.*}}, %{{.*}} to
// CHECK-NOT: tulle.partition
// CHECK: arith.maximumf
// CHECK: memref.store
// CHECK-NOT: arith.addf %{{.*}} fastmath<reassoc>
// CHECK: tulle.iterate
func.func @one_after_the_other(%a: tensor<?x?xf64, #CSR>, %y: tensor<?xf64, #D>, %n: index, %zero: f64) -> tensor<?xf64, #D> {
  %c0 = arith.constant 0 : index
  %all = tulle.range %c0 to %n
  %r = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64, #D>) loop = <parallel> {
    %p = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %max = tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> iter_args(%so_far = %zero) -> (f64) loop = <reduction> {
      %v = tulle.load %a[%it : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %more = arith.maximumf %so_far, %v : f64
      tulle.yield %more : f64
    }
    %sum = tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> iter_args(%so_far = %zero) -> (f64) loop = <reduction> {
      %v = tulle.load %a[%it : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %scaled = arith.divf %v, %max : f64
      %more = arith.addf %so_far, %scaled fastmath<reassoc> : f64
      tulle.yield %more : f64
    }
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %next = tulle.store %sum, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %next : tensor<?xf64, #D>
  }
  return %r : tensor<?xf64, #D>
}

// -----

// The start value of a row is stored when its partial results are combined, once; these start from the identity.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#D = #tulle.encoding<{ map = (i, k) -> (i : dense, k : dense) }>
// CHECK-LABEL: @rows_that_begin
// CHECK-SAME: %[[START:[^:]*]]: f64)
// CHECK: tulle.parallel
// CHECK: tulle.slice {{.*}} one
// CHECK: %[[NEUTRAL:.*]] = arith.constant -0.0
// CHECK: memref.store %[[NEUTRAL]]
// CHECK-NOT: tulle.store %[[START]]
// CHECK: tulle.partition %{{.*}}, %{{.*}} to
// CHECK: tulle.iterate {{.*}} loop = <reduction>
// CHECK: tulle.store %[[START]]
// CHECK: scf.for
// CHECK: tulle.slice {{.*}} one
// CHECK: tulle.store %[[START]]
// CHECK: tulle.values
func.func @rows_that_begin(%a: tensor<?x?xf64, #CSR>, %c: tensor<?x?xf64, #D>, %n: index, %columns: index, %start: f64) -> tensor<?x?xf64, #D> {
  %c0 = arith.constant 0 : index
  %rows = tulle.range %c0 to %n
  %all = tulle.range %c0 to %columns
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %c) -> (tensor<?x?xf64, #D>) loop = <parallel> {
    %p = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %ci = tulle.locate %c level(0) at %i : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 0>
    %begun = tulle.iterate %k in %all : !tulle.range iter_args(%now = %acc) -> (tensor<?x?xf64, #D>) loop = <parallel> {
      %ck = tulle.locate %c level(1) under %ci : !tulle.iterator<#D, 0> at %k : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 1>
      %next = tulle.store %start, %now[%ck : !tulle.iterator<#D, 1>] : f64, tensor<?x?xf64, #D>
      tulle.yield %next : tensor<?x?xf64, #D>
    }
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %row = tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> iter_args(%now = %begun) -> (tensor<?x?xf64, #D>) loop = <reduction> {
      %v = tulle.load %a[%it : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %t = tulle.iterate %k in %all : !tulle.range iter_args(%then = %now) -> (tensor<?x?xf64, #D>) loop = <parallel> {
        %ck = tulle.locate %c level(1) under %ci : !tulle.iterator<#D, 0> at %k : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 1>
        %old = tulle.load %then[%ck : !tulle.iterator<#D, 1>] : tensor<?x?xf64, #D> -> f64
        %sum = arith.addf %old, %v fastmath<reassoc> : f64
        %next = tulle.store %sum, %then[%ck : !tulle.iterator<#D, 1>] : f64, tensor<?x?xf64, #D>
        tulle.yield %next : tensor<?x?xf64, #D>
      }
      tulle.yield %t : tensor<?x?xf64, #D>
    }
    tulle.yield %row : tensor<?x?xf64, #D>
  }
  return %r : tensor<?x?xf64, #D>
}

// -----

// Iterations that reduce into rows which others reduce into as well. Where there is much work for each element of the result, a copy
// for each task; else tasks take columns, at least two cache lines each, and traverse all entries.
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#D = #tulle.encoding<{ map = (i, k) -> (i : dense, k : dense) }>
// CHECK-LABEL: @columns_of_rows
// CHECK-SAME: %{{[^:]*}}: {{[^:]*}}, %[[C0:[^:]*]]: {{[^:]*}}, %{{[^:]*}}: index, %[[COLUMNS:[^:]*]]: index)
// CHECK: %[[LENGTH:.*]] = arith.subi %[[COLUMNS]]
// CHECK: %[[SIZE:.*]] = tulle.stored_count %[[C0]]
// CHECK: %[[THREADS:.*]] = tulle.threads
// CHECK: %[[SOME:.*]] = arith.maxui %[[SIZE]], %c1
// CHECK: %[[EACH:.*]] = arith.divui %{{.*}}, %[[SOME]]
// CHECK: %[[MOST:.*]] = arith.divui %[[EACH]], %c4
// CHECK: %[[COPIES:.*]] = arith.minui %[[THREADS]], %[[MOST]]
// CHECK: %[[SEVERAL:.*]] = arith.cmpi ugt, %[[COPIES]], %c1
// CHECK: scf.if %[[SEVERAL]]
// CHECK: memref.alloc
// CHECK: tulle.parallel %{{.*}} of %[[COPIES]]
// CHECK: memref.dealloc
// CHECK: } else {
// CHECK: %[[THREADS:.*]] = tulle.threads
// CHECK: %[[SIXTEENTHS:.*]] = arith.divui %[[LENGTH]], %c16
// CHECK: %[[FEW:.*]] = arith.maxui %[[SIXTEENTHS]], %c1
// CHECK: %[[TASKS:.*]] = arith.minui %[[THREADS]], %[[FEW]]
// CHECK: tulle.parallel %[[TASK:.*]] of %[[TASKS]] iter_args(%[[ACC:.*]] = %[[C0]])
// CHECK: tulle.iterate %{{.*}} in %{{.*}} iter_args(%{{.*}} = %[[ACC]])
// CHECK: tulle.iterate
// CHECK: tulle.partition %{{.*}}, %[[TASK]] of %[[TASKS]] : !tulle.range
// CHECK: tulle.iterate
// With the same bits for any number of threads, there are no copies.
// FIXED-LABEL: @columns_of_rows
// FIXED-NOT: memref.alloc
// FIXED: return
func.func @columns_of_rows(%a: tensor<?x?xf64, #CSC>, %c: tensor<?x?xf64, #D>, %n: index, %columns: index) -> tensor<?x?xf64, #D> {
  %c0 = arith.constant 0 : index
  %cols = tulle.range %c0 to %n
  %all = tulle.range %c0 to %columns
  %r = tulle.iterate %j in %cols : !tulle.range iter_args(%acc = %c) -> (tensor<?x?xf64, #D>) loop = <reduction> {
    %p = tulle.locate %a level(0) at %j : tensor<?x?xf64, #CSC> -> !tulle.iterator<#CSC, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSC, 0> : tensor<?x?xf64, #CSC> -> !tulle.space<#CSC, 1>
    %rows = tulle.iterate %i, %it in %s : !tulle.space<#CSC, 1> iter_args(%now = %acc) -> (tensor<?x?xf64, #D>) loop = <parallel> {
      %v = tulle.load %a[%it : !tulle.iterator<#CSC, 1>] : tensor<?x?xf64, #CSC> -> f64
      %ci = tulle.locate %c level(0) at %i : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 0>
      %t = tulle.iterate %k in %all : !tulle.range iter_args(%then = %now) -> (tensor<?x?xf64, #D>) loop = <parallel> {
        %ck = tulle.locate %c level(1) under %ci : !tulle.iterator<#D, 0> at %k : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 1>
        %old = tulle.load %then[%ck : !tulle.iterator<#D, 1>] : tensor<?x?xf64, #D> -> f64
        %sum = arith.addf %old, %v fastmath<reassoc> : f64
        %next = tulle.store %sum, %then[%ck : !tulle.iterator<#D, 1>] : f64, tensor<?x?xf64, #D>
        tulle.yield %next : tensor<?x?xf64, #D>
      }
      tulle.yield %t : tensor<?x?xf64, #D>
    }
    tulle.yield %rows : tensor<?x?xf64, #D>
  }
  return %r : tensor<?x?xf64, #D>
}

// -----

// The second loop overwrites what the first one stored, maybe at addresses of another chunk: rows stay whole.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#D = #tulle.encoding<{ map = (i, j) -> (i : dense, j : dense) }>
// CHECK-LABEL: @two_loops
// CHECK-NOT: tulle.partition_boundary
// CHECK: tulle.parallel
// CHECK: tulle.partition
// CHECK-NOT: tulle.partition
// CHECK: return
func.func @two_loops(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>, %c: tensor<?x?xf64, #D>, %n: index) -> tensor<?x?xf64, #D> {
  %c0 = arith.constant 0 : index
  %rows = tulle.range %c0 to %n
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %c) -> (tensor<?x?xf64, #D>) loop = <parallel> {
    %p = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %q = tulle.locate %b level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %ci = tulle.locate %c level(0) at %i : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %first = tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> iter_args(%now = %acc) -> (tensor<?x?xf64, #D>) loop = <parallel> {
      %v = tulle.load %a[%it : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %at = tulle.locate %c level(1) under %ci : !tulle.iterator<#D, 0> at %j : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 1>
      %next = tulle.store %v, %now[%at : !tulle.iterator<#D, 1>] : f64, tensor<?x?xf64, #D>
      tulle.yield %next : tensor<?x?xf64, #D>
    }
    %t = tulle.space %b level(1) under %q : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %second = tulle.iterate %j, %it in %t : !tulle.space<#CSR, 1> iter_args(%now = %first) -> (tensor<?x?xf64, #D>) loop = <parallel> {
      %v = tulle.load %b[%it : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %at = tulle.locate %c level(1) under %ci : !tulle.iterator<#D, 0> at %j : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 1>
      %next = tulle.store %v, %now[%at : !tulle.iterator<#D, 1>] : f64, tensor<?x?xf64, #D>
      tulle.yield %next : tensor<?x?xf64, #D>
    }
    tulle.yield %second : tensor<?x?xf64, #D>
  }
  return %r : tensor<?x?xf64, #D>
}

// -----

// A row that is located outside of the loop is not one of its iterations' own: nothing is split, and nothing breaks.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#D = #tulle.encoding<{ map = (i, k) -> (i : dense, k : dense) }>
// CHECK-LABEL: @row_from_outside
// CHECK-NOT: tulle.partition_boundary
// CHECK: return
func.func @row_from_outside(%a: tensor<?x?xf64, #CSR>, %c: tensor<?x?xf64, #D>, %n: index) -> tensor<?x?xf64, #D> {
  %c0 = arith.constant 0 : index
  %rows = tulle.range %c0 to %n
  %ci = tulle.locate %c level(0) at %c0 : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 0>
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %c) -> (tensor<?x?xf64, #D>) loop = <parallel> {
    %p = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %row = tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> iter_args(%now = %acc) -> (tensor<?x?xf64, #D>) loop = <reduction> {
      %v = tulle.load %a[%it : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %at = tulle.locate %c level(1) under %ci : !tulle.iterator<#D, 0> at %i : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 1>
      %old = tulle.load %now[%at : !tulle.iterator<#D, 1>] : tensor<?x?xf64, #D> -> f64
      %sum = arith.addf %old, %v fastmath<reassoc> : f64
      %next = tulle.store %sum, %now[%at : !tulle.iterator<#D, 1>] : f64, tensor<?x?xf64, #D>
      tulle.yield %next : tensor<?x?xf64, #D>
    }
    tulle.yield %row : tensor<?x?xf64, #D>
  }
  return %r : tensor<?x?xf64, #D>
}
