// Formats for a matrix, ranked for a kernel by the bytes it moves and what its loops cost.
#pragma once
#include "engine/Engine.h"
#include "engine/MatrixProfile.h"

namespace tulle::engine {

/// `y(i) = A(i,j) * x(j)`, or with several columns `Y(i,k) = A(i,j) * X(j,k)`.
struct ProductKernel {
  int64_t columns = 1;
};

struct Suggestion {
  std::string format;   ///< of A
  std::string schedule; ///< where A is decomposed; else empty
  double slots = 0;     ///< values stored, padding included
  double bytes = 0;     ///< that a run moves: what is stored, the operand and the result
  double ns = 0;        ///< predicted, for one thread
  std::string why;      ///< what the prediction rests on
};

/// Formats that do not store many times the bytes of CSR, by predicted time, the fastest first.
std::vector<Suggestion> suggest(const MatrixProfile &matrix, ElementType type, const ProductKernel &kernel);

/// Nanoseconds of one run in that format, the fastest of several. Throws Error when the format cannot hold
/// the matrix.
double measure(const Suggestion &suggestion, const runtime::Entries &matrix, const ProductKernel &kernel,
               const Options &options);

} // namespace tulle::engine
