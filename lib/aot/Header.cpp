// Declarations with a comment for each argument; the types are those of the run time itself (runtime/abi.h).
#include "aot/Header.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tulle::aot {

static constexpr char kAbi[] = {
#include "abi.inc"
};

/// A text within a comment of C.
static std::string commented(std::string text) {
  for (size_t at = 0; (at = text.find("*/", at)) != std::string::npos; at += 3)
    text.insert(at + 1, " ");
  for (size_t at = 0; (at = text.find("/*", at)) != std::string::npos; at += 3)
    text.insert(at + 1, " ");
  std::ranges::replace(text, '\n', ' ');
  return text;
}

static std::string sizesText(const Interface &kernel, const TensorInterface &tensor) {
  std::vector<std::string> sizes;
  for (unsigned size : tensor.sizes)
    sizes.push_back(kernel.sizes[size].fixed < 0 ? kernel.sizes[size].name
                                                 : fmt::format("{}", kernel.sizes[size].fixed));
  return sizes.empty() ? "a scalar" : fmt::format("{}", fmt::join(sizes, " x "));
}

static std::string roleOf(const TensorInterface &tensor) {
  if (format::hasSlices(tensor.encoding))
    return "input, the tensor that the slice is cut from";
  if (tensor.input)
    return !tensor.result ? "input"
           : tensor.made  ? "input and result, replaced"
                          : "input and result, in place";
  if (tensor.made)
    return "result, allocated by the kernel: pass {0}, and release it";
  return "result: its arrays, or {0} for new ones to be released";
}

static std::string describe(const Interface &kernel, const TensorInterface &tensor) {
  std::string text =
      fmt::format("   {}: {}; {} {}, {}\n", tensor.identifier, roleOf(tensor), name(tensor.type),
                  sizesText(kernel, tensor), commented(format::displayName(tensor.format())));
  for (size_t k = 0; k < tensor.arrays.size(); ++k) {
    const Array &array = tensor.arrays[k];
    text += fmt::format("     buffers[{}]: {}, {} ({} bits)", k, array.what, cType(array), array.width);
    text += array.implied ? fmt::format("; all are {}, and data is null", *tensor.format().explicitVal) : "";
    text += "\n";
  }
  return text;
}

/// The function that looks at the inputs.
static std::string checkDeclaration(const Interface &kernel) {
  std::string inputs;
  for (unsigned t : kernel.parameters)
    if (kernel.tensors[t].input)
      inputs += "const tulle_tensor *" + kernel.tensors[t].identifier + ", ";
  return fmt::format(
      "\n/* The inputs, entry by entry: positions and coordinates as well, which a call takes on "
      "trust. */\nint {}_check({}char *error, size_t error_size);\n",
      kernel.name, inputs);
}

static std::string rawDeclaration(const Interface &kernel) {
  std::vector<std::string> parameters;
  for (const RawParameter &parameter : rawParameters(kernel))
    parameters.push_back(fmt::format("{}{} {}{}", parameter.isSize || parameter.isWritten ? "" : "const ",
                                     parameter.type, parameter.isSize ? "" : "*", parameter.name));
  return fmt::format(
      "\n/* The same of arrays alone, whose lengths follow from the sizes and from positions. */\n"
      "int {}_raw({});\n",
      kernel.name, parameters.empty() ? "void" : fmt::format("{}", fmt::join(parameters, ", ")));
}

std::string headerOf(const Interface &kernel) {
  std::string guard = kernel.name + "_TULLE_H";
  std::ranges::transform(guard, guard.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  std::string text = fmt::format("/* {0} */\n/* Made by tulle compile. */\n#ifndef {1}\n#define {1}\n",
                                 commented(kernel.text), guard);
  text += std::string(kAbi, sizeof kAbi);
  text += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
          "/* Returns one of TULLE_OK, ... and may be called from several threads at once.\n";
  std::string parameters;
  for (unsigned t : kernel.parameters) {
    const TensorInterface &tensor = kernel.tensors[t];
    text += describe(kernel, tensor);
    parameters += fmt::format("{}tulle_tensor *{}, ", tensor.result ? "" : "const ", tensor.identifier);
  }
  text += fmt::format("   runtime: null for defaults. */\nint {}({}const tulle_runtime *runtime);\n",
                      kernel.name, parameters);
  if (kernel.raw)
    text += rawDeclaration(kernel);
  return text + checkDeclaration(kernel) +
         fmt::format("\n/* What the kernel is, as JSON. */\nconst char *{}_info(void);\n\n"
                     "#ifdef __cplusplus\n}}\n#endif\n#endif\n",
                     kernel.name);
}

std::string informationOf(const Interface &kernel, const std::vector<Machine> &machines, Threads threads) {
  using Json = nlohmann::ordered_json;
  static constexpr const char *threadNames[] = {"none", "openmp", "hook"};
  Json tensors = Json::array(), marches = Json::array();
  for (unsigned t : kernel.parameters) {
    const TensorInterface &tensor = kernel.tensors[t];
    Json arrays = Json::array(), sizes = Json::array();
    for (const Array &array : tensor.arrays)
      arrays.push_back(
          {{"name", array.name}, {"what", array.what}, {"kind", array.kind}, {"width", array.width}});
    for (unsigned size : tensor.sizes)
      if (kernel.sizes[size].fixed < 0)
        sizes.push_back(kernel.sizes[size].name);
      else
        sizes.push_back(kernel.sizes[size].fixed);
    tensors.push_back({{"name", tensor.name},
                       {"input", tensor.input},
                       {"result", tensor.result},
                       {"allocated", tensor.made},
                       {"type", name(tensor.type)},
                       {"format", format::print(tensor.format())},
                       {"levels", tensor.encoding.levels.size()},
                       {"sizes", sizes},
                       {"buffers", arrays}});
    if (tensor.like)
      tensors.back()["like"] = kernel.tensors[*tensor.like].name;
  }
  for (const Machine &machine : machines)
    marches.push_back(machine.march);
  return Json{{"name", kernel.name},
              {"program", kernel.text},
              {"abi", 1},
              {"target", machines.front().target.triple},
              {"march", marches},
              {"threads", threadNames[size_t(threads)]},
              {"raw", kernel.raw},
              {"arguments", tensors}}
      .dump();
}

} // namespace tulle::aot
