// Dimensions of one size below a first one of one size have the same lengths, so that most programs agree.
#include "Ragged.h"
#include "Random.h"
#include "engine/CompareLengths.h"
#include "engine/Conversion.h"
#include "runtime/tensor/Lengths.h"
#include <cstring>
#include <fmt/format.h>

namespace tulle::differential {

void drawLengths(Case &c) {
  Random own(c.seed * 16 + 0x11d0);
  if (!own.chance(0.125))
    return;
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> drawn;
  for (auto &[name, given] : c.inputs) {
    if (name >= "y" || given.dims.size() < 2 || given.dims[0] == 0 || !given.slices.empty() ||
        own.chance(0.3))
      continue;
    std::vector<bool> ragged{false};
    given.lengths.resize(given.dims.size());
    for (size_t d = 1; d < given.dims.size(); ++d) {
      ragged.push_back(d == 1 || own.chance(0.6));
      std::vector<int64_t> &lengths = drawn[{given.dims[0], given.dims[d]}];
      while (int64_t(lengths.size()) < given.dims[0])
        lengths.push_back(own.below(given.dims[d] + 1));
      if (ragged.back())
        given.lengths[d] = lengths;
    }
    format::Encoding encoding = runtime::raggedEncoding(ragged);
    for (format::Level &level : encoding.levels)
      if (level.format.kind == format::LevelKind::Ragged && own.chance(0.3))
        level.format.kind = format::LevelKind::Jagged;
    if (own.chance(0.8))
      given.format = fmt::format("{{ {} }}", format::printBody(encoding));
  }
}

runtime::Entries within(const runtime::Entries &entries, const std::vector<std::vector<int64_t>> &lengths) {
  std::vector<std::optional<runtime::Tensor>> tensors;
  for (const std::vector<int64_t> &own : lengths) {
    tensors.emplace_back();
    if (own.empty())
      continue;
    tensors.back() = runtime::makeDense(ElementType::I64, {int64_t(own.size())});
    std::memcpy(tensors.back()->values(), own.data(), own.size() * sizeof own[0]);
  }
  const format::Encoding dense = format::denseEncoding(unsigned(entries.dims.size()));
  return runtime::withinLengths(engine::store(entries, dense), tensors);
}

void checkLengths(const Case &c, const notation::Program &program,
                  const std::map<std::string, runtime::Tensor> &inputs) {
  std::vector<const runtime::Tensor *> ragged;
  for (const notation::TensorDecl &tensor : program.tensors) {
    const auto given = c.inputs.find(tensor.name);
    const bool has = tensor.input && given != c.inputs.end() && !given->second.lengths.empty();
    ragged.push_back(has ? &inputs.at(tensor.name) : nullptr);
  }
  engine::checkLengths(program, ragged);
}

} // namespace tulle::differential
