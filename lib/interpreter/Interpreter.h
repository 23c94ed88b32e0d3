// The meaning of a checked program on dense arrays: slow, readable, the oracle of every other implementation.
#pragma once
#include "notation/Program.h"
#include "runtime/tensor/Tensor.h"

namespace tulle::interpreter {

/// A tensor as the mathematics sees it: a value everywhere, and where something is stored.
struct DenseTensor {
  ElementType type;
  std::vector<int64_t> dims;
  std::vector<Scalar> values; ///< row-major
  std::vector<bool> stored;   ///< row-major; all true for dense formats
};

/// Whether what a result in this encoding stores follows from its entries. Else (rows of equal lengths,
/// windows, …) `run` says that it stores the entries of its pattern alone.
bool knowsWhatIsStored(const format::Encoding &encoding);

DenseTensor fromTensor(const runtime::Tensor &tensor);
/// Entries as a file gives them, before any format: duplicates summed, `fill` and not stored elsewhere.
DenseTensor fromEntries(const runtime::Entries &entries, const Scalar &fill);

/// Runs all statements, those of loops again and again; `tensors` is indexed as program.tensors, inputs
/// filled in. Results are written into it. A tensor that is written in a sparse format gets the stored
/// pattern of the rule in notation/README.md. Rounds after every operation as the element type does; f16 and
/// bf16 compute in f32 and round when stored.
void run(const notation::Program &program, std::vector<DenseTensor> &tensors);

} // namespace tulle::interpreter
