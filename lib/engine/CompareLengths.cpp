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
using runtime::Length;

/// The lengths that an operand gives an index, and the indices of their parents.
struct RaggedIndex {
  const Access *access;
  std::vector<unsigned> parents;
  std::vector<Length> lengths;
};

std::vector<RaggedIndex> raggedOperands(const notation::Statement &statement, unsigned index,
                                        const std::vector<const runtime::Tensor *> &ragged) {
  std::vector<RaggedIndex> found;
  for (const Access *access : notation::operandsOf(statement)) {
    const runtime::Tensor *tensor = ragged[access->tensor];
    if (!tensor)
      continue;
    RaggedIndex operand{access, {}, {}};
    for (unsigned d = 0; d < access->subscripts.size() && access->subscripts[d].isVariable(); ++d) {
      const unsigned own = access->subscripts[d].terms[0].first;
      if (own == index) {
        operand.lengths = lengthsOf(*tensor, d);
        break;
      }
      operand.parents.push_back(own);
    }
    if (!operand.lengths.empty())
      found.push_back(std::move(operand));
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
    std::map<std::vector<int64_t>, int64_t> known;
    for (const Length &length : fewer.lengths)
      known.emplace(parentOf(fewer, length), length.length);
    for (const Length &length : more.lengths) {
      const std::vector<int64_t> parent = parentOf(more, length);
      auto found = known.find(parent);
      if (found != known.end() && found->second != length.length)
        fail(parent, &fewer == &a ? found->second : length.length,
             &fewer == &a ? length.length : found->second);
    }
  }

  std::vector<int64_t> parentOf(const RaggedIndex &operand, const Length &length) const {
    std::vector<int64_t> parent;
    for (unsigned i : common)
      parent.push_back(
          length.parent[size_t(std::ranges::find(operand.parents, i) - operand.parents.begin())]);
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
