// The side that measures.
#include "Run.h"
#include "measure/Machine.h"
#include "peer/Library.h"
#include "report/Json.h"
#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tulle::bench {

static bool chosen(const std::vector<std::string> &parts, const std::string &name) {
  return parts.empty() || std::any_of(parts.begin(), parts.end(), [&](const std::string &part) {
           return name.find(part) != std::string::npos;
         });
}

/// For a run of a minute or two: of kernels with several matrices one grid and one random one.
static bool isQuick(const std::string &input) { return input == "grid3d27:64" || input == "rmat:17:16"; }

static bool isIn(const std::vector<std::string> &list, const std::string &name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Whether the input, which may be a file of the folder --data, is one of the kernel's.
static bool wants(const Selection &selection, const Kernel &kernel, const std::string &input, bool ofFolder) {
  if (kernel.group == kReal || ofFolder)
    return kernel.group == kReal && (selection.what == kReal || ofFolder) &&
           chosen(selection.kernels, kernel.name);
  const bool quick = selection.what == "quick";
  if (kernel.group == kGrowth && selection.what != kGrowth)
    return false;
  if ((!quick && selection.what != "all" && selection.what != kernel.group) ||
      !chosen(selection.kernels, kernel.name))
    return false;
  if (!selection.inputs.empty() || isIn(selection.more, input))
    return true;
  return isIn(kernel.inputs, input) && (!quick || kernel.inputs.size() < 3 || isQuick(input));
}

std::vector<Job> jobs(const Selection &selection) {
  std::vector<std::string> names = selection.inputs, files;
  if (!selection.data.empty())
    files = matricesIn(selection.data);
  if (names.empty() && selection.what != kReal) {
    // Inputs of few kernels come first: a limit of time ends among those that have been seen in most.
    std::map<std::string, int> uses;
    for (const Kernel &kernel : kernels())
      for (const std::string &input : kernel.inputs)
        if ((kernel.group == kGrowth) == (selection.what == kGrowth) && ++uses[input] == 1)
          names.push_back(input);
    std::stable_sort(names.begin(), names.end(),
                     [&](const std::string &a, const std::string &b) { return uses[a] < uses[b]; });
  }
  names.insert(names.begin(), selection.more.begin(), selection.more.end());
  std::vector<Job> list;
  for (const auto *of : {&names, &files})
    for (const std::string &name : *of)
      for (const Kernel &kernel : kernels())
        if (wants(selection, kernel, name, of == &files))
          list.push_back({&kernel, name});
  return list;
}

/// All that run in a row, the reference first. `made` receives the bytes of Tulle's last result.
static std::vector<Competitor> competitorsFor(const Kernel &kernel, const Task &task,
                                              const Selection &selection, std::shared_ptr<int64_t> made) {
  const int threads = threadCount();
  std::vector<Competitor> competitors;
  for (const Peer &peer : peers())
    if (peer.name == "loop" ||
        (kernel.strategies.empty() && kernel.group != "schedules" && chosen(selection.peers, peer.name)))
      competitors.push_back({peer.name, [&] { return peer.make(task); }});
  for (const std::string &strategy : kernel.strategies)
    competitors.push_back({strategy, [&] {
                             return tulleRunner(kernel, task, std::make_shared<int64_t>(0), unsigned(threads),
                                                strategy);
                           }});
  competitors.insert(competitors.begin() + 1,
                     {"tulle", [&] { return tulleRunner(kernel, task, made, unsigned(threads)); }});
  if (threads > 1)
    competitors.insert(
        competitors.begin() + 2,
        {kOneThread, [&] { return tulleRunner(kernel, task, std::make_shared<int64_t>(0), 1); }});
  const bool isProgram = statements(kernel).size() > 1,
             isLoop = kernel.text.find("repeat") != std::string::npos;
  if (isProgram && !isLoop && chosen(selection.peers, kUnfused))
    competitors.push_back({kUnfused, [&] { return unfusedRunner(kernel, task, unsigned(threads)); }});
  if (!kernel.schedule.empty() && chosen(selection.peers, kUnscheduled))
    competitors.push_back({kUnscheduled, [&] { return unscheduledRunner(kernel, task, unsigned(threads)); }});
  if (isIn(selection.peers, kUpstreamPasses))
    competitors.push_back({kUpstreamPasses, [&] {
                             return tulleRunner(kernel, task, std::make_shared<int64_t>(0), unsigned(threads),
                                                "auto", "canonicalize,cse,loop-invariant-code-motion");
                           }});
  if (threads > 1)
    for (const auto &[name, count] : {std::pair(kCopy, threads), {kCopyOneThread, 1}})
      competitors.push_back(
          {name, [count] { return Runner{[count] { return machine().copyMs(count); }, nullptr}; }});
  for (const std::string &name : selection.fake)
    competitors.push_back({name, []() -> std::optional<Runner> {
                             std::raise(SIGKILL); // what the system does when memory runs out
                             return std::nullopt;
                           }});
  return competitors;
}

static Row measure(const Kernel &kernel, Input &input, const Selection &selection,
                   const std::vector<std::string> &without, const OnNext &onNext) {
  const Task task{kernel.op, formatOf(kernel, input), kernel.target, kernel.n, input, kernel.type};
  const int threads = threadCount();
  Row row;
  row.group = kernel.group;
  row.kernel = kernel.name;
  row.input = input.name;
  row.threads = threads;
  row.entries = input.count();
  row.targets = threads == 1 ? kernel.want : kernel.wantThreads;
  auto made = std::make_shared<int64_t>(0);
  std::vector<Competitor> competitors = competitorsFor(kernel, task, selection, made);
  std::erase_if(competitors, [&](const Competitor &competitor) { return isIn(without, competitor.name); });
  measureInterleaved(row, std::move(competitors), selection.seconds, onNext);
  setWork(row, task, *made);
  row.rooflineMs = machine().roofline(row.bytes, row.flops);
  input.dropDense();
  return row;
}

namespace {

/// Lines of JSON to the parent.
struct Output {
  int file;
  void send(const nlohmann::json &json) const {
    const std::string line = json.dump() + "\n";
    for (size_t done = 0; done < line.size();) {
      const ssize_t wrote = write(file, line.data() + done, line.size() - done);
      if (wrote <= 0)
        throw std::runtime_error("the process that wanted the figures is gone");
      done += size_t(wrote);
    }
  }
};

} // namespace

static nlohmann::json limits() {
  auto gigabytes = [](double bytes) { return machine().bandwidth(bytes) * 1e3 / 1e9; };
  return {{"GB/s in 64 MB", gigabytes(1 << 26)},
          {"GB/s in 512 MB", gigabytes(1 << 29)},
          {"GB/s in 512 KB", gigabytes(1 << 19)},
          {"GB/s in 8 MB", gigabytes(1 << 23)},
          {"GFLOP/s", machine().peak() * 1e3 / 1e9}};
}

/// The row of a job that could not be set up.
static Row failed(const Job &job, const std::string &why) {
  Row row;
  row.group = job.kernel->group;
  row.kernel = job.kernel->name;
  row.input = job.input.substr(job.input.rfind('/') + 1);
  row.threads = threadCount();
  row.absent["tulle"] = why;
  return row;
}

void work(const Selection &selection, const Assignment &assignment) {
  useClock(threadCount() == 1 ? Clock::Thread : Clock::Wall);
  const Output output{assignment.out};
  const size_t first = assignment.first;
  // A file and not a message: nobody wakes up in the middle of what is timed.
  auto onNext = [&](const std::string &name) {
    if (pwrite(assignment.running, name.c_str(), name.size() + 1, 0) < 0)
      throw std::runtime_error("the process that wanted the figures is gone");
  };
  if (first == 0 && assignment.without.empty())
    output.send({{"limits", limits()}});
  const std::vector<Job> list = jobs(selection);
  std::unique_ptr<Input> input;
  std::string loaded;
  for (size_t k = first; k < list.size(); ++k) {
    const Job &job = list[k];
    const std::vector<std::string> without = k == first ? assignment.without : std::vector<std::string>();
    output.send({{"begin", k}});
    onNext("");
    try {
      if (loaded != job.input) {
        input.reset();
        loaded.clear();
        input = std::make_unique<Input>(job.input,
                                        job.kernel->group == kReal ? Second::Transposed : Second::Shifted);
        loaded = job.input;
      }
      if (!unsuited(*job.kernel, *input).empty())
        continue;
      const Row row = measure(*job.kernel, *input, selection, without, onNext);
      onNext("");
      output.send({{"row", toJson(row)}});
    } catch (const std::exception &error) {
      // What the user named must be right; the rest goes on.
      if (loaded.empty() && (isIn(selection.inputs, job.input) || isIn(selection.more, job.input)))
        throw;
      output.send({{"row", toJson(failed(job, error.what()))}});
    }
  }
  output.send({{"done", true}});
}

} // namespace tulle::bench
