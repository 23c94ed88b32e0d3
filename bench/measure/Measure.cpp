#include "Measure.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <malloc.h>
#include <sstream>
#include <string_view>
#include <time.h>
#include <unistd.h>

namespace tulle::bench {

void keepMemory(char **argv) {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  // The C library reads this before main() begins.
  if (!std::getenv("GLIBC_TUNABLES")) {
    setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
    execv("/proc/self/exe", argv);
  }
}

double threadMs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

static double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const size_t half = samples.size() / 2;
  return samples.size() % 2 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

Row race(const std::string &job, const std::string &input, std::vector<Contender> contenders,
         double seconds) {
  Row row{job, input, {}, {}};
  std::map<std::string, std::vector<double>> samples;
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round <= 31; ++round) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (round > 5 && spent.count() > seconds)
      break;
    for (const Contender &contender : contenders) {
      if (row.absent.count(contender.name))
        continue;
      try {
        const double ms = contender.run();
        if (round > 0)
          samples[contender.name].push_back(ms);
      } catch (const std::exception &error) {
        row.absent[contender.name] = error.what();
      }
    }
  }
  for (auto &[name, list] : samples)
    if (!row.absent.count(name))
      row.medians[name] = median(std::move(list));
  return row;
}

static std::string cell(const Row &row, const std::string &name) {
  auto found = row.medians.find(name);
  return found == row.medians.end() ? "-" : fmt::format("{:.2f}", found->second);
}

/// peer / tulle, or 0 where one of them did not run.
static double ratio(const Row &row, const std::string &peer) {
  auto ours = row.medians.find("tulle"), theirs = row.medians.find(peer);
  return ours == row.medians.end() || theirs == row.medians.end() ? 0 : theirs->second / ours->second;
}

static void printLine(const std::string &job, const std::string &input,
                      const std::vector<std::string> &cells) {
  fmt::print("{:20} {:26}", job, input);
  for (const std::string &text : cells)
    fmt::print(" {:>10}", text);
  fmt::print("\n");
  std::fflush(stdout);
}

void printTable(const std::vector<Row> &rows, const std::vector<std::string> &peers) {
  std::vector<std::string> titles = {"tulle ms"};
  for (const std::string &peer : peers)
    titles.push_back(peer + " ms");
  for (const std::string &peer : peers)
    titles.push_back(peer + " x");
  printLine("job", "input", titles);
  std::vector<std::string> jobs;
  for (const Row &row : rows) {
    std::vector<std::string> cells = {cell(row, "tulle")};
    for (const std::string &peer : peers)
      cells.push_back(cell(row, peer));
    for (const std::string &peer : peers)
      cells.push_back(ratio(row, peer) > 0 ? fmt::format("{:.2f}", ratio(row, peer)) : "-");
    printLine(row.job, row.input, cells);
    if (std::find(jobs.begin(), jobs.end(), row.job) == jobs.end())
      jobs.push_back(row.job);
  }
  fmt::print("\ngeometric means over the inputs, peer / tulle\n");
  for (const std::string &job : jobs) {
    std::vector<std::string> cells = {""};
    for (size_t k = 0; k < peers.size(); ++k)
      cells.push_back("");
    for (const std::string &peer : peers) {
      double logs = 0;
      int count = 0;
      for (const Row &row : rows)
        if (row.job == job && ratio(row, peer) > 0) {
          logs += std::log(ratio(row, peer));
          ++count;
        }
      cells.push_back(count ? fmt::format("{:.2f}", std::exp(logs / count)) : "-");
    }
    printLine(job, "", cells);
  }
  for (const Row &row : rows)
    for (const auto &[name, why] : row.absent)
      fmt::print(stderr, "{} {}: no {}: {}\n", row.job, row.input, name, why);
}

Options parseOptions(int argc, char **argv, const char *what) {
  Options options;
  auto usage = [&] {
    fmt::print(stderr,
               "{}: {}\nusage: {} [--inputs GENERATOR,GENERATOR] [--filter TEXT] [--seconds S] [--no-scipy] "
               "[--no-mlir]\n",
               argv[0], what, argv[0]);
    std::exit(1);
  };
  for (int k = 1; k < argc; ++k) {
    const std::string_view flag = argv[k];
    const bool more = k + 1 < argc;
    if (flag == "--no-scipy") {
      options.scipy = false;
    } else if (flag == "--no-mlir") {
      options.mlir = false;
    } else if (flag == "--filter" && more) {
      options.filter = argv[++k];
    } else if (flag == "--seconds" && more && std::atof(argv[k + 1]) > 0) {
      options.seconds = std::atof(argv[++k]);
    } else if (flag == "--inputs" && more) {
      options.inputs.clear();
      std::stringstream list(argv[++k]);
      for (std::string input; std::getline(list, input, ',');)
        options.inputs.push_back(input);
    } else {
      usage();
    }
  }
  return options;
}

} // namespace tulle::bench
