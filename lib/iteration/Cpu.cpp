// Rows are expanded once; a processor is written as its row and the figures that differ.
#include "iteration/Cpu.h"
#include "support/Diagnostic.h"
#include "support/Suggest.h"
#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <type_traits>
#include <vector>

namespace tulle::iteration {

/// Every row with what it has from the row that it is like.
static std::vector<Cpu> expandRows() {
  std::vector<Cpu> cpus;
  for (const CpuRow &row : cpuRows()) {
    const auto like = std::ranges::find(cpus, row.like, &Cpu::name);
    Cpu cpu = like == cpus.end() ? Cpu() : *like;
    cpu.name = row.name;
    for (const CpuFigure &figure : row.figures) {
      [[maybe_unused]] const std::string wrong = setFigure(cpu, figure.name, figure.value);
      assert(wrong.empty());
    }
    cpus.push_back(cpu);
  }
  return cpus;
}

static const std::vector<Cpu> &cpus() {
  static const std::vector<Cpu> all = expandRows();
  return all;
}

const Cpu &genericCpu() { return cpus().front(); }

const Cpu *findCpu(std::string_view name) {
  const auto found = std::ranges::find(cpus(), name, &Cpu::name);
  return found == cpus().end() ? nullptr : &*found;
}

Cpu chooseCpu(std::string_view llvmName, const std::function<bool(std::string_view)> &hasFeature) {
  std::string_view level = hasFeature("avx512f") ? "x86-64-v4"
                           : hasFeature("avx2")  ? "x86-64-v3"
                           : hasFeature("sse2")  ? "x86-64"
                           : hasFeature("neon")  ? "armv8-a"
                                                 : genericCpu().name;
  Cpu cpu = *findCpu(level);
  // LLVM, too, calls a processor generic that it does not know.
  const Cpu *own = findCpu(llvmName);
  if (own && own != &genericCpu() && own->vectorBits <= cpu.vectorBits)
    cpu = *own;
  cpu.intersects = cpu.intersects && hasFeature("avx512vp2intersect");
  return cpu;
}

std::string setFigure(Cpu &cpu, std::string_view name, int64_t value) {
  std::vector<std::string> names;
  std::optional<std::string> wrong; // where the name is known
  forEachFigure(cpu, [&](std::string_view known, auto &into, FigureBounds bounds) {
    names.emplace_back(known);
    if (known != name)
      return;
    wrong = "";
    const bool isPower = !bounds.powerOfTwo || std::has_single_bit(uint64_t(value));
    if (value < bounds.least || value > bounds.most || !isPower)
      wrong = fmt::format("expected '{}'{} from {} to {}, got {}", name,
                          bounds.powerOfTwo ? " to be a power of two" : "", bounds.least, bounds.most, value);
    else
      into = value;
  });
  return wrong ? *wrong
               : fmt::format("'{}' is no figure of a processor{}", name, support::didYouMean(name, names));
}

std::string printCpu(const Cpu &cpu) {
  const Cpu *row = findCpu(cpu.name);
  assert(row && "a Cpu comes from the table");
  std::vector<int64_t> ofRow;
  forEachFigure(*row, [&](std::string_view, int64_t value, FigureBounds) { ofRow.push_back(value); });
  std::string text(cpu.name);
  size_t at = 0;
  forEachFigure(cpu, [&](std::string_view name, auto value, FigureBounds) {
    if (int64_t(value) == ofRow[at++])
      return;
    text += fmt::format(", {} = {}", name, value);
  });
  return text;
}

/// The word without the spaces around it, still a view of the text.
static std::string_view trim(std::string_view word) {
  constexpr std::string_view spaces = " \t\r\n";
  const size_t first = std::min(word.find_first_not_of(spaces), word.size());
  return word.substr(first, word.find_last_not_of(spaces) + 1 - first);
}

[[noreturn]] static void fail(std::string_view text, std::string_view word, const std::string &message) {
  const auto from = size_t(word.data() - text.data());
  throw support::SyntaxError("<cpu>", text, {from, from + word.size()}, message);
}

static Cpu parseRow(std::string_view text, std::string_view name) {
  if (const Cpu *found = findCpu(name))
    return *found;
  std::vector<std::string> names;
  for (const Cpu &known : cpus())
    names.emplace_back(known.name);
  fail(text, name,
       fmt::format("no processor is called '{}'{}", name,
                   support::didYouMean(name, names, fmt::format("; known are {}", fmt::join(names, ", ")))));
}

static void parseFigure(std::string_view text, std::string_view item, Cpu &cpu) {
  const size_t equals = std::min(item.find('='), item.size());
  const std::string_view name = trim(item.substr(0, equals)),
                         word = trim(item.substr(std::min(equals + 1, item.size())));
  bool isNumber = false, isKnown = false;
  forEachFigure(cpu, [&](std::string_view known, auto &value, FigureBounds) {
    isKnown |= known == name;
    isNumber |= known == name && !std::is_same_v<decltype(value), bool &>;
  });
  int64_t value = word == "true";
  if (isNumber) {
    const char *last = word.data() + word.size();
    if (auto [end, error] = std::from_chars(word.data(), last, value); error != std::errc() || end != last)
      fail(text, word, fmt::format("expected a number of 64 bits for '{}'", name));
  } else if (isKnown && word != "true" && word != "false") {
    fail(text, word, fmt::format("expected true or false for '{}'", name));
  }
  if (std::string wrong = setFigure(cpu, name, value); !wrong.empty())
    fail(text, isKnown ? word : name, wrong);
}

Cpu parseCpu(std::string_view text) {
  size_t end = std::min(text.find(','), text.size());
  Cpu cpu = parseRow(text, trim(text.substr(0, end)));
  while (end < text.size()) {
    const size_t begin = end + 1;
    end = std::min(text.find(',', begin), text.size());
    parseFigure(text, text.substr(begin, end - begin), cpu);
  }
  return cpu;
}

} // namespace tulle::iteration
