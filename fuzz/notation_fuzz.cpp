// Any text: it is refused with a SyntaxError, or its program prints as a text that parses, and can be
// interpreted when it is small.
#include "interpreter/Interpreter.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <cstdlib>

using namespace tulle;

namespace {

/// Types and sizes follow from the names, so that the text alone decides the run.
notation::Binding bindingFor(const notation::TensorUse &use) {
  unsigned hash = 0;
  for (char c : use.name)
    hash = hash * 31 + static_cast<unsigned char>(c);
  notation::Binding binding;
  binding.type = ElementType(hash % 11);
  binding.input = !use.written || hash % 3 == 0;
  if (binding.input)
    binding.dims = std::vector<int64_t>(use.order, 4);
  if (hash % 2) {
    binding.encoding = format::denseEncoding(use.order);
    for (format::Level &level : binding.encoding->levels)
      level.format.kind = format::LevelKind::Compressed;
  }
  return binding;
}

bool isLimit(const support::SyntaxError &error) {
  for (const char *word : {"nested deeper", "build on each other", "more than 16000 tokens"})
    if (error.message.find(word) != std::string::npos)
      return true;
  return false;
}

/// The canonical text of a checked program parses, unless conversions made it exceed a limit.
void checkPrinted(const notation::Program &program) {
  std::string text;
  for (const notation::Statement &statement : program.statements)
    text += print(program, statement) + "; ";
  try {
    notation::tensorsUsed(text);
  } catch (const support::SyntaxError &error) {
    if (!isLimit(error))
      abort();
  }
}

void interpret(const notation::Program &program) {
  double points = 0;
  for (const notation::Statement &statement : program.statements) {
    double space = 1;
    for (const notation::Affine &a : statement.lhs.subscripts)
      if (!a.terms.empty()) // the place of a part in a stack is a constant
        space *= double(program.indices[a.terms[0].first].size);
    for (unsigned index : statement.reductionIndices)
      space *= double(program.indices[index].size);
    points += space;
  }
  std::vector<interpreter::DenseTensor> tensors;
  for (const notation::TensorDecl &decl : program.tensors) {
    double count = 1;
    for (int64_t d : decl.dims)
      count *= double(d);
    points += count;
    if (points > 2000)
      return;
    tensors.push_back({decl.type, decl.dims, {}, {}});
    for (int i = 0; i < int(count); ++i) {
      tensors.back().values.push_back(convertScalar({i % 7 - 3, 0}, ElementType::I64, decl.type));
      tensors.back().stored.push_back(isDense(decl) || i % 2);
    }
  }
  const bool reads = std::ranges::any_of(
      program.statements, [](const notation::Statement &s) { return !s.indirections.empty(); });
  try {
    interpreter::run(program, tensors);
  } catch (const Error &) {
    if (!reads) // an integer may be no coordinate
      throw;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  try {
    std::map<std::string, notation::Binding> bindings;
    for (const notation::TensorUse &use : notation::tensorsUsed(text))
      bindings[use.name] = bindingFor(use);
    notation::inferDims(text, {});
    notation::Program program = notation::check(text, bindings);
    for (const notation::Statement &statement : program.statements)
      resultPattern(program, statement);
    checkPrinted(program);
    interpret(program);
  } catch (const support::SyntaxError &) {
  }
  return 0;
}
