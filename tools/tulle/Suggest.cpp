// Predictions are printed in their order, the times of each format beside them.
#include "Suggest.h"
#include "Inputs.h"
#include "Progress.h"
#include "engine/RankFormats.h"
#include "support/Errors.h"
#include <algorithm>
#include <charconv>

namespace tulle::cli {

static engine::ProductKernel kernelNamed(const std::string &text) {
  if (text == "spmv")
    return {1};
  constexpr std::string_view prefix = "spmm:";
  engine::ProductKernel kernel;
  if (text.starts_with(prefix)) {
    const char *end = text.data() + text.size();
    const auto [at, code] = std::from_chars(text.data() + prefix.size(), end, kernel.columns);
    if (code == std::errc() && at == end && kernel.columns > 1)
      return kernel;
  }
  throwError("--kernel '{}': expected spmv, or spmm:COLUMNS with at least two columns", text);
}

/// How a format is asked for.
static std::string nameOf(const engine::Suggestion &suggestion) {
  return suggestion.schedule.empty() ? suggestion.format : suggestion.schedule;
}

static std::string timeText(double ns) {
  return ns < 1e6 ? fmt::format("{:.3g} us", ns / 1e3) : fmt::format("{:.4g} ms", ns / 1e6);
}

void printSuggestions(const std::string &file, const std::string &dims, const std::string &kernelName,
                      bool measured) {
  const engine::ProductKernel kernel = kernelNamed(kernelName);
  runtime::FileContents contents = readAlone(file, dims, "");
  const runtime::Entries matrix =
      contents.isStored ? runtime::unpack(contents.stored) : std::move(contents.entries);
  const std::vector<engine::Suggestion> list = engine::suggest(engine::profile(matrix), matrix.type, kernel);
  std::vector<double> times(list.size(), 0);
  engine::Options options;
  options.threads = 1;
  if (measured) {
    Progress progress("measuring");
    for (size_t k = 0; k < list.size(); ++k) {
      times[k] = engine::measure(list[k], matrix, kernel, options);
      progress.fraction(double(k + 1) / double(list.size()));
    }
  }
  fmt::print("{}x{}, {} entries of {}; one thread, {}\n", matrix.dims[0], matrix.dims[1], matrix.count(),
             name(matrix.type), kernelName);
  fmt::print("{:>12} {:>12} {:>12}{}  format\n", "stored", "bytes", "predicted",
             measured ? fmt::format(" {:>12}", "measured") : "");
  for (size_t k = 0; k < list.size(); ++k)
    fmt::print("{:>12.0f} {:>12.0f} {:>12}{}  {}\n", list[k].slots, list[k].bytes, timeText(list[k].ns),
               measured ? fmt::format(" {:>12}", timeText(times[k])) : "", nameOf(list[k]));
  fmt::print("{}: {}\n", nameOf(list.front()), list.front().why);
  if (measured) {
    const size_t best = size_t(std::ranges::min_element(times) - times.begin());
    fmt::print("measured fastest: {}, {}\n", nameOf(list[best]), timeText(times[best]));
  }
}

} // namespace tulle::cli
