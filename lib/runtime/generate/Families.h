// The families of generators; each checks its own sizes and says how they are written.
#pragma once
#include "runtime/generate/Generate.h"
#include "runtime/generate/Random.h"

namespace tulle::runtime {

/// A spec taken apart: `uniform:10:20:3` is name "uniform", arguments "10", "20", "3".
struct GeneratorSpec {
  std::string text, name;
  std::vector<std::string> arguments;

  /// Argument i as an integer within low..high. Throws Error naming the argument and the range.
  int64_t integer(size_t i, std::string_view what, int64_t low, int64_t high) const;
  double real(size_t i, std::string_view what, double low, double high) const;
};

/// Writes values of one type: floats as given, integers truncated, bool as "not zero".
void storeValue(ElementType type, std::byte *at, double value);
/// Uniform in [0,1); integers 0..9, bool 0 or 1, complex both parts.
void storeRandom(ElementType type, std::byte *at, Random &random);
/// Adds an entry of a random value.
void appendRandom(Entries &entries, std::span<const int64_t> at, Random &random);
/// Empty entries with memory for `count` of them, which is checked.
Entries reserveEntries(ElementType type, std::vector<int64_t> dims, int64_t count, std::string_view what);

FileContents generateFilled(const GeneratorSpec &spec, const std::vector<int64_t> &dims, ElementType type);
std::vector<int64_t> gridDims(const GeneratorSpec &spec);
FileContents generateGrid(const GeneratorSpec &spec, ElementType type);
std::vector<int64_t> uniformDims(const GeneratorSpec &spec);
FileContents generateUniform(const GeneratorSpec &spec, ElementType type);
std::vector<int64_t> groupedDims(const GeneratorSpec &spec);
FileContents generateGrouped(const GeneratorSpec &spec, ElementType type);
std::vector<int64_t> rmatDims(const GeneratorSpec &spec);
FileContents generateRmat(const GeneratorSpec &spec, ElementType type);

} // namespace tulle::runtime
