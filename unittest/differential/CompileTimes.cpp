#include "CompileTimes.h"
#include "Case.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>
#include <mutex>
#include <thread>

namespace tulle::differential {

std::vector<CompileTime> compileTimes(uint64_t first, uint64_t count, unsigned operands) {
  std::vector<CompileTime> times;
  std::atomic<uint64_t> next = first;
  std::mutex mutex;
  // Seeds are taken in order and none is given up, so that the same programs are measured by any number of
  // threads.
  auto work = [&] {
    for (;;) {
      {
        std::scoped_lock lock(mutex);
        if (times.size() >= count)
          return;
      }
      const uint64_t seed = next++;
      const std::optional<double> ms = compileTime(generate(seed, operands));
      std::scoped_lock lock(mutex);
      if (ms)
        times.push_back({*ms, seed});
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned n = 0; n < std::max(std::thread::hardware_concurrency(), 1u); ++n)
    threads.emplace_back(work);
  threads.clear(); // joins
  std::sort(times.begin(), times.end(), [](auto &a, auto &b) { return a.seed < b.seed; });
  times.resize(std::min<size_t>(times.size(), count));
  return times;
}

std::string summary(std::vector<CompileTime> times) {
  std::sort(times.begin(), times.end(), [](auto &a, auto &b) { return a.ms < b.ms; });
  std::string text = fmt::format("{} programs compiled\n", times.size());
  if (times.empty())
    return text;
  for (double percent : {50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto rank = size_t(std::ceil(percent / 100 * double(times.size()) - 1e-9));
    text +=
        fmt::format("{:5.1f}% take at most {:.0f} ms\n", percent, times[std::max<size_t>(rank, 1) - 1].ms);
  }
  for (double limit : {400.0, 2000.0})
    text += fmt::format(
        "{} take more than {} ms\n",
        std::count_if(times.begin(), times.end(), [&](auto &time) { return time.ms > limit; }), limit);
  const size_t longest = std::min<size_t>(times.size(), 20);
  for (size_t n = 1; n <= longest; ++n)
    text += fmt::format("seed {}: {:.0f} ms\n", times[times.size() - n].seed, times[times.size() - n].ms);
  return text;
}

} // namespace tulle::differential
