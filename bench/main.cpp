// tulle-bench: times kernels against the peers that are installed; `tulle bench` runs it.
#include "measure/Report.h"
#include "registry/Kernel.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tulle::bench {

namespace {

struct Options {
  std::string what = "all";
  std::vector<std::string> kernels, inputs, peers;
  double seconds = 1;
};

} // namespace

static bool chosen(const std::vector<std::string> &parts, const std::string &name) {
  return parts.empty() || std::any_of(parts.begin(), parts.end(), [&](const std::string &part) {
           return name.find(part) != std::string::npos;
         });
}

static Row measure(const Kernel &kernel, Input &input, const Options &options) {
  const Task task{kernel.op, kernel.format, kernel.target, kernel.n, input};
  Row row;
  row.group = kernel.group;
  row.kernel = kernel.name;
  row.input = input.name;
  row.target = kernel.want;
  row.targetPeer = kernel.wantPeer;
  auto made = std::make_shared<int64_t>(0);
  std::vector<Contender> contenders;
  for (const Peer &peer : peers()) {
    if (peer.name != "loop" && !chosen(options.peers, peer.name))
      continue;
    try {
      if (auto runner = peer.make(task))
        contenders.push_back({peer.name, [runner = *runner] { return runner; }});
    } catch (const std::exception &error) {
      row.absent[peer.name] = error.what();
    }
  }
  contenders.insert(contenders.begin() + (contenders.empty() ? 0 : 1),
                    {"tulle", [&] { return ours(kernel, task, made, false); }});
  race(row, std::move(contenders), options.seconds);
  setWork(row, task, *made);
  input.dropDense();
  return row;
}

static std::vector<Row> measureAll(const Options &options) {
  std::vector<std::string> names = options.inputs;
  if (names.empty())
    for (const Kernel &kernel : kernels())
      for (const std::string &input : kernel.inputs)
        if (std::find(names.begin(), names.end(), input) == names.end())
          names.push_back(input);
  std::vector<Row> rows;
  for (const std::string &name : names) {
    std::unique_ptr<Input> input;
    for (const Kernel &kernel : kernels()) {
      if ((options.what != "all" && options.what != kernel.group) || !chosen(options.kernels, kernel.name) ||
          (options.inputs.empty() &&
           std::find(kernel.inputs.begin(), kernel.inputs.end(), name) == kernel.inputs.end()))
        continue;
      if (!input)
        input = std::make_unique<Input>(name);
      if (const std::string why = unsuited(kernel, *input); !why.empty())
        continue;
      rows.push_back(measure(kernel, *input, options));
      fmt::print(stderr, "{} {}\n", kernel.name, name);
    }
  }
  return rows;
}

static int main(int argc, char **argv) {
  Options options;
  CLI::App app{"Times kernels, sums and products with sparse results, and conversions against the peers that "
               "are installed: same data, same process, in turn"};
  app.name("tulle bench");
  app.add_option("what", options.what, "Which part")
      ->check(CLI::IsMember({"kernels", "convert", "assemble", "all"}))
      ->capture_default_str();
  app.add_option("--kernels", options.kernels, "Only kernels whose name contains one of these")
      ->delimiter(',');
  app.add_option("--inputs", options.inputs, "Generators or files instead of each kernel's own")
      ->delimiter(',');
  app.add_option("--peers", options.peers, "Only these peers (loops by hand always run)")->delimiter(',');
  app.add_option("--seconds", options.seconds, "Time for each kernel and input")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.footer("Medians of processor time in one thread; ratios are the best peer's time / Tulle's.\n"
             "Example:\n  tulle bench convert --kernels CSC --inputs grid2d:1000");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  const std::vector<Row> rows = measureAll(options);
  std::vector<std::string> columns = {"tulle"};
  for (const Peer &peer : peers())
    columns.push_back(peer.name);
  printTable(rows, columns);
  return 0;
}

} // namespace tulle::bench

int main(int argc, char **argv) {
  tulle::bench::keepMemory(argv);
  try {
    return tulle::bench::main(argc, argv);
  } catch (const std::exception &error) {
    fmt::print(stderr, "tulle bench: {}\n", error.what());
    return 1;
  }
}
