// Programs of many statements: the code of each stage grows with their number and no faster, and no function
// grows beyond what LLVM takes time in proportion to.
#include "Programs.h"
#include "interpreter/Interpreter.h"
#include "iteration/CostModel.h"
#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sstream>

namespace tulle::engine {
namespace {

/// Statements of eight kinds, or the first of them, in turn, each of which reads what those before it made.
struct Chain {
  std::string text;
  std::map<std::string, std::string> formats;

  explicit Chain(unsigned statements, unsigned kinds = 8) {
    std::string v = "x", s, E, C;
    for (unsigned k = 0; k < statements; ++k) {
      auto add = [&](std::string_view pattern, std::string &name, char kind) {
        const std::string made = fmt::format("{}{}", kind, k);
        text += fmt::format(fmt::runtime(pattern), fmt::arg("r", made), fmt::arg("v", v), fmt::arg("s", s),
                            fmt::arg("E", E), fmt::arg("C", C)) +
                "; ";
        name = made;
      };
      switch (k % kinds) {
      case 0:
        add("{r}(i) = A(i,j) * {v}(j)", v, 'v');
        break;
      case 1:
        add("{r}(i) = 0.5 * {v}(i) + x(i)", v, 'v');
        break;
      case 2:
        add("{r} = {v}(i) * x(i)", s, 's');
        break;
      case 3:
        add("{r}(i) = {v}(i) / (1 + abs({s}))", v, 'v');
        break;
      case 4:
        add("{r}(i,j) = A(i,j) * {v}(i)", E, 'E');
        formats[E] = "CSR";
        break;
      case 5:
        add("{r}(i) = B(i,j) * {v}(j) where {E}(i,j)", v, 'v');
        break;
      case 6:
        add("{r}(i,j) = A(i,j) + B(i,j) * {v}(i)", C, 'C');
        formats[C] = "CSR";
        break;
      case 7:
        add("{r}(i) = {C}(i,j) * {v}(j)", v, 'v');
        break;
      }
    }
  }

  notation::Program program() const {
    Tensors used = inputs();
    std::erase_if(used, [&](const auto &input) { return text.find(input.first + "(") == std::string::npos; });
    return check(text, used, formats);
  }

  static Tensors inputs() {
    return {{"A", doubles({4, 4}, {.5, 0, .1, 0, 0, .2, 0, .3, 0, .4, 0, 0, .1, 0, 0, .6}, "CSR")},
            {"B", doubles({4, 4}, {.3, .1, 0, 0, 0, 0, .2, .1, 0, 0, 0, .5, .2, .1, .3, 0}, "CSR")},
            {"x", doubles({4}, {1, -2, .5, 3})}};
  }
};

/// Lines of the text of a stage.
int64_t size(unsigned statements, std::string_view stage, unsigned threads) {
  const std::string text =
      explain(Chain(statements).program(), stage, {.threads = threads, .workPerThread = 1, .quick = true});
  return std::count(text.begin(), text.end(), '\n');
}

TEST(LongPrograms, CodeGrowsWithTheNumberOfStatements) {
  for (unsigned threads : {1u, 2u})
    for (const char *stage : {"iteration", "loops", "vector", "llvm"}) {
      // What a statement adds is the same behind 48, 96 and 192 others, but for a few shared lines.
      const int64_t some = size(48, stage, threads), more = size(96, stage, threads),
                    most = size(192, stage, threads);
      EXPECT_NEAR(double(most - more), 2.0 * double(more - some), 0.02 * double(most)) << stage;
    }
}

TEST(LongPrograms, NoFunctionHasManyLoops) {
  std::istringstream text(explain(Chain(200, 4).program(), "vector", {.threads = 1, .quick = true}));
  int64_t loops = 0, functions = 0, calls = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("  func.func"))
      ++functions, loops = 0;
    const bool outermost = line.starts_with("    ") && line[4] != ' ';
    loops += outermost && line.find("scf.for ") != std::string::npos;
    calls += outermost && line.find("call @") != std::string::npos;
    EXPECT_LE(loops, iteration::Costs().mostLoops) << "in function " << functions;
  }
  EXPECT_GT(calls, iteration::Costs().mostLoops);
  EXPECT_EQ(functions, 1 + calls);
}

TEST(LongPrograms, ComputeWhatTheInterpreterDoes) {
  const notation::Program program = Chain(200).program();
  const Tensors inputs = Chain::inputs();
  std::vector<interpreter::DenseTensor> expected(program.tensors.size());
  for (size_t t = 0; t < expected.size(); ++t)
    if (auto input = inputs.find(program.tensors[t].name); input != inputs.end())
      expected[t] = interpreter::fromTensor(input->second);
  interpreter::run(program, expected);
  const size_t last = program.statements.back().lhs.tensor;
  for (unsigned threads : {1u, 2u}) {
    auto slots = slotsFor(program, inputs);
    compile(program, {.threads = threads, .workPerThread = 1, .diskCache = false})->run(slots);
    const std::vector<double> found = elements(*slots[last]);
    ASSERT_EQ(found.size(), 4u);
    for (size_t k = 0; k < 4; ++k) {
      const double wanted = expected[last].values[k].f.real();
      EXPECT_NEAR(found[k], wanted, 1e-9 * std::abs(wanted)) << threads << " threads";
    }
  }
}

} // namespace
} // namespace tulle::engine
