// Solvers and graph algorithms by hand, in double precision.
#pragma once
#include "Loops.h"
#include <vector>

namespace tulle::bench {

/// The vertex where searches begin: the first of those with the most edges.
int64_t sourceOf(const CsrView &a);

/// x with A x = b, from 0 on until the square of the residual is less than 1e-16 of b's.
void conjugateGradients(const CsrView &a, const double *b, double *x);
/// The share of a walk over edges from j to i, stored at (i,j): x = c + 0.85 * the sum of x / max(n, 1) over
/// the edges that enter, where n are those that leave and c is 0.15 / the number of vertices; from c on until
/// x changes by less than 1e-10 in all.
void pageRank(const CsrView &a, const double *n, double c, double *x);
/// n of it.
std::vector<double> leaving(const CsrView &a);
/// The number of edges to each vertex, -1 where no path leads.
void breadthFirstSearch(const CsrView &a, int64_t source, double *distance);
/// The length of the shortest path to each vertex, whose edges have the lengths |A(i,j)|; -1 where none
/// leads.
void shortestPaths(const CsrView &a, int64_t source, double *distance);
/// The smallest vertex of each vertex's component, whichever way edges point.
void components(const CsrView &a, double *label);

} // namespace tulle::bench
