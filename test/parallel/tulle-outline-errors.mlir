// RUN: tulle-opt %s --tulle-outline --verify-diagnostics

// Functions have no results to hand on what a region carries.
func.func @carried(%y: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  // expected-error @+1 {{expected a region that carries nothing; run tulle-lower first}}
  %r = tulle.parallel %task of %n iter_args(%acc = %y) -> (tensor<?xf64>) {
    tulle.yield %acc : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}
