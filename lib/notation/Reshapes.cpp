// Tensors as parts or views of others: one that is read at digits of an index is another tensor, of which
// that index is one coordinate, in the same buffers where the levels allow it.
#include "notation/Program.h"

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

std::vector<int64_t> offsetsOf(const Program &program, const Concatenation &concat, unsigned dim) {
  const bool isAlong = std::ranges::count(concat.dims, dim) > 0;
  std::vector<int64_t> offsets{0};
  for (const Access &part : concat.parts)
    offsets.push_back(isAlong ? offsets.back() + program.tensors[part.tensor].dims[dim] : 0);
  return offsets;
}

} // namespace tulle::notation
