// Sizes propagate between plain subscripts until nothing changes; then one more index or dimension gets the
// size that its sums leave, and propagation goes on.
#include "notation/Resolve.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tulle::notation {
namespace {

using Wide = __int128; ///< coefficients are below 2^40, sizes below 2^63, at most a few thousand terms

int64_t clamp(Wide value) { return int64_t(std::clamp(value, -(Wide(1) << 62), Wide(1) << 62)); }

class Sizes {
public:
  Sizes(ResolvedProgram &r, const std::map<std::string, std::vector<int64_t>> &known)
      : r(r), indexFrom(r.indices.size()), dimFrom(r.tensors.size()) {
    for (unsigned t = 0; t < r.tensors.size(); ++t)
      dimFrom[t].resize(r.orders[t]);
    for (const auto &[name, dims] : known)
      if (auto t = r.tensor(name))
        give(*t, dims);
  }

  void run() {
    do
      propagatePlain();
    while (addParts() || inferOneIndex() || inferOneDim());
    checkParts();
    for (const Use &use : r.uses)
      for (unsigned d = 0; d < use.access.subscripts.size(); ++d)
        checkRange(use, d);
  }

private:
  struct Origin {
    unsigned tensor = 0, dim = 0;
    SourceRange range;
  };
  ResolvedProgram &r;
  std::vector<Origin> indexFrom;                           ///< where an index got its size
  std::vector<std::vector<std::optional<Origin>>> dimFrom; ///< the same of dimensions; absent: it was given

  void give(unsigned t, const std::vector<int64_t> &dims) {
    auto uses = [&](const Use &use) { return use.access.tensor == t; };
    const SourceRange range = std::ranges::find_if(r.uses, uses)->access.range;
    if (dims.size() != r.orders[t])
      r.fail(range, fmt::format("'{}' has {} dimension{}, but {} subscript{} here", r.tensors[t], dims.size(),
                                dims.size() == 1 ? "" : "s", r.orders[t], r.orders[t] == 1 ? "" : "s"));
    for (unsigned d = 0; d < dims.size(); ++d)
      if (dims[d] < -1)
        r.fail(range, fmt::format("dimension {} of '{}' has size {}; sizes are not negative", d + 1,
                                  r.tensors[t], dims[d]));
    r.dims[t] = dims;
  }

  std::string describe(const Origin &p) const {
    return fmt::format("dimension {} of {}", p.dim + 1, r.tensors[p.tensor]);
  }
  static bool isPlain(const Use &use, unsigned d) { return use.access.subscripts[d].isVariable(); }

  void propagatePlain() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Use &use : r.uses)
        for (unsigned d = 0; d < use.access.subscripts.size(); ++d)
          if (isPlain(use, d))
            changed |= unify(use, d);
    }
  }

  bool unify(const Use &use, unsigned d) {
    unsigned index = use.access.subscripts[d].terms[0].first;
    int64_t &size = r.indices[index].size, &dim = r.dims[use.access.tensor][d];
    Origin here = {use.access.tensor, d, use.access.subscripts[d].range};
    if (size < 0 && dim >= 0) {
      size = dim;
      indexFrom[index] = here;
      return true;
    }
    if (dim < 0 && size >= 0) {
      dim = size;
      dimFrom[use.access.tensor][d] = here;
      return true;
    }
    if (size != dim)
      clash(index, here, dim);
    return false;
  }

  [[noreturn]] void clash(unsigned index, const Origin &here, int64_t dim) const {
    const Origin &first = indexFrom[index];
    std::vector<support::Note> notes = {
        {first.range, fmt::format("size {} comes from {}", r.indices[index].size, describe(first))}};
    if (const auto &from = dimFrom[here.tensor][here.dim])
      notes.push_back({from->range, fmt::format("{} got size {} here", describe(here), dim)});
    r.fail(here.range,
           fmt::format("index '{}' has size {} in {}, but size {} in {}", r.indices[index].name,
                       r.indices[index].size, describe(first), dim, describe(here)),
           notes);
  }

  /// A dimension of a concatenation is as large as its parts together: one of them follows from the others.
  bool addParts() {
    for (const ParsedStatement &s : r.statements)
      for (unsigned d : s.concat.dims) {
        int64_t &whole = r.indices[s.lhs.subscripts[d].terms[0].first].size;
        const auto [sum, unknown] = sumOfParts(s, d);
        if (!unknown && whole < 0) {
          whole = sizeOfParts(s, sum);
          indexFrom[s.lhs.subscripts[d].terms[0].first] = {s.concat.parts[0].tensor, d,
                                                           s.concat.parts[0].range};
        } else if (unknown && unknown->second == 1 && whole >= sum) {
          r.indices[unknown->first].size = int64_t(whole - sum);
          indexFrom[unknown->first] = {s.lhs.tensor, d, s.lhs.subscripts[d].range};
        } else {
          continue;
        }
        return true;
      }
    return false;
  }

  /// The sizes that are known, and, of those that are not, an index and how many there are.
  std::pair<Wide, std::optional<std::pair<unsigned, unsigned>>> sumOfParts(const ParsedStatement &s,
                                                                           unsigned d) const {
    if (s.concat.stacks)
      return {Wide(s.concat.parts.size()), std::nullopt};
    Wide sum = 0;
    std::optional<std::pair<unsigned, unsigned>> unknown;
    for (const Access &part : s.concat.parts) {
      const unsigned index = part.subscripts[d].terms[0].first;
      if (r.indices[index].size < 0)
        unknown = {index, unknown ? unknown->second + 1 : 1};
      else
        sum += r.indices[index].size;
    }
    return {sum, unknown};
  }

  int64_t sizeOfParts(const ParsedStatement &s, Wide sum) const {
    if (sum > clamp(sum))
      r.fail(s.range, "the parts together have more than 2^62 coordinates");
    return int64_t(sum);
  }

  void checkParts() const {
    for (const ParsedStatement &s : r.statements)
      for (unsigned d : s.concat.dims) {
        const unsigned index = s.lhs.subscripts[d].terms[0].first;
        const auto [sum, unknown] = sumOfParts(s, d);
        const int64_t size = r.indices[index].size;
        if (size >= 0 && (unknown ? size < sum : size != sizeOfParts(s, sum)))
          r.fail(s.lhs.subscripts[d].range,
                 fmt::format("index '{}' has size {}, but the parts together have {}", r.indices[index].name,
                             size, clamp(sum)));
      }
  }

  /// The smallest and largest value that the known terms of a subscript take, and the terms without a size.
  struct Bounds {
    Wide low, high;
    std::vector<std::pair<unsigned, int64_t>> unknown;
  };
  Bounds bounds(const Affine &affine) const {
    Bounds known{affine.constant, affine.constant, {}};
    for (const auto &term : affine.terms) {
      const int64_t size = r.indices[term.first].size;
      const Wide reach = size > 0 ? Wide(term.second) * (size - 1) : 0;
      (reach < 0 ? known.low : known.high) += reach;
      if (size < 0)
        known.unknown.push_back(term);
    }
    if (affine.isDigit()) {
      known.high /= affine.divisor;
      if (affine.modulus != 0)
        known.high = std::min(known.high, Wide(affine.modulus - 1));
    }
    return known;
  }

  /// An index that no plain subscript sizes runs as far as every subscript that holds it stays inside its
  /// dimension (a "valid" convolution).
  bool inferOneIndex() {
    for (unsigned index = 0; index < r.indices.size(); ++index) {
      if (r.indices[index].size >= 0)
        continue;
      std::optional<Wide> best;
      for (const Use &use : r.uses)
        for (unsigned d = 0; d < use.access.subscripts.size(); ++d) {
          const Affine &subscript = use.access.subscripts[d];
          const int64_t dim = subscript.limit.value_or(r.dims[use.access.tensor][d]);
          const Bounds known = bounds(subscript);
          if (dim < 0 || known.unknown.size() != 1 || known.unknown[0].first != index)
            continue;
          // c*i + high <= dim-1 for a positive c, c*i + low >= 0 for a negative one.
          if (subscript.modulus != 0) // says how far a digit runs, not the index
            continue;
          const Wide step = known.unknown[0].second,
                     reach = step > 0 ? Wide(dim) - 1 - known.high : known.low,
                     size = reach < 0 ? 0 : (reach / (step > 0 ? step : -step) + 1) * subscript.divisor;
          if (!best || size < *best) {
            best = size;
            indexFrom[index] = {use.access.tensor, d, subscript.range};
          }
        }
      if (best) {
        r.indices[index].size = clamp(*best);
        return true;
      }
    }
    return false;
  }

  /// A dimension that only sums of indices reach is as large as the largest of them needs.
  bool inferOneDim() {
    bool found = false;
    for (const Use &use : r.uses)
      for (unsigned d = 0; d < use.access.subscripts.size(); ++d) {
        const Affine &subscript = use.access.subscripts[d];
        const Bounds known = bounds(subscript);
        auto &from = dimFrom[use.access.tensor][d];
        int64_t &dim = r.dims[use.access.tensor][d];
        if ((dim >= 0 && !from) || isPlain(use, d) || !known.unknown.empty())
          continue;
        const Wide need = std::max(Wide(subscript.limit.value_or(0)), known.high + 1);
        if (need > clamp(need))
          r.fail(subscript.range, "the subscript reaches beyond 2^62");
        if (dim < 0 || (inferred.count(&dim) && need > dim)) {
          dim = int64_t(std::max(need, Wide(0)));
          from = Origin{use.access.tensor, d, subscript.range};
          inferred.insert(&dim);
          found = true;
        }
      }
    return found;
  }
  std::set<const int64_t *> inferred; ///< dimensions sized by inferOneDim, which may still grow

  void checkRange(const Use &use, unsigned d) const {
    const Affine &affine = use.access.subscripts[d];
    int64_t dim = r.dims[use.access.tensor][d];
    const std::optional<int64_t> limit = affine.limit;
    const SourceRange range = affine.range;
    Origin here = {use.access.tensor, d, range};
    if (limit && dim >= 0 && *limit > dim)
      r.fail(range, fmt::format("the slice ends before {}, but {} has size {}", *limit, describe(here), dim));
    if (dim < 0 || isPlain(use, d))
      return;
    const auto [low, high, unknown] = bounds(affine);
    if (!unknown.empty())
      return;
    std::vector<support::Note> notes;
    for (const auto &term : affine.terms) {
      if (r.indices[term.first].size == 0)
        return; // no iteration, no access
      const Origin &from = indexFrom[term.first];
      if (from.range.begin != range.begin)
        notes.push_back({from.range, fmt::format("index '{0}' has size {1} from {2}; {0}+0 would leave the "
                                                 "size to the sums",
                                                 r.indices[term.first].name, r.indices[term.first].size,
                                                 describe(from))});
    }
    const int64_t end = limit.value_or(dim);
    if (low < 0 || high >= end)
      r.fail(range,
             fmt::format("the subscript takes values from {} to {}, but {}{} {}", clamp(low), clamp(high),
                         limit ? "the slice of " : "", describe(here),
                         limit ? fmt::format("ends before {}", end) : fmt::format("has size {}", end)),
             notes);
  }
};

} // namespace

void inferSizes(ResolvedProgram &resolved, const std::map<std::string, std::vector<int64_t>> &known) {
  ResolvedProgram open = resolved;
  Sizes(resolved, known).run();
  // Tensors of one structure have the sizes of its dimensions in common.
  std::map<std::string, std::vector<int64_t>> completed;
  for (unsigned t = 0; t < resolved.tensors.size(); ++t)
    if (const std::optional<unsigned> pattern = resolved.like[t])
      for (size_t d = 0; d < std::min(resolved.orders[t], resolved.orders[*pattern]); ++d) {
        const int64_t own = resolved.dims[t][d], other = resolved.dims[*pattern][d];
        if ((own < 0) == (other < 0))
          continue;
        const unsigned unknown = own < 0 ? t : *pattern;
        completed.try_emplace(resolved.tensors[unknown], resolved.dims[unknown]).first->second[d] =
            std::max(own, other);
      }
  if (completed.empty())
    return;
  completed.insert(known.begin(), known.end());
  resolved = std::move(open);
  inferSizes(resolved, completed);
}

std::map<std::string, std::vector<int64_t>>
inferDims(std::string_view text, const std::map<std::string, std::vector<int64_t>> &known,
          const Likes &likes) {
  ResolvedProgram resolved = resolve(text, likes);
  inferSizes(resolved, known);
  std::map<std::string, std::vector<int64_t>> result;
  for (unsigned t = 0; t < resolved.tensors.size(); ++t)
    result[resolved.tensors[t]] = resolved.dims[t];
  return result;
}

std::vector<TensorUse> tensorsUsed(std::string_view text, const Likes &likes) {
  ResolvedProgram resolved = resolve(text, likes);
  std::vector<TensorUse> result;
  for (unsigned t = 0; t < resolved.tensors.size(); ++t)
    result.push_back(
        {resolved.tensors[t], resolved.orders[t], /*read=*/false, /*written=*/false, /*first=*/false});
  std::vector<std::optional<unsigned>> writer(result.size()); // the first statement that writes it
  for (const Use &use : resolved.uses) {
    TensorUse &tensor = result[use.access.tensor];
    auto &first = writer[use.access.tensor];
    // What a statement reads, or adds to, was there before it.
    if (use.written ? !first && resolved.addsInRounds(use.statement) : !first || *first == use.statement)
      tensor.first = true;
    if (use.written)
      first = first.value_or(use.statement);
    (use.written ? tensor.written : tensor.read) = true;
  }
  for (const auto &like : resolved.like)
    if (like) {
      result[*like].read = true;
      result[*like].first |= !result[*like].written;
    }
  for (const Loop &loop : resolved.loops)
    if (loop.until)
      std::erase_if(result, [&](const TensorUse &use) { return use.name == resolved.tensors[*loop.until]; });
  return result;
}

std::vector<std::string> tensorsWritten(std::string_view text) {
  const ResolvedProgram resolved = resolve(text, {});
  std::vector<unsigned> written;
  for (const Use &use : resolved.uses)
    if (use.written) {
      std::erase(written, use.access.tensor);
      written.push_back(use.access.tensor);
    }
  for (const Loop &loop : resolved.loops)
    if (loop.until)
      std::erase(written, *loop.until);
  std::vector<std::string> names;
  for (unsigned t : written)
    names.push_back(resolved.tensors[t]);
  return names;
}

} // namespace tulle::notation
