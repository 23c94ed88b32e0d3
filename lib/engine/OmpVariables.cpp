#include "engine/OmpVariables.h"
#include "tulle/error.h"
#include "llvm/ADT/StringRef.h"
#include <cstdlib>
#include <fmt/format.h>

namespace tulle::engine {
using llvm::StringRef;

/// OpenMP allocates memory for every thread of its variable; for so many that takes 50 ms.
static constexpr uint64_t kMostThreads = 1 << 16;
/// A process that cannot have a thread's stack is ended; generated code needs a few kilobytes of it.
static constexpr uint64_t kLargestStack = uint64_t(1) << 30;

static Error mistake(const char *variable, const char *value, const std::string &expected) {
  return Error(
      fmt::format("{}='{}': expected {}; correct the variable, or unset it", variable, value, expected));
}

/// One number of a list; OpenMP knows no other white space, and no sign.
static std::optional<int64_t> parseThreads(StringRef text) {
  uint64_t number = 0;
  text = text.trim(" \t");
  if (text.find_first_not_of("0123456789") != StringRef::npos || text.getAsInteger(10, number) ||
      number < 1 || number > kMostThreads)
    return std::nullopt;
  return int64_t(number);
}

std::optional<int64_t> ompNumThreads() {
  constexpr const char *variable = "OMP_NUM_THREADS";
  const char *value = std::getenv(variable);
  if (!value)
    return std::nullopt;
  // Those behind the first are of regions inside of regions, but the library reads them, too.
  std::optional<int64_t> outermost;
  llvm::SmallVector<StringRef> levels;
  StringRef(value).split(levels, ',');
  for (StringRef level : levels) {
    std::optional<int64_t> threads = parseThreads(level);
    if (!threads)
      throw mistake(variable, value,
                    fmt::format("a number of threads from 1 to {}, or such numbers with commas between them",
                                kMostThreads));
    outermost = outermost ? outermost : threads;
  }
  return outermost;
}

/// Bytes, where the text is a size that OpenMP's library takes; it warns of all others and ignores them.
static std::optional<double> parseSize(StringRef text, uint64_t unit) {
  text = text.trim(" \t");
  const StringRef digits = text.take_while(llvm::isDigit),
                  suffix = text.drop_front(digits.size()).trim(" \t");
  double size = 0;
  if (digits.empty() || digits.getAsDouble(size))
    return std::nullopt;
  constexpr StringRef units = "bkmgtpezy";
  if (!suffix.empty()) {
    const size_t power = units.find(llvm::toLower(suffix.front()));
    if (power == StringRef::npos)
      return std::nullopt;
    unit = 1;
    for (size_t k = 0; k < power; ++k)
      size *= 1024;
  }
  return size * double(unit);
}

void checkOmpVariables() {
  ompNumThreads();
  for (auto [variable, unit] :
       {std::pair("OMP_STACKSIZE", 1024), {"GOMP_STACKSIZE", 1024}, {"KMP_STACKSIZE", 1}})
    if (const char *value = std::getenv(variable))
      if (std::optional<double> size = parseSize(value, uint64_t(unit));
          size && *size > double(kLargestStack))
        throw mistake(variable, value, "at most 1g for the stack of a thread");
}

} // namespace tulle::engine
