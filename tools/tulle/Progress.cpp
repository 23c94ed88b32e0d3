// A thread writes the line again and again after the first second; without a terminal there is none.
#include "Progress.h"
#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace tulle::cli {

Progress::Progress(std::string what) : what(std::move(what)) {
  if (isatty(STDERR_FILENO))
    thread = std::thread([this] { show(); });
}

Progress::~Progress() {
  stop = true;
  if (thread.joinable())
    thread.join();
}

void Progress::show() {
  using namespace std::chrono;
  auto begin = steady_clock::now();
  bool shown = false;
  while (!stop) {
    // Short waits, so that a quick job is not held up by its own progress line.
    std::this_thread::sleep_for(milliseconds(20));
    double seconds = duration<double>(steady_clock::now() - begin).count();
    if (seconds < 1)
      continue;
    shown = true;
    if (done >= 0)
      std::fprintf(stderr, "\r%s: %3.0f%% \033[K", what.c_str(), 100 * done);
    else if (roundsRun >= 0)
      std::fprintf(stderr, "\r%s: %.1f s, %lld rounds \033[K", what.c_str(), seconds,
                   static_cast<long long>(roundsRun));
    else
      std::fprintf(stderr, "\r%s: %.1f s \033[K", what.c_str(), seconds);
  }
  if (shown)
    std::fputs("\r\033[K", stderr);
}

} // namespace tulle::cli
