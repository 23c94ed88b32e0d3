// The class Tensor, on which tulle/_tensor.py builds, and what makes tensors.
#include "Tensors.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tulle/io.h>
#include <tulle/picture.h>
#include <tulle/query.h>

namespace tulle::python {

static PyObject *tensorClass = nullptr;

nb::object wrap(AnyTensor tensor) {
  if (!tensorClass)
    return nb::cast(std::move(tensor));
  nb::object made = nb::inst_alloc(nb::handle(tensorClass));
  new (nb::inst_ptr<AnyTensor>(made)) AnyTensor(std::move(tensor));
  nb::inst_mark_ready(made);
  return made;
}

AnyTensor denseOf(const Array &array, const std::string &name) {
  if (array.element.empty())
    throw Error(name +
                ": the array has elements of a type that Tulle does not have; convert it to bool, int8, "
                "int16, int32, int64, float16, float32, float64, complex64 or complex128");
  return denseAny(array.element, array.dims, array.view);
}

nb::object elementsOf(const AnyTensor &dense, bool writable) {
  nb::object array = toNumpy(dense.rawValues(), dense.element(), dense.dims(), writable);
  return dense.order() ? array : nb::object(array[nb::tuple()]);
}

/// Runs what may take long, and has nothing of Python, without the interpreter's lock.
template <class Work> auto withoutLock(Work &&work) {
  nb::gil_scoped_release released;
  return work();
}

/// Elements of NumPy's array: 2-bit coordinates are packed, four to a byte.
static int64_t countOf(const BufferView &view) { return view.width == 2 ? (view.count + 3) / 4 : view.count; }

static nb::object bufferOf(const AnyTensor &tensor, const std::string &kind, unsigned level) {
  const BufferView view = kind == "positions"     ? tensor.positions(level)
                          : kind == "coordinates" ? tensor.coordinates(level)
                                                  : tensor.rawValues();
  if (!view.width)
    return nb::none();
  return toNumpy(view, kind == "values" ? tensor.element() : "", {countOf(view)});
}

/// All buffers, in the order in which `borrow` takes them.
static nb::list allBuffers(const AnyTensor &tensor) {
  const std::vector<BufferView> views = tensor.buffers();
  nb::list arrays;
  for (size_t k = 0; k < views.size(); ++k) {
    const bool isValues = k + 1 == views.size();
    if (isValues && !views[k].data && tensor.type().format.text().find("explicitVal") != std::string::npos)
      arrays.append(views[k].count);
    else
      arrays.append(toNumpy(views[k], isValues ? tensor.element() : "", {countOf(views[k])}));
  }
  return arrays;
}

/// One buffer of a borrowed tensor: an array, or the number of values where the format has none.
static BufferView bufferView(nb::handle object, const std::string &name, const std::string &element) {
  if (nb::isinstance<nb::int_>(object))
    return {nullptr, nb::cast<int64_t>(object), 0, {}};
  const Array array = requireArray(object, name);
  if (element.empty() ? !array.isInteger
                      : array.element != element && !(element == "bf16" && array.isInteger))
    throw Error(name + ": " +
                (element.empty() ? "expected integers" : "expected elements of type " + element) + ", got " +
                (array.element.empty() ? "another type" : array.element));
  return array.view;
}

static nb::object borrowBuffers(const std::string &element, std::vector<int64_t> dims,
                                const std::string &format, nb::list buffers,
                                const std::vector<std::string> &names, bool check) {
  std::vector<BufferView> views;
  for (size_t k = 0; k < buffers.size(); ++k)
    views.push_back(bufferView(buffers[k], names.at(k), k + 1 == buffers.size() ? element : ""));
  return wrap(withoutLock([&] {
    return borrowAny(element, std::move(dims), Format(format), views,
                     check ? Check::Everything : Check::Nothing);
  }));
}

/// Integers of 64 bits.
static Array requireIndices(nb::handle object, const std::string &name) {
  Array array = requireArray(object, name);
  if (!array.isInteger || array.view.width != 64)
    throw Error(name + ": expected integers of 64 bits");
  return array;
}

static nb::object packEntries(const std::string &element, std::vector<int64_t> dims, nb::list coords,
                              nb::handle values, const std::string &format) {
  std::vector<Array> arrays;
  std::vector<std::span<const int64_t>> spans;
  for (size_t d = 0; d < coords.size(); ++d) {
    arrays.push_back(requireIndices(coords[d], "coordinates of dimension " + std::to_string(d)));
    spans.emplace_back(static_cast<const int64_t *>(arrays.back().view.data), arrays.back().view.count);
  }
  const Array given = requireArray(values, "values");
  if (given.element != element)
    throw Error("values: expected elements of type " + element);
  return wrap(withoutLock([&] {
    return packAny(element, std::move(dims), spans, given.view.data, given.view.count, Format(format));
  }));
}

static nb::list wrapAll(std::vector<AnyTensor> tensors) {
  nb::list made;
  for (AnyTensor &tensor : tensors)
    made.append(wrap(std::move(tensor)));
  return made;
}

static void bindClass(nb::module_ &module) {
  nb::class_<AnyTensor>(module, "Tensor")
      .def_prop_ro("_dims", [](const AnyTensor &t) { return t.dims(); })
      .def_prop_ro(
          "shape", [](const AnyTensor &t) { return nb::tuple(nb::cast(t.dims())); },
          "The size of each dimension.")
      .def_prop_ro("ndim", &AnyTensor::order, "The number of dimensions.")
      .def_prop_ro("_element", &AnyTensor::element)
      .def_prop_ro(
          "format", &AnyTensor::formatName,
          "The name of the storage format, \"CSR\", \"BCSR(4,4)\", …; of one without a name its encoding.")
      .def_prop_ro(
          "encoding", [](const AnyTensor &t) { return t.type().format.text(); },
          "The storage format as an encoding, with the widths of its positions and coordinates.")
      .def_prop_ro(
          "type_key", [](const AnyTensor &t) { return t.element() + " " + t.type().format.text(); },
          "Element type and encoding: what code depends on.")
      .def_prop_ro("_fill", &AnyTensor::fill)
      .def_prop_ro(
          "nnz", [](const AnyTensor &t) { return withoutLock([&] { return t.storedCount(); }); },
          "The number of stored values, the padding of blocks included; of a slice the coordinates that are "
          "stored in it, which a query counts.")
      .def_prop_ro("nbytes", &AnyTensor::bytes, "Bytes of all buffers.")
      .def("_buffer", &bufferOf)
      .def("_buffers", &allBuffers)
      .def("_to",
           [](const AnyTensor &t, const std::string &format) {
             return wrap(withoutLock([&] { return t.to(Format(format)); }));
           })
      .def("_slice", [](const AnyTensor &t, unsigned dimension, int64_t offset, int64_t size,
                        int64_t stride) { return wrap(t.slice(dimension, offset, size, stride)); })
      .def("_transpose",
           [](const AnyTensor &t, std::vector<unsigned> order) { return wrap(t.transpose(order)); })
      .def("_reverse",
           [](const AnyTensor &t, unsigned dimension) {
             return wrap(withoutLock([&] { return t.reverse(dimension); }));
           })
      .def("_reshape",
           [](const AnyTensor &t, const std::vector<int64_t> &dims) {
             return wrap(withoutLock([&] { return t.reshape(dims); }));
           })
      .def("_gather",
           [](const AnyTensor &t, nb::handle rows) {
             const Array array = requireIndices(rows, "rows");
             const auto *first = static_cast<const int64_t *>(array.view.data);
             return wrap(withoutLock([&] { return t.gather({first, size_t(array.view.count)}); }));
           })
      .def("_decompose",
           [](const AnyTensor &t, const std::string &parts) {
             return wrapAll(withoutLock([&] { return t.decompose(parts); }));
           })
      .def("_elements", [](const AnyTensor &t) { return elementsOf(t, false); })
      .def("print", &AnyTensor::print, "The storage as text: nse, dim, lvl, pos[l], crd[l], values.");
}

void bindTensors(nb::module_ &module) {
  bindClass(module);
  module.def("register_tensor", [](nb::handle type) { tensorClass = type.inc_ref().ptr(); });
  module.def("dense", [](nb::handle object, const std::string &name) {
    return wrap(denseOf(requireArray(object, name), name));
  });
  module.def("fields", [](const std::string &format, unsigned order) {
    std::vector<std::pair<std::string, unsigned>> roles;
    for (const BufferRole &role : buffersOf(Format(format), order))
      roles.emplace_back(role.kind, role.level);
    return roles;
  });
  module.def("with_levels",
             [](const std::string &format, const std::string &declarations, const std::string &name) {
               return Format(format).withLevels(declarations, name).text();
             });
  module.def("borrow", &borrowBuffers);
  module.def("pack", &packEntries);
  module.def("query", [](const std::string &text, const AnyTensor &tensor) {
    nb::dict answers;
    for (auto &[name, answer] : withoutLock([&] { return query(text, tensor); }))
      answers[name.c_str()] = elementsOf(answer, true);
    return answers;
  });
  module.def("spy", &spyText);
  module.def("storage", &storageText);
  module.def("picture", [](const AnyTensor &tensor, bool storage) {
    return withoutLock([&] { return pictureSvg(tensor, storage); });
  });
  module.def("load", [](const std::string &path, const std::string &format, const std::string &element) {
    return wrap(
        withoutLock([&] { return format.empty() ? readAny(path) : readAny(path, Format(format), element); }));
  });
  module.def("save", [](const std::string &path, const AnyTensor &tensor) {
    withoutLock([&] { write(path, tensor); });
  });
  module.def("generate", [](const std::string &spec, const std::vector<int64_t> &dims,
                            const std::string &format, const std::string &element) {
    return wrap(withoutLock([&] { return generateAny(spec, dims, Format(format), element); }));
  });
}

} // namespace tulle::python
