#include "interpreter/StoredBlocks.h"
#include "tulle/error.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace tulle::interpreter {
namespace {

using format::LevelKind;
using Coordinates = std::vector<int64_t>;

bool isFull(const format::Level &level) {
  return level.format.kind == LevelKind::Dense || level.format.kind == LevelKind::Batch;
}

/// Storage that follows from where entries are, level by level.
bool isPlain(const format::Encoding &encoding) {
  return format::digits(encoding) &&
         std::all_of(encoding.levels.begin(), encoding.levels.end(), [](const format::Level &level) {
           return level.format.kind <= LevelKind::Structured && level.format.ordered && !level.format.padded;
         });
}

class Blocks {
public:
  Blocks(DenseTensor &tensor, const format::Encoding &encoding)
      : tensor(tensor), encoding(encoding), digits(*format::digits(encoding)) {}

  void store() {
    unsigned end = unsigned(encoding.levels.size());
    for (unsigned l = 0; l < end; ++l)
      if (encoding.levels[l].format.kind == LevelKind::Structured)
        checkGroups(l);
    while (end > 0 && isFull(encoding.levels[end - 1]))
      --end;
    std::set<Coordinates> blocks;
    for (size_t at = 0; at < tensor.values.size(); ++at)
      if (tensor.stored[at])
        blocks.insert(levelCoordinates(at, end));
    for (size_t at = 0; at < tensor.values.size(); ++at)
      if (blocks.count(levelCoordinates(at, end)))
        tensor.stored[at] = true;
  }

private:
  /// The coordinates of an element in levels 0 .. end-1.
  Coordinates levelCoordinates(size_t at, unsigned end) const {
    Coordinates dims(tensor.dims.size()), levels;
    int64_t linear = int64_t(at);
    for (size_t d = dims.size(); d-- > 0; linear /= tensor.dims[d])
      dims[d] = linear % tensor.dims[d];
    for (unsigned l = 0; l < end; ++l) {
      int64_t c = dims[digits[l].dim] / digits[l].stride;
      levels.push_back(digits[l].modulus ? c % digits[l].modulus : c);
    }
    return levels;
  }

  void checkGroups(unsigned level) const {
    const bool all = std::all_of(encoding.levels.begin(), encoding.levels.begin() + level, isFull);
    std::map<Coordinates, std::set<int64_t>> groups;
    for (size_t at = 0; at < tensor.values.size(); ++at) {
      Coordinates group = levelCoordinates(at, level + 1);
      const int64_t coordinate = group.back();
      group.pop_back();
      if (tensor.stored[at])
        groups[group].insert(coordinate);
      else if (all)
        groups.try_emplace(group);
    }
    const size_t wanted = size_t(encoding.levels[level].format.n);
    for (const auto &[group, entries] : groups)
      if (entries.size() != wanted)
        throw Error(fmt::format("level {} of {} needs {} entries in every group, one has {}", level,
                                format::displayName(encoding), wanted, entries.size()));
  }

  DenseTensor &tensor;
  const format::Encoding &encoding;
  std::vector<format::Digit> digits;
};

} // namespace

void storeBlocks(DenseTensor &tensor, const format::Encoding &encoding) {
  if (isPlain(encoding))
    Blocks(tensor, encoding).store();
}

} // namespace tulle::interpreter
