// Conversion as a service: what is shared, chosen, refused. What every pair of formats stores is tested
// elsewhere.
#include "Programs.h"
#include "engine/Conversion.h"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <thread>

namespace tulle::engine {
namespace {

using runtime::Tensor;
using testing::ElementsAre;
using testing::HasSubstr;

format::Encoding formatOf(const std::string &text, unsigned order = 2) {
  return format::parseFormat(text, order);
}

template <class T> std::vector<T> contents(const runtime::Buffer &buffer) {
  const T *data = static_cast<const T *>(buffer.data);
  return {data, data + buffer.count};
}

std::string errorOf(const std::function<void()> &action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

//     0 2 0 3
// A = 0 0 0 0
//     4 0 5 6
const std::vector<double> matrix = {0, 2, 0, 3, 0, 0, 0, 0, 4, 0, 5, 6};

TEST(Convert, rowsToColumns) {
  ConversionReport report;
  Tensor made = engine::convert(doubles({3, 4}, matrix, "CSR"), formatOf("CSC"), {}, &report);
  EXPECT_THAT(contents<uint32_t>(made.buffers[0]), ElementsAre(0, 1, 2, 3, 5));
  EXPECT_THAT(contents<uint32_t>(made.buffers[1]), ElementsAre(2, 0, 2, 0, 2));
  EXPECT_THAT(contents<double>(made.buffers[2]), ElementsAre(4, 2, 5, 3, 6));
  EXPECT_NE(std::string(report.origin), "shared");
  ConversionReport again;
  engine::convert(doubles({3, 4}, matrix, "CSR"), formatOf("CSC"), {}, &again);
  EXPECT_EQ(std::string(again.origin), "memory cache");
}

TEST(Convert, nothingToDo) {
  Tensor tensor = doubles({3, 4}, matrix, "CSR");
  ConversionReport report;
  Tensor same = engine::convert(tensor, formatOf("CSR"), {}, &report);
  EXPECT_EQ(same.values(), tensor.values());
  EXPECT_EQ(std::string(report.origin), "shared");
}

TEST(Convert, sharesBuffersThatBothHave) {
  const Tensor coo = engine::convert(doubles({3, 4}, matrix, "CSR"), formatOf("COO-soa"));
  for (unsigned threads : {1, 2}) {
    const Tensor csr = engine::convert(coo, formatOf("CSR"), {.threads = threads});
    EXPECT_THAT(contents<uint32_t>(csr.buffers[0]), ElementsAre(0, 2, 2, 5));
    EXPECT_EQ(csr.buffers[1].data, coo.buffers[2].data);
    EXPECT_EQ(csr.buffers[2].data, coo.buffers[3].data);
    runtime::validate(csr);
  }
  Tensor borrowed = coo;
  for (runtime::Buffer &buffer : borrowed.buffers)
    buffer = runtime::Buffer::borrow(buffer.data, buffer.count, buffer.bytes);
  const Tensor csr = engine::convert(borrowed, formatOf("CSR"));
  EXPECT_NE(csr.buffers[1].data, coo.buffers[2].data);
  EXPECT_NE(csr.buffers[2].data, coo.buffers[3].data);
  EXPECT_EQ(elements(csr), matrix);
}

/// A kernel that runs again writes over its result, but not over what the result was converted to.
TEST(Convert, resultsOfLaterRunsLeaveItAlone) {
  Tensors in{{"A", doubles({3, 4}, matrix, "COO-soa")}, {"x", doubles({4}, {1, 1, 1, 1})}};
  notation::Program program = check("B(i,j) = A(i,j) * x(j)", in, {{"B", "COO-soa"}});
  auto executable = compile(program);
  auto slots = slotsFor(program, in);
  auto slotOf = [&](const std::string &name) -> std::optional<Tensor> & {
    for (size_t t = 0; t < slots.size(); ++t)
      if (program.tensors[t].name == name)
        return slots[t];
    throw InternalError("no tensor " + name);
  };
  executable->run(slots);
  const Tensor converted = engine::convert(*slotOf("B"), formatOf("CSR"));
  ASSERT_EQ(converted.values(), slotOf("B")->values());
  slotOf("x") = doubles({4}, {2, 2, 2, 2});
  executable->run(slots);
  EXPECT_EQ(elements(converted), matrix);
  EXPECT_EQ(elements(*slotOf("B"))[1], 4);
}

TEST(Convert, buffersHaveExactlyTheirSize) {
  for (const char *form : {"CSR", "CSC", "DCSR", "COO", "COO-soa", "BCSR(2,2)"}) {
    Tensor made = engine::convert(doubles({3, 4}, matrix, "COO"), formatOf(form));
    for (size_t f = 0; f < made.buffers.size(); ++f) {
      unsigned bits = made.layout().fields[f].width;
      EXPECT_EQ(made.buffers[f].bytes, made.buffers[f].count * (bits ? bits / 8 : 8)) << form << f;
    }
    runtime::validate(made);
    EXPECT_EQ(elements(made), matrix) << form;
  }
}

TEST(Convert, widthsWhereTheDataNeedsThem) {
  runtime::Entries entries;
  entries.dims = {2, int64_t(1) << 33};
  entries.coords = {{1, 0}, {int64_t(1) << 32, 7}};
  entries.values.resize(16);
  Tensor made = store(entries, formatOf("DCSR"));
  EXPECT_EQ(made.encoding->crdWidth, 64u);
  EXPECT_THAT(contents<uint64_t>(made.buffers[3]), ElementsAre(7, int64_t(1) << 32));
  entries.dims = {2, 1000};
  entries.coords[1] = {999, 7};
  EXPECT_EQ(store(entries, formatOf("DCSR")).encoding->crdWidth, 32u);
  EXPECT_THAT(
      errorOf([&] { store(entries, formatOf("(i,j) -> (i : dense, j : compressed), crdWidth = 8")); }),
      testing::AllOf(HasSubstr("999"), HasSubstr("8")));
}

// Sixteen bits of each block interleave to one more than a signed word has; how many entries there are is
// another matter.
TEST(Convert, coordinatesLargerThanDimensionsLeavePositionsAlone) {
  runtime::Entries entries;
  entries.dims = {1 << 17, 1 << 17};
  entries.coords = {{(1 << 17) - 1}, {0}};
  entries.values.resize(8);
  Tensor made = store(entries, formatOf("HiCOO(1)"));
  EXPECT_EQ(made.encoding->crdWidth, 64u);
  EXPECT_EQ(made.encoding->posWidth, 32u);
  EXPECT_THAT(contents<uint64_t>(made.buffers[1]), ElementsAre(0xAAAAAAAA, 1, 0));
}

TEST(Convert, entriesInAnyOrder) {
  runtime::Entries entries;
  entries.dims = {3, 4};
  entries.coords = {{2, 0, 2, 0, 2, 0}, {3, 3, 0, 1, 2, 3}};
  std::vector<double> values = {6, 1, 4, 2, 5, 2}; // 3 as 1 + 2
  entries.values.resize(48);
  std::memcpy(entries.values.data(), values.data(), 48);
  for (const char *form : {"CSR", "CSC", "DCSR", "dense", "BCSR(2,3)"})
    EXPECT_EQ(elements(store(entries, formatOf(form))), matrix) << form;
  EXPECT_EQ(store(entries, formatOf("CSR")).storedCount(), 5);
  entries.coords[1][2] = 4;
  EXPECT_THAT(errorOf([&] { store(entries, formatOf("CSR")); }), HasSubstr("entry 2 at (2, 4) lies outside"));
}

// So many, and so far apart, that they are partitioned first: ranges lose different numbers of
// entries to repeats, and move together.
TEST(Convert, manyRepeatsInAnyOrder) {
  constexpr int64_t rows = 60000, columns = 50000, count = 400000;
  std::mt19937_64 random(11);
  runtime::Entries entries;
  entries.dims = {rows, columns};
  entries.coords.resize(2);
  std::map<std::pair<int64_t, int64_t>, double> sums;
  std::vector<double> values;
  for (int64_t k = 0; k < count; ++k) {
    // Some are one of the first rows' few addresses.
    bool few = k % 16 == 0;
    int64_t i = int64_t(random() % (few ? 500 : rows)), j = int64_t(random() % (few ? 20 : columns));
    entries.coords[0].push_back(i);
    entries.coords[1].push_back(j);
    values.push_back(double(1 + k % 5));
    sums[{i, j}] += values.back();
  }
  entries.values.resize(values.size() * sizeof(double));
  std::memcpy(entries.values.data(), values.data(), entries.values.size());
  std::vector<uint32_t> columnsOf;
  std::vector<double> valuesOf;
  std::vector<uint32_t> ends(rows + 1);
  for (const auto &[at, sum] : sums) {
    ++ends[size_t(at.first) + 1];
    columnsOf.push_back(uint32_t(at.second));
    valuesOf.push_back(sum);
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  for (unsigned threads : {1u, 3u}) {
    Options options;
    options.threads = threads;
    Tensor made = store(entries, formatOf("CSR"), options);
    runtime::validate(made);
    EXPECT_EQ(contents<uint32_t>(made.buffers[0]), ends) << threads;
    EXPECT_EQ(contents<uint32_t>(made.buffers[1]), columnsOf) << threads;
    EXPECT_EQ(contents<double>(made.buffers[2]), valuesOf) << threads;
  }
}

TEST(Convert, differentFills) {
  Tensor tensor = doubles({3, 4}, matrix, "CSR");
  EXPECT_THAT(
      errorOf([&] { engine::convert(tensor, formatOf("(i,j) -> (i : dense, j : compressed), fill = inf")); }),
      HasSubstr("give both the same fill"));
}

TEST(Convert, wrongOrder) {
  EXPECT_THAT(errorOf([&] { engine::convert(doubles({3}, {1, 2, 3}), formatOf("CSR")); }), HasSubstr("1"));
}

/// A kernel does not look: what its map cannot hold must not reach it, however the tensor came to be.
TEST(Convert, sizesThatTheFormatCannotHold) {
  runtime::Entries corner;
  corner.dims = {262145, 262145};
  corner.coords = {{262144}, {262144}};
  corner.values.resize(sizeof(double), std::byte{0});
  Tensor rows = store(corner, formatOf("CSR"));
  EXPECT_THAT(errorOf([&] { engine::convert(rows, formatOf("HiCOO(2)")); }),
              HasSubstr("dimension 0 has size 262145, and HiCOO(2) holds at most 262144"));
  EXPECT_THAT(errorOf([&] { store(corner, formatOf("HiCOO(2)")); }), HasSubstr("holds at most 262144"));
  corner.dims = {262144, 262144};
  corner.coords = {{262143}, {262143}};
  Tensor back = engine::convert(store(corner, formatOf("HiCOO(2)")), formatOf("COO-soa"));
  EXPECT_THAT(contents<uint32_t>(back.buffers[1]), ElementsAre(262143));
}

TEST(Convert, emptyTensors) {
  for (const char *form : {"CSR", "CSC", "DCSR", "COO", "dense", "BCSR(2,2)"})
    for (std::vector<int64_t> dims : {std::vector<int64_t>{0, 4}, {3, 0}, {0, 0}, {3, 4}}) {
      runtime::Entries nothing;
      nothing.dims = dims;
      nothing.coords.resize(2);
      Tensor made = store(nothing, formatOf(form));
      runtime::validate(made);
      runtime::validate(engine::convert(made, formatOf("CSC")));
    }
}

TEST(Convert, manyThreads) {
  Tensor tensor = doubles({3, 4}, matrix, "CSR");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (const char *form : {"CSC", "DCSR", "COO", "BCSR(2,2)", "dense"})
        EXPECT_EQ(elements(engine::convert(tensor, formatOf(form))), matrix);
    });
  for (std::thread &thread : threads)
    thread.join();
}

const std::string onesByRow = "(i, j) -> (i : dense, j : compressed), explicitVal = 1",
                  onesByColumn = "(i, j) -> (j : dense, i : compressed), explicitVal = 1";
const std::vector<double> ones = {0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1};

TEST(Convert, explicitValuesTakeNoMemory) {
  Tensor rows = doubles({3, 4}, ones, "CSR");
  ConversionReport report;
  Tensor pattern = engine::convert(rows, formatOf(onesByRow), {}, &report);
  EXPECT_EQ(std::string(report.origin), "shared");
  EXPECT_EQ(pattern.bytes(), rows.bytes() - 5 * 8);
  EXPECT_EQ(pattern.values(), nullptr);
  EXPECT_EQ(pattern.storedCount(), 5);
  EXPECT_EQ(pattern.buffers[1].data, rows.buffers[1].data);
  runtime::validate(pattern);
  Tensor columns = engine::convert(pattern, formatOf(onesByColumn));
  EXPECT_THAT(contents<uint32_t>(columns.buffers[1]), ElementsAre(2, 0, 2, 0, 2));
  EXPECT_EQ(columns.buffers[2].bytes, 0);
  Tensor back = engine::convert(columns, formatOf("CSR"));
  EXPECT_THAT(contents<double>(back.buffers[2]), ElementsAre(1, 1, 1, 1, 1));
  Tensor same = engine::convert(pattern, formatOf("CSR"), {}, &report);
  EXPECT_THAT(contents<double>(same.buffers[2]), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_EQ(same.buffers[1].data, rows.buffers[1].data);
  // A copy where nothing but values has to be made: coordinates go as they are.
  Tensor wide = engine::convert(pattern, formatOf("(i, j) -> (i : dense, j : compressed), posWidth = 64"));
  EXPECT_THAT(contents<double>(wide.buffers[2]), ElementsAre(1, 1, 1, 1, 1));
}

TEST(Convert, explicitValuesAreChecked) {
  auto error = [](const Tensor &tensor, const std::string &format) {
    return errorOf([&] { engine::convert(tensor, formatOf(format)); });
  };
  Tensor mixed = doubles({3, 4}, matrix, "CSR");
  EXPECT_THAT(
      error(mixed, onesByRow),
      HasSubstr("the entry at (0, 1), counted from 0, is 2, and every entry must be 1; leave explicitVal"));
  EXPECT_THAT(error(mixed, onesByColumn), HasSubstr("the entry at (2, 0)"));
  // Padding of blocks is stored.
  EXPECT_THAT(error(doubles({3, 4}, ones, "BCSR(2,2)"), onesByRow),
              HasSubstr("the entry at (0, 0), counted from 0, is 0"));
  Tensor pattern = engine::convert(doubles({3, 4}, ones, "CSR"), formatOf(onesByRow));
  EXPECT_THAT(error(pattern, "(i, j) -> (i : dense, j : compressed), explicitVal = 2"),
              HasSubstr("every entry must be 2"));
  EXPECT_THAT(error(mixed, "(i, j) -> (i : dense, j : compressed), explicitVal = 2 : f32"),
              HasSubstr("another type"));
  // Empty slots are none.
  for (const char *map :
       {"(#i : dense, i : dense, j : singleton(padded))", "(i : dense, j : fixed[3])",
        "(i : dense, j : hashed)", "(i : dense, j : bitmap)", "(i : dense, j : loose_compressed[2])"}) {
    Tensor slots = engine::convert(pattern, formatOf(fmt::format("(i, j) -> {}, explicitVal = 1", map)));
    EXPECT_EQ(slots.buffers.back().bytes, 0) << map;
    Tensor dense = runtime::toDense(slots);
    EXPECT_EQ(contents<double>(dense.buffers[0]), ones) << map;
  }
}

} // namespace
} // namespace tulle::engine
