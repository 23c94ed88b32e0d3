// The extension module behind the package `tulle`: classes and functions close to those of include/tulle, in
// which the package's own Python hides what only serves it (names that begin with an underscore).
#include "Tensors.h"
#include <tulle/error.h>

namespace nb = nanobind;

NB_MODULE(_core, module) {
  module.doc() = "The compiler behind the package tulle.";
  module.attr("version") = TULLE_VERSION;
  // Classes and functions that modules hold live as long as the interpreter.
  nb::set_leak_warnings(false);
  // The package registers the class of its errors.
  static PyObject *errorClass = nullptr;
  module.def("register_error", [](nb::handle type) { errorClass = type.inc_ref().ptr(); });
  nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
    try {
      std::rethrow_exception(thrown);
    } catch (const tulle::Error &error) {
      PyErr_SetString(errorClass ? errorClass : PyExc_ValueError, error.what());
    }
  });
  tulle::python::bindMemory(module);
  tulle::python::bindTensors(module);
  tulle::python::bindKernels(module);
}
