// An index has one size in all tensors that it runs over: it is a constant in each of them, or in none.
#include "notation/FixedSizes.h"
#include "notation/Sparsity.h"
#include <set>

namespace tulle::notation {

namespace {

/// Longer rows are more vectors than there are registers (experiment 122).
constexpr int64_t kMostBytes = 1024;

class FixedSizes {
public:
  explicit FixedSizes(const Program &program) : program(program), fixed(program.indices.size(), false) {
    for (const TensorDecl &tensor : program.tensors)
      dimensions.emplace_back(tensor.dims.size(), false);
    for (const Statement &statement : program.statements)
      forEachOf(statement, [&](const Access &access) {
        const TensorDecl &tensor = program.tensors[access.tensor];
        dimensions[access.tensor].assign(tensor.dims.size(),
                                         format::isAllDense(tensor.encoding) && !tensor.like);
      });
    for (const Statement &statement : program.statements) {
      forEachOf(statement, [&](const Access &access) { read(statement, access); });
      for (const Indirection &given : statement.indirections)
        excluded.insert(given.index);
    }
    while (spread())
      ;
  }

  std::vector<std::vector<bool>> result() const { return dimensions; }

private:
  template <class Visit> static void forEachOf(const Statement &statement, const Visit &visit) {
    visit(statement.lhs);
    for (const Access *access : accesses(statement))
      visit(*access);
  }

  /// Which indices may have constant sizes, and which dimensions may not.
  void read(const Statement &statement, const Access &access) {
    const TensorDecl &tensor = program.tensors[access.tensor];
    const bool whole = !statement.part && statement.concat.isNone();
    for (size_t d = 0; d < access.subscripts.size(); ++d) {
      const Affine &subscript = access.subscripts[d];
      const bool row = d > 0 && d + 1 == access.subscripts.size();
      const int64_t size = tensor.dims[d];
      const bool fits = size > 0 && (!row || size <= kMostBytes / byteWidth(tensor.type));
      if (!whole || !subscript.isVariable() || !fits)
        dimensions[access.tensor][d] = false;
      else if (row && dimensions[access.tensor][d])
        fixed[subscript.terms[0].first] = true;
    }
  }

  /// Makes an index and the dimensions that it runs over alike; whether something changed.
  bool spread() {
    bool changed = false;
    auto join = [&](const Access &access) {
      for (size_t d = 0; d < access.subscripts.size(); ++d)
        for (auto [index, coefficient] : access.subscripts[d].terms) {
          const bool both = fixed[index] && !excluded.contains(index) && dimensions[access.tensor][d];
          changed |= both != fixed[index] || both != dimensions[access.tensor][d];
          fixed[index] = both;
          dimensions[access.tensor][d] = both;
        }
    };
    for (const Statement &statement : program.statements)
      forEachOf(statement, join);
    return changed;
  }

  const Program &program;
  std::vector<bool> fixed;     ///< by index
  std::set<unsigned> excluded; ///< indices that tensors give
  std::vector<std::vector<bool>> dimensions;
};

} // namespace

std::vector<std::vector<bool>> fixedSizes(const Program &program) { return FixedSizes(program).result(); }

} // namespace tulle::notation
