// tulle-define-threads: what parallel kernels call, on the OpenMP run-time library that the program is linked
// with.
#include "dialect/Costs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "passes/boundary/BoundaryPasses.h"
#include <fmt/format.h>

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_DEFINETHREADS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

/// Tasks are claimed in ascending order, by threads that run side by side: what waits in an ordered scan
/// waits for tasks that are done or run. GOMP_parallel is a function of libomp and libgomp.
constexpr StringLiteral source = R"mlir(
llvm.func @GOMP_parallel(!llvm.ptr, !llvm.ptr, i32, i32)
llvm.func @omp_get_max_threads() -> i32
llvm.func @omp_in_parallel() -> i32
llvm.func @sched_yield() -> i32

// The region is: the next task, their number, the function, what it is called with.
llvm.func internal @tulle_work(%region: !llvm.ptr) {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %tasks_at = llvm.getelementptr %region[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, ptr, ptr)>
  %function_at = llvm.getelementptr %region[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, ptr, ptr)>
  %context_at = llvm.getelementptr %region[0, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, ptr, ptr)>
  %tasks = llvm.load %tasks_at : !llvm.ptr -> i64
  %function = llvm.load %function_at : !llvm.ptr -> !llvm.ptr
  %context = llvm.load %context_at : !llvm.ptr -> !llvm.ptr
  llvm.br ^claim
^claim:
  %task = llvm.atomicrmw add %region, %one monotonic : !llvm.ptr, i64
  %is_left = llvm.icmp "slt" %task, %tasks : i64
  llvm.cond_br %is_left, ^run, ^done
^run:
  llvm.call %function(%context, %task) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  llvm.br ^claim
^done:
  llvm.return
}}

llvm.func internal @tulle_parallel(%tasks: i64, %function: !llvm.ptr, %context: !llvm.ptr) {{
  %none = llvm.mlir.constant(0 : i64) : i64
  %none32 = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i64) : i64
  %region = llvm.alloca %one x !llvm.struct<(i64, i64, ptr, ptr)> : (i64) -> !llvm.ptr
  %tasks_at = llvm.getelementptr %region[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, ptr, ptr)>
  %function_at = llvm.getelementptr %region[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, ptr, ptr)>
  %context_at = llvm.getelementptr %region[0, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, ptr, ptr)>
  llvm.store %none, %region : i64, !llvm.ptr
  llvm.store %tasks, %tasks_at : i64, !llvm.ptr
  llvm.store %function, %function_at : !llvm.ptr, !llvm.ptr
  llvm.store %context, %context_at : !llvm.ptr, !llvm.ptr
  %is_many = llvm.icmp "sgt" %tasks, %one : i64
  llvm.cond_br %is_many, ^parallel, ^alone
^parallel:
  %work = llvm.mlir.addressof @tulle_work : !llvm.ptr
  llvm.call @GOMP_parallel(%work, %region, %none32, %none32) : (!llvm.ptr, !llvm.ptr, i32, i32) -> ()
  llvm.return
^alone:
  llvm.call @tulle_work(%region) : (!llvm.ptr) -> ()
  llvm.return
}}

// As many as there is work for, and threads.
llvm.func internal @tulle_threads(%work: i64) -> i64 {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %none32 = llvm.mlir.constant(0 : i32) : i32
  %each = llvm.mlir.constant({0} : i64) : i64
  %in = llvm.call @omp_in_parallel() : () -> i32
  %is_in = llvm.icmp "ne" %in, %none32 : i32
  %threads32 = llvm.call @omp_get_max_threads() : () -> i32
  %free = llvm.sext %threads32 : i32 to i64
  %threads = llvm.select %is_in, %one, %free : i1, i64
  %wanted = llvm.sdiv %work, %each : i64
  %some = llvm.intr.smax(%wanted, %one) : (i64, i64) -> i64
  %tasks = llvm.intr.smin(%some, %threads) : (i64, i64) -> i64
  llvm.return %tasks : i64
}}

llvm.func internal @tulle_ordered_scan(%address: i64, %number: i64, %amount: i64) -> i64 {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %cell = llvm.inttoptr %address : i64 to !llvm.ptr
  %sum_at = llvm.getelementptr %cell[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.br ^wait
^wait:
  %turn = llvm.load %cell atomic acquire {{alignment = 8 : i64}} : !llvm.ptr -> i64
  %is_mine = llvm.icmp "eq" %turn, %number : i64
  llvm.cond_br %is_mine, ^take, ^again
^again:
  %yielded = llvm.call @sched_yield() : () -> i32
  llvm.br ^wait
^take:
  %before = llvm.load %sum_at : !llvm.ptr -> i64
  %after = llvm.add %before, %amount : i64
  llvm.store %after, %sum_at : i64, !llvm.ptr
  %next = llvm.add %number, %one : i64
  llvm.store %next, %cell atomic release {{alignment = 8 : i64}} : i64, !llvm.ptr
  llvm.return %before : i64
}}
)mlir";

struct DefineThreads : impl::DefineThreadsBase<DefineThreads> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const auto isNeeded = [&](StringRef name) {
      auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
      return declared && declared.isExternal();
    };
    if (!isNeeded("tulle_parallel") && !isNeeded("tulle_threads") && !isNeeded("tulle_ordered_scan"))
      return;
    const std::string text =
        fmt::format(fmt::runtime(source.str()), dialect::costModel(module).costs.workPerThread);
    OwningOpRef<ModuleOp> parsed =
        parseSourceString<ModuleOp>(text, ParserConfig(&getContext()), "tulle-define-threads");
    if (!parsed)
      return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(parsed->getOps<LLVM::LLVMFuncOp>())) {
      if (auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(function.getName())) {
        if (!declared.isExternal() || function.isExternal())
          continue;
        declared.erase();
      }
      function->remove();
      module.push_back(function);
    }
  }
};

} // namespace
} // namespace tulle::passes
