// An encoding as the tree of levels that binsparse nests in JSON, and back through the encoding's text.
#include "runtime/io/H5.h"
#include "runtime/io/Text.h"
#include <numeric>

namespace tulle::runtime::io {

using format::LevelKind;
using Json = nlohmann::json;

namespace {

/// How many levels from `l` are one of binsparse: 0 where it has none like it.
size_t levelsFrom(const format::Encoding &encoding, size_t l) {
  const format::LevelFormat &first = encoding.levels[l].format;
  if (first.kind == LevelKind::Dense)
    return 1;
  if (first.kind != LevelKind::Compressed)
    return 0;
  size_t end = l + 1;
  while (end < encoding.levels.size() && encoding.levels[end].format.kind == LevelKind::Singleton)
    ++end;
  for (size_t k = l; k < end; ++k) {
    const format::LevelFormat &level = encoding.levels[k].format;
    if (!level.ordered || level.padded || level.unique != (k + 1 == end))
      return 0;
  }
  return end - l;
}

class DescriptionReader : NamesFile {
public:
  DescriptionReader(const std::string &file, size_t order) : NamesFile{file}, order(order) {}

  format::Encoding run(const Json &custom) {
    if (order == 0 || order > mostLevels)
      fail("'shape' has {} sizes, expected 1 to {} for levels", order, mostLevels);
    transpose(custom);
    const Json *level = &child(custom, "level");
    while (kindOf(*level) != "element") {
      add(*level);
      level = &child(*level, "level");
    }
    if (levels.size() != order)
      fail("the levels of 'custom' have {} dimensions, but 'shape' has {}", levels.size(), order);
    std::string text, dims;
    for (size_t l = 0; l < order; ++l) {
      dims += fmt::format("{}d{}", l ? ", " : "", l);
      text += fmt::format("{}d{} : {}", l ? ", " : "", dimensions[l], levels[l]);
    }
    return format::parseEncoding(fmt::format("({}) -> ({})", dims, text));
  }

private:
  const Json &child(const Json &parent, const char *key) const {
    if (!parent.is_object() || !parent.contains(key))
      fail("a level of 'custom' lacks '{}'", key);
    return parent[key];
  }
  std::string kindOf(const Json &level) const {
    const Json &kind = child(level, "level_desc");
    return kind.is_string() ? kind.get<std::string>() : kind.dump();
  }

  void transpose(const Json &custom) {
    dimensions.resize(order);
    std::iota(dimensions.begin(), dimensions.end(), size_t(0));
    auto found = custom.find("transpose");
    if (found == custom.end() || found->is_null())
      return;
    std::vector<bool> seen(order);
    bool legal = found->is_array() && found->size() == order;
    for (size_t l = 0; legal && l < order; ++l) {
      const Json &d = (*found)[l];
      legal = d.is_number_unsigned() && d.get<uint64_t>() < order && !seen[d.get<uint64_t>()];
      if (legal)
        seen[dimensions[l] = d.get<uint64_t>()] = true;
    }
    if (!legal)
      fail("'transpose' is {}, expected each of 0 to {} once", io::quoted(found->dump()), order - 1);
  }

  void add(const Json &level) {
    const std::string kind = kindOf(level);
    const Json &rank = child(level, "rank");
    if (!rank.is_number_unsigned() || rank.get<uint64_t>() < 1 ||
        rank.get<uint64_t>() > order - levels.size())
      fail("the rank of a level of 'custom' is {}; {} dimensions are left", io::quoted(rank.dump()),
           order - levels.size());
    const size_t count = rank.get<uint64_t>();
    if (kind == "dense") {
      levels.insert(levels.end(), count, "dense");
    } else if (kind == "sparse") {
      levels.push_back(count == 1 ? "compressed" : "compressed(nonunique)");
      for (size_t k = 1; k < count; ++k)
        levels.push_back(k + 1 == count ? "singleton(soa)" : "singleton(nonunique, soa)");
    } else {
      fail("the level '{}' of 'custom' is unknown; dense, sparse and element are", io::quoted(kind));
    }
  }

  size_t order;
  std::vector<size_t> dimensions; ///< of each level
  std::vector<std::string> levels;
};

} // namespace

std::optional<nlohmann::ordered_json> levelsOf(const format::Encoding &encoding) {
  const size_t order = encoding.order();
  if (encoding.levels.size() != order || order == 0 || order > mostLevels)
    return std::nullopt;
  std::vector<int64_t> dimensions;
  bool moved = false;
  for (size_t l = 0; l < order; ++l) {
    const format::Expr &e = encoding.levels[l].expr;
    if (e->kind != format::ExprKind::Dim)
      return std::nullopt;
    dimensions.push_back(e->value);
    moved |= e->value != int64_t(l);
  }
  std::vector<std::pair<const char *, size_t>> parts;
  for (size_t l = 0; l < order; l += parts.back().second) {
    const size_t count = levelsFrom(encoding, l);
    if (count == 0)
      return std::nullopt;
    parts.emplace_back(encoding.levels[l].format.kind == LevelKind::Dense ? "dense" : "sparse", count);
  }
  nlohmann::ordered_json level = {{"level_desc", "element"}};
  for (size_t p = parts.size(); p-- > 0;)
    level = {{"level_desc", parts[p].first}, {"rank", parts[p].second}, {"level", level}};
  nlohmann::ordered_json custom = {{"level", level}};
  if (moved)
    custom["transpose"] = dimensions;
  return custom;
}

format::Encoding encodingOf(const std::string &file, const Json &custom, size_t order) {
  return DescriptionReader(file, order).run(custom);
}

} // namespace tulle::runtime::io
