// What takes longer than a second says so on a terminal.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace tulle::cli {

/// While alive: after one second, shows `what` and the seconds (or the fraction, or the rounds, once told) on
/// stderr when that is a terminal. The line is wiped at the end.
class Progress {
public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  void fraction(double value) { done = value; }
  /// Of the loops of a program, so far.
  void rounds(int64_t count) { roundsRun = count; }

private:
  void show();
  std::string what;
  std::atomic<double> done{-1};
  std::atomic<int64_t> roundsRun{-1};
  std::atomic<bool> stop{false};
  std::thread thread; ///< not started unless stderr is a terminal
};

} // namespace tulle::cli
