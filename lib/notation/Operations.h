// The table of operations: how each is spelled, what it is defined on, and how it passes zeros on. Private to
// this folder.
#pragma once
#include "notation/Program.h"
#include <algorithm>
#include <array>

namespace tulle::notation {

/// When an operation is 0 because operands are.
enum class ZeroRule : uint8_t { Never, First, Factor, EitherFactor, All, Special };

/// Classes of element types, as bits.
enum Types : uint8_t {
  Bools = 1,
  Integers = 2,
  Floats = 4,
  Complexes = 8,
  Bits = Bools | Integers,
  Ordered = Bits | Floats,
  Numbers = Integers | Floats | Complexes,
  AllTypes = Bools | Numbers
};

struct Operation {
  Op op;
  std::string_view sign; ///< empty where it is written as a function only
  uint8_t precedence;    ///< of a binary operator, 1 (comparisons) to 8; else 0
  std::string_view function;
  uint8_t minArgs, maxArgs; ///< of the function
  ZeroRule zero;
  uint8_t types; ///< its operands may have
  std::string_view cure = {};
};
inline constexpr uint8_t many = 64; ///< arguments

/// Functions are in the order in which errors list them.
inline constexpr Operation operations[] = {
    {Op::Convert, "", 0, "", 1, 1, ZeroRule::First, AllTypes},
    {Op::Neg, "-", 0, "", 1, 1, ZeroRule::First, Numbers, "negate with ~, or convert with i32(…)"},
    {Op::Not, "~", 0, "", 1, 1, ZeroRule::Never, Bits, "convert to an integer or compare first"},
    {Op::Abs, "", 0, "abs", 1, 1, ZeroRule::First, AllTypes},
    {Op::Sqrt, "", 0, "sqrt", 1, 1, ZeroRule::First, AllTypes},
    {Op::Exp, "", 0, "exp", 1, 1, ZeroRule::Never, AllTypes},
    {Op::Log, "", 0, "log", 1, 1, ZeroRule::Never, AllTypes},
    {Op::Sin, "", 0, "sin", 1, 1, ZeroRule::First, AllTypes},
    {Op::Cos, "", 0, "cos", 1, 1, ZeroRule::Never, AllTypes},
    {Op::Tanh, "", 0, "tanh", 1, 1, ZeroRule::First, AllTypes},
    {Op::Relu, "", 0, "relu", 1, 1, ZeroRule::First, Integers | Floats, "it needs an order with a zero"},
    {Op::Conj, "", 0, "conj", 1, 1, ZeroRule::First, AllTypes},
    {Op::Real, "", 0, "real", 1, 1, ZeroRule::First, AllTypes},
    {Op::Imag, "", 0, "imag", 1, 1, ZeroRule::First, Complexes, "its imaginary part is 0"},
    {Op::Pow, "**", 8, "pow", 2, 2, ZeroRule::Special, Numbers, "convert with i32(…) or f64(…)"},
    {Op::Min, "", 0, "min", 2, many, ZeroRule::All, Ordered, "complex numbers have no order; compare abs(…)"},
    {Op::Max, "", 0, "max", 2, many, ZeroRule::All, Ordered, "complex numbers have no order; compare abs(…)"},
    {Op::Select, "", 0, "select", 3, 3, ZeroRule::Special, AllTypes},
    {Op::Mod, "%", 7, "mod", 2, 2, ZeroRule::Factor, Integers | Floats, "it needs integers or real numbers"},
    {Op::Add, "+", 6, "", 2, 2, ZeroRule::All, AllTypes},
    {Op::Sub, "-", 6, "", 2, 2, ZeroRule::All, Numbers, "convert with i32(…) or f64(…)"},
    {Op::Mul, "*", 7, "", 2, 2, ZeroRule::EitherFactor, AllTypes},
    {Op::Div, "/", 7, "", 2, 2, ZeroRule::Factor, Numbers, "convert with i32(…) or f64(…)"},
    {Op::And, "&", 4, "", 2, 2, ZeroRule::EitherFactor, Bits,
     "it works on bool and integers; convert with i64(…)"},
    {Op::Or, "|", 2, "", 2, 2, ZeroRule::All, Bits, "it works on bool and integers; convert with i64(…)"},
    {Op::Xor, "^", 3, "", 2, 2, ZeroRule::All, Bits,
     "it is exclusive or, of bool and integers; a power is written **"},
    {Op::Shl, "<<", 5, "", 2, 2, ZeroRule::Factor, Integers, "it works on integers; convert with i64(…)"},
    {Op::Shr, ">>", 5, "", 2, 2, ZeroRule::Factor, Integers, "it works on integers; convert with i64(…)"},
    {Op::Eq, "==", 1, "", 2, 2, ZeroRule::Special, AllTypes},
    {Op::Ne, "!=", 1, "", 2, 2, ZeroRule::Special, AllTypes},
    {Op::Lt, "<", 1, "", 2, 2, ZeroRule::Special, Ordered, "complex numbers have no order; compare abs(…)"},
    {Op::Le, "<=", 1, "", 2, 2, ZeroRule::Special, Ordered, "complex numbers have no order; compare abs(…)"},
    {Op::Gt, ">", 1, "", 2, 2, ZeroRule::Special, Ordered, "complex numbers have no order; compare abs(…)"},
    {Op::Ge, ">=", 1, "", 2, 2, ZeroRule::Special, Ordered, "complex numbers have no order; compare abs(…)"},
};

/// The row of an operation other than Literal, Access and Index. The interpreter asks at each point.
inline const Operation &operation(Op op) {
  static constexpr auto rows = [] {
    std::array<uint8_t, size_t(Op::Select) + 1> made{};
    for (uint8_t row = 0; row < std::size(operations); ++row)
      made[size_t(operations[row].op)] = row;
    return made;
  }();
  return operations[rows[size_t(op)]];
}

/// The row of a function; null for a name that is none.
inline const Operation *findFunction(std::string_view name) {
  const Operation *found = std::ranges::find(operations, name, &Operation::function);
  return name.empty() || found == std::end(operations) ? nullptr : found;
}

inline std::vector<std::string> functionNames() {
  std::vector<std::string> names;
  for (const Operation &operation : operations)
    if (!operation.function.empty())
      names.emplace_back(operation.function);
  return names;
}

/// Functions, types, words of statements, literals: what no tensor and no index may be called.
inline bool isReserved(std::string_view name) {
  constexpr std::string_view words[] = {"where", "repeat", "until", "else", "concat", "stack",
                                        "set",   "inf",    "nan",   "true", "false"};
  return findFunction(name) || parseElementType(name) || std::ranges::find(words, name) != std::end(words);
}

} // namespace tulle::notation
