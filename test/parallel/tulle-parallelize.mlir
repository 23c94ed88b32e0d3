// RUN: tulle-opt %s --tulle-parallelize --split-input-file | FileCheck %s
// RUN: tulle-opt %s --tulle-parallelize='deterministic=true' --split-input-file | FileCheck %s --check-prefix=FIXED

// Rounds that store apart. They add nothing up, so their number of parts does not show in the results.
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
// CHECK-LABEL: @rows
// CHECK: %[[ALL:.*]] = tulle.space
// CHECK: %[[WORK:.*]] = tulle.stored_count
// CHECK: %[[PARTS:.*]] = tulle.threads %[[WORK]]
// CHECK: tulle.parallel %[[PART:.*]] of %[[PARTS]] iter_args(%[[ACC:.*]] =
// CHECK: %[[PIECE:.*]] = tulle.part %[[ALL]], %[[PART]] of %[[PARTS]]
// CHECK: tulle.iterate %{{.*}}, %{{.*}} in %[[PIECE]] : {{.*}} iter_args(%{{.*}} = %[[ACC]])
// FIXED-LABEL: @rows
// FIXED: tulle.threads
// FIXED-NOT: fixed
func.func @rows(%a: tensor<?x?xf64, #DCSR>, %y: tensor<?xf64, #D>, %v: f64) -> tensor<?xf64, #D> {
  %s = tulle.space %a level(0) : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 0>
  %r = tulle.iterate %i, %it in %s : !tulle.space<#DCSR, 0> iter_args(%acc = %y) -> (tensor<?xf64, #D>) kind = parallel {
    %at = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %n = tulle.store %v, %acc[%at : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
    tulle.yield %n : tensor<?xf64, #D>
  }
  return %r : tensor<?xf64, #D>
}

// -----

// A sum: each part starts from what changes nothing, a cache line apart; the init comes in once.
#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
// CHECK-LABEL: @sum
// CHECK-SAME: %{{.*}}, %[[INIT:.*]]: f64)
// CHECK: %[[PARTS:.*]] = tulle.threads %{{[0-9]+$}}
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
  %r = tulle.iterate %i, %it in %s : !tulle.space<#SV, 0> iter_args(%acc = %init) -> (f64) kind = reduction {
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
  %strict = tulle.iterate %i, %it in %s : !tulle.space<#SV, 0> iter_args(%acc = %init) -> (f64) kind = reduction {
    %v = tulle.load %a[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %n = arith.addf %acc, %v : f64
    tulle.yield %n : f64
  }
  %square = tulle.iterate %i, %it in %s : !tulle.space<#SV, 0> iter_args(%acc = %init) -> (f64) kind = reduction {
    %v = arith.mulf %acc, %acc fastmath<reassoc> : f64
    %n = arith.addf %acc, %v fastmath<reassoc> : f64
    tulle.yield %n : f64
  }
  %minus = tulle.iterate %i, %it in %s : !tulle.space<#SV, 0> iter_args(%acc = %init) -> (f64) kind = reduction {
    %v = tulle.load %a[%it : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %n = arith.subf %v, %acc fastmath<reassoc> : f64
    tulle.yield %n : f64
  }
  return %strict, %square, %minus : f64, f64, f64
}

// -----

// Columns add to one vector: copies, each cleared and added to by its part, and added up in pieces of the vector; where
// they are as much as the work, the loop as it was.
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
// CHECK-LABEL: @columns
// CHECK: %[[SIZE:.*]] = tulle.stored_count %{{.*}} : tensor<?xf64, #{{.*}}>
// CHECK: scf.if
// CHECK: %[[MEMORY:.*]] = memref.alloc
// CHECK: %[[COPIES:.*]] = tulle.storage(%[[MEMORY]])
// CHECK: tulle.parallel %[[PART:.*]] of %{{.*}} iter_args(%[[MINE:.*]] = %[[COPIES]])
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[MEMORY]]
// CHECK: %[[COPY:.*]] = tulle.locate %[[MINE]] level(0) at %[[PART]]
// CHECK: tulle.part %{{.*}}, %[[PART]] of %{{.*}} by %{{.*}}
// CHECK: tulle.locate %[[MINE]] level(1) under %[[COPY]]
// CHECK: tulle.parallel
// CHECK: tulle.values
// CHECK: arith.addf
// CHECK: memref.dealloc %[[MEMORY]]
// CHECK: } else {
// CHECK-NOT: tulle.parallel
// CHECK: tulle.iterate
// FIXED-LABEL: @columns
// FIXED: tulle.threads %{{.*}} fixed
func.func @columns(%a: tensor<?x?xf64, #CSC>, %y: tensor<?xf64, #D>, %n: index) -> tensor<?xf64, #D> {
  %c0 = arith.constant 0 : index
  %all = tulle.range %c0 to %n
  %r = tulle.iterate %j in %all : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64, #D>) kind = reduction {
    %p = tulle.locate %a level(0) at %j : tensor<?x?xf64, #CSC> -> !tulle.iterator<#CSC, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSC, 0> : tensor<?x?xf64, #CSC> -> !tulle.space<#CSC, 1>
    %t = tulle.iterate %i, %it in %s : !tulle.space<#CSC, 1> iter_args(%now = %acc) -> (tensor<?xf64, #D>) kind = parallel {
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

// Rows that add up to one each: a heavy one is a loop of its own, whose entries are shared. The others, which store apart, are
// cut into up to sixteen pieces for each thread, of 65,536 entries and more.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
// CHECK-LABEL: @row_sums
// CHECK: %[[ALL:.*]] = tulle.range
// CHECK: %[[THREADS:.*]] = tulle.threads %[[WORK:.*]]
// CHECK: arith.muli %[[THREADS]], %c4
// CHECK: %[[SMALLEST:.*]] = arith.muli %[[THREADS]], %c65536
// CHECK: %[[ROOM:.*]] = arith.divui %[[WORK]], %[[SMALLEST]]
// CHECK: %[[MOST:.*]] = arith.minui %[[ROOM]], %c16
// CHECK: %[[EACH:.*]] = arith.maxui %[[MOST]], %c1
// CHECK: %[[MANY:.*]] = arith.muli %[[THREADS]], %[[EACH]]
// CHECK: %[[ALONE:.*]] = arith.cmpi ule, %[[THREADS]], %c1
// CHECK: %[[PIECES:.*]] = arith.select %[[ALONE]], %c1{{.*}}, %[[MANY]]
// CHECK: scf.for %[[SHARE:.*]] = {{.*}} iter_args(%[[FROM:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[BEGIN:.*]], %[[END:.*]] = tulle.heavy %[[ALL]], %[[SHARE]] of %{{.*}} by
// CHECK: %[[LIGHT:.*]] = tulle.slice %[[ALL]][%[[FROM]] to %[[BEGIN]]]
// CHECK: %[[SOME:.*]] = arith.cmpi ult, %[[FROM]], %[[BEGIN]]
// CHECK: %[[WANTED:.*]] = arith.select %[[SOME]], %[[PIECES]], %c1
// CHECK: tulle.parallel %[[PART:.*]] of %[[WANTED]]
// CHECK: tulle.part %[[LIGHT]], %[[PART]] of %[[WANTED]]
// CHECK: scf.if
// CHECK: %[[ONLY:.*]] = tulle.slice %[[ALL]][%[[BEGIN]] to %[[END]]]
// CHECK: tulle.iterate %{{.*}} in %[[ONLY]]
// CHECK: tulle.parallel
// CHECK: tulle.part {{.*}} : !tulle.space
// CHECK: scf.yield %[[END]], %{{.*}}
func.func @row_sums(%a: tensor<?x?xf64, #CSR>, %y: tensor<?xf64, #D>, %n: index, %zero: f64) -> tensor<?xf64, #D> {
  %c0 = arith.constant 0 : index
  %all = tulle.range %c0 to %n
  %r = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64, #D>) kind = parallel {
    %p = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %sum = tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> iter_args(%so_far = %zero) -> (f64) kind = reduction {
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

// Rows whose inner loops add to the same places: threads take columns of a heavy one, each with all of its entries, which pays where
// the others have less to do meanwhile than that one: where it holds more than one of as many shares as there are threads.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#D = #tulle.encoding<{ map = (i, k) -> (i : dense, k : dense) }>
// CHECK-LABEL: @columns_of_heavy_rows
// CHECK: %[[THREADS:.*]] = tulle.threads
// CHECK: %[[SHARES:.*]] = arith.muli %[[THREADS]], %c1
// CHECK: %[[ALONE:.*]] = arith.cmpi ule, %[[THREADS]], %c1
// CHECK: %[[ALL:.*]] = arith.select %[[ALONE]], %c1{{.*}}, %[[SHARES]]
// CHECK: tulle.heavy %{{.*}}, %{{.*}} of %[[ALL]] by
func.func @columns_of_heavy_rows(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #D>, %c: tensor<?x?xf64, #D>, %n: index, %columns: index) -> tensor<?x?xf64, #D> {
  %c0 = arith.constant 0 : index
  %rows = tulle.range %c0 to %n
  %all = tulle.range %c0 to %columns
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %c) -> (tensor<?x?xf64, #D>) kind = parallel {
    %p = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %ci = tulle.locate %c level(0) at %i : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 0>
    %s = tulle.space %a level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %row = tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> iter_args(%now = %acc) -> (tensor<?x?xf64, #D>) kind = reduction {
      %v = tulle.load %a[%it : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %bj = tulle.locate %b level(0) at %j : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 0>
      %t = tulle.iterate %k in %all : !tulle.range iter_args(%then = %now) -> (tensor<?x?xf64, #D>) kind = parallel {
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

// Which rows of B a round walks depends on the coordinates in A's row: four parts for each thread, as equal numbers of A's
// entries are not equal work.
// CHECK-LABEL: @selected
// CHECK: %[[THREADS:.*]] = tulle.threads
// CHECK: %[[MANY:.*]] = arith.muli %[[THREADS]], %c4
// CHECK: %[[ALONE:.*]] = arith.cmpi ule, %[[THREADS]], %c1
// CHECK: %[[PARTS:.*]] = arith.select %[[ALONE]], %c1{{.*}}, %[[MANY]]
// CHECK: tulle.parallel %[[PART:.*]] of %[[PARTS]]
// CHECK: tulle.part %{{.*}}, %[[PART]] of %[[PARTS]] by %arg0
func.func @selected(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>, %y: tensor<?xf64, #D>, %n: index) -> tensor<?xf64, #D> {
  %zero = arith.constant 0 : index
  %all = tulle.range %zero to %n
  %r = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64, #D>) kind = parallel {
    %ai = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %yi = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
    %sa = tulle.space %a level(1) under %ai : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %s = tulle.iterate %k, %ak in %sa : !tulle.space<#CSR, 1> iter_args(%t = %acc) -> (tensor<?xf64, #D>) kind = reduction {
      %bk = tulle.locate %b level(0) at %k : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %sb = tulle.space %b level(1) under %bk : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      %u = tulle.iterate %j, %bj in %sb : !tulle.space<#CSR, 1> iter_args(%w = %t) -> (tensor<?xf64, #D>) kind = reduction {
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
