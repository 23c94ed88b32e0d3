// Tensors as Python objects.
#pragma once
#include "Arrays.h"
#include <span>

namespace tulle::python {

/// The tensor as an object of the class that the package has registered.
nb::object wrap(AnyTensor tensor);
/// A dense tensor over the elements of an array, as the caller sees them. Throws Error, calling it `name`,
/// for element types that Tulle does not have.
AnyTensor denseOf(const Array &array, const std::string &name);
/// A dense result as NumPy's array over the same memory; where it has no dimension, NumPy's number.
nb::object elementsOf(const AnyTensor &dense, bool writable);

void bindTensors(nb::module_ &module);
void bindKernels(nb::module_ &module);

} // namespace tulle::python
