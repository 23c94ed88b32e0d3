// What generated code gets from the engine: memory, and ways out. The code stands here in the LLVM dialect.
#include "engine/Call.h"
#include "engine/Codegen.h"
#include "engine/Compilation.h"
#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

namespace tulle::engine {
namespace {

using runtime::Tensor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A statement whose entry is `body`, over %slots.
struct Statement {
  std::unique_ptr<LoadedObject> object;
  CompiledStatement code;

  explicit Statement(const std::string &body, const std::string &functions = "") {
    ContextLease lease;
    std::string text = R"(
      llvm.func @_mlir_memref_to_llvm_alloc(i64) -> !llvm.ptr
      llvm.func @_mlir_memref_to_llvm_free(!llvm.ptr)
      llvm.func @tulle_checked_size(i64, i64, i64) -> i64
      llvm.func @tulle_checked_positions(i64, i64, i64) -> i64
      llvm.func @tulle_fits(i64) -> i1
      llvm.func @tulle_error_width(i64, i64, i64)
      llvm.func @tulle_error_group(i64, i64, i64, i64)
      llvm.func @tulle_parallel(i64, !llvm.ptr, !llvm.ptr)
      llvm.func @tulle_ordered_scan(i64, i64, i64) -> i64
      )" + functions + R"(
      llvm.func @statement0_entry(%slots: !llvm.ptr) {)" +
                       body + "\n llvm.return }";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&lease.context()));
    if (!module)
      throw std::logic_error(lease.errors());
    object = std::make_unique<LoadedObject>(generateCode(*module, CodeForm::Object), "call");
    code.entry = object->lookup("statement0_entry");
  }
};

/// A vector in a compressed level: positions, coordinates, values.
Tensor shell(const std::string &encoding = "(i) -> (i : compressed), posWidth = 32, crdWidth = 32") {
  Tensor made;
  made.encoding = format::parseEncoding(encoding);
  made.dims = {10};
  return made;
}

/// Allocates `bytes` and returns them as result buffer number `field` of `count` elements.
std::string buffer(int field, int64_t bytes, int64_t count, int64_t offset = 0) {
  std::string n = std::to_string(field), text;
  auto number = [](int64_t value) { return std::to_string(value) + " : i64"; };
  text += "%b" + n + " = llvm.mlir.constant(" + number(bytes) + ") : i64\n";
  text += "%c" + n + " = llvm.mlir.constant(" + number(count) + ") : i64\n";
  text += "%p" + n + " = llvm.call @_mlir_memref_to_llvm_alloc(%b" + n + ") : (i64) -> !llvm.ptr\n";
  text += "%a" + n + " = llvm.getelementptr %p" + n + "[" + std::to_string(offset) +
          "] : (!llvm.ptr) -> !llvm.ptr, i8\n";
  auto store = [&](const char *value, const char *type, int slot) {
    std::string s = n + "_" + std::to_string(slot);
    text += "%s" + s + " = llvm.getelementptr %slots[" + std::to_string(5 * field + slot) +
            "] : (!llvm.ptr) -> !llvm.ptr, i64\n";
    text += std::string("llvm.store %") + value + n + ", %s" + s + " : " + type + ", !llvm.ptr\n";
  };
  store("p", "!llvm.ptr", 0);
  store("a", "!llvm.ptr", 1);
  store("c", "i64", 3);
  return text;
}

template <class T> std::vector<T> contents(const runtime::Buffer &buffer) {
  const T *data = static_cast<const T *>(buffer.data);
  return {data, data + buffer.count};
}

TEST(Call, adoptsWhatTheStatementReturns) {
  Statement statement(buffer(0, 8, 2) + buffer(1, 1 << 20, 1) + buffer(2, 64, 1, 8) + R"(
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %next = llvm.getelementptr %a0[1] : (!llvm.ptr) -> !llvm.ptr, i32
    llvm.store %zero, %a0 : i32, !llvm.ptr
    llvm.store %one, %next : i32, !llvm.ptr
    llvm.store %one, %a1 : i32, !llvm.ptr
    %v = llvm.mlir.constant(2.5 : f64) : f64
    llvm.store %v, %a2 : f64, !llvm.ptr)");
  Tensor made = shell();
  call(statement.code, {}, {{"y", &made}});
  EXPECT_THAT(contents<int32_t>(made.buffers[0]), ElementsAre(0, 1));
  EXPECT_THAT(contents<int32_t>(made.buffers[1]), ElementsAre(1));
  EXPECT_THAT(contents<double>(made.buffers[2]), ElementsAre(2.5));
  EXPECT_EQ(made.buffers[1].bytes, 4);
  runtime::validate(made);
}

std::string errorOf(const std::string &body, Tensor made = shell()) {
  Statement statement(body);
  try {
    call(statement.code, {}, {{"y", &made}});
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Call, refusesWhatCannotFitBeforeTouchingIt) {
  EXPECT_THAT(
      errorOf(buffer(0, int64_t(3) << 50, 1)),
      testing::AllOf(HasSubstr("storing 'y' as"), HasSubstr("3.38 PB"), HasSubstr("3377699720527872 bytes")));
  EXPECT_THAT(errorOf(buffer(0, -1, 1)), HasSubstr("out of memory"));
}

TEST(Call, refusesSizesThatOverflow) {
  const char *body = R"(
    %n = llvm.mlir.constant(8589934592 : i64) : i64
    %l = llvm.mlir.constant(0 : i64) : i64
    %s = llvm.call @tulle_checked_size(%l, %n, %n) : (i64, i64, i64) -> i64
    %p = llvm.call @_mlir_memref_to_llvm_alloc(%s) : (i64) -> !llvm.ptr
    llvm.store %n, %p : i64, !llvm.ptr)";
  EXPECT_THAT(errorOf(body),
              testing::AllOf(HasSubstr("8589934592 x 8589934592"), HasSubstr("level 0 (compressed)")));
}

TEST(Call, refusesPositionsWithAllThatIsStoredForThem) {
  const char *body = R"(
    %n = llvm.mlir.constant(1073741824 : i64) : i64
    %m = llvm.mlir.constant(1048576 : i64) : i64
    %l = llvm.mlir.constant(0 : i64) : i64
    %s = llvm.call @tulle_checked_positions(%l, %n, %m) : (i64, i64, i64) -> i64)";
  // 2^50 positions: coordinates of 4 bytes, values of 8.
  EXPECT_THAT(errorOf(body), testing::AllOf(HasSubstr("needs 13.5 PB (13510798882111488 bytes)"),
                                            HasSubstr("level 0 (compressed) has 1073741824 x 1048576")));
  // Below each, 10 blocks; how many there are below these is not known.
  Tensor made =
      shell("map = (i,j) -> (i floordiv 5 : compressed, j : dense, i mod 5 : compressed), crdWidth = 8, "
            "posWidth = 32");
  made.dims = {10, 10};
  EXPECT_THAT(errorOf(body, made),
              testing::AllOf(HasSubstr("needs at least 46.2 PB (46161896180547584 bytes)"),
                             HasSubstr("level 1 (dense) has 1125899906842624 x 10")));
}

TEST(Call, reportsWidthsAndGroups) {
  const char *numbers = R"(
    %l = llvm.mlir.constant(0 : i64) : i64
    %v = llvm.mlir.constant(70000 : i64) : i64
    %w = llvm.mlir.constant(16 : i64) : i64
    %many = llvm.mlir.constant(17 : i64) : i64
    %level = llvm.mlir.constant(1 : i64) : i64
  )";
  std::string width =
      std::string(numbers) + "llvm.call @tulle_error_width(%l, %v, %w) : (i64, i64, i64) -> ()";
  EXPECT_THAT(errorOf(width), testing::AllOf(HasSubstr("'y'"), HasSubstr("70000"), HasSubstr("= 16")));
  Statement statement(width);
  Tensor made = shell();
  EXPECT_THROW(call(statement.code, {}, {{"y", &made}}), WidthError);
  EXPECT_THAT(
      errorOf(std::string(numbers) +
                  "llvm.call @tulle_error_group(%level, %v, %many, %w) : (i64, i64, i64, i64) -> ()",
              shell("(i) -> (i floordiv 32 : dense, i mod 32 : structured[16,32])")),
      testing::AllOf(HasSubstr("structured[16,32]"), HasSubstr("at most 16"), HasSubstr("has 17 entries")));
}

/// A block that was given back is the next one of its size: other calls keep none while these tests run.
TEST(Call, nothingIsLeftAfterAnError) {
  Statement statement(buffer(0, 1 << 20, 1) + R"(
    %l = llvm.mlir.constant(0 : i64) : i64
    llvm.call @tulle_error_width(%l, %l, %l) : (i64, i64, i64) -> ())");
  runtime::releaseBlocks();
  std::set<void *> blocks;
  for (int time = 0; time < 20; ++time) {
    void *slots[5] = {};
    const std::vector<CallResult> results{{"y"}};
    CallMemory memory(results);
    EXPECT_THROW(memory.enter(statement.code.entry, slots), WidthError);
    blocks.insert(slots[0]);
  }
  EXPECT_EQ(blocks.size(), 1u);
}

TEST(Call, tasksMayAllocateAndReportErrors) {
  const char *launch = R"(
    %tasks = llvm.mlir.constant(50 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %task = llvm.mlir.addressof @task : !llvm.ptr
    llvm.call @tulle_parallel(%tasks, %task, %null) : (i64, !llvm.ptr, !llvm.ptr) -> ())";
  // Every task allocates; the last one gives up, if `wrong`.
  auto task = [](int wrong) {
    return R"(llvm.func @task(%context: !llvm.ptr, %number: i64) {
    %n = llvm.mlir.constant(100000 : i64) : i64
    %p = llvm.call @_mlir_memref_to_llvm_alloc(%n) : (i64) -> !llvm.ptr
    llvm.store %n, %p : i64, !llvm.ptr
    llvm.call @_mlir_memref_to_llvm_free(%p) : (!llvm.ptr) -> ()
    %last = llvm.mlir.constant()" +
           std::to_string(wrong ? 49 : 50) + R"( : i64) : i64
    %is = llvm.icmp "eq" %number, %last : i64
    llvm.cond_br %is, ^wrong, ^end
  ^wrong:
    llvm.call @tulle_error_width(%n, %n, %n) : (i64, i64, i64) -> ()
    llvm.br ^end
  ^end:
    llvm.return
  })";
  };
  Statement right(launch, task(0)), wrong(launch, task(1));
  for (int threads : {1, 2, 8})
    for (int time = 0; time < 20; ++time) {
      Tensor made = shell();
      call(right.code, {}, {{"y"}}, {.threads = threads, .workPerThread = 1});
      EXPECT_THROW(call(wrong.code, {}, {{"y"}}, {.threads = threads, .workPerThread = 1}), WidthError);
    }
}

/// Task k takes turn k with amount k, and checks that the amounts before add up to k (k - 1) / 2; task
/// `wrong` gives up instead, and the others must not wait for it.
std::string takesTurn(int wrong) {
  return R"(llvm.func @task(%context: !llvm.ptr, %number: i64) {
    %bad = llvm.mlir.constant()" +
         std::to_string(wrong) + R"( : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %is = llvm.icmp "eq" %number, %bad : i64
    llvm.cond_br %is, ^wrong, ^turn
  ^turn:
    %cell = llvm.ptrtoint %context : !llvm.ptr to i64
    %before = llvm.call @tulle_ordered_scan(%cell, %number, %number) : (i64, i64, i64) -> i64
    %less = llvm.sub %number, %one : i64
    %product = llvm.mul %number, %less : i64
    %half = llvm.ashr %product, %one : i64
    %right = llvm.icmp "eq" %before, %half : i64
    llvm.cond_br %right, ^end, ^wrong
  ^wrong:
    llvm.call @tulle_error_width(%one, %number, %one) : (i64, i64, i64) -> ()
    llvm.br ^end
  ^end:
    llvm.return
  })";
}

TEST(Call, turnsComeInOrder) {
  const char *launch = R"(
    %tasks = llvm.mlir.constant(50 : i64) : i64
    %bytes = llvm.mlir.constant(16 : i64) : i64
    %zero = llvm.mlir.constant(0 : i64) : i64
    %cell = llvm.call @_mlir_memref_to_llvm_alloc(%bytes) : (i64) -> !llvm.ptr
    llvm.store %zero, %cell : i64, !llvm.ptr
    %second = llvm.getelementptr %cell[8] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %zero, %second : i64, !llvm.ptr
    %task = llvm.mlir.addressof @task : !llvm.ptr
    llvm.call @tulle_parallel(%tasks, %task, %cell) : (i64, !llvm.ptr, !llvm.ptr) -> ())";
  Statement right(launch, takesTurn(-1)), first(launch, takesTurn(0)), middle(launch, takesTurn(20));
  for (int threads : {1, 2, 8})
    for (int time = 0; time < 20; ++time) {
      Tensor made = shell();
      call(right.code, {}, {{"y"}}, {.threads = threads, .workPerThread = 1});
      for (const Statement *wrong : {&first, &middle})
        EXPECT_THROW(call(wrong->code, {}, {{"y"}}, {.threads = threads, .workPerThread = 1}), WidthError);
    }
}

/// Three regions of four tasks, the second of which starts a region itself; it ends where the caller says so.
TEST(Call, asksTheCallerWhetherToEnd) {
  const std::string region = R"(
    llvm.call @tulle_parallel(%tasks, %task, %null) : (i64, !llvm.ptr, !llvm.ptr) -> ())";
  Statement statement(R"(
    %tasks = llvm.mlir.constant(4 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %task = llvm.mlir.addressof @task : !llvm.ptr)" +
                          buffer(0, 8, 2) + region + region + region,
                      R"(llvm.func @inner(%context: !llvm.ptr, %number: i64) { llvm.return }
    llvm.func @task(%context: !llvm.ptr, %number: i64) {
    %tasks = llvm.mlir.constant(2 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %task = llvm.mlir.addressof @inner : !llvm.ptr
    %is = llvm.icmp "eq" %number, %one : i64
    llvm.cond_br %is, ^inner, ^end
  ^inner:
    llvm.call @tulle_parallel(%tasks, %task, %null) : (i64, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @tulle_parallel(%one, %task, %null) : (i64, !llvm.ptr, !llvm.ptr) -> ()
    llvm.br ^end
  ^end:
    llvm.return
  })");
  void *slots[5] = {};
  const std::vector<CallResult> results;
  for (int threads : {1, 2, 8})
    for (int time = 0; time < 20; ++time) {
      const std::thread::id caller = std::this_thread::get_id();
      int asked = 0, last = 1000;
      const std::function<bool()> isInterrupted = [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        return ++asked >= last;
      };
      ThreadSettings settings{.threads = threads, .workPerThread = 1, .isInterrupted = &isInterrupted};
      CallMemory(results, settings).enter(statement.code.entry, slots);
      EXPECT_GE(asked, 3);
      if (threads == 1)
        EXPECT_EQ(asked, 3 * (4 + 2 + 1));
      for (const int all = threads == 1 ? asked : 3; --last > 0;) {
        last = std::min(last, all);
        asked = 0;
        EXPECT_THROW(CallMemory(results, settings).enter(statement.code.entry, slots), Interrupted);
        EXPECT_EQ(asked, last);
      }
    }
}

TEST(Call, frees) {
  Statement statement(buffer(0, 1 << 20, 1) + R"(
    llvm.call @_mlir_memref_to_llvm_free(%p0) : (!llvm.ptr) -> ()
    %null = llvm.mlir.zero : !llvm.ptr
    llvm.call @_mlir_memref_to_llvm_free(%null) : (!llvm.ptr) -> ()
    )" + buffer(1, 1 << 20, 1));
  runtime::releaseBlocks();
  void *slots[10] = {};
  const std::vector<CallResult> results;
  CallMemory memory(results);
  memory.enter(statement.code.entry, slots);
  EXPECT_NE(slots[0], nullptr);
  EXPECT_EQ(slots[0], slots[5]);
}

TEST(Call, threadsHaveTheirOwnErrors) {
  Statement wrong(R"(
    %l = llvm.mlir.constant(0 : i64) : i64
    llvm.call @tulle_error_width(%l, %l, %l) : (i64, i64, i64) -> ())");
  Statement right(buffer(0, 8, 2) + buffer(1, 4, 0) + buffer(2, 8, 0));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int time = 0; time < 500; ++time) {
        Tensor made = shell();
        if (t % 2)
          EXPECT_THROW(call(wrong.code, {}, {{"y", &made}}), WidthError);
        else
          call(right.code, {}, {{"y", &made}});
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
} // namespace tulle::engine
