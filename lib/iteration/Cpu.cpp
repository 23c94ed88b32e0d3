#include "iteration/Cpu.h"
#include "support/Diagnostic.h"
#include "support/Suggest.h"
#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <type_traits>
#include <vector>

namespace tulle::iteration {

static std::vector<Cpu> expandRows() {
  std::vector<Cpu> cpus;
  for (const CpuRow &row : cpuRows()) {
    Cpu cpu;
    for (const Cpu &earlier : cpus)
      if (earlier.name == row.like)
        cpu = earlier;
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
  auto found = std::find_if(cpus().begin(), cpus().end(), [&](const Cpu &cpu) { return cpu.name == name; });
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

static std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string setFigure(Cpu &cpu, std::string_view name, int64_t value) {
  std::vector<std::string> names;
  bool found = false;
  std::string wrong;
  forEachFigure(cpu, [&](std::string_view known, auto &into, FigureBounds bounds) {
    names.emplace_back(known);
    if (known != name)
      return;
    found = true;
    if (value < bounds.least || value > bounds.most ||
        (bounds.powerOfTwo && !std::has_single_bit(uint64_t(value))))
      wrong = "expected " + quoted(name) + (bounds.powerOfTwo ? " to be a power of two from " : " from ") +
              std::to_string(bounds.least) + " to " + std::to_string(bounds.most) + ", got " +
              std::to_string(value);
    else
      into = value;
  });
  return found
             ? wrong
             : quoted(name) + " is no figure of a processor" + support::didYouMean(std::string(name), names);
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
    text += ", " + std::string(name) + " = ";
    if constexpr (std::is_same_v<decltype(value), bool>)
      text += value ? "true" : "false";
    else
      text += std::to_string(value);
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
  std::string list;
  for (const CpuRow &known : cpuRows()) {
    names.emplace_back(known.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  const std::string guess = support::didYouMean(name, names);
  fail(text, name,
       "no processor is called " + quoted(name) + (guess.empty() ? "; known are " + list : guess));
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
      fail(text, word, "expected a number of 64 bits for " + quoted(name));
  } else if (isKnown && word != "true" && word != "false") {
    fail(text, word, "expected true or false for " + quoted(name));
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
