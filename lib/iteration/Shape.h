// What planning derives once per operand: which of its levels a loop iterates.
#pragma once
#include "iteration/Plan.h"
#include <algorithm>
#include <functional>

namespace tulle::iteration {

struct Shape {
  const Operand *operand;
  std::vector<format::Digit> digits;
  bool sparse = false; ///< some level is not full
  std::vector<LevelMode> modes;

  explicit Shape(const Operand &op) : operand(&op), digits(*format::digits(op.encoding)) {
    bool searching = false;
    for (size_t l = 0; l < digits.size(); ++l) {
      if (format::isFull(op.encoding.levels[l].format)) {
        modes.push_back(LevelMode::Locate);
        continue;
      }
      sparse = true;
      // Below a searched level nothing can be iterated; a second level on the same digit (a diagonal) is
      // searched too.
      searching = searching || !subscript(l).isFollowed() || usedBefore(l) || drives(loop(l));
      modes.push_back(searching ? LevelMode::Search : LevelMode::Drive);
    }
  }

  const Subscript &subscript(size_t l) const { return operand->subscripts[digits[l].dim]; }
  unsigned index(size_t l) const { return subscript(l).terms[0].first; }
  LoopVar loop(size_t l) const { return {index(l), digits[l].stride, digits[l].modulus}; }

  /// The index of level l already fixes an earlier dimension of this operand (`A(i,i)`).
  bool usedBefore(size_t l) const {
    for (size_t k = 0; k < l; ++k)
      if (digits[k].dim != digits[l].dim)
        for (auto [other, coefficient] : subscript(k).terms)
          if (other == index(l))
            return true;
    return false;
  }
  /// The loops over a dimension whose subscript is a variable, outermost first.
  std::vector<LoopVar> chain(unsigned dim) const {
    std::vector<LoopVar> result;
    for (size_t l = 0; l < digits.size(); ++l)
      if (digits[l].dim == dim)
        result.push_back(loop(l));
    std::ranges::sort(result, std::greater(), &LoopVar::stride);
    return result;
  }
  /// The levels that loops iterate.
  std::vector<size_t> driven() const {
    std::vector<size_t> result;
    for (size_t l = 0; l < modes.size(); ++l)
      if (modes[l] == LevelMode::Drive)
        result.push_back(l);
    return result;
  }
  bool drives(const LoopVar &v) const {
    return std::ranges::any_of(driven(), [&](size_t l) { return loop(l) == v; });
  }
};

} // namespace tulle::iteration
