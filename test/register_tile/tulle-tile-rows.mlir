// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-tile-rows,canonicalize,cse))' | FileCheck %s

// C = A * B, in blocks of 64 rows, for 16 columns and then for the next: what the next block reads of A is prefetched;
// eight rows of two vectors start from the initial value, stay in registers over all p, and are stored.
// What all rows share, two vectors of B, is loaded once for them. Other columns are done by masked vectors, other
// rows by the loop as it was.
#avx512 = #tulle.cpu<x86-64-v4>
module attributes {tulle.cpu = #avx512} {
  // CHECK-LABEL: func.func @product
  // CHECK-SAME: %[[A:[a-z0-9]*]]: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %[[ROWS:[a-z0-9]*]]: index, %[[DEPTH:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index, %[[OWN:[a-z0-9]*]]: index)
  // CHECK: %[[COVERS:.*]] = arith.cmpi eq, %[[N]], %[[OWN]]
  // CHECK: scf.for %{{.*}} = %c0 to %[[BEHIND:.*]] step %c64 {
  // CHECK: scf.if %[[COVERS]]
  // CHECK: memref.store %{{.*}}, %[[C]]
  // CHECK: scf.for %[[K:.*]] = %c0 to %{{.*}} step %c16 {
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %c0
  // CHECK: scf.for %{{.*}} step %c8 {
  // CHECK: scf.if %[[FIRST]]
  // CHECK-COUNT-8: memref.prefetch %[[A]]
  // CHECK: scf.if %[[COVERS]]
  // CHECK: %[[SUMS:.*]]:16 = scf.for %{{.*}} = %c0 to %[[DEPTH]] step %c1 iter_args
  // CHECK-COUNT-8: memref.load %[[A]]
  // CHECK-NOT: memref.load
  // CHECK-COUNT-2: vector.load %[[B]]
  // CHECK-NOT: vector.load
  // CHECK: scf.yield
  // CHECK-COUNT-16: vector.store %{{.*}}, %[[C]]
  // CHECK: scf.for
  // CHECK: %[[MASK:.*]] = vector.create_mask
  // CHECK: vector.maskedload %[[B]][%{{.*}}], %[[MASK]]
  // CHECK-COUNT-8: vector.maskedstore %[[C]][%{{.*}}], %[[MASK]]
  // CHECK: scf.for %{{.*}} = %[[BEHIND]] to %[[ROWS]] step %c1 {
  // CHECK: memref.store %{{.*}}, %[[C]]
  func.func @product(%a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %depth: index, %n: index, %own: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %own : index
      scf.for %k = %c0 to %own step %c1 {
        %at = arith.addi %ci, %k : index
        memref.store %zero, %c[%at] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
      %ai = arith.muli %i, %depth : index
      scf.for %p = %c0 to %depth step %c1 {
        %ap = arith.addi %ai, %p : index
        %x = memref.load %a[%ap] : memref<?xf64>
        %bp = arith.muli %p, %n : index
        scf.for %k = %c0 to %n step %c1 {
          %bk = arith.addi %bp, %k : index
          %y = memref.load %b[%bk] : memref<?xf64>
          %at = arith.addi %ci, %k : index
          %old = memref.load %c[%at] : memref<?xf64>
          %m = arith.mulf %x, %y : f64
          %s = arith.addf %old, %m : f64
          memref.store %s, %c[%at] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  // Nothing is initialized: the elements are loaded.
  // CHECK-LABEL: func.func @accumulated
  // CHECK-SAME: %[[A:[a-z0-9]*]]: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>
  // CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c8 {
  // CHECK-COUNT-16: vector.load %[[C]]
  // CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
  // CHECK-COUNT-16: vector.store %{{.*}}, %[[C]]
  func.func @accumulated(%a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    scf.for %i = %c0 to %c32 step %c1 {
      %ci = arith.muli %i, %n : index
      %ai = arith.muli %i, %c32 : index
      scf.for %p = %c0 to %c32 step %c1 {
        %ap = arith.addi %ai, %p : index
        %x = memref.load %a[%ap] : memref<?xf64>
        %bp = arith.muli %p, %n : index
        scf.for %k = %c0 to %n step %c1 {
          %bk = arith.addi %bp, %k : index
          %y = memref.load %b[%bk] : memref<?xf64>
          %at = arith.addi %ci, %k : index
          %old = memref.load %c[%at] : memref<?xf64>
          %m = arith.mulf %x, %y : f64
          %s = arith.addf %old, %m : f64
          memref.store %s, %c[%at] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }
}

// -----

// Elements at a position that is loaded, and a depth that may be 0: no element is loaded then, as before.
  // CHECK-LABEL: func.func @unknown_depth
  // CHECK-SAME: %[[DEPTH:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: index)
  // CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[DEPTH]], %c0 : index
  // CHECK: %[[BEHIND:.*]] = arith.select %[[SOME]], %c32, %c0 : index
  // CHECK: scf.for %{{.*}} = %c0 to %[[BEHIND]] step
  // CHECK: scf.for %{{.*}} = %c0 to %[[DEPTH]] step %c1 iter_args
  // CHECK: scf.for %{{.*}} = %[[BEHIND]] to %c32 step %c1 {
func.func @unknown_depth(%a: memref<?xf64>, %b: memref<?xf64>, %pos: memref<?xindex>, %depth: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c = memref.alloc(%n) : memref<?xf64>
  %begin = memref.load %pos[%c0] : memref<?xindex>
  scf.for %i = %c0 to %c32 step %c1 {
    %in = arith.muli %i, %n : index
    %ci = arith.addi %begin, %in : index
    %ai = arith.muli %i, %depth : index
    scf.for %p = %c0 to %depth step %c1 {
      %ap = arith.addi %ai, %p : index
      %x = memref.load %a[%ap] : memref<?xf64>
      %bp = arith.muli %p, %n : index
      scf.for %k = %c0 to %n step %c1 {
        %bk = arith.addi %bp, %k : index
        %y = memref.load %b[%bk] : memref<?xf64>
        %at = arith.addi %ci, %k : index
        %old = memref.load %c[%at] : memref<?xf64>
        %m = arith.mulf %x, %y : f64
        %s = arith.addf %old, %m : f64
        memref.store %s, %c[%at] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// Rows that depend on each other, rows that share nothing, and rows of their own entries have no tile.
module attributes {tulle.cpu = #tulle.cpu<x86-64-v4>} {
  // CHECK-LABEL: func.func @dependent
  // CHECK-NOT: vector
  func.func @dependent(%a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %depth: index, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %n : index
      scf.for %p = %c0 to %depth step %c1 {
        %x = memref.load %a[%p] : memref<?xf64>
        %bp = arith.muli %p, %n : index
        scf.for %k = %c0 to %n step %c1 {
          %bk = arith.addi %bp, %k : index
          %y = memref.load %b[%bk] : memref<?xf64>
          %at = arith.addi %ci, %k : index
          %old = memref.load %c[%at] : memref<?xf64>
          %m = arith.mulf %x, %y : f64
          %s = arith.addf %old, %m : f64
          memref.store %s, %c[%at] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<reduction>}
    return
  }

  // CHECK-LABEL: func.func @nothing_shared
  // CHECK-NOT: vector
  func.func @nothing_shared(%a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %depth: index, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %n : index
      scf.for %p = %c0 to %depth step %c1 {
        %x = memref.load %a[%p] : memref<?xf64>
        scf.for %k = %c0 to %n step %c1 {
          %bk = arith.addi %ci, %k : index
          %y = memref.load %b[%bk] : memref<?xf64>
          %old = memref.load %c[%bk] : memref<?xf64>
          %m = arith.mulf %x, %y : f64
          %s = arith.addf %old, %m : f64
          memref.store %s, %c[%bk] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  // CHECK-LABEL: func.func @own_entries
  // CHECK-NOT: vector
  func.func @own_entries(%pos: memref<?xi32>, %a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %n : index
      %lo, %hi = tulle.segment %pos[%i] : memref<?xi32>
      scf.for %p = %lo to %hi step %c1 {
        %x = memref.load %a[%p] : memref<?xf64>
        %bp = arith.muli %p, %n : index
        scf.for %k = %c0 to %n step %c1 {
          %bk = arith.addi %bp, %k : index
          %y = memref.load %b[%bk] : memref<?xf64>
          %at = arith.addi %ci, %k : index
          %old = memref.load %c[%at] : memref<?xf64>
          %m = arith.mulf %x, %y : f64
          %s = arith.addf %old, %m : f64
          memref.store %s, %c[%at] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }
}

// -----

// A quotient that each range of columns would compute again is computed once for a block of rows.
module attributes {tulle.cpu = #tulle.cpu<x86-64-v4>} {
  // CHECK-LABEL: func.func @costly
  // CHECK: %[[LONG:.*]] = arith.cmpi ugt, %{{.*}}, %c16384
  // CHECK: %[[STEP:.*]] = arith.select %[[LONG]], %c8, %c64
  // CHECK: %[[BUFFER:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
  // CHECK: scf.for %{{.*}} step %[[STEP]] {
  // CHECK: scf.for %{{.*}} step %c1 {
  // CHECK: scf.for %{{.*}} step %c1 {
  // CHECK: %[[QUOTIENT:.*]] = arith.divf
  // CHECK: memref.store %[[QUOTIENT]], %[[BUFFER]]
  // CHECK-NEXT: } {tulle.loop = #tulle.loop<parallel, directives = <vectorize = 8>>}
  // CHECK: scf.for %{{.*}} step %c16 {
  // CHECK: scf.for %{{.*}} step %c1 iter_args
  // CHECK-NOT: arith.divf
  // CHECK: memref.load %[[BUFFER]]
  // CHECK: scf.for %{{.*}} step %c1 iter_args
  // CHECK-NOT: arith.divf
  // CHECK: memref.dealloc %[[BUFFER]]
  // CHECK: arith.divf
  func.func @costly(%a: memref<?xf64>, %d: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %depth: index, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %n : index
      %ai = arith.muli %i, %depth : index
      %di = memref.load %d[%i] : memref<?xf64>
      scf.for %p = %c0 to %depth step %c1 {
        %ap = arith.addi %ai, %p : index
        %v = memref.load %a[%ap] : memref<?xf64>
        %x = arith.divf %v, %di : f64
        %bp = arith.muli %p, %n : index
        scf.for %k = %c0 to %n step %c1 {
          %bk = arith.addi %bp, %k : index
          %y = memref.load %b[%bk] : memref<?xf64>
          %at = arith.addi %ci, %k : index
          %old = memref.load %c[%at] : memref<?xf64>
          %m = arith.mulf %x, %y : f64
          %s = arith.addf %old, %m : f64
          memref.store %s, %c[%at] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }
}

// -----

// Matrices of a batch whose lengths are known at run time: tiles where all rows have the same iterations, and all of these the same columns.
module attributes {tulle.cpu = #tulle.cpu<x86-64-v4>} {
  // CHECK-LABEL: func.func @rectangular
  // CHECK: %[[SAME:.*]]:3 = scf.if
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: scf.for
  // CHECK: %[[BEHIND:.*]] = arith.select %[[SAME]]#2, %{{.*}}, %c0
  // CHECK: scf.for %{{.*}} = %c0 to %[[BEHIND]] step %c64
  // CHECK: scf.for %{{.*}} = %c0 to %[[SAME]]#0 step %c1 iter_args
  // CHECK: scf.for %{{.*}} = %[[BEHIND]] to %{{.*}} step %c1
  func.func @rectangular(%pos: memref<?xi32>, %bpos: memref<?xi32>, %a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %n : index
      %lo, %hi = tulle.segment %pos[%i] : memref<?xi32>
      %depth = arith.subi %hi, %lo : index
      scf.for %p = %c0 to %depth step %c1 {
        %ap = arith.addi %lo, %p : index
        %x = memref.load %a[%ap] : memref<?xf64>
        %blo, %bhi = tulle.segment %bpos[%p] : memref<?xi32>
        %length = arith.subi %bhi, %blo : index
        scf.for %k = %c0 to %length step %c1 {
          %bk = arith.addi %blo, %k : index
          %y = memref.load %b[%bk] : memref<?xf64>
          %at = arith.addi %ci, %k : index
          %old = memref.load %c[%at] : memref<?xf64>
          %m = arith.mulf %x, %y : f64
          %s = arith.addf %old, %m : f64
          memref.store %s, %c[%at] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }
}

// -----

// Only some rows have an iteration over r. Where all rows of a block have all, groups of them are tiles as ever. Else,
// for each r, the rows that have one are packed, the last again for the rest of a tile, and are tiles that are loaded
// and stored. Two rows behind the last group are left to the loop, more are packed.
module attributes {tulle.cpu = #tulle.cpu<x86-64-v4>} {
  // CHECK-LABEL: func.func @guarded
  // CHECK-SAME: %[[T:[a-z0-9]*]]: memref<?xi64>, %[[A:[a-z0-9]*]]: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %{{[a-z0-9]*}}: index, %[[ROWS:[a-z0-9]*]]: index)
  // CHECK: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[WHOLE:.*]] : index
  // CHECK: %[[MANY:.*]] = arith.cmpi sgt, %[[LEFT]], %c2
  // CHECK: %[[END:.*]] = arith.select %[[MANY]], %[[ROWS]], %[[WHOLE]]
  // CHECK: %[[PACKED:.*]] = memref.alloc() : memref<136xindex>
  // CHECK: scf.for %[[BLOCK:.*]] = %c0 to %[[END]] step %c128 {
  // CHECK: %[[ALL:.*]] = scf.for %{{.*}} = %c0 to %c9 step %c1 iter_args(%[[SO_FAR:.*]] = %true) -> (i1) {
  // CHECK: scf.if %[[SO_FAR]]
  // CHECK: arith.cmpi sge
  // CHECK: %[[FROM:.*]] = arith.select %[[ALL]], %{{.*}}, %[[BLOCK]]
  // CHECK: scf.for %{{.*}} step %c16 {
  // CHECK: scf.for %{{.*}} = %[[BLOCK]] to %[[FROM]] step %c8 {
  // CHECK-COUNT-16: vector.load %[[C]]
  // CHECK: scf.for %{{.*}} = %c0 to %c9 step %c1 iter_args
  // CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
  // CHECK-COUNT-8: memref.load %[[A]]
  // CHECK-COUNT-16: vector.store %{{.*}}, %[[C]]
  // CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[FROM]], %[[BEHIND:.*]] : index
  // CHECK: scf.if %[[SOME]] {
  // CHECK: scf.for %[[R:.*]] = %c0 to %c9 step %c1 {
  // CHECK: %[[COUNT:.*]] = scf.for %[[I:.*]] = %[[FROM]] to %[[BEHIND]] step %c1 iter_args(%[[K:.*]] = %c0) -> (index) {
  // CHECK: memref.store %[[I]], %[[PACKED]][%[[K]]]
  // CHECK: %[[HAS:.*]] = arith.cmpi sge
  // CHECK: %[[ONE:.*]] = arith.select %[[HAS]], %c1, %c0
  // CHECK: arith.addi %[[K]], %[[ONE]]
  // CHECK: %[[LAST:.*]] = memref.load %[[PACKED]]
  // CHECK: memref.store %[[LAST]], %[[PACKED]][%[[COUNT]]]
  // CHECK-COUNT-6: memref.store %[[LAST]], %[[PACKED]]
  // CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c8 {
  // CHECK-COUNT-8: memref.load %[[PACKED]]
  // CHECK-COUNT-8: memref.load %[[T]]
  // CHECK-COUNT-16: vector.load %[[C]]
  // CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
  // CHECK-COUNT-8: memref.load %[[A]]
  // CHECK-COUNT-2: vector.load %[[B]]
  // CHECK-NOT: vector.load
  // CHECK: scf.yield
  // CHECK-COUNT-16: vector.store %{{.*}}, %[[C]]
  // CHECK: memref.dealloc %[[PACKED]]
  // CHECK: scf.for %{{.*}} = %[[END]] to %[[ROWS]] step %c1 {
  func.func @guarded(%t: memref<?xi64>, %a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %n: index, %rows: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %c32 = arith.constant 32 : index
    %none = arith.constant 0 : i64
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %n : index
      %ti = arith.muli %i, %c9 : index
      scf.for %r = %c0 to %c9 step %c1 {
        %tr = arith.addi %ti, %r : index
        %u = memref.load %t[%tr] : memref<?xi64>
        %has = arith.cmpi sge, %u, %none : i64
        scf.if %has {
          %row = arith.index_cast %u : i64 to index
          %ai = arith.muli %row, %c32 : index
          %br = arith.muli %r, %c32 : index
          scf.for %p = %c0 to %c32 step %c1 {
            %ap = arith.addi %ai, %p : index
            %x = memref.load %a[%ap] : memref<?xf64>
            %brp = arith.addi %br, %p : index
            %bp = arith.muli %brp, %n : index
            scf.for %k = %c0 to %n step %c1 {
              %bk = arith.addi %bp, %k : index
              %y = memref.load %b[%bk] : memref<?xf64>
              %at = arith.addi %ci, %k : index
              %old = memref.load %c[%at] : memref<?xf64>
              %m = arith.mulf %x, %y : f64
              %s = arith.addf %old, %m : f64
              memref.store %s, %c[%at] : memref<?xf64>
            } {tulle.loop = #tulle.loop<parallel>}
          } {tulle.loop = #tulle.loop<reduction>}
        }
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  // Only some rows have the loops at all: they are packed once for each range of columns, and what the branch computes before its loop is computed
  // for rows that have it. Rows are initialized whether they have it or not.
  // CHECK-LABEL: func.func @guarded_rows
  // CHECK-SAME: %[[T:[a-z0-9]*]]: memref<?xi64>, %[[A:[a-z0-9]*]]: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>
  // CHECK: %[[PACKED:.*]] = memref.alloc() : memref<136xindex>
  // CHECK: scf.for %[[BLOCK:.*]] = %c0 to %[[END:.*]] step %c128 {
  // CHECK: %[[ALL:.*]] = scf.for %{{.*}} iter_args(%[[SO_FAR:.*]] = %true) -> (i1) {
  // CHECK: %[[U:.*]] = memref.load %[[T]]
  // CHECK: %[[HAS:.*]] = arith.cmpi sge, %[[U]]
  // CHECK: arith.andi %[[SO_FAR]], %[[HAS]]
  // CHECK: %[[FROM:.*]] = arith.select %[[ALL]], %{{.*}}, %[[BLOCK]]
  // CHECK: scf.for %{{.*}} = %[[BLOCK]] to %[[FROM]] step %c8 {
  // CHECK-COUNT-8: arith.muli %{{.*}}, %c32
  // CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
  // CHECK-COUNT-16: vector.store %{{.*}}, %[[C]]
  // CHECK: scf.for %{{.*}} = %[[FROM]] to %{{.*}} step %c1 {
  // CHECK-NOT: memref.load
  // CHECK-COUNT-2: vector.store %{{.*}}, %[[C]]
  // CHECK: %[[COUNT:.*]] = scf.for %{{.*}} iter_args(%{{.*}} = %c0) -> (index) {
  // CHECK: memref.store %{{.*}}, %[[PACKED]]
  // CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c8 {
  // CHECK-COUNT-8: memref.load %[[PACKED]]
  // CHECK-COUNT-16: vector.load %[[C]]
  // CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
  // CHECK-COUNT-16: vector.store %{{.*}}, %[[C]]
  // CHECK: memref.dealloc %[[PACKED]]
  // CHECK: scf.for %{{.*}} = %[[END]] to %{{.*}} step %c1 {
  // CHECK: scf.if
  func.func @guarded_rows(%t: memref<?xi64>, %a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %n: index, %rows: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %none = arith.constant 0 : i64
    %zero = arith.constant 0.0 : f64
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %n : index
      scf.for %k = %c0 to %n step %c1 {
        %at = arith.addi %ci, %k : index
        memref.store %zero, %c[%at] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
      %u = memref.load %t[%i] : memref<?xi64>
      %has = arith.cmpi sge, %u, %none : i64
      scf.if %has {
        %row = arith.index_cast %u : i64 to index
        %ai = arith.muli %row, %c32 : index
        scf.for %p = %c0 to %c32 step %c1 {
          %ap = arith.addi %ai, %p : index
          %x = memref.load %a[%ap] : memref<?xf64>
          %bp = arith.muli %p, %n : index
          scf.for %k = %c0 to %n step %c1 {
            %bk = arith.addi %bp, %k : index
            %y = memref.load %b[%bk] : memref<?xf64>
            %at = arith.addi %ci, %k : index
            %old = memref.load %c[%at] : memref<?xf64>
            %m = arith.mulf %x, %y : f64
            %s = arith.addf %old, %m : f64
            memref.store %s, %c[%at] : memref<?xf64>
          } {tulle.loop = #tulle.loop<parallel>}
        } {tulle.loop = #tulle.loop<reduction>}
      }
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  // Rows of less than a vector are one masked vector where they are in a branch; others are left to LLVM.
  // CHECK-LABEL: func.func @short_guarded_rows
  // CHECK: %[[MASK:.*]] = vector.constant_mask [5] : vector<8xi1>
  // CHECK-COUNT-8: vector.maskedload %{{.*}}, %[[MASK]]
  // CHECK-COUNT-8: vector.maskedstore
  // CHECK-LABEL: func.func @short_rows
  // CHECK-NOT: vector
  func.func @short_guarded_rows(%t: memref<?xi64>, %a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %none = arith.constant 0 : i64
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %c5 : index
      %u = memref.load %t[%i] : memref<?xi64>
      %row = arith.index_cast %u : i64 to index
      %ai = arith.muli %row, %c5 : index
      %has = arith.cmpi sge, %u, %none : i64
      scf.if %has {
      scf.for %p = %c0 to %c5 step %c1 {
        %ap = arith.addi %ai, %p : index
        %x = memref.load %a[%ap] : memref<?xf64>
        %bp = arith.muli %p, %c5 : index
        scf.for %k = %c0 to %c5 step %c1 {
          %bk = arith.addi %bp, %k : index
          %y = memref.load %b[%bk] : memref<?xf64>
          %at = arith.addi %ci, %k : index
          %old = memref.load %c[%at] : memref<?xf64>
          %m = arith.mulf %x, %y : f64
          %s = arith.addf %old, %m : f64
          memref.store %s, %c[%at] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
      }
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  func.func @short_rows(%t: memref<?xi64>, %a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %c5 : index
      %u = memref.load %t[%i] : memref<?xi64>
      %row = arith.index_cast %u : i64 to index
      %ai = arith.muli %row, %c5 : index
      scf.for %p = %c0 to %c5 step %c1 {
        %ap = arith.addi %ai, %p : index
        %x = memref.load %a[%ap] : memref<?xf64>
        %bp = arith.muli %p, %c5 : index
        scf.for %k = %c0 to %c5 step %c1 {
          %bk = arith.addi %bp, %k : index
          %y = memref.load %b[%bk] : memref<?xf64>
          %at = arith.addi %ci, %k : index
          %old = memref.load %c[%at] : memref<?xf64>
          %m = arith.mulf %x, %y : f64
          %s = arith.addf %old, %m : f64
          memref.store %s, %c[%at] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  // What may exist only where a row has an iteration is not read before that is known.
  // CHECK-LABEL: func.func @guarded_factor
  // CHECK-NOT: vector
  func.func @guarded_factor(%t: memref<?xi64>, %f: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %n: index, %rows: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %none = arith.constant 0 : i64
    scf.for %i = %c0 to %rows step %c1 {
      %ci = arith.muli %i, %n : index
      %u = memref.load %t[%i] : memref<?xi64>
      %row = arith.index_cast %u : i64 to index
      %fi = arith.muli %row, %n : index
      scf.for %r = %c0 to %c9 step %c1 {
        %has = arith.cmpi sge, %u, %none : i64
        scf.if %has {
          scf.for %p = %c0 to %c9 step %c1 {
            %bp = arith.muli %p, %n : index
            scf.for %k = %c0 to %n step %c1 {
              %fk = arith.addi %fi, %k : index
              %x = memref.load %f[%fk] : memref<?xf64>
              %bk = arith.addi %bp, %k : index
              %y = memref.load %b[%bk] : memref<?xf64>
              %at = arith.addi %ci, %k : index
              %old = memref.load %c[%at] : memref<?xf64>
              %m = arith.mulf %x, %y : f64
              %s = arith.addf %old, %m : f64
              memref.store %s, %c[%at] : memref<?xf64>
            } {tulle.loop = #tulle.loop<parallel>}
          } {tulle.loop = #tulle.loop<reduction>}
        }
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }

  // Elements of the result at a loaded position: of rows without an iteration they may not exist, and are left alone.
  // CHECK-LABEL: func.func @guarded_elements
  // CHECK: scf.for %[[BLOCK:.*]] = %c0 to %{{.*}} step %c128 {
  // CHECK: %[[FROM:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BLOCK]] : index
  // CHECK: scf.for %{{.*}} = %[[BLOCK]] to %[[FROM]] step %c8 {
  // CHECK: %[[COUNT:.*]] = scf.for %{{.*}} = %[[FROM]] to
  // CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c8 {
  // CHECK: vector.load
  func.func @guarded_elements(%t: memref<?xi64>, %a: memref<?xf64>, %b: memref<?xf64>, %pos: memref<?xindex>, %n: index, %rows: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %c32 = arith.constant 32 : index
    %none = arith.constant 0 : i64
    %c = memref.alloc(%n) : memref<?xf64>
    scf.for %i = %c0 to %rows step %c1 {
      %ci = memref.load %pos[%i] : memref<?xindex>
      %ti = arith.muli %i, %c9 : index
      scf.for %r = %c0 to %c9 step %c1 {
        %tr = arith.addi %ti, %r : index
        %u = memref.load %t[%tr] : memref<?xi64>
        %has = arith.cmpi sge, %u, %none : i64
        scf.if %has {
          %row = arith.index_cast %u : i64 to index
          %ai = arith.muli %row, %c32 : index
          %br = arith.muli %r, %c32 : index
          scf.for %p = %c0 to %c32 step %c1 {
            %ap = arith.addi %ai, %p : index
            %x = memref.load %a[%ap] : memref<?xf64>
            %brp = arith.addi %br, %p : index
            %bp = arith.muli %brp, %n : index
            scf.for %k = %c0 to %n step %c1 {
              %bk = arith.addi %bp, %k : index
              %y = memref.load %b[%bk] : memref<?xf64>
              %at = arith.addi %ci, %k : index
              %old = memref.load %c[%at] : memref<?xf64>
              %m = arith.mulf %x, %y : f64
              %s = arith.addf %old, %m : f64
              memref.store %s, %c[%at] : memref<?xf64>
            } {tulle.loop = #tulle.loop<parallel>}
          } {tulle.loop = #tulle.loop<reduction>}
        }
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<parallel>}
    return
  }
}
