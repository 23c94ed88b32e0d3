// Programs, data and answers as JSON.
#include "Case.h"
#include "support/Errors.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tulle::differential {

using Json = nlohmann::json;

namespace {

/// Floating-point numbers as text, which knows infinities and nan; complex ones as two.
Json valueOf(ElementType type, const Scalar &value) {
  if (isComplex(type))
    return {fmt::format("{}", value.f.real()), fmt::format("{}", value.f.imag())};
  return isFloat(type) ? Json(fmt::format("{}", value.f.real())) : Json(value.i);
}

Json valuesOf(ElementType type, const std::vector<Scalar> &values) {
  Json list = Json::array();
  for (const Scalar &value : values)
    list.push_back(valueOf(type, value));
  return list;
}

} // namespace

std::string toJson(const Case &c) {
  Meaning meaning;
  try {
    meaning = interpret(c);
  } catch (const Error &) {
    return {};
  }
  if (!c.likes.empty())
    return {};
  Json json = {
      {"seed", c.seed}, {"program", c.text()}, {"inputs", Json::object()}, {"results", Json::object()}};
  for (const auto &[name, given] : c.inputs) {
    if (!given.slices.empty() || !given.lengths.empty())
      return {};
    json["inputs"][name] = {{"type", tulle::name(given.type)},
                            {"shape", given.dims},
                            {"format", given.format},
                            {"entries", given.entries},
                            {"values", valuesOf(given.type, given.values)}};
  }
  for (size_t t = 0; t < meaning.expected.size(); ++t) {
    const notation::TensorDecl &tensor = meaning.program.tensors[t];
    if (!tensor.written || tensor.condition)
      continue;
    auto choice = c.results.find(tensor.name);
    const std::string format = choice == c.results.end() ? "" : choice->second.format;
    const interpreter::DenseTensor &expected = meaning.expected[t];
    json["results"][tensor.name] = {{"type", tulle::name(tensor.type)},
                                    {"shape", tensor.dims},
                                    {"format", format.empty() ? "dense" : format},
                                    {"wanted", tensor.result},
                                    {"tolerance", tolerance(meaning.program, tensor.type, expected)},
                                    {"values", valuesOf(expected.type, expected.values)}};
  }
  return json.dump();
}

} // namespace tulle::differential
