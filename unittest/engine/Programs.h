// Small programs for the engine's tests.
#pragma once
#include "engine/Conversion.h"
#include <cstring>

namespace tulle::engine {

/// A tensor from its dense row-major elements: zeros are not stored where the format need not store them.
template <class T>
runtime::Tensor tensor(ElementType type, std::vector<int64_t> dims, const std::vector<T> &elements,
                       const std::string &form) {
  runtime::Entries entries;
  entries.type = type;
  entries.dims = dims;
  entries.coords.resize(dims.size());
  for (size_t k = 0; k < elements.size(); ++k) {
    if (elements[k] == T(0))
      continue;
    size_t rest = k;
    for (size_t d = dims.size(); d-- > 0; rest /= size_t(dims[d]))
      entries.coords[d].push_back(int64_t(rest % size_t(dims[d])));
    const auto *bytes = reinterpret_cast<const std::byte *>(&elements[k]);
    entries.values.insert(entries.values.end(), bytes, bytes + sizeof(T));
  }
  return store(entries, format::parseFormat(form, unsigned(dims.size())));
}

inline runtime::Tensor doubles(std::vector<int64_t> dims, const std::vector<double> &elements,
                               const std::string &form = "dense") {
  return tensor<double>(ElementType::F64, std::move(dims), elements, form);
}

/// Elements of a tensor in row-major order.
template <class T = double> std::vector<T> elements(const runtime::Tensor &tensor) {
  runtime::Tensor dense = runtime::toDense(tensor);
  std::vector<T> values(size_t(dense.storedCount()));
  if (!values.empty())
    std::memcpy(values.data(), dense.values(), values.size() * sizeof(T));
  return values;
}

using Tensors = std::map<std::string, runtime::Tensor>;

/// Checks a program against the tensors given; `formats` are those of results.
inline notation::Program check(const std::string &text, const Tensors &inputs,
                               const std::map<std::string, std::string> &formats = {}) {
  std::map<std::string, notation::Binding> bindings;
  for (const auto &[name, tensor] : inputs)
    bindings[name] = {tensor.type, tensor.dims, tensor.encoding, true};
  for (const notation::TensorUse &use : notation::tensorsUsed(text))
    if (auto it = formats.find(use.name); it != formats.end())
      bindings[use.name].encoding = format::parseFormat(it->second, use.order);
  return notation::check(text, bindings);
}

inline std::vector<std::optional<runtime::Tensor>> slotsFor(const notation::Program &program,
                                                            const Tensors &inputs) {
  std::vector<std::optional<runtime::Tensor>> slots(program.tensors.size());
  for (size_t t = 0; t < slots.size(); ++t)
    if (auto it = inputs.find(program.tensors[t].name); it != inputs.end())
      slots[t] = it->second;
  return slots;
}

/// Compiles and runs; returns the tensor called `result`.
inline runtime::Tensor evaluate(const std::string &text, const std::string &result, const Tensors &inputs,
                                const std::map<std::string, std::string> &formats = {},
                                const Options &options = {}) {
  notation::Program program = check(text, inputs, formats);
  auto slots = slotsFor(program, inputs);
  compile(program, options)->run(slots);
  for (size_t t = 0; t < slots.size(); ++t)
    if (program.tensors[t].name == result)
      return slots[t].value();
  throw std::logic_error("no tensor called " + result);
}

} // namespace tulle::engine
