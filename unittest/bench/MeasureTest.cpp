// What counts as a sample, from competitors that say themselves how long they ran.
#include "measure/Measure.h"
#include <gtest/gtest.h>

namespace tulle::bench {
namespace {

/// Says so many milliseconds run by run, the last again and again, and computes `value`.
Competitor saying(std::string name, std::vector<double> times, double value = 1) {
  return {std::move(name), [=]() -> std::optional<Runner> {
            auto runs = std::make_shared<size_t>(0);
            auto values = std::make_shared<std::vector<double>>(1, value);
            Runner runner;
            runner.run = [=] { return times[std::min((*runs)++, times.size() - 1)]; };
            runner.answer = [=] {
              Answer answer;
              answer.values = {*values};
              answer.owner = values;
              return answer;
            };
            return runner;
          }};
}

Row measured(std::vector<Competitor> competitors) {
  Row row;
  measureInterleaved(row, std::move(competitors), /*seconds=*/0.2, [](const std::string &) {});
  return row;
}

TEST(Measure, TheFirstRunOfAShortOneIsNoSample) {
  const Row row = measured({saying("loop", {500, 100})});
  EXPECT_EQ(row.times.at("loop").median, 100);
  EXPECT_GE(row.times.at("loop").repetitions, 3);
}

TEST(Measure, TheFirstRunOfALongOneIsItsOnlySample) {
  const Row row = measured({saying("loop", {5000, 100}), saying("tulle", {2500, 100})});
  EXPECT_EQ(row.times.at("loop").median, 5000);
  EXPECT_EQ(row.times.at("loop").repetitions, 1);
  EXPECT_EQ(row.times.at("tulle").median, 2500);
}

TEST(Measure, OneWithAnotherAnswerIsAbsent) {
  const Row row = measured({saying("loop", {10}), saying("tulle", {10}, 2)});
  EXPECT_EQ(row.times.count("tulle"), 0u);
  EXPECT_EQ(row.absent.at("tulle"), "value 0 is 2, the reference's 1");
}

} // namespace
} // namespace tulle::bench
