// Which encodings can hold data in this version, and why the others cannot.
#include "format/Encoding.h"
#include "format/LevelKinds.h"
#include <fmt/format.h>

namespace tulle::format {
namespace {

constexpr std::string_view cure =
    "; formats that can: dense, COO, COO-soa, CSR, CSC, DCSR, DCSC, BCSR(b,c), BCSC(b,c), "
    "BCOO, NV24, NM(n,m), CSF";

std::string whyNotLevel(const Encoding &e, unsigned l) {
  const LevelFormat &level = e.levels[l].format;
  if (!info(level.kind).executable)
    return fmt::format("{} levels cannot hold data yet", name(level.kind));
  if (level.padded)
    return "padded levels cannot hold data yet";
  if (!level.ordered)
    return "nonordered levels cannot hold data yet";
  if (l + 1 == e.levels.size())
    return "";
  bool singletonBelow = e.levels[l + 1].format.kind == LevelKind::Singleton;
  if (singletonBelow && level.unique)
    return fmt::format(
        "level {} is unique, so the singleton below it could hold one entry per coordinate only; "
        "write {}(nonunique)",
        l, name(level.kind));
  if (!singletonBelow && !level.unique)
    return fmt::format(
        "level {} is nonunique, and only a singleton level can stand below it yet; leave nonunique out", l);
  return "";
}

std::string why(const Encoding &e) {
  for (unsigned l = 0; l < e.levels.size(); ++l)
    if (std::string reason = whyNotLevel(e, l); !reason.empty())
      return reason;
  for (const Dimension &dimension : e.dims)
    if (dimension.slice)
      return fmt::format("dimension {} is a slice, and slices cannot hold data yet", dimension.name);
  if (!digits(e))
    return "this map cannot hold data yet: every level must be a dimension, its floordiv or its mod by an "
           "integer, and "
           "the levels of a dimension must together give its coordinate back";
  if (e.explicitVal)
    return "explicitVal cannot be used yet: values are always stored";
  return "";
}

} // namespace

std::string whyNotExecutable(const Encoding &encoding) {
  std::string reason = why(encoding);
  return reason.empty() ? "" : reason + std::string(cure);
}

} // namespace tulle::format
