// RUN: tulle-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: attributes {tulle.loops = [#tulle.repeat<number = 0, most = 500, until = "until">]}
func.func private @first() attributes {tulle.loops = [#tulle.repeat<number = 0, most = 500, until = "until">]}
func.func private @helper()
// CHECK: attributes {tulle.loops = [#tulle.repeat<number = 0, most = 500, until = "until">, #tulle.repeat<number = 1, most = 3>]}
func.func private @second() attributes {tulle.loops = [#tulle.repeat<number = 0, most = 500, until = "until">, #tulle.repeat<number = 1, most = 3>]}

// -----

// expected-error @below {{expected at least one round, got most = 0}}
#never = #tulle.repeat<number = 0, most = 0>

// -----

// expected-error @below {{expected a loop's number of 0 or more, got -1}}
#unnumbered = #tulle.repeat<number = -1, most = 1>

// -----

// expected-error @below {{expected the name of a tensor in 'until'}}
#nameless = #tulle.repeat<number = 0, most = 1, until = "">

// -----

// expected-error @below {{'tulle.loops': expected loops, outermost first, whose numbers ascend, got []}}
func.func private @none() attributes {tulle.loops = []}

// -----

// expected-error @below {{'tulle.loops': expected loops, outermost first, whose numbers ascend}}
func.func private @inside_out() attributes {tulle.loops = [#tulle.repeat<number = 1, most = 1>, #tulle.repeat<number = 0, most = 1>]}

// -----

// expected-error @below {{'tulle.loops' is an attribute of func.func and llvm.func}}
module attributes {tulle.loops = [#tulle.repeat<number = 0, most = 1>]} {
}

// -----

// A loop ends where another begins.
func.func private @begins() attributes {tulle.loops = [#tulle.repeat<number = 0, most = 1>]}
func.func private @another() attributes {tulle.loops = [#tulle.repeat<number = 1, most = 1>]}
// expected-error @below {{the functions of loop #tulle.repeat<number = 0, most = 1> do not follow each other}}
func.func private @again() attributes {tulle.loops = [#tulle.repeat<number = 0, most = 1>]}

// -----

// An inner loop lies in one round of the outer one.
func.func private @inner() attributes {tulle.loops = [#tulle.repeat<number = 0, most = 1>, #tulle.repeat<number = 1, most = 1>]}
// expected-error @below {{the functions of loop #tulle.repeat<number = 1, most = 1> do not follow each other}}
func.func private @outside() attributes {tulle.loops = [#tulle.repeat<number = 1, most = 1>]}
