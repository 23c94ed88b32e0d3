// What fused programs allocate: an intermediate tensor lives in a register, a row, or a block of rows.
#include "Programs.h"
#include <algorithm>
#include <gtest/gtest.h>

namespace tulle::engine {
namespace {

using runtime::Tensor;

constexpr int64_t kRows = 4000, kRowEntries = 50, kColumns = 8;
constexpr int64_t kPatternBytes = kRows * kRowEntries * int64_t(sizeof(double));

/// Entries at equal distances in each row.
Tensor pattern() {
  runtime::Entries entries;
  entries.type = ElementType::F64;
  entries.dims = {kRows, kRows};
  entries.coords.resize(2);
  std::vector<double> values;
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t k = 0; k < kRowEntries; ++k) {
      entries.coords[0].push_back(i);
      entries.coords[1].push_back(k * (kRows / kRowEntries) + i % (kRows / kRowEntries));
      values.push_back(.01 * double(i % 7 + k % 5));
    }
  entries.values.resize(values.size() * sizeof(double));
  std::memcpy(entries.values.data(), values.data(), entries.values.size());
  return store(entries, format::parseFormat("CSR", 2));
}

Tensor rows() {
  std::vector<double> values(size_t(kRows * kColumns));
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = .1 * double(k % 11);
  return doubles({kRows, kColumns}, values);
}

struct Outcome {
  int64_t callBytes = 0;
  std::vector<std::string> intermediates; ///< that are in memory afterwards
};

/// Runs a program over the pattern A, where the tensors of `like` are like A.
Outcome run(const std::string &text, const std::vector<std::string> &like, const std::string &result,
            const Tensors &inputs, unsigned threads, const std::string &schedule = "") {
  std::map<std::string, notation::Binding> bindings;
  for (const auto &[name, tensor] : inputs)
    bindings[name] = {tensor.type, tensor.dims, tensor.encoding, true};
  for (const std::string &name : like)
    bindings[name].like = "A";
  notation::Program program = notation::check(text, bindings);
  if (!schedule.empty())
    notation::applySchedule(program, schedule, strategyNames());
  auto slots = slotsFor(program, inputs);
  RunReport report;
  compile(program, {.threads = threads, .workPerThread = 1, .diskCache = false})->run(slots, &report);
  Outcome outcome{report.mostBytes, {}};
  for (size_t t = 0; t < slots.size(); ++t)
    if (const std::string &name = program.tensors[t].name;
        slots[t] && !inputs.contains(name) && name != result)
      outcome.intermediates.push_back(name);
  return outcome;
}

const std::string softmax =
    "m(i) max= S(i,j) where S; e(i,j) = exp(S(i,j) - m(i)) where S; d(i) = e(i,j); P(i,j) = e(i,j) / d(i);";

class Memory : public testing::TestWithParam<unsigned> {};

void expectBlocks(const Outcome &outcome) {
  EXPECT_TRUE(outcome.intermediates.empty()) << outcome.intermediates.front();
  EXPECT_GT(outcome.callBytes, 0); // a block of e or of S
  EXPECT_LT(outcome.callBytes, kPatternBytes / 2);
}

TEST_P(Memory, SoftmaxHasNoIntermediateOfThePatternsSize) {
  std::string text = softmax;
  std::ranges::replace(text, 'S', 'A');
  expectBlocks(run(text, {"e", "P"}, "P", {{"A", pattern()}}, GetParam()));
  // By schedule, e is there as a whole.
  EXPECT_EQ(run(text, {"e", "P"}, "P", {{"A", pattern()}}, GetParam(), "compute_root(e)").intermediates,
            std::vector<std::string>{"e"});
}

TEST_P(Memory, AttentionHasNoIntermediateOfThePatternsSize) {
  const Tensors inputs{{"A", pattern()}, {"Q", rows()}, {"K", rows()}, {"V", rows()}};
  expectBlocks(run("S(i,j) = A(i,j) * Q(i,k) * K(j,k);" + softmax + "O(i,l) = P(i,j) * V(j,l)",
                   {"S", "e", "P"}, "O", inputs, GetParam()));
}

TEST_P(Memory, FusedMMHasNoIntermediateOfThePatternsSize) {
  const Tensors inputs{{"A", pattern()}, {"Q", rows()}, {"K", rows()}, {"V", rows()}};
  const std::string text = "S(i,j) = A(i,j) * Q(i,k) * K(j,k); O(i,l) = S(i,j) * V(j,l)";
  expectBlocks(run(text, {"S"}, "O", inputs, GetParam()));
  const Outcome inRegisters = run(text, {"S"}, "O", inputs, GetParam(), "compute_at(S, i, j)");
  EXPECT_TRUE(inRegisters.intermediates.empty());
  EXPECT_LT(inRegisters.callBytes, 1 << 16);
}

INSTANTIATE_TEST_SUITE_P(Threads, Memory, testing::Values(1u, 2u));

} // namespace
} // namespace tulle::engine
