// Tensors as parts or views of others: one that is read at digits of an index is another tensor, of which
// that index is one coordinate, in the same buffers where the levels allow it.
#include "notation/Program.h"
#include <algorithm>

namespace tulle::notation {

Reshape reshapeOf(const Access &access) {
  Reshape made;
  for (const Affine &subscript : access.subscripts) {
    Affine whole = subscript;
    whole.divisor = 1;
    whole.modulus = 0;
    auto isSame = [&](const Affine &other) { return subscript.isDigit() && other.equals(whole); };
    const auto known = std::ranges::find_if(made.subscripts, isSame);
    const auto dim = unsigned(known - made.subscripts.begin());
    if (known == made.subscripts.end())
      made.subscripts.push_back(whole);
    made.digits.push_back({dim, subscript.divisor, subscript.modulus});
  }
  return made;
}

/// The terms of a sum, largest factor first, where each value below the size is one of the sum, and only one;
/// else none.
static std::vector<std::pair<unsigned, int64_t>> places(const Program &program, const Affine &subscript,
                                                        int64_t size) {
  auto terms = subscript.terms;
  std::ranges::sort(terms, {}, [](const auto &term) { return term.second; });
  __int128 reached = 1;
  for (const auto &[index, factor] : terms) {
    const int64_t count = program.indices[index].size;
    const bool isHighest = index == terms.back().first;
    if (factor != reached || (count < 2 && !isHighest)) // of one value, there is no digit
      return {};
    reached *= count;
  }
  if (terms.size() < 2 || subscript.constant != 0 || subscript.limit || subscript.isDigit() ||
      reached != size)
    return {};
  std::ranges::reverse(terms);
  return terms;
}

std::optional<Reshape> expansionOf(const Program &program, const Access &access) {
  Reshape made;
  for (unsigned d = 0; d < access.subscripts.size(); ++d) {
    const auto terms = places(program, access.subscripts[d], program.tensors[access.tensor].dims[d]);
    for (const auto &[index, factor] : terms) {
      Affine &plain = made.subscripts.emplace_back();
      plain.terms = {{index, 1}};
      plain.range = access.subscripts[d].range;
      const bool isHighest = index == terms.front().first;
      made.digits.push_back({d, factor, isHighest ? 0 : program.indices[index].size});
    }
    if (terms.empty()) {
      made.subscripts.push_back(access.subscripts[d]);
      made.digits.push_back({d, 1, 0});
    }
  }
  return made.digits.size() > access.subscripts.size() ? std::optional(made) : std::nullopt;
}

std::vector<int64_t> offsetsOf(const Program &program, const Concatenation &concat, unsigned dim) {
  const bool isAlong = std::ranges::count(concat.dims, dim) > 0;
  std::vector<int64_t> offsets{0};
  for (const Access &part : concat.parts) {
    const int64_t size = !isAlong ? 0 : concat.stacks ? 1 : program.tensors[part.tensor].dims[dim];
    offsets.push_back(offsets.back() + size);
  }
  return offsets;
}

} // namespace tulle::notation
