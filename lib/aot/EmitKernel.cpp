// Constants of the structs in runtime/kernel.h, member by member, and functions that lay their arguments out
// and call the run time.
#include "aot/EmitKernel.h"
#include "format/Layout.h"
#include "iteration/CostModel.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tulle::aot {

std::string variantPrefix(size_t machine) { return fmt::format("tulle_v{}_", machine); }

std::string conversionName(const Step &step, size_t machine) {
  return fmt::format("{}{}_", variantPrefix(machine), step.function);
}

std::string entryName(const Step &step, size_t machine) {
  return step.isConversion ? conversionName(step, machine) + "statement0_entry"
                           : variantPrefix(machine) + step.function + "_entry";
}

std::vector<std::string> exportsOf(const Interface &kernel) {
  std::vector<std::string> names{kernel.name, kernel.name + "_check", kernel.name + "_info"};
  if (kernel.raw)
    names.push_back(kernel.name + "_raw");
  return names;
}

namespace {

/// Values are `type constant`, `i64 5` or `ptr @c3`.
using Values = std::vector<std::string>;

std::string integer(int64_t value) { return fmt::format("i64 {}", value); }
std::string optionalNumber(const std::optional<unsigned> &number) {
  return integer(number ? int64_t(*number) : -1);
}

class Emitter {
public:
  Emitter(const Interface &kernel, const std::vector<Machine> &machines, Threads threads)
      : kernel(kernel), machines(machines), threads(threads) {}

  std::string module(const std::string &information) {
    const std::string described = describe();
    text += fmt::format("@tulle_rt_1_kernel = internal constant {}\n", described);
    declare();
    emitCall();
    emitCheck();
    if (kernel.raw)
      emitRaw();
    text += fmt::format("define ptr @{}_info() {{\n  ret {}\n}}\n", kernel.name, string(information));
    return text + constants;
  }

private:
  const Interface &kernel;
  const std::vector<Machine> &machines;
  const Threads threads;
  std::string text, constants;
  unsigned count = 0;

  std::string define(const std::string &value) {
    constants += fmt::format("@c{} = private unnamed_addr constant {}\n", count, value);
    return fmt::format("ptr @c{}", count++);
  }

  std::string string(const std::string &value) {
    std::string escaped;
    for (unsigned char c : value)
      escaped +=
          c >= 32 && c < 127 && c != '"' && c != '\\' ? std::string(1, char(c)) : fmt::format("\\{:02X}", c);
    return define(fmt::format("[{} x i8] c\"{}\\00\"", value.size() + 1, escaped));
  }

  static std::string record(const Values &members) {
    std::string types;
    for (const std::string &member : members)
      types += (types.empty() ? "" : ", ") + member.substr(0, member.find(' '));
    return fmt::format("{{ {} }} {{ {} }}", types, fmt::join(members, ", "));
  }

  /// The address of records, which all have the same type.
  std::string array(const Values &records) {
    if (records.empty())
      return "ptr null";
    const std::string &first = records.front();
    const std::string type =
        first[0] == '{' ? first.substr(0, first.find('}') + 1) : first.substr(0, first.find(' '));
    return define(fmt::format("[{} x {}] [ {} ]", records.size(), type, fmt::join(records, ", ")));
  }

  template <class Range, class Make> Values each(const Range &range, Make make) {
    Values values;
    for (const auto &element : range)
      values.push_back(make(element));
    return values;
  }

  //===--- What the run time is told ---===//

  std::string level(const format::Encoding &encoding, const format::Layout &layout, unsigned l) {
    const format::LevelFormat &format = encoding.levels[l].format;
    const auto digits = format::digits(encoding);
    const format::Digit digit = digits ? (*digits)[l] : format::Digit{};
    const int64_t flags = (format.unique ? 1 : 0) | (format.ordered ? 2 : 0) | (format.padded ? 4 : 0);
    const auto &crd = layout.coordinates[l];
    return record({integer(int64_t(format.kind)), integer(format.n), integer(flags),
                   integer(digits ? int64_t(digit.dim) : -1), integer(digit.stride), integer(digit.modulus),
                   optionalNumber(layout.sizes[l]), optionalNumber(layout.positions[l]),
                   integer(crd ? int64_t(crd->field) : -1), integer(crd ? crd->stride : 1),
                   integer(crd ? crd->offset : 0), string(format::print(format))});
  }

  std::string tensor(const TensorInterface &tensor, int64_t first, int64_t parameter) {
    const format::Layout layout = format::layout(tensor.encoding);
    Values levels;
    for (unsigned l = 0; l < tensor.encoding.levels.size(); ++l)
      levels.push_back(level(tensor.encoding, layout, l));
    const int64_t flags = (tensor.input ? 1 : 0) | (tensor.result ? 2 : 0) |
                          (format::isAllDense(tensor.encoding) ? 4 : 0) | (tensor.made ? 8 : 0);
    return record({string(tensor.name), string(format::displayName(tensor.encoding)), integer(flags),
                   integer(int64_t(tensor.sizes.size())), array(each(tensor.sizes, integer)),
                   integer(int64_t(levels.size())), array(levels), integer(int64_t(tensor.arrays.size())),
                   array(each(tensor.arrays,
                              [&](const Array &a) {
                                return record(
                                    {integer(a.kind), integer(a.width), integer(a.implied), string(a.what)});
                              })),
                   integer(first), integer(parameter), optionalNumber(tensor.like)});
  }

  std::string step(const Step &step) {
    return record(
        {integer(int64_t(step.arguments.size())),
         array(each(step.arguments,
                    [](const StepArgument &a) {
                      return record({integer(a.tensor), integer(a.result), optionalNumber(a.pattern)});
                    })),
         integer(int64_t(step.made.size())), array(each(step.made, integer)), integer(step.computes)});
  }

  std::string variant(size_t v) {
    const Machine &machine = machines[v];
    Values needs;
    for (const Need &need : machine.needs)
      needs.insert(needs.end(), {integer(int64_t(need.word)), integer(int64_t(need.bits))});
    return record({string(machine.march), integer(int64_t(machine.needs.size())), array(needs),
                   array(each(kernel.steps, [&](const Step &s) { return "ptr @" + entryName(s, v); }))});
  }

  int64_t fields() const {
    int64_t all = 0;
    for (const TensorInterface &tensor : kernel.tensors)
      all += int64_t(tensor.arrays.size());
    return all;
  }

  Values tensors() {
    Values values;
    int64_t first = 0;
    for (unsigned t = 0; t < kernel.tensors.size(); ++t) {
      const auto at = std::ranges::find(kernel.parameters, t);
      values.push_back(tensor(kernel.tensors[t], first,
                              at == kernel.parameters.end() ? -1 : at - kernel.parameters.begin()));
      first += int64_t(kernel.tensors[t].arrays.size());
    }
    return values;
  }

  std::string describe() {
    Values variants;
    for (size_t v = 0; v < machines.size(); ++v)
      variants.push_back(variant(v));
    const bool openMp = threads == Threads::OpenMp;
    return record({string(kernel.name), integer(int64_t(kernel.parameters.size())),
                   array(each(kernel.parameters, integer)), integer(int64_t(kernel.tensors.size())),
                   array(tensors()), integer(fields()), integer(int64_t(kernel.steps.size())),
                   array(each(kernel.steps, [&](const Step &s) { return step(s); })),
                   integer(int64_t(kernel.loops.size())),
                   array(each(kernel.loops,
                              [](const notation::Loop &l) {
                                return record({integer(l.begin), integer(l.end), integer(l.most),
                                               optionalNumber(l.until)});
                              })),
                   integer(int64_t(kernel.sizes.size())),
                   array(each(kernel.sizes,
                              [&](const Size &s) {
                                return record({string(s.name), integer(s.fixed), integer(s.least)});
                              })),
                   integer(int64_t(variants.size())), array(variants), "ptr @tulle_rt_1_chosen",
                   integer(kernel.index32), integer(iteration::Costs().workPerThread),
                   openMp ? "ptr @tulle_rt_1_openmp_parallel" : "ptr null",
                   openMp ? "ptr @tulle_rt_1_openmp_threads" : "ptr null"});
  }

  //===--- Functions ---===//

  void declare() {
    text += "@tulle_rt_1_chosen = internal global i64 0\n"
            "declare i32 @tulle_rt_1_call(ptr, ptr, ptr, ptr)\n"
            "declare i32 @tulle_rt_1_check(ptr, ptr, ptr, i64, ptr)\n"
            "declare i32 @tulle_rt_1_raw(ptr, ptr, ptr)\n";
    if (threads == Threads::OpenMp)
      text += "declare void @tulle_rt_1_openmp_parallel(ptr, ptr, i64)\n"
              "declare i64 @tulle_rt_1_openmp_threads()\n";
    std::set<std::string> entries;
    for (size_t v = 0; v < machines.size(); ++v)
      for (const Step &step : kernel.steps)
        if (entries.insert(entryName(step, v)).second)
          text += fmt::format("declare void @{}(ptr)\n", entryName(step, v));
  }

  /// Words of the frame of a call (runtime/run.c).
  int64_t frameWords() const {
    int64_t slots = 0;
    for (const Step &step : kernel.steps) {
      int64_t own = 0;
      for (const StepArgument &argument : step.arguments)
        own += 5 * int64_t(kernel.tensors[argument.tensor].arrays.size()) +
               int64_t(kernel.tensors[argument.tensor].sizes.size());
      for (unsigned made : step.made)
        own += 5 * int64_t(kernel.tensors[made].arrays.size());
      slots = std::max(slots, own);
    }
    return int64_t(kernel.sizes.size()) + 2 * fields() + int64_t(kernel.tensors.size()) +
           6 * int64_t(kernel.parameters.size()) + slots;
  }

  /// A function that takes these of the parameters, and behind them others, and calls the run time.
  void emitTensors(const std::string &name, bool inputsAlone, const std::string &others,
                   const std::string &call) {
    std::string parameters, stores;
    for (size_t p = 0; p < kernel.parameters.size(); ++p) {
      if (inputsAlone && !kernel.tensors[kernel.parameters[p]].input)
        continue;
      parameters += fmt::format("ptr %a{}, ", p);
      stores +=
          fmt::format("  %s{0} = getelementptr ptr, ptr %given, i64 {0}\n  store ptr %a{0}, ptr %s{0}\n", p);
    }
    text +=
        fmt::format("define i32 @{}({}{}) {{\n"
                    "  %frame = alloca [{} x i64], align 16\n"
                    "  %given = alloca [{} x ptr], align 16\n{}"
                    "  %code = call i32 {}\n  ret i32 %code\n}}\n",
                    name, parameters, others, frameWords() + 1, kernel.parameters.size() + 1, stores, call);
  }

  void emitCall() {
    emitTensors(kernel.name, false, "ptr %runtime",
                "@tulle_rt_1_call(ptr @tulle_rt_1_kernel, ptr %given, ptr %runtime, ptr %frame)");
  }

  void emitCheck() {
    emitTensors(kernel.name + "_check", true, "ptr %error, i64 %size",
                "@tulle_rt_1_check(ptr @tulle_rt_1_kernel, ptr %given, ptr %error, i64 %size, ptr %frame)");
  }

  void emitRaw() {
    std::vector<std::string> types;
    for (const RawParameter &parameter : rawParameters(kernel))
      types.push_back(parameter.isSize ? "i64" : "ptr");
    std::string parameters, stores;
    for (size_t p = 0; p < types.size(); ++p) {
      parameters += fmt::format("{}{} %a{}", p ? ", " : "", types[p], p);
      stores += fmt::format(
          "  %s{0} = getelementptr i64, ptr %words, i64 {0}\n  store {1} %a{0}, ptr %s{0}\n", p, types[p]);
    }
    text += fmt::format("define i32 @{0}_raw({1}) {{\n"
                        "  %frame = alloca [{2} x i64], align 16\n"
                        "  %words = alloca [{3} x i64], align 16\n{4}"
                        "  %code = call i32 @tulle_rt_1_raw(ptr @tulle_rt_1_kernel, ptr %words, ptr %frame)\n"
                        "  ret i32 %code\n}}\n",
                        kernel.name, parameters, frameWords() + 1, types.size() + 1, stores);
  }
};

} // namespace

std::string emitKernel(const Interface &kernel, const std::vector<Machine> &machines, Threads threads,
                       const std::string &information) {
  return Emitter(kernel, machines, threads).module(information);
}

} // namespace tulle::aot
