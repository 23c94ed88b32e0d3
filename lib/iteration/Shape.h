// What planning derives once per operand: which of its levels a loop iterates.
#pragma once
#include "iteration/Plan.h"
#include <algorithm>
#include <set>
#include <tuple>

namespace tulle::iteration {

inline bool isFull(const format::LevelFormat &format) {
  return format.kind == format::LevelKind::Dense || format.kind == format::LevelKind::Batch;
}

struct Shape {
  const Operand *operand;
  std::vector<format::Digit> digits;
  bool sparse = false; ///< some level is not full
  std::vector<LevelMode> modes;

  explicit Shape(const Operand &op) : operand(&op), digits(*format::digits(op.encoding)) {
    std::set<std::tuple<unsigned, int64_t, int64_t>> driven;
    bool searching = false;
    for (size_t l = 0; l < digits.size(); ++l) {
      const auto &level = op.encoding.levels[l].format;
      if (isFull(level)) {
        modes.push_back(LevelMode::Locate);
        continue;
      }
      sparse = true;
      const Subscript &s = op.subscripts[digits[l].dim];
      // Below a searched level nothing can be iterated; a second level on the same digit (a diagonal) is
      // searched too.
      bool drive = !searching && s.isVariable() && !usedBefore(l) &&
                   driven.insert({s.terms[0].first, digits[l].stride, digits[l].modulus}).second;
      modes.push_back(drive ? LevelMode::Drive : LevelMode::Search);
      searching |= !drive;
    }
  }

  /// The index of level l already fixes an earlier dimension of this operand (`A(i,i)`).
  bool usedBefore(size_t l) const {
    unsigned index = operand->subscripts[digits[l].dim].terms[0].first;
    for (size_t k = 0; k < l; ++k)
      if (digits[k].dim != digits[l].dim)
        for (auto [other, coefficient] : operand->subscripts[digits[k].dim].terms)
          if (other == index)
            return true;
    return false;
  }
  unsigned index(size_t l) const { return operand->subscripts[digits[l].dim].terms[0].first; }
  std::vector<format::Digit> chain(unsigned dim) const {
    std::vector<format::Digit> result;
    for (const format::Digit &d : digits)
      if (d.dim == dim)
        result.push_back({0, d.stride, d.modulus});
    std::sort(result.begin(), result.end(), [](auto &a, auto &b) { return a.stride > b.stride; });
    return result;
  }
  bool drivesDim(unsigned dim) const {
    for (size_t l = 0; l < digits.size(); ++l)
      if (digits[l].dim == dim && modes[l] == LevelMode::Drive)
        return true;
    return false;
  }
};

} // namespace tulle::iteration
