// Tensors as their arguments have them; dimensions with one index have one size.
#include "aot/Interface.h"
#include "aot/Steps.h"
#include "engine/Conversion.h"
#include "notation/ErrorPlace.h"
#include "notation/Sparsity.h"
#include "support/Errors.h"
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace tulle::aot {

using format::FieldKind;
using notation::Program;
using notation::TensorDecl;

//===--- Names ---===//

static bool isIdentifier(std::string_view name) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  return !name.empty() && letter((unsigned char)name[0]) &&
         std::ranges::all_of(name, [&](unsigned char c) { return letter(c) || std::isdigit(c); });
}

static bool isKeyword(std::string_view name) {
  static const std::set<std::string_view> words{
      "alignas",   "alignof",  "and",      "asm",      "auto",     "bool",    "break",     "case",
      "catch",     "char",     "class",    "const",    "continue", "default", "delete",    "do",
      "double",    "else",     "enum",     "explicit", "export",   "extern",  "false",     "float",
      "for",       "friend",   "goto",     "if",       "inline",   "int",     "long",      "mutable",
      "namespace", "new",      "not",      "operator", "or",       "private", "protected", "public",
      "register",  "restrict", "return",   "short",    "signed",   "sizeof",  "static",    "struct",
      "switch",    "template", "this",     "throw",    "true",     "try",     "typedef",   "typeid",
      "typename",  "union",    "unsigned", "using",    "virtual",  "void",    "volatile",  "while",
      "xor",       "runtime",  "error",    "main"};
  return words.contains(name);
}

void checkName(const std::string &name) {
  if (!isIdentifier(name) || isKeyword(name) || name.starts_with("tulle_") || name.starts_with("_"))
    throwError("--name '{}': expected a name that a function of C and C++ can have: letters, digits and '_', "
               "no keyword, and not beginning with 'tulle_' or '_'",
               name);
}

/// A name of C that is not taken yet.
static std::string freshName(std::string name, std::set<std::string> &taken) {
  for (char &c : name)
    if (!std::isalnum((unsigned char)c) && c != '_')
      c = '_';
  if (!isIdentifier(name) || isKeyword(name) || name.starts_with("_"))
    name = "t_" + name;
  while (!taken.insert(name).second)
    name += "_";
  return name;
}

std::string cType(const Array &array) {
  switch (array.kind) {
  case 23:
    return "float";
  case 24:
  case 26: // pairs of these
    return "double";
  case 25:
    return "float";
  default:
    break;
  }
  if (array.width == 2 || array.kind == 4 || array.kind == 16)
    return "uint8_t";
  if (array.kind == 21 || array.kind == 22)
    return "uint16_t";
  return fmt::format("int{}_t", array.width);
}

//===--- Tensors ---===//

static Array arrayOf(const format::Field &field, const TensorInterface &tensor) {
  static constexpr std::string_view names[] = {"size", "perm", "pos", "crd", "bits"};
  static constexpr std::string_view whats[] = {"size", "permutation", "positions", "coordinates", "bits"};
  if (field.kind == FieldKind::Values)
    return {16 + int(tensor.type), 8 * byteWidth(tensor.type), field.implied, tensor.identifier + "_values",
            "values"};
  const auto kind = size_t(field.kind);
  const unsigned width = field.kind == FieldKind::Bits ? 8 : field.width;
  return {int(kind), width, false, fmt::format("{}_{}{}", tensor.identifier, names[kind], field.level),
          fmt::format("{} of level {}", whats[kind], field.level)};
}

static void refuseUnexpressed(const Program &program) {
  for (unsigned t = 0; t < program.tensors.size(); ++t) {
    const TensorDecl &decl = program.tensors[t];
    if (std::string why = format::whyNotResolved(decl.encoding); !why.empty())
      notation::throwErrorAt(program, t, why);
    if (decl.result && !decl.input && decl.encoding.crdWidth == 2)
      notation::throwErrorAt(
          program, t,
          fmt::format("'{}' has coordinates of 2 bits, which a result of a kernel compiled "
                      "ahead of time cannot have: use crdWidth = 8",
                      decl.name));
  }
}

static std::vector<TensorInterface> tensorsOf(const Program &program, std::set<std::string> &taken) {
  std::vector<TensorInterface> tensors;
  for (const TensorDecl &decl : program.tensors) {
    TensorInterface &tensor = tensors.emplace_back();
    tensor.name = decl.name;
    tensor.identifier = freshName(decl.name, taken);
    tensor.type = decl.type;
    tensor.encoding = decl.encoding;
    tensor.input = decl.input;
    tensor.result = decl.result && decl.written && !decl.condition;
    tensor.like = decl.like;
    if (tensor.result && decl.withoutValues)
      tensor.withoutValues = decl.withoutValues;
  }
  return tensors;
}

/// The arrays of each tensor, as the steps want them.
static void addArrays(std::vector<TensorInterface> &tensors) {
  for (TensorInterface &tensor : tensors) {
    for (const format::Field &field : format::layout(tensor.encoding).fields)
      tensor.arrays.push_back(arrayOf(field, tensor));
    if (tensor.withoutValues) // they are truth values in memory of the kernel's own
      tensor.arrays.back().implied = tensor.made = true;
  }
  for (TensorInterface &tensor : tensors)
    if (tensor.arrays.size() == 1)
      tensor.arrays.front().name = tensor.identifier;
}

//===--- Sizes ---===//

/// Of what the dimension is cut from.
static Size wholeSize(const std::string &name, const format::Slice &slice) {
  return {name, -1, *slice.offset + (*slice.size - 1) * *slice.stride + 1};
}

std::vector<unsigned> ownSizes(Interface &kernel, const TensorInterface &tensor) {
  std::vector<unsigned> sizes = tensor.sizes;
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (const auto &slice = tensor.encoding.dims[d].slice) {
      sizes[d] = unsigned(kernel.sizes.size());
      kernel.sizes.push_back({fmt::format("{}_of_slice", kernel.sizes[tensor.sizes[d]].name), *slice->size});
    }
  return sizes;
}

namespace {

/// Gives dimensions that have one index one size.
class SizeClasses {
public:
  SizeClasses(const Program &program, std::set<std::string> &taken)
      : program(program), taken(taken), fixed(engine::dependsOnSizes(program)) {
    for (const TensorDecl &decl : program.tensors)
      numbers.emplace_back(decl.dims.size(), -1);
    if (fixed)
      return;
    for (const notation::Statement &statement : program.statements) {
      for (const notation::Access *access : notation::accesses(statement))
        bind(*access);
      bind(statement.lhs);
    }
  }

  const std::vector<Size> &all() const { return sizes; }
  unsigned number(unsigned tensor, unsigned dimension) {
    int &known = numbers[tensor][dimension];
    const TensorDecl &decl = program.tensors[tensor];
    for (const notation::Decomposition &decomposition : program.decompositions)
      if (known < 0 && decomposition.tensor == tensor)
        known = int(number(decomposition.tensors.front(), dimension));
    if (known < 0 && decl.like && dimension < program.tensors[*decl.like].dims.size())
      known = int(number(*decl.like, dimension));
    else if (known < 0)
      known = int(add(fmt::format("n_{}_{}", decl.name, dimension + 1), decl.dims[dimension]));
    if (const auto &slice = decl.encoding.dims[dimension].slice)
      sizes[size_t(known)] = wholeSize(sizes[size_t(known)].name, *slice);
    return unsigned(known);
  }

private:
  const Program &program;
  std::set<std::string> &taken;
  const bool fixed;
  std::vector<Size> sizes;
  std::vector<std::vector<int>> numbers; ///< by tensor and dimension; -1: none yet
  std::map<unsigned, unsigned> byIndex;

  size_t add(const std::string &name, int64_t size) {
    sizes.push_back({freshName(name, taken), fixed ? size : -1});
    return sizes.size() - 1;
  }

  void bind(const notation::Access &access) {
    for (unsigned d = 0; d < access.subscripts.size() && d < numbers[access.tensor].size(); ++d) {
      const notation::Affine &subscript = access.subscripts[d];
      if (!subscript.isVariable())
        continue;
      const unsigned index = subscript.terms[0].first;
      if (isGiven(index))
        continue;
      int &known = numbers[access.tensor][d];
      const notation::IndexVar &variable = program.indices[index];
      const bool isCut = program.tensors[access.tensor].encoding.dims[d].slice.has_value();
      if (auto found = byIndex.find(index); found == byIndex.end())
        byIndex[index] =
            known >= 0 && !isCut ? unsigned(known) : unsigned(add("n_" + variable.name, variable.size));
      if (isCut) { // the slice has the size of the index, and its whole any
        sizes[byIndex[index]].fixed = variable.size;
        continue;
      }
      if (known >= 0)
        merge(unsigned(known), byIndex[index]);
      known = int(byIndex[index]);
    }
  }

  /// Whether a tensor gives the index: its values say nothing of sizes.
  bool isGiven(unsigned index) const {
    return std::ranges::any_of(program.statements, [&](const notation::Statement &statement) {
      return std::ranges::any_of(statement.indirections,
                                 [&](const notation::Indirection &i) { return i.index == index; });
    });
  }

  void merge(unsigned a, unsigned b) {
    if (a == b)
      return;
    sizes[b].fixed = std::max(sizes[a].fixed, sizes[b].fixed);
    for (std::vector<int> &dimensions : numbers)
      std::ranges::replace(dimensions, int(a), int(b));
    for (auto &[index, size] : byIndex)
      size = size == a ? b : size;
  }
};

} // namespace

/// Sizes that some dimension has, numbered anew.
static void addSizes(Interface &kernel, const Program &program, std::set<std::string> &taken) {
  SizeClasses classes(program, taken);
  for (unsigned t = 0; t < kernel.tensors.size(); ++t)
    for (unsigned d = 0; d < program.tensors[t].dims.size(); ++d)
      kernel.tensors[t].sizes.push_back(classes.number(t, d));
  std::map<unsigned, unsigned> kept;
  for (TensorInterface &tensor : kernel.tensors)
    for (unsigned &size : tensor.sizes) {
      auto [it, isNew] = kept.try_emplace(size, unsigned(kernel.sizes.size()));
      if (isNew)
        kernel.sizes.push_back(classes.all()[size]);
      size = it->second;
    }
}

//===--- The whole ---===//

/// Whether memory that the caller gives is enough: no result is made anew.
static bool hasRaw(const Interface &kernel) {
  return std::ranges::all_of(kernel.parameters, [&](unsigned t) {
    const TensorInterface &tensor = kernel.tensors[t];
    const bool structured = format::isAllDense(tensor.encoding) || tensor.input || tensor.like;
    return !(tensor.result && tensor.made) && structured && saysItsLengths(tensor.encoding);
  });
}

std::vector<RawParameter> rawParameters(const Interface &kernel) {
  std::vector<RawParameter> parameters;
  for (const Size &size : kernel.sizes)
    if (size.fixed < 0)
      parameters.push_back({true, size.name, "int64_t"});
  for (unsigned t : kernel.parameters) {
    const TensorInterface &tensor = kernel.tensors[t];
    for (const Array &array : tensor.arrays)
      if (const bool isValues = &array == &tensor.arrays.back(); isValues || (tensor.input && !tensor.like))
        parameters.push_back({false, array.name, cType(array), isValues && tensor.result});
  }
  return parameters;
}

/// Whether the caller gives the parts in the place of the tensor.
static bool isInParts(const Interface &kernel, const Program &program, unsigned tensor) {
  return std::ranges::count(program.decompositions, tensor, &notation::Decomposition::tensor) > 0 &&
         std::ranges::none_of(kernel.steps, [&](const Step &step) {
           return std::ranges::any_of(step.arguments, [&](const StepArgument &argument) {
             return argument.tensor == tensor || argument.pattern == tensor;
           });
         });
}

Interface interfaceOf(const Program &program, const engine::Signature &signature, const std::string &name) {
  refuseUnexpressed(program);
  Interface kernel;
  kernel.name = name;
  kernel.text = program.text;
  std::set<std::string> taken{name, name + "_raw", name + "_check", name + "_info"};
  kernel.tensors = tensorsOf(program, taken);
  addSizes(kernel, program, taken);
  addSteps(kernel, program, signature);
  addArrays(kernel.tensors);
  for (bool inputs : {true, false})
    for (unsigned t = 0; t < program.tensors.size(); ++t)
      if (kernel.tensors[t].input == inputs && (kernel.tensors[t].input || kernel.tensors[t].result) &&
          !isInParts(kernel, program, t))
        kernel.parameters.push_back(t);
  kernel.index32 = engine::coordinatesFit32(program);
  kernel.raw = hasRaw(kernel);
  return kernel;
}

Interface interfaceOf(ElementType type, const format::Encoding &from, const format::Encoding &to,
                      const std::string &name) {
  engine::requireConvertible(type, from, to);
  if (std::string why = format::whyNotResolved(from); !why.empty())
    throw Error(why);
  if (to.explicitVal)
    throwError("a kernel compiled ahead of time does not make tensors without values: leave out explicitVal");
  if (to.crdWidth == 2)
    throwError("{} has coordinates of 2 bits, which a result of a kernel compiled ahead of time cannot have: "
               "use crdWidth = 8",
               format::displayName(to));
  Interface kernel;
  kernel.name = name;
  kernel.text = fmt::format("convert {} to {}", format::displayName(from), format::displayName(to));
  TensorInterface A, B;
  A.name = A.identifier = "A";
  B.name = B.identifier = "B";
  A.type = B.type = type;
  A.encoding = from;
  B.encoding = to;
  A.input = B.result = B.made = true;
  for (unsigned d = 0; d < from.order(); ++d) {
    const std::string size = "n_" + format::dimensionNames(from.order())[d];
    A.sizes.push_back(d);
    kernel.sizes.push_back(from.dims[d].slice ? wholeSize(size, *from.dims[d].slice) : Size{size});
  }
  B.sizes = ownSizes(kernel, A);
  kernel.tensors = {std::move(A), std::move(B)};
  addArrays(kernel.tensors);
  kernel.steps = {{"convert1", true, {{0, false, {}}}, {1}, 1}};
  kernel.parameters = {0, 1};
  kernel.index32 = from.posWidth < 64 && from.crdWidth < 64 && to.posWidth < 64 && to.crdWidth < 64;
  return kernel;
}

} // namespace tulle::aot
