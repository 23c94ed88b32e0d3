// Compiled programs, called with tensors and NumPy's arrays.
#include "Tensors.h"
#include <chrono>
#include <memory>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tulle/error.h>
#include <tulle/kernel.h>

namespace tulle::python {

/// An operand as Tulle's tensor: itself, or over the memory of an array; what else there is `asarray` makes a
/// tensor of.
static AnyTensor operand(nb::handle object, const std::string &name) {
  if (nb::isinstance<AnyTensor>(object))
    return *nb::inst_ptr<AnyTensor>(object);
  if (std::optional<Array> array = borrowArray(object); array && !array->element.empty())
    return denseOf(*array, name);
  static PyObject *asOperand =
      nb::object(nb::module_::import_("tulle._tensor").attr("as_operand")).release().ptr();
  return nb::cast<AnyTensor>(nb::handle(asOperand)(object, name));
}

/// Memory for a dense result, which code writes to.
static AnyTensor output(nb::handle object, const std::string &name) {
  const Array array = requireArray(object, "out");
  if (array.readOnly)
    throw Error("out: the array is read-only; give one that can be written to");
  return denseOf(array, "out (" + name + ")");
}

/// NumPy's array of a dense result, which is the user's alone; other results as they are.
static nb::object result(AnyTensor tensor) {
  return tensor.isDense() ? elementsOf(tensor, true) : wrap(std::move(tensor));
}

/// Ctrl-C is looked for now and then: it takes the GIL, which another thread may hold for milliseconds.
static RunReport interruptible() {
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds pause(20);
  RunReport report;
  report.isInterrupted = [next = Clock::time_point(), asked = int64_t(0)]() mutable {
    if (asked++ == 0) // a short call asks once, and reading the clock costs a hundredth of it
      return false;
    const Clock::time_point now = Clock::now();
    if (now < next)
      return false;
    const bool isFirst = next == Clock::time_point();
    next = now + pause;
    if (isFirst)
      return false;
    nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  };
  return report;
}

/// Calls `run` without the GIL; throws the exception of a signal's handler, by which it was interrupted.
template <class Run> static auto runInterruptible(const Run &run) {
  try {
    RunReport report = interruptible();
    nb::gil_scoped_release released;
    return run(&report);
  } catch (const Interrupted &) {
    throw nb::python_error();
  }
}

static nb::object call(const Kernel &kernel, nb::args arguments, nb::handle out) {
  const std::vector<std::string> &names = kernel.inputs();
  std::vector<AnyTensor> inputs;
  inputs.reserve(arguments.size());
  for (size_t k = 0; k < arguments.size(); ++k)
    inputs.push_back(operand(arguments[k], k < names.size() ? names[k] : "an argument"));
  const AnyTensor into = out.is_none() ? AnyTensor() : output(out, kernel.results().back());
  AnyTensor made = runInterruptible([&](RunReport *report) { return kernel.call(inputs, report, into); });
  return out.is_none() ? result(std::move(made)) : nb::borrow(out);
}

static nb::dict run(const Kernel &kernel, nb::dict given, nb::dict outputs) {
  std::map<std::string, AnyTensor> inputs, into;
  for (auto [name, object] : given)
    inputs[nb::cast<std::string>(name)] = operand(object, nb::cast<std::string>(name));
  for (auto [name, object] : outputs)
    into[nb::cast<std::string>(name)] = output(object, nb::cast<std::string>(name));
  std::map<std::string, AnyTensor> made =
      runInterruptible([&](RunReport *report) { return kernel.run(inputs, report, into); });
  nb::dict results;
  for (auto &[name, tensor] : made)
    results[name.c_str()] =
        outputs.contains(name.c_str()) ? nb::object(outputs[name.c_str()]) : result(std::move(tensor));
  return results;
}

static nb::bytes bytesOf(const std::string &text) { return nb::bytes(text.data(), text.size()); }

/// As `compile` takes them.
static nb::dict typesOf(const Kernel &kernel) {
  nb::dict types;
  for (const auto &[name, type] : kernel.types())
    types[name.c_str()] = nb::make_tuple(type.element, type.format.text(), type.dims);
  return types;
}

static Kernel compileTyped(const std::string &program, nb::dict types, const CompileOptions &options) {
  std::map<std::string, TensorType> typed;
  for (auto [name, type] : types) {
    nb::tuple parts = nb::cast<nb::tuple>(type);
    typed[nb::cast<std::string>(name)] = {nb::cast<std::string>(parts[0]),
                                          Format(nb::cast<std::string>(parts[1])),
                                          nb::cast<std::vector<int64_t>>(parts[2])};
  }
  nb::gil_scoped_release released;
  return compile(program, typed, options);
}

void bindKernels(nb::module_ &module) {
  nb::class_<CompileOptions>(module, "CompileOptions")
      .def(nb::init<>())
      .def_rw("strict_fp", &CompileOptions::strictFp)
      .def_rw("vl", &CompileOptions::vectorLength)
      .def_rw("scalable", &CompileOptions::scalable)
      .def_rw("tail", &CompileOptions::tail)
      .def_prop_rw(
          "index32", [](const CompileOptions &o) { return !o.wideIndices; },
          [](CompileOptions &o, bool narrow) { o.wideIndices = !narrow; })
      .def_rw("any_size", &CompileOptions::anySize)
      .def_rw("threads", &CompileOptions::threads)
      .def_rw("deterministic", &CompileOptions::deterministic)
      .def_rw("schedule", &CompileOptions::schedule)
      .def_rw("results", &CompileOptions::results)
      .def_rw("given", &CompileOptions::given)
      .def_rw("disk_cache", &CompileOptions::diskCache)
      .def_prop_rw(
          "object_code",
          [](const CompileOptions &o) { return o.objectCode ? bytesOf(*o.objectCode) : nb::bytes("", 0); },
          [](CompileOptions &o, nb::bytes code) {
            o.objectCode = std::make_shared<const std::string>(code.c_str(), code.size());
          });
  nb::class_<AccessUse>(module, "AccessUse")
      .def_ro("tensor", &AccessUse::tensor)
      .def_ro("subscripts", &AccessUse::subscripts)
      .def_ro("restricts", &AccessUse::restricts);
  nb::class_<StatementUse>(module, "StatementUse")
      .def_ro("result", &StatementUse::result)
      .def_ro("reduction", &StatementUse::reduction)
      .def_ro("accumulates", &StatementUse::accumulates)
      .def_ro("operands", &StatementUse::operands)
      .def_ro("pattern", &StatementUse::pattern)
      .def_ro("index_values", &StatementUse::indexValues)
      .def_ro("in_loop", &StatementUse::inLoop);
  nb::class_<Kernel>(module, "Kernel")
      .def("__call__", &call, nb::arg("arguments"), nb::arg("out") = nb::none(),
           "Runs on inputs in the order of `inputs`, and returns the result that is written last; `out` "
           "receives a dense one.")
      .def("_run", &run)
      .def_prop_ro(
          "inputs", [](const Kernel &k) { return k.inputs(); },
          "Names of the inputs, in the order of a call.")
      .def_prop_ro(
          "results", [](const Kernel &k) { return k.results(); },
          "Names of the results, in the order in which they are last written; a call returns the last.")
      .def_prop_ro("remarks", &Kernel::remarks,
                   "What the compiler has to say: conversions that it inserted, …")
      .def_prop_ro("compile_ms", &Kernel::compileMs, "Milliseconds that compiling took, or finding the code.")
      .def("_explain", &Kernel::explain)
      .def("_explain_page", &Kernel::explainPage)
      .def_prop_ro(
          "origin", &Kernel::origin,
          "Where the code is from: \"compiled\", \"memory cache\", \"disk cache\", or \"object code\" "
          "of another process.")
      .def_prop_ro("program", &Kernel::program, "The text that it was compiled of.")
      .def_prop_ro("_types", &typesOf)
      .def_prop_ro("_options", &Kernel::options)
      .def_prop_ro("_statements", &Kernel::statements)
      .def("_object_code", [](const Kernel &k) { return bytesOf(k.objectCode()); });
  module.def("compile", &compileTyped);
  module.def("operands", [](const std::string &program) { return tensorsOf(program).operands; });
  module.def("results", [](const std::string &program) { return tensorsOf(program).written; });
}

} // namespace tulle::python
