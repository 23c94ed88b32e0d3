// What a schedule says of loops has a loop that says so; one thread leaves out what is said of threads.
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-check-schedule{threads=false}))' --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @there
// CHECK-SAME: tulle.scheduled = [#tulle.scheduled<loop = "i", of = "y", says = <unroll = 2>, at = #{{.*}}>]
func.func @there(%n: index) attributes {tulle.scheduled = [
    #tulle.scheduled<loop = "i", of = "y", says = <unroll = 2>, at = loc("text":1:1)>,
    #tulle.scheduled<loop = "i", of = "y", says = <parallelize = #tulle<threads none>>, at = loc("text":1:20)>]} {
  %c0 = arith.constant 0 : index
  %rows = tulle.range %c0 to %n
  tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["t", "y"],
      directives = <parallelize = #tulle<threads none>, unroll = 2>> {
  }
  return
}

// -----

// expected-error @unknown {{no loop over k of y is left: it has one iteration, or is a part of another one by now; the loops are i. Without unroll, the compiler decides}}
func.func @gone(%n: index) attributes {tulle.scheduled = [
    #tulle.scheduled<loop = "k", of = "y", says = <unroll = 2>, at = loc(unknown)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
  } {tulle.loop = #tulle.loop<parallel, index = i, of = ["y"]>}
  scf.for %k = %c0 to %n step %c1 {
  } {tulle.loop = #tulle.loop<parallel, index = k, of = ["t"]>}
  return
}

// -----

// expected-error @unknown {{vectorize does nothing to the loop over k: vectors are iterations of an innermost loop that has as many as there are lanes. Without vectorize, the compiler decides}}
func.func @another(%n: index) attributes {tulle.scheduled = [
    #tulle.scheduled<loop = "k", says = <vectorize = 4>, at = loc(unknown)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
  } {tulle.loop = #tulle.loop<parallel, index = k, directives = <vectorize = 8>>}
  return
}
