// The public interface alone: no header of the compiler is included here.
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tulle/tulle.h>

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// The message of the tulle::Error that `action` throws; empty when it throws none.
template <class Action> std::string messageOf(Action action) {
  try {
    action();
  } catch (const tulle::Error &error) {
    return error.what();
  }
  return "";
}

/// 1 2 0
/// 0 0 3
tulle::Entries<double> example() { return {{2, 3}, {{1, 0, 0}, {2, 1, 0}}, {3, 2, 1}}; }

std::vector<int32_t> read32(const tulle::BufferView &view) {
  EXPECT_EQ(view.width, 32u);
  std::vector<int32_t> values(view.count);
  std::memcpy(values.data(), view.data, view.count * sizeof(int32_t));
  return values;
}

TEST(Api, PacksAndShowsBuffers) {
  tulle::Tensor<double> A = tulle::pack(example(), tulle::CSR);
  EXPECT_THAT(A.dims(), ElementsAre(2, 3));
  EXPECT_EQ(A.element(), "f64");
  EXPECT_THAT(read32(A.positions(1)), ElementsAre(0, 2, 3));
  EXPECT_THAT(read32(A.coordinates(1)), ElementsAre(0, 1, 2));
  EXPECT_EQ(A.positions(0).count, 0);
  EXPECT_THAT(std::vector<double>(A.values().begin(), A.values().end()), ElementsAre(1, 2, 3));
  tulle::Tensor<double> B = A.to(tulle::CSC);
  EXPECT_THAT(read32(B.positions(1)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(A.print(), HasSubstr("nse = 3"));
}

TEST(Api, LevelFormatsAreDeclaredAsText) {
  const std::string declaration =
      "level rows {\n  positions(p) = p * N to p * N + N;\n  coordinate(p, q) = q - p * N;\n"
      "  insert(p, c) = p * N + c + 1 - 1;\n}";
  const tulle::Format map("(i, j) -> (i : dense, j : rows)");
  const tulle::AnyTensor A = tulle::pack(example(), map.withLevels(declaration));
  EXPECT_EQ(A.storedCount(), 6);
  EXPECT_EQ(A.to(tulle::Format(A.formatName())).type().format, A.type().format);
  const std::string wrong = declaration.substr(0, declaration.find(" - 1;")) + ";\n}";
  EXPECT_THAT(messageOf([&] { tulle::pack(example(), map.withLevels(wrong)); }),
              HasSubstr("  insert(p, c) = p * N + c + 1;\n    ^~"));
  EXPECT_THAT(messageOf([&] { map.withLevels("level rows { }", "mine.levels"); }),
              HasSubstr("mine.levels:1:7: error: level format 'rows' has no part 'positions'"));
}

TEST(Api, RunsKernelsOnOtherSizesThanCompiledFor) {
  tulle::Tensor<double> A = tulle::pack(example(), tulle::CSR);
  auto x = tulle::full<double>({3}, 2.0);
  tulle::Kernel spmv = tulle::compile("y(i) = A(i,j) * x(j)", {{"A", A.type()}, {"x", x.type()}});
  EXPECT_THAT(spmv.inputs(), ElementsAre("A", "x"));
  tulle::Tensor<double> y = spmv(A, x);
  EXPECT_THAT(std::vector<double>(y.values().begin(), y.values().end()), ElementsAre(6, 6));

  tulle::Entries<double> wider = {{1, 5}, {{0}, {4}}, {7}};
  tulle::Tensor<double> z = spmv(tulle::pack(wider, tulle::CSR), tulle::full<double>({5}, 3.0));
  EXPECT_THAT(std::vector<double>(z.values().begin(), z.values().end()), ElementsAre(21));
  EXPECT_THAT(messageOf([&] { spmv(A, tulle::zeros<double>({4})); }), HasSubstr("<expr>:1:"));
}

TEST(Api, SizesOfOperandsNeedNotBeGiven) {
  tulle::Kernel spmv = tulle::compile("y(i) = A(i,j) * x(j+1)",
                                      {{"A", {"f64", tulle::CSR, {}}}, {"x", {"f64", tulle::Dense, {}}}});
  tulle::Tensor<double> y = spmv(tulle::pack(example(), tulle::CSR), tulle::full<double>({4}, 2.0));
  EXPECT_THAT(std::vector<double>(y.values().begin(), y.values().end()), ElementsAre(6, 6));
  for (int64_t size : {5, 1, 5}) {
    tulle::Entries<double> one = {{1, size}, {{0}, {size - 1}}, {7}};
    y = spmv(tulle::pack(one, tulle::CSR), tulle::full<double>({size + 1}, 3.0));
    EXPECT_THAT(std::vector<double>(y.values().begin(), y.values().end()), ElementsAre(21));
  }
  EXPECT_THAT(spmv.results(), ElementsAre("y"));
}

TEST(Api, KernelsWithoutSizesAreForAnyAndThoseWithSomeForOthersToo) {
  auto isFixed = [](const std::vector<int64_t> &sizes, bool anySize) {
    tulle::CompileOptions options;
    options.anySize = anySize;
    return tulle::compile("Y(i,k) = A(i,j) * X(j,k)",
                          {{"A", {"f64", tulle::CSR, {}}}, {"X", {"f64", tulle::Dense, sizes}}}, options)
               .explain("linalg")
               .find("%X: tensor<?x16xf64") != std::string::npos;
  };
  EXPECT_TRUE(isFixed({300, 16}, false));
  EXPECT_FALSE(isFixed({300, 16}, true));
  EXPECT_FALSE(isFixed({}, false));
}

TEST(Api, ResultsAreWrittenToMemoryThatIsGiven) {
  tulle::Tensor<double> A = tulle::pack(example(), tulle::CSR);
  auto x = tulle::full<double>({3}, 2.0);
  tulle::Kernel kernel =
      tulle::compile("y(i) = A(i,j) * x(j); z(j) = A(i,j)", {{"A", A.type()}, {"x", x.type()}});
  std::vector<double> y = {9, 9}, small = {9};
  auto results = kernel.run({{"A", A}, {"x", x}}, nullptr, {{"y", tulle::dense<double>({2}, y)}});
  EXPECT_THAT(y, ElementsAre(6, 6));
  EXPECT_EQ(results.at("y").rawValues().data, y.data());
  EXPECT_EQ(results.at("z").rawValues().count, 3);
  auto given = [&](const char *name, const tulle::AnyTensor &output) {
    return messageOf([&] { kernel.run({{"A", A}, {"x", x}}, nullptr, {{name, output}}); });
  };
  EXPECT_THAT(given("y", tulle::dense<double>({1}, small)), HasSubstr("has sizes 2, but the output"));
  EXPECT_THAT(given("A", A), HasSubstr("'A' is no result of this kernel; it computes y, z"));
  EXPECT_THAT(given("y", tulle::zeros<float>({2})), HasSubstr("f32"));
  EXPECT_THAT(given("z", x), HasSubstr("shares memory with an input"));
  tulle::Kernel sparse = tulle::compile("B(i,j) = A(i,j)", {{"A", A.type()}, {"B", {"", tulle::CSR, {}}}});
  EXPECT_THAT(messageOf([&] { sparse.run({{"A", A}}, nullptr, {{"B", A}}); }),
              HasSubstr("only dense results"));
}

TEST(Api, AddingKeepsTheInputAndFillsTheOutput) {
  tulle::Kernel kernel = tulle::compile("repeat 2 { y(i) = y(i) + x(i) }",
                                        {{"x", {"f64", tulle::Dense, {}}}, {"y", {"f64", tulle::Dense, {}}}});
  std::vector<double> x = {1, 2}, y = {10, 20}, out = {0, 0};
  tulle::AnyTensor given = tulle::dense<double>({2}, y);
  kernel.run({{"x", tulle::dense<double>({2}, x)}, {"y", given}}, nullptr,
             {{"y", tulle::dense<double>({2}, out)}});
  EXPECT_THAT(y, ElementsAre(10, 20));
  EXPECT_THAT(out, ElementsAre(12, 24));
}

TEST(Api, ResultsMayHaveAFirstValue) {
  tulle::Tensor<double> x = tulle::full<double>({2}, 3.0), y = tulle::full<double>({2}, 10.0);
  const std::map<std::string, tulle::TensorType> types = {{"x", x.type()}, {"y", y.type()}};
  tulle::Kernel alone = tulle::compile("y(i) += x(i)", types);
  EXPECT_THAT(alone.inputs(), ElementsAre("x"));
  tulle::Kernel adds = tulle::compile("y(i) += x(i)", types, {.given = {"y"}});
  tulle::Tensor<double> sum = adds.run({{"x", x}, {"y", y}}).at("y");
  EXPECT_THAT(std::vector<double>(sum.values().begin(), sum.values().end()), ElementsAre(13, 13));
  EXPECT_EQ(y.values()[0], 10);
}

// python/tests/test_processes.py takes it to another process.
TEST(Api, KernelsSayWhatTheyWereCompiledOf) {
  const std::map<std::string, tulle::TensorType> types = {{"A", {"f64", tulle::CSR}}, {"x", {}}};
  const std::string program = "y(i) = A(i,j) * x(j)";
  tulle::Kernel kernel = tulle::compile(program, types, {.threads = 1, .diskCache = false});
  EXPECT_EQ(kernel.program(), program);
  EXPECT_EQ(kernel.types().at("A").format.text(), "CSR");
  EXPECT_EQ(kernel.options().threads, 1u);
  EXPECT_FALSE(kernel.options().diskCache);
  EXPECT_GT(kernel.objectCode().size(), 100u);
}

TEST(Api, StatementsSayWhatTheyReadAndWrite) {
  const std::map<std::string, tulle::TensorType> types = {
      {"A", {"f64", tulle::CSR}}, {"x", {}}, {"z", {}}, {"p", {"i64"}}, {"C", {"", tulle::CSR}}};
  tulle::Kernel kernel = tulle::compile(
      "C(i,j) = A(i,j) * x(j) where (j < 3); y(i) = C(i,j) * x(p(j)); m max= y(i) + z(i+1)", types);
  const std::vector<tulle::StatementUse> statements = kernel.statements();
  ASSERT_EQ(statements.size(), 3u);
  const tulle::StatementUse &scaled = statements[0], &sum = statements[1], &most = statements[2];
  EXPECT_EQ(scaled.result.tensor, "C");
  EXPECT_EQ(scaled.reduction, "");
  EXPECT_THAT(scaled.indexValues, ElementsAre("j"));
  EXPECT_EQ(scaled.operands[0].tensor, "A");
  EXPECT_THAT(scaled.operands[0].subscripts, ElementsAre("i", "j"));
  EXPECT_TRUE(scaled.operands[0].restricts);
  EXPECT_EQ(sum.reduction, "+=");
  EXPECT_THAT(sum.operands[1].subscripts, ElementsAre("")); // p gives it
  EXPECT_EQ(most.reduction, "max=");
  EXPECT_EQ(most.operands[1].tensor, "z");
  EXPECT_THAT(most.operands[1].subscripts, ElementsAre("i+1"));
  EXPECT_FALSE(most.operands[0].restricts); // a maximum takes 0 where nothing is stored
}

TEST(Api, OwnersLiveAsLongAsTheirBuffersAreRead) {
  auto owner = std::make_shared<std::vector<double>>(std::vector<double>{1, 2, 3});
  std::weak_ptr<std::vector<double>> alive = owner;
  auto positions = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{0, 2, 3});
  auto coordinates = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{0, 2, 1});
  tulle::AnyTensor A = tulle::borrow<double>({2, 3}, tulle::CSR,
                                             {{positions->data(), 3, 64, positions},
                                              {coordinates->data(), 3, 64, coordinates},
                                              {owner->data(), 3, 64, owner}});
  owner.reset();
  positions.reset();
  coordinates.reset();
  tulle::AnyTensor view = A.slice(0, 0, 1).transpose();
  A = {};
  EXPECT_FALSE(alive.expired());
  EXPECT_THAT(tulle::Tensor<double>(view.to(tulle::COO)).values(), ElementsAre(1, 2));
  tulle::BufferView values = view.rawValues();
  view = {};
  EXPECT_FALSE(alive.expired());
  values = {};
  EXPECT_TRUE(alive.expired());
}

TEST(Api, FormatsNameTheirBuffers) {
  std::vector<std::string> names;
  for (const tulle::BufferRole &role : tulle::buffersOf(tulle::Format("DIA"), 2))
    names.push_back(role.kind + std::to_string(role.level));
  EXPECT_THAT(names, ElementsAre("sizes0", "coordinates0", "values3"));
  EXPECT_EQ(tulle::pack(example(), tulle::CSR).formatName(), "CSR");
  EXPECT_EQ(tulle::tensorsOf("y(i) = A(i,j); z = y(i); y(i) = z * x(i)").written.back(), "y");
}

TEST(Api, FormatsMaySayWhatTheValuesAre) {
  tulle::Format ones("(i, j) -> (i : dense, j : compressed), explicitVal = 1");
  tulle::Tensor<double> A =
      tulle::pack(tulle::Entries<double>{{2, 3}, {{1, 0, 0}, {2, 1, 0}}, {1, 1, 1}}, ones);
  EXPECT_EQ(A.storedCount(), 3);
  EXPECT_EQ(A.bytes(), (3 + 3) * 4);
  EXPECT_THAT(messageOf([&] { A.values(); }), HasSubstr("convert it to the format without explicitVal"));
  EXPECT_THAT(A.print(), HasSubstr("explicitVal : 1"));
  auto x = tulle::full<double>({3}, 2.0);
  tulle::Kernel spmv = tulle::compile("y(i) = A(i,j) * x(j)", {{"A", A.type()}, {"x", x.type()}});
  tulle::Tensor<double> y = spmv(A, x);
  EXPECT_THAT(std::vector<double>(y.values().begin(), y.values().end()), ElementsAre(4, 2));
  tulle::Tensor<double> B = A.to(tulle::CSC);
  EXPECT_THAT(std::vector<double>(B.values().begin(), B.values().end()), ElementsAre(1, 1, 1));
  EXPECT_THAT(messageOf([&] { tulle::pack(example(), ones); }), HasSubstr("every entry must be 1"));
  EXPECT_THAT(
      messageOf([&] { tulle::compile("C(i,j) = A(i,j)", {{"A", A.type()}, {"C", {"f64", ones, {}}}}); }),
      HasSubstr("'C' is computed"));
  uint32_t positions[] = {0, 2, 3}, coordinates[] = {0, 1, 2};
  auto same =
      tulle::borrow<double>({2, 3}, ones, {{positions, 3, 32}, {coordinates, 3, 32}, {nullptr, 3, 0}});
  tulle::Tensor<double> z = spmv(same, x);
  EXPECT_THAT(std::vector<double>(z.values().begin(), z.values().end()), ElementsAre(4, 2));
}

TEST(Api, ReturnsEveryResultByName) {
  tulle::Tensor<double> A = tulle::pack(example(), tulle::CSR);
  tulle::TensorType scaled = {.format = tulle::CSR, .dims = {}};
  tulle::Kernel kernel =
      tulle::compile("B(i,j) = 2 * A(i,j); s = B(i,j)", {{"A", A.type()}, {"B", scaled}}, {.results = {"B"}});
  std::map<std::string, tulle::AnyTensor> results = kernel.run({{"A", A}});
  EXPECT_EQ(tulle::Tensor<double>(results.at("s")).values()[0], 12);
  EXPECT_THAT(read32(results.at("B").coordinates(1)), ElementsAre(0, 1, 2));
}

TEST(Api, ReturnsNoIntermediateTensorUnlessAsked) {
  tulle::Tensor<double> A = tulle::pack(example(), tulle::CSR);
  tulle::Kernel kernel = tulle::compile("y(i) = A(i,j); s = y(i)", {{"A", A.type()}});
  std::map<std::string, tulle::AnyTensor> results = kernel.run({{"A", A}});
  EXPECT_EQ(results.size(), 1u);
  EXPECT_EQ(tulle::Tensor<double>(results.at("s")).values()[0], 6);
  EXPECT_THAT(messageOf([&] { tulle::compile("y(i) = A(i,j)", {{"A", A.type()}}, {.results = {"A"}}); }),
              HasSubstr("the program computes no 'A'; it computes y"));
}

TEST(Api, LoopsReportTheirRounds) {
  tulle::Tensor<double> A = tulle::pack(tulle::Entries<double>{{2, 2}, {{0, 1}, {1, 0}}, {2, 3}}, tulle::CSR);
  auto x = tulle::full<double>({2}, 1.0);
  tulle::Kernel kernel =
      tulle::compile("repeat 100 { y(i) = A(i,j) * x(j); s = y(i); x(i) = y(i) } until s > 50",
                     {{"A", A.type()}, {"x", x.type()}});
  EXPECT_THAT(kernel.inputs(), ElementsAre("A", "x"));
  tulle::RunReport report;
  std::map<std::string, tulle::AnyTensor> results = kernel.run({{"A", A}, {"x", x}}, &report);
  EXPECT_THAT(report.iterations, ElementsAre(4));
  EXPECT_EQ(tulle::Tensor<double>(results.at("s")).values()[0], 72);
  report.afterRound = [](const std::vector<int64_t> &iterations) { return iterations[0] < 2; };
  results = kernel.run({{"A", A}, {"x", x}}, &report);
  EXPECT_THAT(report.iterations, ElementsAre(2));
  int asked = 0;
  report.isInterrupted = [&] { return ++asked == 2; };
  EXPECT_THROW(kernel.run({{"A", A}, {"x", x}}, &report), tulle::Interrupted);
  tulle::Tensor<double> last = kernel(A, x); // x is written last
  EXPECT_THAT(std::vector<double>(last.values().begin(), last.values().end()), ElementsAre(36, 36));
  EXPECT_THAT(std::vector<double>(x.values().begin(), x.values().end()), ElementsAre(1, 1));
}

TEST(Api, ASchedulesErrorsPointIntoItsText) {
  tulle::Tensor<double> A = tulle::pack(example(), tulle::CSR);
  auto x = tulle::full<double>({3}, 1.0);
  auto scheduled = [&](const char *schedule) {
    return tulle::compile("y(i) = A(i,j) * x(j)", {{"A", A.type()}, {"x", x.type()}}, {.schedule = schedule});
  };
  tulle::Tensor<double> y = scheduled("convert(A, CSC); reorder(j, i)")(A, x);
  EXPECT_THAT(std::vector<double>(y.values().begin(), y.values().end()), ElementsAre(3, 3));
  EXPECT_THAT(messageOf([&] { scheduled("// columns\nreorder(j, i)"); }),
              HasSubstr("<schedule>:2:1: error: loops in this order do not follow A as CSR"));
  EXPECT_THAT(messageOf([&] { scheduled("reorder(j, k)"); }),
              HasSubstr("<schedule>:1:12: error: no index 'k'"));
}

TEST(Api, BorrowsWithoutCopying) {
  int32_t positions[] = {0, 2, 3}, coordinates[] = {0, 1, 2};
  double values[] = {1, 2, 3}, dense[] = {1, 10, 100};
  auto A =
      tulle::borrow<double>({2, 3}, tulle::CSR, {{positions, 3, 32}, {coordinates, 3, 32}, {values, 3, 64}});
  auto x = tulle::dense<double>({3}, dense);
  EXPECT_EQ(A.values().data(), values);
  EXPECT_EQ(x.values().data(), dense);
  tulle::Kernel spmv = tulle::compile("y(i) = A(i,j) * x(j)", {{"A", A.type()}, {"x", x.type()}});
  values[2] = 5; // the caller's memory is what the kernel reads
  tulle::Tensor<double> y = spmv(A, x);
  EXPECT_THAT(std::vector<double>(y.values().begin(), y.values().end()), ElementsAre(21, 500));
}

/// What a conversion or a slice shares, writing to one tensor leaves as it is in the others.
TEST(Api, WritingChangesNoOtherTensor) {
  tulle::Tensor<double> coo = tulle::pack(example(), tulle::Format("COO-soa"));
  tulle::Tensor<double> csr = coo.to(tulle::CSR), part = csr.slice(0, 1, 1), same = csr;
  EXPECT_EQ(csr.values().data(), coo.values().data());
  EXPECT_EQ(csr.coordinates(1).data, coo.coordinates(1).data);
  csr.write([](std::span<double> values) { values[0] = 100; });
  auto list = [](const tulle::Tensor<double> &t) {
    return std::vector<double>(t.values().begin(), t.values().end());
  };
  EXPECT_THAT(list(csr), ElementsAre(100, 2, 3));
  EXPECT_THAT(list(same), ElementsAre(100, 2, 3)); // another handle of the same tensor
  EXPECT_THAT(list(coo), ElementsAre(1, 2, 3));
  EXPECT_THAT(list(part), ElementsAre(1, 2, 3));
  const double *alone = csr.values().data();
  csr.write([](std::span<double> values) { values[1] = 200; });
  EXPECT_EQ(csr.values().data(), alone); // nobody shares it any more
  coo = {};
  EXPECT_THAT(list(part), ElementsAre(1, 2, 3)); // memory outlives who shared it first
}

TEST(Api, WritesToACopyOfWhatIsBorrowed) {
  int32_t positions[] = {0, 1}, rows[] = {0}, columns[] = {1};
  double values[] = {7};
  auto coo = tulle::borrow<double>({1, 2}, tulle::Format("COO-soa"),
                                   {{positions, 2, 32}, {rows, 1, 32}, {columns, 1, 32}, {values, 1, 64}});
  tulle::Tensor<double> csr = coo.to(tulle::CSR);
  values[0] = 8; // the caller may: what was converted has values of its own
  EXPECT_EQ(csr.values()[0], 7);
  coo.write([](std::span<double> slots) { slots[0] = 9; });
  EXPECT_EQ(coo.values()[0], 9);
  EXPECT_EQ(values[0], 8);
}

TEST(Api, RefusesDamagedBuffers) {
  int32_t positions[] = {0, 2, 3}, falling[] = {0, 3, 2}, beyond[] = {0, 1, 3};
  double values[] = {1, 2, 3};
  auto make = [&](int32_t *pos, int32_t *crd, unsigned width = 32, int64_t count = 3) {
    return messageOf([&] {
      tulle::borrow<double>({2, 3}, tulle::CSR, {{pos, 3, 32}, {crd, 3, width}, {values, count, 64}});
    });
  };
  int32_t good[] = {0, 1, 2};
  EXPECT_EQ(make(positions, good), "");
  EXPECT_THAT(make(falling, good), HasSubstr("pos"));
  EXPECT_THAT(make(positions, beyond), HasSubstr("3"));
  EXPECT_NE(make(positions, good, 32, 2), "");
  EXPECT_THAT(messageOf([&] { tulle::borrow<double>({2, 3}, tulle::CSR, {{values, 3, 64}}); }),
              HasSubstr("3 buffers"));
  EXPECT_NE(messageOf([&] {
              tulle::borrow<double>({2, 3}, tulle::CSR, {{nullptr, 3, 32}, {good, 3, 32}, {values, 3, 64}});
            }),
            "");
}

TEST(Api, RefusesSizesThatTheFormatCannotHold) {
  const int64_t beyond = 262145, half = int64_t(1) << 62;
  tulle::Entries<double> corner = {{beyond, beyond}, {{beyond - 1}, {beyond - 1}}, {2}};
  int32_t positions[] = {0, 1}, coordinate[] = {0};
  double values[] = {1};
  const auto refused = HasSubstr("HiCOO(2) holds at most 262144");
  EXPECT_THAT(messageOf([&] { tulle::pack(corner, tulle::Format("HiCOO(2)")); }), refused);
  EXPECT_THAT(messageOf([&] { tulle::pack(corner, tulle::CSR).to(tulle::Format("HiCOO(2)")); }), refused);
  EXPECT_THAT(messageOf([&] {
                tulle::borrow<double>({beyond, beyond}, tulle::Format("HiCOO(2)"),
                                      {{positions, 2, 32}, {coordinate, 1, 32}, {values, 1, 64}});
              }),
              refused);
  tulle::Entries<double> square = {{half + 1, half + 1}, {{half}, {half}}, {2}};
  const auto diagonals = HasSubstr("more than 64 bits can count");
  EXPECT_THAT(messageOf([&] { tulle::pack(square, tulle::Format("DIA")); }), diagonals);
  int64_t offset[] = {0}, one[] = {1};
  EXPECT_THAT(messageOf([&] {
                tulle::borrow<double>({half + 1, half + 1}, tulle::Format("DIA"),
                                      {{one, 1, 64}, {offset, 1, 64}, {values, 1, 64}});
              }),
              diagonals);
}

TEST(Api, ErrorsSayWhatToDo) {
  EXPECT_THAT(messageOf([] { tulle::pack(example(), tulle::Format("CRS")); }), HasSubstr("CSR"));
  EXPECT_THAT(messageOf([] { tulle::Tensor<float> wrong = tulle::zeros<double>({2}); }),
              HasSubstr("f64, not f32"));
  EXPECT_THAT(messageOf([] { tulle::AnyTensor().dims(); }), HasSubstr("empty tensor handle"));
  EXPECT_THAT(messageOf([] { tulle::zeros<double>({2}).dim(1); }), HasSubstr("dimension 1"));
  EXPECT_THAT(messageOf([] { tulle::zeros<double>({-1}); }), HasSubstr("size -1"));
  EXPECT_NE(messageOf([] { tulle::zeros<double>({int64_t(1) << 40, int64_t(1) << 40}); }), "");
  EXPECT_THAT(messageOf([] { tulle::compile("y(i) = x(i)", {}); }), HasSubstr("reads 'x'"));
  EXPECT_THAT(messageOf([] { tulle::compile("y(i) = x(i", {{"x", {.dims = {2}}}}); }),
              HasSubstr("<expr>:1:"));
  EXPECT_THAT(messageOf([] { tulle::compile("y(i) = x(i)", {{"z", {}}}); }), HasSubstr("'z'"));
  auto x = tulle::zeros<double>({2});
  tulle::Kernel kernel = tulle::compile("y(i) = x(i)", {{"x", x.type()}});
  EXPECT_THAT(messageOf([&] { kernel(x, x); }), HasSubstr("2 tensors"));
  EXPECT_THAT(messageOf([&] { kernel(tulle::zeros<float>({2})); }), HasSubstr("f32"));
  EXPECT_THAT(messageOf([&] { kernel.run({}); }), HasSubstr("'x'"));
}

/// Row 1 and every second column, without a copy, as an operand and on its own.
TEST(Api, Slices) {
  tulle::Tensor<double> A = tulle::pack(example(), tulle::CSR);
  tulle::Tensor<double> part = A.slice(0, 1, 1).slice(1, 0, 2, 2);
  EXPECT_THAT(part.dims(), ElementsAre(1, 2));
  EXPECT_EQ(part.values().data(), A.values().data());
  EXPECT_EQ(part.storedCount(), 1);
  auto sum = tulle::compile("s = 10 * A(i,j)", {{"A", part.type()}});
  tulle::Tensor<double> s = sum(part);
  EXPECT_THAT(std::vector<double>(s.values().begin(), s.values().end()), ElementsAre(30));
  tulle::Tensor<double> copy = part.to(tulle::Format("dense"));
  EXPECT_THAT(std::vector<double>(copy.values().begin(), copy.values().end()), ElementsAre(0, 3));
  EXPECT_THAT(messageOf([&] { A.slice(0, 1, 2); }), HasSubstr("reaches beyond it"));
  EXPECT_THAT(messageOf([&] { A.to(part.type().format); }), HasSubstr("cut it with slice()"));
  EXPECT_THAT(messageOf([&] { sum(A); }), HasSubstr("was compiled for"));
}

/// Edge features of a matrix: its structure, two values for each entry.
TEST(Api, PartsAddUpToTheTensor) {
  // Rows 1 2 0, 0 3 0 and 4 0 5.
  tulle::Tensor<double> A =
      tulle::pack<double>({{3, 3}, {{0, 0, 1, 2, 2}, {0, 1, 1, 0, 2}}, {1, 2, 3, 4, 5}}, tulle::CSR);
  const auto parts = A.decompose("[DIA @ j = i, CSR @ rest]");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(parts[0].values(), ElementsAre(1, 3, 5));
  EXPECT_THAT(parts[1].values(), ElementsAre(2, 4));
  tulle::Tensor<double> x = tulle::full<double>({3}, 1);
  tulle::Kernel sum = tulle::compile("y(i) = D(i,j) * x(j); y(i) += R(i,j) * x(j)",
                                     {{"D", parts[0].type()}, {"R", parts[1].type()}, {"x", x.type()}});
  EXPECT_THAT(tulle::Tensor<double>(sum(parts[0], x, parts[1])).values(), ElementsAre(3, 3, 9));

  // A schedule does the same inside of a kernel, for other tensors and sizes, too.
  tulle::CompileOptions options;
  options.schedule = "decompose(A, [DIA @ j = i, CSR @ count(j) <= 1])";
  tulle::Kernel kernel = tulle::compile("y(i) = A(i,j) * x(j)", {{"A", A.type()}, {"x", x.type()}}, options);
  EXPECT_THAT(kernel.inputs(), ElementsAre("A", "x"));
  EXPECT_THAT(tulle::Tensor<double>(kernel(A, x)).values(), ElementsAre(3, 3, 9));
  tulle::Tensor<double> B = tulle::pack<double>({{2, 3}, {{0, 0, 1}, {0, 1, 2}}, {1, 2, 3}}, tulle::CSR);
  EXPECT_THAT(tulle::Tensor<double>(kernel(B, x)).values(), ElementsAre(3, 3));
  tulle::Tensor<double> C = tulle::pack<double>({{2, 3}, {{0, 0}, {1, 2}}, {1, 2}}, tulle::CSR);
  EXPECT_THAT(messageOf([&] { kernel(C, x); }), HasSubstr("the entry of 'A' at (0, 1) is in none of these"));
  EXPECT_THAT(messageOf([&] { C.decompose("[CSR @ i > 0]"); }),
              HasSubstr("parts:1:1: error: the entry of 'tensor' at (0, 1) is in none of these parts"));
}

TEST(Api, StructureIsShared) {
  tulle::Tensor<double> A = tulle::pack(example(), tulle::CSR);
  tulle::Tensor<double> E = tulle::like<double>(A, {2});
  EXPECT_THAT(E.dims(), ElementsAre(2, 3, 2));
  EXPECT_EQ(E.coordinates(1).data, A.coordinates(1).data);
  E.write([](std::span<double> values) {
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = double(k);
  });
  auto sums = tulle::compile("y(i,k) = E(i,j,k) * A(i,j)",
                             {{"A", A.type()}, {"E", {"f64", tulle::Format::like("A"), E.dims()}}});
  EXPECT_THAT(sums.inputs(), ElementsAre("E", "A"));
  tulle::Tensor<double> y = sums(E, A);
  EXPECT_THAT(std::vector<double>(y.values().begin(), y.values().end()), ElementsAre(4, 7, 12, 15));
  tulle::Tensor<double> other =
      tulle::like<double>(tulle::pack<double>({{2, 3}, {{0, 0, 1}, {0, 1, 1}}, {1, 1, 1}}, tulle::CSR), {2});
  EXPECT_THAT(messageOf([&] { sums(other, A); }),
              HasSubstr("tensor 'E' does not have the structure of 'A': it stores no entry at (1, 2, 0)"));
}

/// The caller gives where the result has entries, by a tensor that the program does not read otherwise.
TEST(Api, ResultsOfAGivenPattern) {
  tulle::Tensor<double> P = tulle::pack(example(), tulle::CSR), x = tulle::full<double>({2}, 2),
                        z = tulle::full<double>({3}, 3);
  tulle::Kernel outer = tulle::compile(
      "C(i,j) = x(i) * z(j)",
      {{"x", x.type()}, {"z", z.type()}, {"P", P.type()}, {"C", {"f64", tulle::Format::like("P"), {}}}});
  EXPECT_THAT(outer.inputs(), ElementsAre("x", "z", "P"));
  tulle::Tensor<double> C = outer(x, z, P);
  EXPECT_EQ(C.positions(1).data, P.positions(1).data);
  EXPECT_THAT(std::vector<double>(C.values().begin(), C.values().end()), ElementsAre(6, 6, 6));
  // Other sizes, and the structure that comes with them.
  tulle::Tensor<double> Q = tulle::pack<double>({{1, 2}, {{0}, {1}}, {1}}, tulle::CSR);
  C = outer(tulle::full<double>({1}, 2), tulle::full<double>({2}, 4), Q);
  EXPECT_THAT(std::vector<double>(C.values().begin(), C.values().end()), ElementsAre(8));
  EXPECT_THAT(messageOf([&] {
                tulle::compile(
                    "C(i,j) = x(i) * z(j)",
                    {{"x", x.type()}, {"z", z.type()}, {"C", {"f64", tulle::Format::like("P"), {}}}});
              }),
              HasSubstr("the program reads 'P', but its type is not given"));
}

/// Rows of lengths 1 and 2 in a padded matrix.
TEST(Api, RaggedTensors) {
  std::vector<double> padded{1, 9, 2, 3};
  std::vector<int64_t> few{1, 2}, more{2, 2};
  tulle::Tensor<double> dense = tulle::dense<double>({2, 2}, padded);
  tulle::Tensor<int64_t> n = tulle::dense<int64_t>({2}, few), m = tulle::dense<int64_t>({2}, more);
  tulle::Tensor<double> A = tulle::ragged(dense, {n}), B = tulle::ragged(dense, {m});
  EXPECT_THAT(std::vector<double>(A.values().begin(), A.values().end()), ElementsAre(1, 2, 3));
  EXPECT_THAT(read32(A.positions(1)), ElementsAre(0, 1, 3));
  auto sum = tulle::compile("y(i) = A(i,j) + B(i,j)", {{"A", A.type()}, {"B", B.type()}});
  tulle::Tensor<double> y = sum(A, A);
  EXPECT_THAT(std::vector<double>(y.values().begin(), y.values().end()), ElementsAre(2, 10));
  EXPECT_THAT(messageOf([&] { sum(A, B); }),
              HasSubstr("index 'j' has length 1 in A(i,j) and 2 in B(i,j) at i = 0"));
  EXPECT_THAT(messageOf([&] { tulle::ragged(dense, {n, n}); }), HasSubstr("the first has none"));
}

TEST(Io, NumbersThatAnElementCannotHoldAreRefused) {
  const std::string path = testing::TempDir() + "tulle-complex.tns";
  tulle::write(path, tulle::pack<std::complex<double>>({{2}, {{0}}, {{1, 2}}},
                                                       tulle::Format("(i) -> (i : compressed)")));
  EXPECT_THAT(messageOf([&] { tulle::read<double>(path, tulle::Format("(i) -> (i : compressed)")); }),
              testing::AllOf(testing::StartsWith(path), HasSubstr("the value 1+2i as f64")));
}

TEST(Io, ANegativeSizeIsNamed) {
  EXPECT_THAT(messageOf([] { tulle::generate<double>("random", tulle::Format("dense"), {-1}); }),
              HasSubstr("size -1"));
}

} // namespace
