// Who runs the tasks of a parallel region, and how much each has to do.
#include "engine/Parallel.h"
#include "Programs.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>
#include <set>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace tulle::engine {
namespace {

/// Counts the threads that are inside of tasks, and remembers which they were. A task returns when so many
/// threads as `awaited` have come; the deadline ends a test that fails.
struct Watch {
  size_t awaited = 1;
  std::atomic<int> now = 0, most = 0;
  std::mutex mutex{};
  std::condition_variable came{};
  std::set<std::thread::id> seen{};

  static bool task(void *context, int64_t) {
    auto &watch = *static_cast<Watch *>(context);
    const int running = ++watch.now;
    for (int before = watch.most; before < running && !watch.most.compare_exchange_weak(before, running);)
      ;
    {
      std::unique_lock lock(watch.mutex);
      watch.seen.insert(std::this_thread::get_id());
      watch.came.notify_all();
      watch.came.wait_for(lock, std::chrono::seconds(60), [&] { return watch.seen.size() >= watch.awaited; });
    }
    --watch.now;
    return true;
  }
};

/// What a call of generated code does with `tasks` tasks.
void callFrom(Watch &watch, const ThreadSettings &settings, int64_t tasks) {
  RunningThread running;
  EXPECT_TRUE(runTasks(settings, tasks, Watch::task, &watch));
}

TEST(Parallel, OneCallerHasAllThreads) {
  Watch watch{.awaited = 4};
  callFrom(watch, {4, 1}, 16);
  EXPECT_LE(watch.most, 4);
  EXPECT_EQ(watch.seen.size(), 4u);
}

/// Task 0 waits for all others, those in its own thread's queue among them.
TEST(Parallel, TasksOfAThreadThatIsLateAreStolen) {
  struct Late {
    std::array<std::atomic<int>, 97> times = {};
    std::atomic<int> done = 0;
    static bool task(void *context, int64_t p) {
      auto &late = *static_cast<Late *>(context);
      ++late.times[size_t(p)];
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (p == 0 && late.done < 96 && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
      const bool others = p != 0 || late.done == 96;
      ++late.done;
      return others;
    }
  };
  for (int threads : {2, 3, 7}) {
    Late late;
    RunningThread running;
    EXPECT_TRUE(runTasks({threads, 1}, 97, Late::task, &late)) << threads << " threads";
    EXPECT_EQ(std::count(late.times.begin(), late.times.end(), 1), 97);
  }
}

TEST(Parallel, CallersShareTheThreads) {
  for (int callers : {2, 4, 9}) {
    Watch watch{.awaited = size_t(callers)};
    std::vector<std::thread> threads;
    for (int caller = 0; caller < callers; ++caller)
      threads.emplace_back([&] {
        for (int time = 0; time < 3; ++time)
          callFrom(watch, {4, 1}, 8);
      });
    for (std::thread &thread : threads)
      thread.join();
    // Nobody keeps a caller from running its own tasks, but all of them together have three workers.
    EXPECT_LE(watch.most, callers + 3) << callers << " callers";
  }
}

TEST(Parallel, WorkersHaveNoWorkers) {
  struct Nested {
    Watch inner;
    static bool task(void *context, int64_t) {
      callFrom(static_cast<Nested *>(context)->inner, {4, 1}, 4);
      return true;
    }
  } nested{.inner = {.awaited = 4}};
  RunningThread running;
  const ThreadSettings settings{4, 1};
  EXPECT_TRUE(runTasks(settings, 4, Nested::task, &nested));
  EXPECT_LE(nested.inner.most, 4);
}

TEST(Parallel, ThreadsOfTheCallersRegionRunTheirOwnTasks) {
  // What `#pragma omp parallel num_threads(3)` compiles to; the test itself is no OpenMP code.
  using Fork = void (*)(void (*)(void *), void *, unsigned, unsigned);
  auto fork = reinterpret_cast<Fork>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
  if (!fork)
    GTEST_SKIP() << "this OpenMP library cannot be entered by GCC's name";
  static std::atomic<int> others, regions;
  others = regions = 0;
  fork(
      [](void *) {
        Watch watch;
        callFrom(watch, {8, 1}, 8);
        ++regions;
        others += int(watch.seen.size() != 1 || !watch.seen.contains(std::this_thread::get_id()));
      },
      nullptr, 3, 0);
  EXPECT_EQ(regions, 3);
  EXPECT_EQ(others, 0);
}

TEST(Parallel, WorkDecidesHowManyTasks) {
  RunningThread running;
  const ThreadSettings settings{4, 1000};
  EXPECT_EQ(profitableTasks(settings, 0), 1);
  EXPECT_EQ(profitableTasks(settings, 1999), 1);
  EXPECT_EQ(profitableTasks(settings, 2000), 2);
  EXPECT_EQ(profitableTasks(settings, 1000000), 4);
}

/// Values of a matrix in memory of their own, which tells how many of them each task reads: pages are closed
/// before a task runs, and counted when it opens them.
class Watched {
public:
  explicit Watched(int64_t count) : pageSize(size_t(sysconf(_SC_PAGESIZE))) {
    bytes = (size_t(count) * sizeof(double) + pageSize - 1) / pageSize * pageSize;
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    start = static_cast<char *>(memory);
    std::fill_n(values(), count, 1.0);
    self = this;
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t *info, void *) {
      auto *at = static_cast<char *>(info->si_addr);
      if (at < self->start || at >= self->start + self->bytes) {
        signal(SIGSEGV, SIG_DFL); // somebody else's
        return;
      }
      char *page = self->start + size_t(at - self->start) / self->pageSize * self->pageSize;
      mprotect(page, self->pageSize, PROT_READ | PROT_WRITE);
      ++self->opened;
    };
    sigaction(SIGSEGV, &action, &before);
  }
  ~Watched() {
    sigaction(SIGSEGV, &before, nullptr);
    munmap(start, bytes);
  }
  Watched(const Watched &) = delete;

  double *values() { return reinterpret_cast<double *>(start); }
  void close() {
    opened = 0;
    mprotect(start, bytes, PROT_NONE);
  }
  /// Values on the pages read since.
  int64_t read() const { return opened * int64_t(pageSize / sizeof(double)); }

private:
  static inline Watched *self = nullptr;
  size_t pageSize, bytes;
  char *start;
  std::atomic<int64_t> opened = 0;
  struct sigaction before = {};
};

/// A CSR matrix whose row 100 holds most of the entries; all values are 1.
runtime::Tensor longRow(int64_t rows, int64_t columns, int64_t each, Watched &watched) {
  auto pos = std::make_shared<std::vector<int32_t>>(1, 0);
  auto crd = std::make_shared<std::vector<int32_t>>();
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t count = i == 100 ? columns : each;
    for (int64_t k = 0; k < count; ++k)
      crd->push_back(int32_t(k));
    pos->push_back(int32_t(crd->size()));
  }
  runtime::Tensor made;
  made.encoding = format::resolveWidths(format::parseFormat("CSR", 2), 1, 1);
  made.dims = {rows, columns};
  auto keep = [](auto &list) {
    runtime::Buffer buffer = runtime::Buffer::borrow(list->data(), int64_t(list->size()),
                                                     int64_t(list->size() * sizeof((*list)[0])));
    buffer.owner = list;
    return buffer;
  };
  const auto count = int64_t(crd->size());
  made.buffers = {keep(pos), keep(crd), runtime::Buffer::borrow(watched.values(), count, count * 8)};
  return made;
}

TEST(Parallel, NoTaskHasMuchMoreEntriesThanOthers) {
  constexpr int64_t rows = 2000, columns = 600000, each = 200, total = columns + (rows - 1) * each;
  Watched watched(total);
  Tensors in{{"A", longRow(rows, columns, each, watched)},
             {"x", doubles({columns}, std::vector<double>(columns, 1.0))}};
  for (const char *text : {"y(i) = A(i,j) * x(j)", "y = A(i,j) * x(j)"}) {
    std::mutex mutex;
    std::vector<int64_t> read;
    Options options{.threads = 4, .workPerThread = 1, .diskCache = false};
    options.aroundTask = [&](const std::function<void()> &run) {
      std::lock_guard lock(mutex); // one after the other, so that it is known which task reads
      watched.close();
      run();
      read.push_back(watched.read());
    };
    const runtime::Tensor y = evaluate(text, "y", in, {}, options);
    const std::vector<double> sums = elements(y);
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0.0), double(total)) << text;
    ASSERT_GE(read.size(), 4u) << text;
    // A task of a long row's loop may be up to a quarter larger, and pages are read in part.
    EXPECT_LE(*std::max_element(read.begin(), read.end()), total / 4 * 5 / 4 + 4096) << text;
    EXPECT_GE(std::accumulate(read.begin(), read.end(), int64_t(0)), total - 4096) << text;
  }
}

} // namespace
} // namespace tulle::engine
