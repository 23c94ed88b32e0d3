#include "Arrays.h"
#include <algorithm>
#include <memory>
#include <nanobind/stl/string.h>

namespace tulle::python {

/// Element types by the characters of Python's struct module; integers follow from their size.
static std::string elementOf(std::string_view format, Py_ssize_t bytes) {
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<'))
    format.remove_prefix(1);
  if (format == "?")
    return "bool";
  if (format == "e")
    return "f16";
  if (format == "f")
    return "f32";
  if (format == "d")
    return "f64";
  if (format == "Zf")
    return "c64";
  if (format == "Zd")
    return "c128";
  if (format.size() == 1 && std::string_view("bhilq").find(format[0]) != std::string_view::npos)
    return "i" + std::to_string(8 * bytes);
  return "";
}

static bool isInteger(std::string_view format) {
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<'))
    format.remove_prefix(1);
  return format.size() == 1 && std::string_view("bBhHiIlLqQ").find(format[0]) != std::string_view::npos;
}

std::optional<Array> borrowArray(nb::handle object) {
  if (!PyObject_CheckBuffer(object.ptr()))
    return std::nullopt;
  auto lent = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), lent.get(), PyBUF_FORMAT | PyBUF_ND) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  Array array;
  array.element = elementOf(lent->format ? lent->format : "B", lent->itemsize);
  array.isInteger = isInteger(lent->format ? lent->format : "B");
  array.dims.assign(lent->shape, lent->shape + lent->ndim);
  array.readOnly = lent->readonly;
  array.view = {lent->buf, lent->itemsize ? lent->len / lent->itemsize : 0, unsigned(8 * lent->itemsize), {}};
  array.view.owner = std::shared_ptr<Py_buffer>(lent.release(), [](Py_buffer *buffer) {
    if (!Py_IsInitialized()) // memory is gone with the interpreter
      return;
    nb::gil_scoped_acquire gil;
    PyBuffer_Release(buffer);
    delete buffer;
  });
  return array;
}

Array requireArray(nb::handle object, const std::string &name) {
  if (std::optional<Array> array = borrowArray(object))
    return *array;
  throw Error(name + ": expected a C-contiguous array in the machine's byte order, got " +
              nb::cast<std::string>(nb::str(object.type())));
}

//===--- Tulle's memory for Python ---===//

static const char *structFormat(const std::string &element, unsigned width) {
  static const std::pair<const char *, const char *> formats[] = {
      {"bool", "?"}, {"i8", "b"},  {"i16", "h"}, {"i32", "i"},  {"i64", "q"},  {"bf16", "H"},
      {"f16", "e"},  {"f32", "f"}, {"f64", "d"}, {"c64", "Zf"}, {"c128", "Zd"}};
  for (const auto &[name, format] : formats)
    if (element == name)
      return format;
  return width == 8 || width < 8 ? "B" : width == 16 ? "H" : width == 32 ? "I" : "Q";
}

static int getBuffer(PyObject *self, Py_buffer *buffer, int flags) {
  Memory &memory = *nb::inst_ptr<Memory>(self);
  if ((flags & PyBUF_WRITABLE) && !memory.writable) {
    PyErr_SetString(PyExc_BufferError, "the memory of a tensor is read-only");
    return -1;
  }
  static char nothing;
  buffer->buf = memory.view.data ? const_cast<void *>(memory.view.data) : &nothing;
  buffer->obj = Py_NewRef(self);
  buffer->itemsize = std::max(1u, memory.view.width / 8);
  buffer->len = buffer->itemsize;
  for (Py_ssize_t size : memory.dims)
    buffer->len *= size;
  buffer->readonly = !memory.writable;
  buffer->ndim = int(memory.dims.size());
  buffer->format = flags & PyBUF_FORMAT ? memory.format.data() : nullptr;
  buffer->shape = flags & PyBUF_ND ? memory.dims.data() : nullptr;
  buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? memory.strides.data() : nullptr;
  buffer->suboffsets = nullptr;
  buffer->internal = nullptr;
  return 0;
}

void bindMemory(nb::module_ &module) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void *>(getBuffer)}, {0, nullptr}};
  nb::class_<Memory>(module, "Memory", nb::type_slots(slots),
                     "Memory of a tensor, lent through the buffer protocol.");
}

nb::object toNumpy(const BufferView &view, const std::string &element, const std::vector<int64_t> &dims,
                   bool writable) {
  static PyObject *asArray = nb::object(nb::module_::import_("numpy").attr("asarray")).release().ptr();
  Memory memory{view, structFormat(element, view.width), {dims.begin(), dims.end()}, {}, writable};
  memory.strides.resize(dims.size());
  Py_ssize_t stride = std::max(1u, view.width / 8);
  for (size_t d = dims.size(); d-- > 0; stride *= memory.dims[d])
    memory.strides[d] = stride;
  nb::object array = nb::handle(asArray)(nb::cast(std::move(memory)));
  if (element == "bf16")
    return nb::module_::import_("tulle._types").attr("as_bfloat16")(array);
  return array;
}

} // namespace tulle::python
