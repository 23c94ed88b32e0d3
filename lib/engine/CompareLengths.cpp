// The lengths of an index are compared below the parents that two operands have in common: those of
// `B(i,l)` by i with those of `A(i,j,l)` by i, whatever j is.
#include "engine/CompareLengths.h"
#include "notation/Sparsity.h"
#include "runtime/tensor/Lengths.h"
#include "support/Errors.h"
#include <algorithm>
#include <fmt/ranges.h>
#include <map>

namespace tulle::engine {
namespace {

using notation::Access;
using runtime::Lengths;

/// An operand whose dimension of an index is ragged, and the indices of the dimensions before.
struct RaggedIndex {
  const Access *access;
  const runtime::Tensor *tensor;
  std::vector<unsigned> parents;

  Lengths lengths() const { return lengthsOf(*tensor, unsigned(parents.size())); }
};

std::vector<RaggedIndex> raggedOperands(const notation::Statement &statement, unsigned index,
                                        const std::vector<const runtime::Tensor *> &ragged) {
  std::vector<RaggedIndex> found;
  for (const Access *access : notation::operandsOf(statement)) {
    const runtime::Tensor *tensor = ragged[access->tensor];
    if (!tensor)
      continue;
    RaggedIndex operand{access, tensor, {}};
    for (unsigned d = 0; d < access->subscripts.size() && access->subscripts[d].isVariable(); ++d) {
      const unsigned own = access->subscripts[d].terms[0].first;
      if (own == index) {
        if (runtime::hasLengths(*tensor, d))
          found.push_back(operand);
        break;
      }
      operand.parents.push_back(own);
    }
  }
  return found;
}

class Comparison {
public:
  Comparison(const notation::Program &program, unsigned index, const RaggedIndex &a, const RaggedIndex &b)
      : program(program), index(index), a(a), b(b) {
    for (unsigned parent : a.parents)
      if (std::ranges::count(b.parents, parent) > 0)
        common.push_back(parent);
  }

  /// Lengths that depend on different parents say nothing about each other.
  void run() const {
    if (a.tensor == b.tensor && a.parents == b.parents)
      return;
    if (common.size() == a.parents.size())
      compare(a, b);
    else if (common.size() == b.parents.size())
      compare(b, a);
  }

private:
  const notation::Program &program;
  unsigned index;
  const RaggedIndex &a, &b;
  std::vector<unsigned> common; ///< indices of parents that both have

  /// `fewer` has no other parents than those in common.
  void compare(const RaggedIndex &fewer, const RaggedIndex &more) const {
    const Lengths few = fewer.lengths(), many = more.lengths();
    // Most operands have the same rows, and all lengths are equal.
    if (fewer.parents == more.parents && few.parents == many.parents && few.lengths == many.lengths)
      return;
    std::map<std::vector<int64_t>, int64_t> known;
    for (size_t k = 0; k < few.lengths.size(); ++k)
      known.emplace(parentOf(fewer, few.parent(k)), few.lengths[k]);
    for (size_t k = 0; k < many.lengths.size(); ++k) {
      const std::vector<int64_t> parent = parentOf(more, many.parent(k));
      auto found = known.find(parent);
      if (found != known.end() && found->second != many.lengths[k])
        fail(parent, &fewer == &a ? found->second : many.lengths[k],
             &fewer == &a ? many.lengths[k] : found->second);
    }
  }

  /// The coordinates of the parents in common.
  std::vector<int64_t> parentOf(const RaggedIndex &operand, std::span<const int64_t> coordinates) const {
    std::vector<int64_t> parent;
    for (unsigned i : common)
      parent.push_back(coordinates[size_t(std::ranges::find(operand.parents, i) - operand.parents.begin())]);
    return parent;
  }

  [[noreturn]] void fail(const std::vector<int64_t> &parent, int64_t of, int64_t other) const {
    std::vector<std::string> at;
    for (size_t k = 0; k < common.size(); ++k)
      at.push_back(fmt::format("{} = {}", program.indices[common[k]].name, parent[k]));
    throwError("index '{}' has length {} in {} and {} in {}{}{}; ragged operands of one statement have the "
               "same lengths",
               program.indices[index].name, of, notation::print(program, *a.access), other,
               notation::print(program, *b.access), at.empty() ? "" : " at ", fmt::join(at, ", "));
  }
};

} // namespace

void checkLengths(const notation::Program &program, const std::vector<const runtime::Tensor *> &ragged) {
  if (std::ranges::count(ragged, nullptr) == std::ptrdiff_t(ragged.size()))
    return;
  for (const notation::Statement &statement : program.statements)
    for (unsigned index = 0; index < program.indices.size(); ++index) {
      const std::vector<RaggedIndex> operands = raggedOperands(statement, index, ragged);
      for (size_t k = 1; k < operands.size(); ++k)
        Comparison(program, index, operands[0], operands[k]).run();
    }
}

} // namespace tulle::engine
