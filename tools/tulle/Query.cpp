// `tulle query`: statistics of where a tensor stores entries.
#include "Commands.h"
#include "Inputs.h"
#include "Progress.h"
#include "Report.h"
#include "Suggest.h"
#include "engine/Conversion.h"
#include "format/Checks.h"
#include "support/Errors.h"
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace tulle::cli {

namespace {
struct QueryOptions {
  LevelsOption levels;
  std::string text, file, format, dims, stage, suggest, kernel = "spmv";
  bool measure = false;
  std::vector<std::string> outputs;
};
} // namespace

/// Where answers go, by name.
static std::map<std::string, std::string> outputsOf(const QueryOptions &options,
                                                    const notation::Query &query) {
  std::map<std::string, std::string> paths;
  std::set<std::string> files;
  for (const std::string &text : options.outputs) {
    auto [name, path] = splitAssignment("-o", text);
    if (std::none_of(query.aggregates.begin(), query.aggregates.end(),
                     [&, &wanted = name](const auto &aggregate) { return aggregate.name == wanted; }))
      throwError("-o {}: the query computes no '{}'", text, name);
    requireOutput("-o " + text, path);
    requireNewFile("-o " + text, path, files);
    if (!paths.emplace(name, path).second)
      throwError("-o {}: '{}' is already written to another file; give -o {} once", text, name, name);
  }
  return paths;
}

/// Where the first element of an answer is not at coordinate 0.
static void printOrigins(const notation::Query &query, const runtime::Tensor &tensor) {
  const auto order = unsigned(tensor.dims.size());
  for (size_t at = 0; at < query.select.size(); ++at) {
    if (query.select[at] < order)
      continue;
    const format::Expr &e = query.computed[query.select[at] - order];
    if (e->kind == format::ExprKind::Counter)
      continue;
    std::vector<int64_t> sizes = tensor.dims;
    for (int64_t &size : sizes)
      size = std::max<int64_t>(size, 1);
    if (const int64_t low = notation::valueRange(e, sizes).first; low != 0) {
      format::Encoding shown = format::denseEncoding(order);
      shown.levels.assign(1, {"", e, {}});
      const std::string text = format::printLevel(shown, 0);
      fmt::print("index 0 of dimension {} is {} = {}\n", at, text.substr(0, text.find(" : ")), low);
    }
  }
}

static void query(const QueryOptions &options) {
  if (!options.suggest.empty())
    return printSuggestions(options.suggest, options.dims, options.kernel, options.measure);
  if (options.text.empty() || options.file.empty())
    throw Error("query: give a query and a file, or --suggest FILE");
  runtime::FileContents contents = readAlone(options.file, options.dims, "");
  std::string format = options.format.empty() ? contents.suggested : options.format;
  format::Encoding encoding = format::parseFormatFor(
      format, contents.dims(), options.format.empty() ? "<suggested>" : "-f", options.levels.read());
  if (std::string why = format::whyNotExecutable(encoding); !why.empty())
    throwError("-f '{}': {}", options.format, why);
  notation::Query parsed = notation::parseQuery(options.text, encoding);
  std::map<std::string, std::string> outputs = outputsOf(options, parsed);
  runtime::Tensor tensor = store(options.file, std::move(contents), encoding);
  if (!options.stage.empty()) {
    std::string text = engine::explainQuery(tensor, parsed, options.stage);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  std::vector<runtime::Tensor> answers = engine::query(tensor, parsed);
  for (size_t k = 0; k < answers.size(); ++k) {
    const std::string &name = parsed.aggregates[k].name;
    if (auto path = outputs.find(name); path != outputs.end())
      runtime::writeFile(path->second, answers[k]);
    else
      fmt::print("{}\n", summarize(name, answers[k]));
  }
  printOrigins(parsed, tensor);
}

void addQuery(CLI::App &app) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App *command =
      app.add_subcommand("query", "Count and bound the stored entries of a tensor, by row, by diagonal, …");
  command->add_option("query", options->text, "select [COORDINATES] -> AGGREGATE as NAME, …")->type_name("");
  command->add_option("file", options->file, "A tensor file, or a generator")->type_name("");
  command->add_option("-f,--format", options->format, "The storage format; default: what the file suggests")
      ->type_name("");
  addLevelsOption(*command, options->levels);
  command->add_option("-d,--dims", options->dims, "Sizes for a generator that implies none: 4x5")
      ->type_name("");
  addList(*command, "-o,--output", options->outputs,
          "NAME=FILE: write an answer (.npy, .mtx, .tns); default: print a summary");
  command
      ->add_option("--stage", options->stage,
                   "Show the code that answers, at this stage, instead of running it")
      ->type_name("");
  CLI::Option *suggest =
      command->add_option("--suggest", options->suggest, "FILE: rank storage formats for this matrix instead")
          ->excludes("query")
          ->type_name("");
  command->add_flag("--measure", options->measure, "Time each suggested format, too")->needs(suggest);
  command
      ->add_option("--kernel", options->kernel,
                   "What the formats are for: spmv (default) or spmm:COLUMNS, a product with a dense matrix")
      ->needs(suggest)
      ->type_name("");
  command->footer("Dimensions are called i, j, k, l, ... in order; the letters behind them are levels of the "
                  "format that are\n"
                  "no dimension. Coordinates are these, expressions of them, and counters such as #i. "
                  "Aggregates, over the entries\n"
                  "at each selected coordinate: count(e,...) different coordinates, max(e) and min(e) of an "
                  "expression,\n"
                  "id() 1 where there is an entry.\n"
                  "Example:\n  tulle query 'select [i] -> count(j) as n' matrix.mtx -o n=n.npy\n"
                  "  tulle query 'select [] -> max(j - i) as upper, min(j - i) as lower' grid2d:100\n"
                  "  tulle query 'select [j - i] -> count(i) as n' grid2d:100");
  command->callback([options] { query(*options); });
}

} // namespace tulle::cli
