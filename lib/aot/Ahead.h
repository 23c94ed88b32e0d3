// Programs compiled ahead of time: object code that needs no Tulle to run.
#pragma once
#include "aot/EmitKernel.h"
#include "engine/Engine.h"
#include <string>
#include <vector>

namespace tulle::aot {

enum class Form : uint8_t { Object, Archive, Assembly, LlvmIr, SharedLibrary };

/// The form that the ending of a file's name says: .o .a .s .ll .so. Throws Error for others.
Form formOf(const std::string &file);

struct AheadOptions {
  std::string name;               ///< of the functions
  std::string target;             ///< empty: this machine
  std::vector<std::string> march; ///< empty: native, or of another target every processor's
  Threads threads = Threads::None;
  engine::Options engine;
};

struct Ahead {
  std::string text; ///< the program
  std::string header, information;
  std::string code;                 ///< in the form asked for
  std::vector<std::string> remarks; ///< of the compiler
};

/// Throws Error for what cannot be compiled, with the cure.
Ahead compileAhead(const notation::Program &program, const AheadOptions &options, Form form);

/// The conversion of tensors of some type from one format to another of the same order, both with widths.
struct ConversionFormats {
  ElementType type = ElementType::F64;
  format::Encoding from, to;
};
/// A conversion as a kernel: of its input A it makes B. Throws as the other.
Ahead compileAhead(const ConversionFormats &formats, const AheadOptions &options, Form form);

} // namespace tulle::aot
