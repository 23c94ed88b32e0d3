// RUN: tulle-opt %s --allow-unregistered-dialect --tulle-lower --canonicalize --cse --loop-invariant-code-motion | FileCheck %s

// Formats with empty slots, implied coordinates and look-ups: the positions, coordinates and tests of the table in format/Layout.h.

#Ragged = #tulle.encoding<{ map = (i, j) -> (i : dense, j : ragged), posWidth = 32 }>
#Jagged = #tulle.encoding<{ map = (i, j) -> (i : dense, j : jagged), posWidth = 64 }>
#Fixed = #tulle.encoding<{ map = (i, j) -> (i : dense, j : fixed), crdWidth = 16 }>
#Fixed4 = #tulle.encoding<{ map = (i, j) -> (i : dense, j : fixed[4]), crdWidth = 16 }>
#DIA = #tulle.encoding<{ map = (i, j) -> (j - i : squeezed, i : dense, j : offset), crdWidth = 32 }>
#Skyline = #tulle.encoding<{ map = (i, j) -> (i : dense, j : banded), posWidth = 64, crdWidth = 32 }>
#Bitmap = #tulle.encoding<{ map = (i, j) -> (i : dense, j : bitmap) }>
#Hashed = #tulle.encoding<{ map = (i) -> (i : hashed), posWidth = 32, crdWidth = 32 }>
#ELL = #tulle.encoding<{ map = (i, j) -> (#i : dense, i : dense, j : singleton(padded)), crdWidth = 32 }>
#SELL = #tulle.encoding<{ map = (i, j) -> (let r = rank(i by count(j) within 64) in r floordiv 8 : dense, #i : ragged(padded), r mod 8 : dense, j : singleton(padded)), posWidth = 32, crdWidth = 32 }>

// ragged: the coordinate is the offset in the segment.
// CHECK-LABEL: @ragged
// CHECK-SAME: (%[[POS:[a-z0-9]+]]: memref<?xi32>, %{{.*}}: memref<?xf64>
func.func @ragged(%A: tensor<?x?xf64, #Ragged>, %i: index) {
  // CHECK: %[[LO:.*]], %[[HI:.*]] = tulle.segment %[[POS]]
  // CHECK: scf.for %[[Q:.*]] = %[[LO]] to %[[HI]]
  // CHECK: %[[J:.*]] = arith.subi %[[Q]], %[[LO]]
  // CHECK: "use"(%[[J]])
  %p = tulle.locate %A level(0) at %i : tensor<?x?xf64, #Ragged> -> !tulle.iterator<#Ragged, 0>
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#Ragged, 0> : tensor<?x?xf64, #Ragged> -> !tulle.space<#Ragged, 1>
  tulle.iterate %j, %q in %s : !tulle.space<#Ragged, 1> {
    "use"(%j) : (index) -> ()
  }
  return
}

// jagged: a begin and an end for each parent, anywhere.
// CHECK-LABEL: @jagged
// CHECK-SAME: (%[[POS:[a-z0-9]+]]: memref<?xi64>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %{{.*}}: index, %[[I:[a-z0-9]+]]: index)
func.func @jagged(%A: tensor<?x?xf64, #Jagged>, %i: index) {
  // CHECK: %[[AT:.*]] = arith.muli %[[I]], %c2
  // CHECK: %[[LO:.*]], %[[HI:.*]] = tulle.segment %[[POS]][%[[AT]]]
  // CHECK: scf.for %[[Q:.*]] = %[[LO]] to %[[HI]]
  // CHECK: %[[J:.*]] = arith.subi %[[Q]], %[[LO]]
  // CHECK: "use"(%[[J]])
  %p = tulle.locate %A level(0) at %i : tensor<?x?xf64, #Jagged> -> !tulle.iterator<#Jagged, 0>
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#Jagged, 0> : tensor<?x?xf64, #Jagged> -> !tulle.space<#Jagged, 1>
  tulle.iterate %j, %q in %s : !tulle.space<#Jagged, 1> {
    "use"(%j) : (index) -> ()
  }
  return
}

// fixed: n slots for each parent, n from its buffer; a coordinate of all ones is skipped.
// CHECK-LABEL: @fixed
// CHECK-SAME: (%[[SIZE:[a-z0-9]+]]: memref<?xi64>, %[[CRD:[a-z0-9]+]]: memref<?xi16>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %{{.*}}: index, %[[I:[a-z0-9]+]]: index)
func.func @fixed(%A: tensor<?x?xf64, #Fixed>, %i: index) {
  // CHECK-DAG: %[[EMPTY:.*]] = arith.constant 65535 : index
  // CHECK-DAG: %[[N64:.*]] = memref.load %[[SIZE]][%c0]
  // CHECK: %[[N:.*]] = arith.index_castui %[[N64]] : i64 to index
  // CHECK: %[[LO:.*]] = arith.muli %[[I]], %[[N]]
  // CHECK: %[[HI:.*]] = arith.addi %[[LO]], %[[N]]
  // CHECK: scf.for %[[Q:.*]] = %[[LO]] to %[[HI]]
  // CHECK: %[[C:.*]] = memref.load %[[CRD]][%[[Q]]]
  // CHECK: %[[J:.*]] = arith.index_castui %[[C]] : i16 to index
  // CHECK: %[[IS:.*]] = arith.cmpi ne, %[[J]], %[[EMPTY]]
  // CHECK: scf.if %[[IS]]
  // CHECK: "use"(%[[J]])
  %p = tulle.locate %A level(0) at %i : tensor<?x?xf64, #Fixed> -> !tulle.iterator<#Fixed, 0>
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#Fixed, 0> : tensor<?x?xf64, #Fixed> -> !tulle.space<#Fixed, 1>
  tulle.iterate %j, %q in %s : !tulle.space<#Fixed, 1> {
    "use"(%j) : (index) -> ()
  }
  return
}

// fixed[4]: no size is stored.
// CHECK-LABEL: @fixed4
// CHECK-SAME: (%{{.*}}: memref<?xi16>, %{{.*}}: memref<?xf64>
func.func @fixed4(%A: tensor<?x?xf64, #Fixed4>, %i: index) {
  // CHECK: %[[LO:.*]] = arith.muli %{{.*}}, %c4
  // CHECK: %[[HI:.*]] = arith.addi %[[LO]], %c4
  // CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
  %p = tulle.locate %A level(0) at %i : tensor<?x?xf64, #Fixed4> -> !tulle.iterator<#Fixed4, 0>
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#Fixed4, 0> : tensor<?x?xf64, #Fixed4> -> !tulle.space<#Fixed4, 1>
  tulle.iterate %j, %q in %s : !tulle.space<#Fixed4, 1> {
    "use"(%j) : (index) -> ()
  }
  return
}

// squeezed over dense over offset: along diagonal k, i runs from max(0, -k) to min(m, n - k) without a test, and j = i + k.
// CHECK-LABEL: @diagonals
// CHECK-SAME: (%{{.*}}: memref<?xi64>, %[[CRD:[a-z0-9]+]]: memref<?xi32>, %[[V:[a-z0-9]+]]: memref<?xf64>, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
func.func @diagonals(%A: tensor<?x?xf64, #DIA>) {
  // CHECK: scf.for %[[D:.*]] = %c0 to
  // CHECK: %[[K32:.*]] = memref.load %[[CRD]][%[[D]]]
  // CHECK: %[[K:.*]] = arith.index_cast %[[K32]] : i32 to index
  // CHECK: %[[MINUSK:.*]] = arith.subi %c0, %[[K]]
  // CHECK: %[[END:.*]] = arith.addi %[[MINUSK]], %[[N]]
  // CHECK: %[[FROM:.*]] = arith.maxsi %[[MINUSK]], %c0
  // CHECK: %[[TO:.*]] = arith.minsi %[[END]], %[[M]]
  // CHECK: %[[UPTO:.*]] = arith.maxsi %[[FROM]], %[[TO]]
  // CHECK: %[[ROW:.*]] = arith.muli %[[D]], %[[M]]
  // CHECK: scf.for %[[I:.*]] = %[[FROM]] to %[[UPTO]]
  // CHECK-NOT: scf.if
  // CHECK: %[[Q:.*]] = arith.addi %[[ROW]], %[[I]]
  // CHECK: %[[J:.*]] = arith.addi %[[K]], %[[I]]
  // CHECK: %[[X:.*]] = memref.load %[[V]][%[[Q]]]
  // CHECK: "use"(%[[I]], %[[J]], %[[X]])
  %s0 = tulle.space %A level(0) : tensor<?x?xf64, #DIA> -> !tulle.space<#DIA, 0>
  tulle.iterate %k, %d in %s0 : !tulle.space<#DIA, 0> {
    %s1 = tulle.space %A level(1) under %d : !tulle.iterator<#DIA, 0> : tensor<?x?xf64, #DIA> -> !tulle.space<#DIA, 1>
    tulle.iterate %r, %p in %s1 : !tulle.space<#DIA, 1> {
      %s2 = tulle.space %A level(2) under %p : !tulle.iterator<#DIA, 1> : tensor<?x?xf64, #DIA> -> !tulle.space<#DIA, 2>
      tulle.iterate %c, %q in %s2 : !tulle.space<#DIA, 2> {
        %i, %j, %inside = tulle.coordinates %A[%q : !tulle.iterator<#DIA, 2>] : tensor<?x?xf64, #DIA>
        scf.if %inside {
          %v = tulle.load %A[%q : !tulle.iterator<#DIA, 2>] : tensor<?x?xf64, #DIA> -> f64
          "use"(%i, %j, %v) : (index, index, f64) -> ()
        }
      }
    }
  }
  return
}

// banded: coordinates from the parent's first one on; a search is two comparisons in one.
// CHECK-LABEL: @banded
// CHECK-SAME: (%[[POS:[a-z0-9]+]]: memref<?xi64>, %[[CRD:[a-z0-9]+]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %{{.*}}: index, %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index)
func.func @banded(%A: tensor<?x?xf64, #Skyline>, %i: index, %j: index) -> i1 {
  // CHECK-DAG: %[[FIRST32:.*]] = memref.load %[[CRD]][%[[I]]]
  // CHECK-DAG: %[[FIRST:.*]] = arith.index_castui %[[FIRST32]] : i32 to index
  // CHECK-DAG: %[[OFF:.*]] = arith.subi %[[J]], %[[FIRST]] : index
  // CHECK: %[[LEN:.*]] = arith.subi
  // CHECK: %[[FOUND:.*]] = arith.cmpi ult, %[[OFF]], %[[LEN]]
  // CHECK: return %[[FOUND]]
  %p = tulle.locate %A level(0) at %i : tensor<?x?xf64, #Skyline> -> !tulle.iterator<#Skyline, 0>
  %q, %found = tulle.search %A level(1) under %p : !tulle.iterator<#Skyline, 0> at %j : tensor<?x?xf64, #Skyline> -> !tulle.iterator<#Skyline, 1>
  return %found : i1
}

// bitmap: a slot for every coordinate, which counts where bit q mod 8 of byte q / 8 is set.
// CHECK-LABEL: @bitmap
// CHECK-SAME: (%[[BITS:[a-z0-9]+]]: memref<?xi8>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %[[N:[a-z0-9]+]]: index, %[[I:[a-z0-9]+]]: index)
func.func @bitmap(%A: tensor<?x?xf64, #Bitmap>, %i: index) {
  // CHECK: %[[LO:.*]] = arith.muli %[[I]], %[[N]]
  // CHECK: %[[HI:.*]] = arith.addi %[[LO]], %[[N]]
  // CHECK: scf.for %[[Q:.*]] = %[[LO]] to %[[HI]]
  // CHECK-DAG: %[[J:.*]] = arith.subi %[[Q]], %[[LO]]
  // CHECK-DAG: %[[AT:.*]] = arith.shrui %[[Q]], %c3
  // CHECK-DAG: memref.load %[[BITS]][%[[AT]]]
  // CHECK-DAG: arith.andi %[[Q]], %c7
  // CHECK: scf.if
  // CHECK: "use"(%[[J]])
  %p = tulle.locate %A level(0) at %i : tensor<?x?xf64, #Bitmap> -> !tulle.iterator<#Bitmap, 0>
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#Bitmap, 0> : tensor<?x?xf64, #Bitmap> -> !tulle.space<#Bitmap, 1>
  tulle.iterate %j, %q in %s : !tulle.space<#Bitmap, 1> {
    "use"(%j) : (index) -> ()
  }
  return
}

// hashed: probes from the upper half of (x * 2^64 / golden ratio) * slots on, cyclically, until the coordinate or a free slot.
// CHECK-LABEL: @hashed
// CHECK-SAME: (%{{.*}}: memref<?xi32>, %[[CRD:[a-z0-9]+]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %[[X:[a-z0-9]+]]: index)
func.func @hashed(%A: tensor<?xf64, #Hashed>, %x: index) -> i1 {
  // CHECK-DAG: %[[FACTOR:.*]] = arith.constant -7046029254386353131 : index
  // CHECK-DAG: %[[FREE:.*]] = arith.constant 4294967295 : index
  // CHECK: %[[PRODUCT:.*]] = arith.muli %[[X]], %[[FACTOR]] : index
  // CHECK: %{{.*}}, %[[START:.*]] = arith.mului_extended %[[PRODUCT]], %{{.*}}
  // CHECK: scf.while (%[[SLOT:.*]] = %[[START]])
  // CHECK: memref.load %[[CRD]]
  // CHECK: arith.cmpi ne, %{{.*}}, %[[FREE]]
  // CHECK: arith.andi
  %q, %found = tulle.search %A level(0) at %x : tensor<?xf64, #Hashed> -> !tulle.iterator<#Hashed, 0>
  return %found : i1
}

// A padded singleton needs no loop, only a test; a counter's size is in its buffer.
// CHECK-LABEL: @padded
// CHECK-SAME: (%[[COUNTS:[a-z0-9]+]]: memref<?xi64>, %[[CRD:[a-z0-9]+]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %[[M:[a-z0-9]+]]: index, %{{.*}}: index)
func.func @padded(%A: tensor<?x?xf64, #ELL>) {
  // CHECK: %[[R64:.*]] = memref.load %[[COUNTS]][%c0]
  // CHECK: %[[R:.*]] = arith.index_castui %[[R64]]
  // CHECK: scf.for %[[ROUND:.*]] = %c0 to %[[R]]
  // CHECK: %[[BASE:.*]] = arith.muli %[[ROUND]], %[[M]]
  // CHECK: scf.for %[[I:.*]] = %c0 to %[[M]]
  // CHECK-NOT: scf.for
  // CHECK: %[[Q:.*]] = arith.addi %[[BASE]], %[[I]]
  // CHECK: memref.load %[[CRD]][%[[Q]]]
  // CHECK: scf.if
  // CHECK: "use"
  %s0 = tulle.space %A level(0) : tensor<?x?xf64, #ELL> -> !tulle.space<#ELL, 0>
  tulle.iterate %r, %n in %s0 : !tulle.space<#ELL, 0> {
    %s1 = tulle.space %A level(1) under %n : !tulle.iterator<#ELL, 0> : tensor<?x?xf64, #ELL> -> !tulle.space<#ELL, 1>
    tulle.iterate %i, %p in %s1 : !tulle.space<#ELL, 1> {
      %s2 = tulle.space %A level(2) under %p : !tulle.iterator<#ELL, 1> : tensor<?x?xf64, #ELL> -> !tulle.space<#ELL, 2>
      tulle.iterate %j, %q in %s2 : !tulle.space<#ELL, 2> {
        "use"(%i, %j) : (index, index) -> ()
      }
    }
  }
  return
}

// The row of rank 8 * slice + lane is looked up where there is one.
// CHECK-LABEL: @ranked
// CHECK-SAME: (%[[PERM:[a-z0-9]+]]: memref<?xi64>, %{{.*}}: memref<?xi32>, %{{.*}}: memref<?xi32>, %{{.*}}: memref<?xf64>, %[[M:[a-z0-9]+]]: index, %{{.*}}: index)
func.func @ranked(%A: tensor<?x?xf64, #SELL>) {
  // CHECK: scf.for %[[SLICE:.*]] = %c0
  // CHECK: scf.for
  // CHECK: scf.for %[[LANE:.*]] = %c0 to %c8
  // CHECK: %[[FIRST:.*]] = arith.muli %[[SLICE]], %c8
  // CHECK: %[[RANK:.*]] = arith.addi %[[FIRST]], %[[LANE]]
  // CHECK: %[[THERE:.*]] = arith.cmpi ult, %[[RANK]], %[[M]]
  // CHECK: %[[ROW:.*]] = scf.if %[[THERE]] -> (index)
  // CHECK: memref.load %[[PERM]][%[[RANK]]]
  // CHECK: "use"(%[[ROW]], %{{.*}}, %[[THERE]])
  %s0 = tulle.space %A level(0) : tensor<?x?xf64, #SELL> -> !tulle.space<#SELL, 0>
  tulle.iterate %c0, %p0 in %s0 : !tulle.space<#SELL, 0> {
    %s1 = tulle.space %A level(1) under %p0 : !tulle.iterator<#SELL, 0> : tensor<?x?xf64, #SELL> -> !tulle.space<#SELL, 1>
    tulle.iterate %c1, %p1 in %s1 : !tulle.space<#SELL, 1> {
      %s2 = tulle.space %A level(2) under %p1 : !tulle.iterator<#SELL, 1> : tensor<?x?xf64, #SELL> -> !tulle.space<#SELL, 2>
      tulle.iterate %c2, %p2 in %s2 : !tulle.space<#SELL, 2> {
        %s3 = tulle.space %A level(3) under %p2 : !tulle.iterator<#SELL, 2> : tensor<?x?xf64, #SELL> -> !tulle.space<#SELL, 3>
        tulle.iterate %c3, %p3 in %s3 : !tulle.space<#SELL, 3> {
          %i, %j, %inside = tulle.coordinates %A[%p3 : !tulle.iterator<#SELL, 3>] : tensor<?x?xf64, #SELL>
          "use"(%i, %j, %inside) : (index, index, i1) -> ()
        }
      }
    }
  }
  return
}
