// Programs from text to results, with expectations worked out by hand.
#include "Programs.h"
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tulle::engine {
namespace {

using runtime::Tensor;
using testing::ElementsAre;
using testing::HasSubstr;

/// The user's cache stays as it is: an empty one for this process, removed with it.
class OwnCache : public testing::Environment {
  void SetUp() override {
    directory = (std::filesystem::temp_directory_path() / "tulle-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    setenv("TULLE_CACHE_DIR", directory.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(directory); }
  std::string directory;
};
const auto *const ownCache = testing::AddGlobalTestEnvironment(new OwnCache);

//     0 2 0 3
// A = 0 0 0 0
//     4 0 5 6
const std::vector<double> matrixA = {0, 2, 0, 3, 0, 0, 0, 0, 4, 0, 5, 6};

struct Formats : testing::TestWithParam<const char *> {};

TEST_P(Formats, spmv) {
  Tensors in{{"A", doubles({3, 4}, matrixA, GetParam())}, {"x", doubles({4}, {1, 10, 100, 1000})}};
  EXPECT_THAT(elements(evaluate("y(i) = A(i,j) * x(j)", "y", in)), ElementsAre(3020, 0, 6504));
}

TEST_P(Formats, transposedSpmv) {
  Tensors in{{"A", doubles({3, 4}, matrixA, GetParam())}, {"x", doubles({3}, {1, 10, 100})}};
  EXPECT_THAT(elements(evaluate("y(j) = A(i,j) * x(i)", "y", in)), ElementsAre(400, 2, 500, 603));
}

TEST_P(Formats, spmm) {
  Tensors in{{"A", doubles({3, 4}, matrixA, GetParam())}, {"B", doubles({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}};
  EXPECT_THAT(elements(evaluate("C(i,k) = A(i,j) * B(j,k)", "C", in)), ElementsAre(27, 32, 0, 0, 71, 86));
}

TEST_P(Formats, sampledProductKeepsThePattern) {
  Tensors in{{"A", doubles({3, 4}, matrixA, GetParam())},
             {"B", doubles({3, 2}, {1, 0, 0, 1, 1, 1})},
             {"C", doubles({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}};
  Tensor result = evaluate("D(i,j) = A(i,j) * B(i,k) * C(k,j)", "D", in, {{"D", GetParam()}});
  EXPECT_THAT(elements(result), ElementsAre(0, 4, 0, 12, 0, 0, 0, 0, 24, 0, 50, 72));
  EXPECT_EQ(result.storedCount(), in.at("A").storedCount());
}

INSTANTIATE_TEST_SUITE_P(Engine, Formats,
                         testing::Values("dense", "COO", "COO-soa", "CSR", "CSC", "DCSR", "DCSC", "BCSR(2,3)",
                                         "BCSC(2,2)"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::erase_if(name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

TEST(Engine, longRowsReachTheVectorLoop) {
  std::vector<double> row(1000), x(1000);
  double expected = 0; // sums of integers below 2^53 are exact in any order
  for (int j = 0; j < 1000; ++j) {
    row[size_t(j)] = j % 7 == 0 ? 0 : j;
    x[size_t(j)] = 1000 - j;
    expected += row[size_t(j)] * x[size_t(j)];
  }
  for (unsigned vl : {0u, 2u, 8u}) {
    Tensors in{{"A", doubles({1, 1000}, row, "CSR")}, {"x", doubles({1000}, x)}};
    EXPECT_THAT(elements(evaluate("y(i) = A(i,j) * x(j)", "y", in, {}, {.vectorLength = vl})),
                ElementsAre(expected))
        << vl;
  }
}

TEST(Engine, strictFpSumsFromLeftToRight) {
  std::vector<double> values(97);
  uint64_t state = 1;
  double expected = 0;
  for (double &v : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = double(int64_t(state)) * (state % 3 ? 1e-3 : 1e12); // magnitudes so mixed that order shows
    expected += v;
  }
  Tensors in{{"a", doubles({97}, values)}};
  EXPECT_EQ(elements(evaluate("s = a(i)", "s", in, {}, {.strictFp = true}))[0], expected);
}

TEST(Engine, accumulatesIntoACopy) {
  Tensors in{{"A", doubles({3, 4}, matrixA, "CSR")},
             {"x", doubles({4}, {1, 1, 1, 1})},
             {"y", doubles({3}, {1, 2, 3})}};
  EXPECT_THAT(elements(evaluate("y(i) += A(i,j) * x(j)", "y", in)), ElementsAre(6, 2, 18));
  EXPECT_THAT(elements(in.at("y")), ElementsAre(1, 2, 3));
}

TEST(Engine, resultInTheMemoryOfAnOperand) {
  Tensors in{{"A", doubles({2, 2}, {0, 1, 1, 0}, "CSR")}, {"x", doubles({2}, {3, 4})}};
  notation::Program program = check("y(i) = A(i,j) * x(j)", in);
  auto slots = slotsFor(program, in);
  for (size_t t = 0; t < slots.size(); ++t)
    if (program.tensors[t].name == "y")
      slots[t] = in.at("x"); // shares its buffer
  compile(program)->run(slots);
  for (size_t t = 0; t < slots.size(); ++t)
    if (program.tensors[t].name == "y")
      EXPECT_THAT(elements(*slots[t]), ElementsAre(4, 3));
}

TEST(Engine, laterStatementsUseEarlierResults) {
  Tensors in{{"A", doubles({3, 4}, matrixA, "CSR")}, {"x", doubles({4}, {1, 1, 1, 1})}};
  EXPECT_THAT(elements(evaluate("y(i) = A(i,j) * x(j); n() = y(i) * y(i)", "n", in)), ElementsAre(250));
}

TEST(Engine, convertsWhatNoLoopOrderFits) {
  Tensors in{{"A", doubles({2, 2}, {1, 2, 0, 3}, "CSR")}, {"B", doubles({2, 2}, {4, 0, 5, 6}, "CSC")}};
  notation::Program program = check("C(i,j) = A(i,j) * B(i,j)", in);
  auto executable = compile(program);
  ASSERT_FALSE(executable->remarks().empty());
  EXPECT_THAT(executable->remarks()[0], HasSubstr("converted"));
  EXPECT_THAT(elements(evaluate("C(i,j) = A(i,j) * B(i,j)", "C", in)), ElementsAre(4, 0, 0, 18));
}

TEST(Engine, refusesTensorsItWasNotCompiledFor) {
  Tensors in{{"A", doubles({3, 4}, matrixA, "CSR")}, {"x", doubles({4}, {1, 1, 1, 1})}};
  notation::Program program = check("y(i) = A(i,j) * x(j)", in);
  auto executable = compile(program);
  auto message = [&](const char *name, std::optional<Tensor> with) -> std::string {
    auto slots = slotsFor(program, in);
    for (size_t t = 0; t < slots.size(); ++t)
      if (program.tensors[t].name == name)
        slots[t] = with;
    try {
      executable->run(slots);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("x", doubles({5}, {1, 1, 1, 1, 1})),
            "tensor 'x' has dimensions [5], but the program was compiled for [4]");
  EXPECT_EQ(message("x", tensor<float>(ElementType::F32, {4}, {1, 1, 1, 1}, "dense")),
            "tensor 'x' holds f32, but the program was compiled for f64");
  EXPECT_EQ(message("x", std::nullopt),
            "tensor 'x' is an input of the program, but no data was given for it");
  std::vector<std::optional<Tensor>> none;
  EXPECT_THROW(executable->run(none), Error);
}

TEST(Engine, emptyDimensions) {
  Tensors in{{"A", doubles({0, 4}, {}, "CSR")}, {"x", doubles({4}, {1, 1, 1, 1})}};
  EXPECT_TRUE(elements(evaluate("y(i) = A(i,j) * x(j)", "y", in)).empty());
  Tensors none{{"A", doubles({2, 0}, {}, "CSR")}, {"x", doubles({0}, {})}};
  EXPECT_THAT(elements(evaluate("y(i) = A(i,j) * x(j)", "y", none)), ElementsAre(0, 0));
}

TEST(Engine, explainsEveryStage) {
  Tensors in{{"A", doubles({3, 4}, matrixA, "CSR")}, {"x", doubles({4}, {1, 1, 1, 1})}};
  notation::Program program = check("y(i) = A(i,j) * x(j)", in);
  EXPECT_THAT(explain(program, "notation"), HasSubstr("y(i)"));
  EXPECT_THAT(explain(program, "linalg"), HasSubstr("linalg.generic"));
  EXPECT_THAT(explain(program, "schedule"), HasSubstr("\nreorder(i, j);\n"));
  EXPECT_THAT(explain(program, "iteration"), HasSubstr("tulle.iterate"));
  EXPECT_THAT(explain(program, "loops"), HasSubstr("scf.for"));
  EXPECT_THAT(explain(program, "vector"), HasSubstr("vector.reduction"));
  EXPECT_THAT(explain(program, "llvm"), HasSubstr("llvm.noalias"));
  EXPECT_THAT(explain(program, "llvm-ir"), HasSubstr("define void @statement0_entry"));
  EXPECT_THAT(explain(program, "asm"), HasSubstr("statement0_entry:"));
  try {
    explain(program, "machine");
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(),
                HasSubstr("unknown stage 'machine': expected one of notation, linalg, schedule, iteration"));
  }
}

TEST(Engine, refusesMoreSparseOperandsThanALoopCanMerge) {
  std::string text = "y(i) = a0(i)";
  Tensors in{{"a0", doubles({3}, {1, 0, 2}, "(i) -> (i : compressed)")}};
  for (int k = 1; k < 64; ++k) {
    text += " + a" + std::to_string(k) + "(i)";
    in["a" + std::to_string(k)] = in.at("a0");
  }
  try {
    compile(check(text, in));
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("<expr>: error: more than 63 operands in one statement"));
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(Engine, refusesVectorLengthsThatCannotBe) {
  Tensors in{{"a", doubles({3}, {1, 2, 3})}};
  EXPECT_THROW(compile(check("s = a(i)", in), {.vectorLength = 3}), Error);
  EXPECT_THROW(compile(check("s = a(i)", in), {.vectorLength = 1u << 20}), Error);
  EXPECT_THAT(elements(evaluate("s = a(i)", "s", in, {}, {.vectorLength = 64})), ElementsAre(6));
}

TEST(Engine, kernelsAreSharedBetweenSizes) {
  auto originFor = [](int64_t n) {
    Tensors in{{"A", doubles({1, n}, std::vector<double>(size_t(n), 1), "CSR")},
               {"z", doubles({n}, std::vector<double>(size_t(n), 2))}};
    return std::string(compile(check("y(i) = A(i,j) * z(j)", in))->origin());
  };
  originFor(3);
  EXPECT_EQ(originFor(5), "memory cache");
}

TEST(Engine, lengthsOfShortRowsAreConstantsOfFewKernels) {
  auto isNew = [](int64_t rows, int64_t columns, bool anySize = false) {
    Tensors in{{"A", doubles({1, rows}, std::vector<double>(size_t(rows), 2), "CSR")},
               {"X", doubles({rows, columns}, std::vector<double>(size_t(rows * columns), 1))}};
    const Options options{.anySize = anySize, .diskCache = false};
    const std::string origin = compile(check("Y(i,k) = A(i,j) * X(j,k)", in), options)->origin();
    EXPECT_EQ(elements(evaluate("Y(i,k) = A(i,j) * X(j,k)", "Y", in, {}, options)),
              std::vector<double>(size_t(columns), 2.0 * double(rows)));
    return origin == "compiled";
  };
  isNew(2, 8, /*anySize=*/true);
  EXPECT_TRUE(isNew(2, 8));
  EXPECT_FALSE(isNew(5, 8)); // the number of rows does not matter
  for (int64_t columns = 9; columns < 16; ++columns)
    EXPECT_TRUE(isNew(2, columns)) << columns;
  EXPECT_FALSE(isNew(2, 16)); // the ninth has the code for any
  EXPECT_FALSE(isNew(2, 9));
  EXPECT_FALSE(isNew(2, 129)); // longer than 1024 bytes
}

TEST(Engine, sizesThatTheCodeDependsOnAreNotShared) {
  // Moving sums of three, and of two: the extents of i and r are in the code.
  Tensors six{{"I", doubles({6}, {1, 2, 0, 4, 0, 6}, "(i) -> (i : compressed)")},
              {"F", doubles({3}, {1, 1, 1})}};
  EXPECT_THAT(elements(evaluate("o(i) = I(i+r) * F(r)", "o", six)), ElementsAre(3, 6, 4, 10));
  Tensors four{{"I", doubles({4}, {1, 2, 0, 4}, "(i) -> (i : compressed)")}, {"F", doubles({2}, {1, 1})}};
  EXPECT_THAT(elements(evaluate("o(i) = I(i+r) * F(r)", "o", four)), ElementsAre(3, 2, 4));
}

TEST(Engine, diskCacheServesTheNextProcess) {
  std::string directory = (std::filesystem::temp_directory_path() / "tulle-engine-XXXXXX").string();
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  auto inChild = [&](const std::string &expectedOrigin, bool useCache) {
    pid_t pid = fork();
    if (pid == 0) {
      setenv("TULLE_CACHE_DIR", directory.c_str(), 1);
      Tensors in{{"q", doubles({3}, {1, 2, 3})}, {"r", doubles({3}, {4, 5, 6})}};
      notation::Program program = check("dot() = q(i) * r(i)", in);
      auto executable = compile(program, {.diskCache = useCache});
      auto slots = slotsFor(program, in);
      executable->run(slots);
      bool right = false;
      for (size_t t = 0; t < slots.size(); ++t)
        right |= program.tensors[t].name == "dot" && elements(*slots[t])[0] == 32;
      _exit(!right ? 1 : executable->origin() != expectedOrigin ? 2 : 0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(inChild("compiled", false), 0);
  EXPECT_EQ(inChild("compiled", true), 0);
  EXPECT_EQ(inChild("disk cache", true), 0);
  for (const auto &file : std::filesystem::directory_iterator(directory))
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_EQ(inChild("compiled", true), 0);
  EXPECT_EQ(inChild("disk cache", true), 0);
  std::filesystem::remove_all(directory);
}

TEST(Engine, compilesAndRunsInSeveralThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  Tensors in{{"A", doubles({3, 4}, matrixA, "CSR")}, {"x", doubles({4}, {1, 10, 100, 1000})}};
  notation::Program shared = check("y(i) = A(i,j) * x(j)", in);
  auto executable = compile(shared);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto slots = slotsFor(shared, in);
      for (int time = 0; time < 20; ++time)
        executable->run(slots);
      // A text of its own per thread: compiled at the same time.
      std::string text = "y(i) = A(i,j) * x(j) * " + std::to_string(t + 1) + ".0";
      right += elements(evaluate(text, "y", in, {}, {.diskCache = false}))[2] == 6504.0 * (t + 1);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 4);
}

} // namespace
} // namespace tulle::engine
