// RUN: tulle-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{unknown level format 'comprest'}}
func.func private @map(tensor<?x?xf64, #tulle.encoding<{ map = (i, j) -> (i : dense, j : comprest) }>>)

// -----

// expected-error @+1 {{the encoding is for tensors with 2 dimensions, got one with 1}}
func.func private @order(tensor<?xf64, #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>>)

// -----

// Sizes that are known are asked of the encoding; the others when a tensor is stored.
func.func private @any_size(tensor<?x300000xf64, #tulle.encoding<{ map = (i, j) -> (i shl 40 : compressed, j : compressed) }>>)
// expected-error @+1 {{the coordinates of level 0 (i shl 40 : compressed): the expression leaves 64 bits for sizes 16777216 x 3}}
func.func private @sizes(tensor<16777216x3xf64, #tulle.encoding<{ map = (i, j) -> (i shl 40 : compressed, j : compressed) }>>)

// -----

// Two dimensions in one level need room for the inner one, whose size may be known alone.
func.func private @linear(tensor<?x6xf64, #tulle.encoding<{ map = (i, j) -> (i * 6 + j : compressed) }>>)
// expected-error @+1 {{dimension 1 has size 6, and in level 0 (i * 5 + j : compressed) two coordinates become one from 5 on; the factor 5 has to be at least 6}}
func.func private @narrow(tensor<?x6xf64, #tulle.encoding<{ map = (i, j) -> (i * 5 + j : compressed) }>>)

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @no_parent(%A: tensor<?x?xf64, #CSR>) {
  // expected-error @+1 {{level 1 needs the iterator of level 0 (constraint 1)}}
  %s = tulle.space %A level(1) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @until(%s: !tulle.space<#SV, 0>, %p: index, %q: index) {
  // expected-error @+1 {{expected a nonunique level, got compressed (constraint 1)}}
  %it, %i, %entry = tulle.at %s[%p] until %q : !tulle.space<#SV, 0>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @level(%A: tensor<?x?xf64, #CSR>) {
  // expected-error @+1 {{expected a level below 2, got 2 (constraint 2)}}
  %n = tulle.level_size %A level(2) : tensor<?x?xf64, #CSR>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @locate(%A: tensor<?x?xf64, #CSR>, %i: !tulle.iterator<#CSR, 0>, %c: index) {
  // expected-error @+1 {{expected a level where every coordinate exists, got compressed (constraint 2); use tulle.search}}
  %s = tulle.locate %A level(1) under %i : !tulle.iterator<#CSR, 0> at %c : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 1>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @search(%A: tensor<?x?xf64, #CSR>, %c: index) {
  // expected-error @+1 {{expected an ordered sparse level or a hashed one, got dense (constraint 2)}}
  %s, %f = tulle.search %A level(0) at %c : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @leaf(%A: tensor<?x?xf64, #CSR>, %i: !tulle.iterator<#CSR, 0>) {
  // expected-error @+1 {{expected an iterator of type '!tulle.iterator<}}
  %v = tulle.load %A[%i : !tulle.iterator<#CSR, 0>] : tensor<?x?xf64, #CSR> -> f64
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @cases(%a: !tulle.space<#SV, 0>, %b: !tulle.space<#SV, 0>) {
  // expected-error @+1 {{expected one case for each of "a" "b" "a & b" (constraint 2)}}
  tulle.coiterate %i in "a | b" (%a, %b : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>)
  case "a & b" (%x, %y) { tulle.yield }
  case "a" (%x) { tulle.yield }
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @range(%a: !tulle.space<#SV, 0>) {
  // expected-error @+1 {{the set holds coordinates that no space has: expected a range (constraint 3)}}
  tulle.coiterate %i in "~a" (%a : !tulle.space<#SV, 0>)
  case "none" { tulle.yield }
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed(nonordered)) }>
func.func @ordered(%a: !tulle.space<#SV, 0>) {
  // expected-error @+1 {{expected ordered levels, got compressed(nonordered) (constraint 1)}}
  tulle.coiterate %i in "a" (%a : !tulle.space<#SV, 0>)
  case "a" (%x) { tulle.yield }
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @set(%a: !tulle.space<#SV, 0>) {
  // expected-error @+1 {{in the set 'a & c': operand 'c' is not one of the 1 given at character 5}}
  tulle.coiterate %i in "a & c" (%a : !tulle.space<#SV, 0>)
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @flags_range(%a: !tulle.space<#SV, 0>) {
  // expected-error @+1 {{the set holds coordinates that no space has: expected a range (constraint 3)}}
  tulle.coiterate %i in "~a" (%a : !tulle.space<#SV, 0>)
  flags (%x if %p) { tulle.yield }
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @flags_each(%a: !tulle.space<#SV, 0>, %b: !tulle.space<#SV, 0>) {
  tulle.coiterate %i in "a | b" (%a, %b : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>)
  // expected-error @+1 {{expected an iterator and a flag for each space}}
  flags (%x if %p) { tulle.yield }
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @flags_or_cases(%a: !tulle.space<#SV, 0>) {
  // expected-error @+1 {{with flags: expected no cases, and one region (constraint 2)}}
  "tulle.coiterate"(%a) <{set = "a", loop = #tulle.loop<parallel>, cases = array<i64: 1>, flags, operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%i: index, %x: !tulle.iterator<#SV, 0>, %p: i1):
    "tulle.yield"() : () -> ()
  }) : (!tulle.space<#SV, 0>) -> ()
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @flags_arguments(%a: !tulle.space<#SV, 0>) {
  // expected-error @+1 {{expected block arguments of types ('index', '!tulle.iterator<}}
  "tulle.coiterate"(%a) <{set = "a", loop = #tulle.loop<parallel>, cases = array<i64>, flags, operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%i: index, %x: !tulle.iterator<#SV, 0>):
    "tulle.yield"() : () -> ()
  }) : (!tulle.space<#SV, 0>) -> ()
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @yield(%a: !tulle.space<#SV, 0>, %x: f64) {
  %r = tulle.iterate %i, %it in %a : !tulle.space<#SV, 0> iter_args(%acc = %x) -> (f64) loop = <reduction> {
    // expected-error @+1 {{expected values of types ('f64'), got ('index')}}
    tulle.yield %i : index
  }
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @convert(%a: tensor<4xf64>) {
  // expected-error @+1 {{expected the shape and element type of 'tensor<4xf64>', got}}
  %r = tulle.convert %a : tensor<4xf64> to tensor<5xf64, #SV>
  return
}

// -----

func.func @stored(%a: f64) {
  // expected-error @+1 {{expects a block argument of linalg.generic (constraint 1)}}
  %r = tulle.stored %a : f64
  return
}

// -----

func.func @fill(%a: f32, %t: tensor<4xf64>) {
  // expected-error @+1 {{expected a value of type 'f64', got 'f32' (constraint 1)}}
  %r = tulle.fill %a, %t : f32, tensor<4xf64>
  return
}

// -----

// expected-error @+1 {{expected a level below 1, got 1}}
func.func private @no_level(!tulle.space<#tulle.encoding<{ map = (i) -> (i : compressed) }>, 1>)

// -----

// expected-error @+2 {{expected '#tulle.encoding<{ map = … }>'}}
// expected-error @+1 {{failed to parse Tulle_SpaceType parameter 'encoding'}}
func.func private @no_encoding(!tulle.space<1, 1>)

// -----

// expected-error @+1 {{expected '<{ map = … }>' after '#tulle.encoding'}}
func.func private @no_text(tensor<4xf64, #tulle.encoding>)

// -----

func.func @empty_body(%a: !tulle.range) {
  // expected-error @+1 {{expects a non-empty block}}
  "tulle.iterate"(%a) ({
  ^bb0(%i: index):
  }) : (!tulle.range) -> ()
  return
}

// -----

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)) }>
func.func @table_of_repeated(%A: tensor<3x4xf64, #COO>, %t: memref<?xi32>) {
  %s = tulle.space %A level(0) : tensor<3x4xf64, #COO> -> !tulle.space<#COO, 0>
  // expected-error @+1 {{expected a unique level, compressed or loose_compressed, got compressed(nonunique) (constraint 1)}}
  tulle.position_table %s in %t : !tulle.space<#COO, 0>, memref<?xi32>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @looked_up_elsewhere(%A: tensor<3x4xf64, #CSR>, %i: !tulle.iterator<#CSR, 0>, %j: index, %t: memref<?xi32>) {
  %s = tulle.space %A level(1) under %i : !tulle.iterator<#CSR, 0> : tensor<3x4xf64, #CSR> -> !tulle.space<#CSR, 1>
  // expected-error @+1 {{expected an iterator of type}}
  %at, %found = tulle.lookup %j of %s in %t : !tulle.space<#CSR, 1>, memref<?xi32> -> !tulle.iterator<#CSR, 0>
  return
}

// -----

// expected-error @below {{no processor is called 'znver55'; did you mean 'znver5'?}}
module attributes {tulle.cpu = #tulle.cpu<znver55>} {}

// -----

// expected-error @below {{expected 'entries_per_prefetch' from 1 to 64, got 0}}
module attributes {tulle.cpu = #tulle.cpu<znver5, entries_per_prefetch = 0>} {}

// -----

// expected-error @below {{expected 'line' to be a power of two from 16 to 1024, got 48}}
module attributes {tulle.cpu = #tulle.cpu<x86-64-v3, line = 48>} {}

// -----

// expected-error @below {{expected a number of 64 bits for 'l2'}}
module attributes {tulle.cpu = #tulle.cpu<znver5, l2 = large>} {}

// -----

// expected-error @below {{expected true or false for 'masks'}}
module attributes {tulle.cpu = #tulle.cpu<znver5, masks = 1>} {}

// -----

// expected-error @below {{'l4' is no figure of a processor; did you mean}}
module attributes {tulle.cpu = #tulle.cpu<znver5, l4 = 4096>} {}

// -----

// expected-error @below {{expected '<znver5>' after '#tulle.cpu'}}
module attributes {tulle.cpu = #tulle.cpu} {}

// -----

// expected-error @below {{'tulle.cpu': expected a #tulle.cpu<…>, got 5 : i64}}
module attributes {tulle.cpu = 5 : i64} {}

// -----

// expected-error @below {{'tulle.cpu' is an attribute of builtin.module}}
func.func @elsewhere() attributes {tulle.cpu = #tulle.cpu<znver5>} {
  return
}

// -----

// expected-error @below {{'tulle.scalar_lane' is no attribute that the tulle dialect knows of operations; did you mean 'tulle.scalar_lanes'?}}
func.func @unknown() attributes {tulle.scalar_lane} {
  return
}

// -----

// expected-error @below {{'tulle.nonsense' is no attribute that the tulle dialect knows of operations}}
module attributes {tulle.nonsense} {}

// -----

func.func @value(%n: index) {
  // expected-error @below {{'tulle.loop': expected a #tulle.loop<…>, got "parallel"}}
  scf.for %i = %n to %n step %n {
  } {tulle.loop = "parallel"}
  return
}

// -----

// expected-error @below {{'tulle.loop' is an attribute of scf.for}}
func.func @place() attributes {tulle.loop = #tulle.loop<parallel>} {
  return
}

// -----

// expected-error @below {{'tulle.noalias': expected no value, got 1}}
func.func @unit() attributes {tulle.noalias = 1 : i64} {
  return
}

// -----

// expected-error @below {{'tulle.nam' is no attribute that the tulle dialect knows of arguments; did you mean 'tulle.name'?}}
func.func @argument(%a: tensor<?xf64> {tulle.nam = "A"}) {
  return
}

// -----

// expected-error @below {{'tulle.entries': expected a number of entries, an i64, got -1}}
func.func @entries(%a: tensor<?xf64> {tulle.entries = -1 : i64}) {
  return
}

// -----

// expected-error @below {{'tulle.whole' is no attribute that the tulle dialect knows of results}}
func.func private @result(tensor<?xf64>) -> (tensor<?xf64> {tulle.whole = "A"})

// -----

// expected-error @below {{expected 'parallel' or 'reduction', got 'paralel'}}
#kind = #tulle.loop<paralel>

// -----

// expected-error @below {{expected an index of blocks, as i_block, got "i"}}
#blocks = #tulle.loop<parallel, index = i, blocks>

// -----

// expected-error @below {{'index' is given twice}}
#twice = #tulle.loop<parallel, index = i, index = j>

// -----

// expected-error @below {{expected 'index', 'of', 'directives', 'blocks', 'rare' or 'cache_resident', got 'near'}}
#word = #tulle.loop<parallel, near>

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// expected-error @+1 {{'tulle.disjoint': expected a number for each of 2 dimensions, got array<i64: 0>}}
func.func @disjoint(%a: tensor<?x?xf64, #CSR> {tulle.disjoint = array<i64: 0>}) {
  return
}

// -----

#CUT = #tulle.encoding<{ map = (i : #tulle<slice(?, 4, 1)>) -> (i : dense) }>
// expected-error @+1 {{'tulle.slice': no argument called "x" has, by tulle.whole or tulle.source, a '?' as the size of dimension 0}}
func.func @slice_number(%x: tensor<?xf64> {tulle.name = "x", tulle.whole = #CUT},
                        %n: index {tulle.slice = #tulle.slice_number<tensor = "x", dim = 0, part = size>}) {
  return
}

// -----

#CUT = #tulle.encoding<{ map = (i : #tulle<slice(?, 4, 1)>) -> (i : dense) }>
// expected-error @+1 {{'tulle.slice': expected an argument of type index, got 'i64'}}
func.func @slice_number(%x: tensor<?xf64> {tulle.name = "x", tulle.whole = #CUT},
                        %n: i64 {tulle.slice = #tulle.slice_number<tensor = "x", dim = 0, part = offset>}) {
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// expected-error @+1 {{'tulle.disjoint': expected numbers, or -1 where nothing is known, an array<i64>, got array<i64: 0, -2>}}
func.func @disjoint_numbers(%a: tensor<?x?xf64, #CSR> {tulle.disjoint = array<i64: 0, -2>}) {
  return
}

// -----

func.func @indices_of_floats(%p: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{expected dense tensors of integers of one shape}}
  %q = tulle.bounded_indices %p below %n outside error "p(i)" : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @narrow_indices(%p: tensor<?xi8>, %n: index) {
  // expected-error @+1 {{expected integers as wide as the source's, and 32 bits at least, got 'tensor<?xi8>' (constraint 2)}}
  %q = tulle.bounded_indices %p below %n outside nothing "p(i)" : tensor<?xi8> -> tensor<?xi8>
  return
}

// -----

#selection = #tulle.encoding<{ map = (i, j) -> (i : dense, j : singleton(padded)), posWidth = 64, crdWidth = 64 }>
func.func @wide_selection(%p: tensor<?xi32>, %n: index) {
  // expected-error @+1 {{crdWidth = 32}}
  %s = tulle.one_hot %p of %n : tensor<?xi32> -> tensor<?x?xi32, #selection>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#rows = #tulle.encoding<{ map = (i) -> (i floordiv 32 : dense, i mod 32 : compressed) }>
func.func @reshape_map(%A: tensor<?x?xf64, #CSR>, %n: index) {
  // expected-error @+1 {{with the map before it, got 'tensor<?xf64, #tulle.encoding<{ map = (i) -> (i floordiv 32 : dense, i mod 32 : compressed) }>>' (constraint 2)}}
  %v = tulle.reshape %A by affine_map<(l) -> (l floordiv 64, l mod 64)> to (%n) : tensor<?x?xf64, #CSR> -> tensor<?xf64, #rows>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @reshape_sum(%A: tensor<?x?xf64, #CSR>, %n: index) {
  // expected-error @+1 {{expected a digit of the result's dimensions for each of}}
  %v = tulle.reshape %A by affine_map<(l) -> (l + 1, l mod 64)> to (%n) : tensor<?x?xf64, #CSR> -> tensor<?xf64>
  return
}

// -----

func.func @too_many_sizes(%p: tensor<?x2xi32>, %n: index) {
  // expected-error @+1 {{expected one size, or one for each coordinate in the last dimension of 'tensor<?x2xi32>', got 3 (constraint 3)}}
  %q = tulle.distinct_indices %p below(%n, %n, %n) "p" : tensor<?x2xi32>
  return
}

// -----

func.func @together_at(%p: tensor<?x2xi32>, %n: index) {
  // expected-error @+1 {{expected a coordinate for each dimension of 'tensor<?x2xi32>', or -1, and none with several sizes (constraint 2)}}
  %q = tulle.distinct_indices %p below(%n, %n) "p" at [-1, 0] : tensor<?x2xi32>
  return
}

// -----

func.func @indices_at(%p: tensor<?xi32>, %n: index) {
  // expected-error @+1 {{expected a coordinate for each dimension of 'tensor<?xi32>', or -1 (constraint 3)}}
  %q = tulle.bounded_indices %p below %n outside error "p(i)" at [0, -1] : tensor<?xi32> -> tensor<?xi32>
  return
}

// -----

func.func @indices_over(%p: tensor<?x2xi32>, %n: index) {
  %some = tulle.range %n to %n
  // expected-error @+1 {{expected that integers of one dimension are checked over a range (constraint 4)}}
  %q = tulle.bounded_indices %p below %n over %some outside error "p(i)" : tensor<?x2xi32> -> tensor<?x2xi32>
  return
}

// -----

func.func @indices_deferred(%p: tensor<?xi32>, %n: index) {
  // expected-error @+1 {{expected that what is deferred is a check (constraint 5)}}
  %q = tulle.bounded_indices %p below %n deferred outside nearest "p(i)" : tensor<?xi32> -> tensor<?xi32>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#vector = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @expand_compressed(%v: tensor<?xf64, #vector>, %n: index) {
  // expected-error @+1 {{with the map before it, got 'tensor<?x?xf64,}}
  %A = tulle.reshape %v by expand affine_map<(l) -> (l floordiv 64, l mod 64)> to (%n, %n) : tensor<?xf64, #vector> -> tensor<?x?xf64, #CSR>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#vector = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @parts_of_two_orders(%A: tensor<?x?xf64, #CSR>, %v: tensor<?xf64, #vector>) {
  // expected-error @+1 {{expected parts with the order and the fill}}
  %C = tulle.concat %A, %v along [0, 1] : (tensor<?x?xf64, #CSR>, tensor<?xf64, #vector>) -> tensor<?x?xf64, #CSR>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSF = #tulle.encoding<{ map = (l, i, j) -> (l : dense, i : dense, j : compressed) }>
func.func @stack_of_too_few(%A: tensor<?x?xf64, #CSR>) {
  // expected-error @+1 {{expected size 2 in dimension 0 of the result, got 3 (constraint 4)}}
  %C = tulle.concat %A, %A along [0] : (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) -> tensor<3x?x?xf64, #CSF>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @twice_along(%A: tensor<?x?xf64, #CSR>) {
  // expected-error @+1 {{expected distinct dimensions of the result, got 1 (constraint 2)}}
  %C = tulle.concat %A, %A along [1, 1] : (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @dense_result(%A: tensor<?x?xf64, #CSR>) {
  // expected-error @+1 {{expected a sparse result}}
  %C = tulle.concat %A, %A along [1] : (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) -> tensor<?x?xf64>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @rows_of_two_sizes(%A: tensor<5x4xf64, #CSR>, %B: tensor<3x4xf64, #CSR>) {
  // expected-error @+1 {{expected parts of one size in dimension 0, got 5 and 3 (constraint 4)}}
  %C = tulle.concat %A, %B along [1] : (tensor<5x4xf64, #CSR>, tensor<3x4xf64, #CSR>) -> tensor<?x8xf64, #CSR>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @wrong_sum(%A: tensor<5x4xf64, #CSR>, %B: tensor<5x?xf64, #CSR>) {
  %0 = tulle.concat %A, %B along [1] : (tensor<5x4xf64, #CSR>, tensor<5x?xf64, #CSR>) -> tensor<5x6xf64, #CSR>
  // expected-error @+1 {{expected size 8 in dimension 1 of the result, got 7 (constraint 4)}}
  %C = tulle.concat %A, %A along [1] : (tensor<5x4xf64, #CSR>, tensor<5x4xf64, #CSR>) -> tensor<5x7xf64, #CSR>
  return
}
