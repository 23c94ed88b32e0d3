// The side that starts workers and collects.
#include "Run.h"
#include "measure/Machine.h"
#include "report/Json.h"
#include "tulle/error.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

/// Set when the user or a time limit wants the end: what was measured is kept.
static volatile std::sig_atomic_t interrupted = 0;

namespace {

/// Why competitors have no time, by their names.
using Reasons = std::map<std::string, std::string>;

/// A worker process, the pipe it writes to, and the file that names the competitor that runs.
class Worker {
public:
  Worker(const Selection &selection, int threads, size_t first, const Reasons &without) {
    int ends[2];
    running = memfd_create("running", 0);
    if (running < 0 || pipe(ends) != 0)
      throw Error(fmt::format("bench: no pipe to a worker: {}", std::strerror(errno)));
    Assignment assignment{ends[1], running, first, {}};
    for (const auto &[name, why] : without)
      assignment.without.push_back(name);
    const std::vector<std::string> arguments = commandLine(selection, assignment);
    process = fork();
    if (process == 0) {
      close(ends[0]);
      for (const char *name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
        setenv(name, std::to_string(threads).c_str(), 1);
      std::vector<char *> pointers;
      for (const std::string &argument : arguments)
        pointers.push_back(const_cast<char *>(argument.c_str()));
      pointers.push_back(nullptr);
      execv("/proc/self/exe", pointers.data());
      _exit(127);
    }
    close(ends[1]);
    from = ends[0];
    if (process < 0)
      throw Error(fmt::format("bench: no worker: {}", std::strerror(errno)));
  }
  ~Worker() {
    close(from);
    close(running);
    end();
  }
  Worker(const Worker &) = delete;

  /// The competitor that runs, or ran at the end; empty between rows.
  std::string competitor() const {
    char name[256] = {};
    return pread(running, name, sizeof name - 1, 0) > 0 ? name : "";
  }

  /// The next line; nothing when the worker ended, or when one competitor took `seconds` and it is stopped.
  std::optional<std::string> line(int seconds) {
    std::string last = competitor();
    for (;;) {
      if (const size_t at = buffer.find('\n'); at != std::string::npos) {
        std::string text = buffer.substr(0, at);
        buffer.erase(0, at + 1);
        return text;
      }
      pollfd wait{from, POLLIN, 0};
      const int ready = interrupted ? -1 : poll(&wait, 1, seconds * 1000);
      if (interrupted) {
        stop();
        return std::nullopt;
      }
      if (ready == 0 && last != competitor()) {
        last = competitor();
        continue;
      }
      if (ready == 0) {
        reason = fmt::format("no answer within {} s", seconds);
        stop();
        return std::nullopt;
      }
      char part[4096];
      const ssize_t got = ready > 0 ? read(from, part, sizeof part) : -1;
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        return std::nullopt;
      buffer.append(part, size_t(got));
    }
  }

  void stop() { kill(process, SIGKILL); }

  /// Waits for the end, and says what it was, with the most memory that was used.
  std::string end() {
    if (process > 0) {
      int status = 0;
      rusage used{};
      wait4(process, &status, 0, &used);
      process = -1;
      failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
      refused = WIFEXITED(status) && WEXITSTATUS(status) == 1;
      if (reason.empty())
        reason = WIFSIGNALED(status)
                     ? fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                     : fmt::format("ended with {}", WEXITSTATUS(status));
      reason += fmt::format(", at most {:.1f} GB in use", double(used.ru_maxrss) * 1024 / 1e9);
    }
    return reason;
  }
  bool failed = false;
  bool refused = false; ///< it said why on its own

private:
  static std::vector<std::string> commandLine(const Selection &selection, const Assignment &assignment) {
    std::vector<std::string> list = {"tulle-bench", selection.what,
                                     "--worker",    std::to_string(assignment.out),
                                     "--running",   std::to_string(assignment.running),
                                     "--first",     std::to_string(assignment.first),
                                     "--seconds",   std::to_string(selection.seconds)};
    if (!selection.data.empty())
      list.insert(list.end(), {"--data", selection.data});
    for (const auto &[flag, values] :
         {std::pair("--kernels", selection.kernels), std::pair("--inputs", selection.inputs),
          std::pair("--more", selection.more), std::pair("--peers", selection.peers),
          std::pair("--fake", selection.fake), std::pair("--without", assignment.without)})
      for (const std::string &value : values) {
        list.push_back(flag);
        list.push_back(value);
      }
    return list;
  }

  pid_t process = -1;
  int from = -1, running = -1;
  std::string buffer, reason;
};

} // namespace

/// The row of a job whose worker did not come back.
static Row lost(const Job &job, int threads, const std::string &why) {
  Row row;
  row.group = job.kernel->group;
  row.kernel = job.kernel->name;
  row.input = job.input;
  row.threads = threads;
  row.absent["tulle"] = "the process that measured " + why;
  return row;
}

static void run(const Selection &selection, int threads, double limit, Report &report) {
  const std::vector<Job> list = jobs(selection);
  const auto begin = std::chrono::steady_clock::now();
  constexpr int patience = 150; // seconds for one job, its input included
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  Reasons ended; // of competitors that ended workers in the job `first`
  for (size_t first = 0; !interrupted;) {
    Worker worker(selection, threads, first, ended);
    bool done = false;
    size_t current = first;
    while (auto text = worker.line(patience)) {
      const nlohmann::json line = nlohmann::json::parse(*text);
      if (line.contains("limits"))
        report.limits[threads] = line["limits"].get<std::map<std::string, double>>();
      else if (line.contains("begin"))
        current = line["begin"];
      else if (line.contains("row")) {
        report.rows.push_back(rowFromJson(line["row"]));
        if (current == first)
          report.rows.back().absent.insert(ended.begin(), ended.end());
        fmt::print(stderr, "{:5.0f} s  {} {} ×{}\n", seconds(), report.rows.back().kernel,
                   report.rows.back().input, threads);
      } else
        done = line.contains("done");
      if (limit > 0 && seconds() > limit) {
        worker.stop();
        worker.end();
        return;
      }
    }
    const std::string why = worker.end();
    if (worker.refused)
      throw Error(""); // what is wrong with the input was said there
    if (done || interrupted || current >= list.size())
      return;
    // The others still have their row, without the competitor that ran.
    const std::string last = worker.competitor();
    fmt::print(stderr, "{} {}: {}{}\n", list[current].kernel->name, list[current].input,
               last.empty() ? "" : last + ": ", why);
    if (current != first)
      ended.clear();
    first = current;
    if (!last.empty() && ended.emplace(last, "the process that ran it " + why).second)
      continue;
    report.rows.push_back(lost(list[current], threads, why));
    report.rows.back().absent.insert(ended.begin(), ended.end());
    ended.clear();
    ++first;
  }
}

Report runAll(const Selection &selection, const std::vector<int> &threads) {
  Report report;
  report.machine = Machine::describe();
  for (int signal : {SIGINT, SIGTERM}) {
    struct sigaction action{};
    action.sa_handler = [](int) { interrupted = 1; };
    sigaction(signal, &action, nullptr); // without SA_RESTART: poll() returns
  }
  const auto begin = std::chrono::steady_clock::now();
  for (size_t k = 0; k < threads.size(); ++k) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    const double left = std::max(selection.limit - spent.count(), 1.0),
                 fraction = k + 1 < threads.size() ? 0.6 : 1;
    run(selection, threads[k], selection.limit > 0 ? left * fraction : 0, report);
  }
  addBestFormats(report.rows);
  return report;
}

} // namespace tulle::bench
