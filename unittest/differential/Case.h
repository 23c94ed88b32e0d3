// One random program with its data, in a form that can be shrunk.
#pragma once
#include "interpreter/Interpreter.h"
#include "notation/Program.h"
#include "runtime/tensor/Tensor.h"
#include <map>

namespace tulle::differential {

/// An expression as text that knows its parts.
struct Tree {
  enum class Kind { Leaf, Prefix, Infix, Call } kind = Kind::Leaf;
  std::string head; ///< the leaf's text, the operator, or the function's name
  std::vector<Tree> args;
  std::string text() const;
};

struct StatementText {
  std::string lhs, assign;
  Tree rhs;
  std::string where; ///< empty: none
  std::string text() const;
};

/// An input: its format and what is stored in it.
struct Given {
  ElementType type = ElementType::F64;
  std::vector<int64_t> dims;
  std::string format; ///< encoding text or preset
  /// Of each dimension, or none: what is stored is larger, has entries outside as well, and is cut.
  std::vector<std::optional<format::Slice>> slices;
  /// Of each dimension, or none: how long it is below each coordinate of the first; empty: as long as it is.
  std::vector<std::vector<int64_t>> lengths;
  std::vector<std::vector<int64_t>> entries; ///< coordinates
  std::vector<Scalar> values;
};

struct ResultChoice {
  std::optional<ElementType> type;
  std::vector<int64_t> dims;
  std::string format; ///< empty: dense
};

/// `repeat rounds { … } until …` around the statements [begin, end).
struct LoopText {
  unsigned begin, end, rounds;
  std::string until; ///< empty: none
};

struct Case {
  uint64_t seed = 0;
  std::vector<StatementText> statements;
  std::vector<LoopText> loops; ///< nested, outer ones first
  std::map<std::string, Given> inputs;
  std::map<std::string, ResultChoice> results;
  notation::Likes likes; ///< inputs and results that have the structure of an input
  std::string text() const;
  /// Everything needed to see and repeat the case.
  std::string describe() const;
};

/// Whether a mask reads the tensor: then values depend on what its format stores.
bool readsInMask(const Case &c, const std::string &name);

/// Puts loops around statements of a program now and then, and adds one that changes what the next round
/// reads.
void addLoops(Case &c);

/// Puts indices that tensors give in the place of plain ones now and then.
void addIndirections(Case &c);

/// Multiplies by a tensor that is read at digits of an index now and then.
void addDigits(Case &c);

/// Multiplies by a tensor that is read at a sum of two indices now and then.
void addSum(Case &c);

/// Takes the values of indices, and compares them in masks, now and then.
void addIndexValues(Case &c);

/// Makes what statements read of several parts, by a statement before them, now and then.
void addConcatenation(Case &c);

/// A program of one to three statements, some of them in loops, executable formats, and data; a pure function
/// of the seed and of how many operands its statements have at most (0: four, and eight in a few programs).
Case generate(uint64_t seed, unsigned operands = 0);

/// A program with its data, and what it means: by tensor of the program, inputs and all values.
struct Meaning {
  notation::Program program;
  std::vector<std::optional<runtime::Tensor>> tensors;
  std::vector<interpreter::DenseTensor> expected;
};
/// Throws Error where the checker refuses the program, or a format cannot hold the result.
Meaning interpret(const Case &c);
/// Largest difference that reassociated sums and other libraries' functions may make.
double tolerance(const notation::Program &program, ElementType type,
                 const interpreter::DenseTensor &expected);

/// The case with its answers as a line of JSON, for other callers of the compiler; empty where the checker
/// refuses it, and where inputs are ragged, slices, or like another.
std::string toJson(const Case &c);

struct Verdict {
  enum class Kind { Agrees, Skipped, Refused, Differs } kind = Kind::Agrees;
  std::string message;
};

/// Whether MLIR's passes run on the loops over sets of coordinates; else they do for one program in four.
extern std::optional<bool> upstreamPasses;
/// Whether some loops over sets, drawn by the seed, are lowered before the others; else they are for one
/// program in six.
extern std::optional<bool> lowerLoops;

/// Compiles, runs and compares with the interpreter: values (within the error of reassociated sums), stored
/// patterns, and the invariants of every result. Skipped: the checker refuses the program; Refused: the
/// compiler does.
Verdict judge(const Case &c);

/// The same with this schedule: it is refused by an error that points into its text, or changes no answer.
Verdict judge(const Case &c, const std::string &schedule, unsigned threads);

/// Compiles with all optimizations for one thread, and runs nothing: milliseconds of the processor, or
/// nothing where checker or compiler refuse.
std::optional<double> compileTime(const Case &c);

/// The smallest case found, by dropping parts one at a time, that still fails with the same kind of verdict.
Case shrink(const Case &c);

notation::Program checked(const Case &c, const std::map<std::string, runtime::Tensor> &inputs);
std::map<std::string, runtime::Tensor> pack(const Case &c);

} // namespace tulle::differential
