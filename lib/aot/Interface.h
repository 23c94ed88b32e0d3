// What a kernel compiled ahead of time takes and does, as plain values: what its header, its code and its
// description say.
#pragma once
#include "engine/Compilation.h"
#include "notation/Program.h"
#include <string>
#include <vector>

namespace tulle::aot {

/// A size that several dimensions have.
struct Size {
  std::string name;
  int64_t fixed = -1; ///< -1: any, told by the arguments
  int64_t least = 0;  ///< that a slice reaches
};

/// One array of a tensor.
struct Array {
  int kind = 0;       ///< as in `tulle_buffer`
  unsigned width = 0; ///< bits of an element
  bool implied = false;
  std::string name; ///< `A_pos1`, of raw parameters
  std::string what; ///< `positions of level 1`
};

struct TensorInterface {
  std::string name; ///< as the program calls it
  std::string identifier;
  ElementType type = ElementType::F64;
  format::Encoding encoding;
  std::optional<format::Encoding> withoutValues{}; ///< that of the result, where it says what the values are
  bool input = false, result = false;
  bool made = false;              ///< the kernel allocates its arrays
  std::vector<unsigned> sizes;    ///< of each dimension; of a slice, those of the tensor that it is cut from
  std::vector<Array> arrays;      ///< in the order of format::layout
  std::optional<unsigned> like{}; ///< the tensor whose structure it has

  /// As the caller has it.
  const format::Encoding &format() const { return withoutValues ? *withoutValues : encoding; }
};

struct StepArgument {
  unsigned tensor;
  bool result;
  std::optional<unsigned> pattern; ///< of a sparse result: the tensor whose structure it has
  bool operator==(const StepArgument &) const = default;
};

struct Step {
  std::string function;      ///< of the compiled program; of a conversion, of what is compiled for it
  bool isConversion = false; ///< of the one argument to the one tensor that is made
  std::vector<StepArgument> arguments;
  std::vector<unsigned> made;
  unsigned computes = 0; ///< the tensor that messages are about
  bool operator==(const Step &) const = default;
};

struct Interface {
  std::string name; ///< of its functions
  std::string text; ///< the program
  std::vector<TensorInterface> tensors;
  std::vector<unsigned> parameters; ///< tensors: inputs, then results
  std::vector<Size> sizes;
  std::vector<Step> steps;
  std::vector<notation::Loop> loops;
  bool index32 = false;
  bool raw = false; ///< there is a function that takes arrays alone
};

/// The sizes of a slice that was stored by itself; of any other tensor its own.
std::vector<unsigned> ownSizes(Interface &kernel, const TensorInterface &tensor);

/// A parameter of NAME_raw: a size, or an array.
struct RawParameter {
  bool isSize;
  std::string name;
  std::string type;       ///< of an element, in C
  bool isWritten = false; ///< of an array
};
/// In order: sizes that are not fixed, then the arrays of each parameter; of results, and of tensors with
/// another's structure, the values alone.
std::vector<RawParameter> rawParameters(const Interface &kernel);

/// The interface of a program that became steps of that signature. Throws Error for what the ABI does not
/// express, with the cure.
Interface interfaceOf(const notation::Program &program, const engine::Signature &signature,
                      const std::string &name);

/// That of a conversion: A in one format becomes B in the other.
Interface interfaceOf(ElementType type, const format::Encoding &from, const format::Encoding &to,
                      const std::string &name);

/// Throws Error unless a function of C can be called so.
void checkName(const std::string &name);

/// The element type of an array as C spells it: `int32_t`, `double`; of types that C has not, their bits.
std::string cType(const Array &array);

} // namespace tulle::aot
