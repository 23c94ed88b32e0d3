// Conversions in one process, for run.py: requests in, storage out, a line each.
//
// A request is words separated by tabs. Entries and files are kept under a name until the next of that name.
//
//   entries NAME DIMS COUNT
//
// COUNT lines `coordinates… value` follow, 0-based; DIMS and those are separated by spaces.
//
//   file NAME PATH
//
// PATH may be a generator. Both answer {"dims": […], "count": n}.
//
//   convert NAME FROM TO CHECK
//
// stores NAME in FROM (`-`: not at all), converts that to TO, and answers with the storage:
// {"fields": [[kind, level, width, data], …], "origin": …}, or {"error": message}; "invalid" says what
// runtime::validate finds wrong with it. With CHECK `crc`, each field's data is [count, crc32 of its 64-bit
// elements].
#include "GuardedBlocks.h"
#include "engine/Conversion.h"
#include "runtime/generate/Generate.h"
#include "runtime/tensor/LevelShapes.h"
#include "tulle/error.h"
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <zlib.h>

using namespace tulle;
using nlohmann::json;

namespace {

struct Source {
  runtime::FileContents contents;
  std::map<std::string, runtime::Tensor> stored; ///< by format
};

std::vector<int64_t> integers(const std::string &text) {
  std::istringstream in(text);
  std::vector<int64_t> out;
  for (int64_t value; in >> value;)
    out.push_back(value);
  return out;
}

runtime::FileContents readEntries(const std::string &dims, int64_t count) {
  runtime::FileContents out;
  runtime::Entries &entries = out.entries;
  entries.dims = integers(dims);
  entries.coords.resize(entries.dims.size());
  entries.values.resize(count * sizeof(double));
  for (int64_t e = 0; e < count; ++e) {
    for (auto &column : entries.coords) {
      column.emplace_back();
      std::cin >> column.back();
    }
    double value;
    std::cin >> value;
    std::memcpy(entries.values.data() + e * sizeof value, &value, sizeof value);
  }
  if (count > 0)
    std::cin.ignore(); // the end of the last line
  return out;
}

struct Converted {
  runtime::Tensor tensor;
  std::string origin;
};

const engine::Options options = {.diskCache = false};

/// For one thread, and for several, however little there is to do. Machine code takes most of the time:
/// LLVM's own optimizations are left to one of the two, which one depends on the pair.
std::pair<engine::Options, engine::Options> variantsOf(const std::string &from, const std::string &to) {
  const std::string pair = from + '\t' + to;
  const bool first = crc32_z(0, reinterpret_cast<const Bytef *>(pair.data()), pair.size()) % 2 == 0;
  return {{.quick = !first, .diskCache = false},
          {.threads = 3, .workPerThread = 1, .quick = first, .diskCache = false}};
}

void requireSame(const runtime::Tensor &one, const runtime::Tensor &other) {
  for (size_t f = 0; f < one.buffers.size(); ++f) {
    const runtime::Buffer &a = one.buffers[f], &b = other.buffers[f];
    if (a.count != b.count || a.bytes != b.bytes ||
        (a.bytes > 0 && std::memcmp(a.data, b.data, a.bytes) != 0))
      throw Error("three threads make something else than one in field " + std::to_string(f));
  }
}

Converted import(const runtime::FileContents &contents, const format::Encoding &encoding) {
  engine::ConversionReport report;
  runtime::Tensor made = contents.isStored ? engine::convert(contents.stored, encoding, options, &report)
                                           : engine::store(contents.entries, encoding, options, &report);
  return {std::move(made), report.origin};
}

Converted converted(Source &source, const std::string &from, const std::string &to) {
  unsigned order = source.contents.dims().size();
  format::Encoding target = format::parseFormat(to, order);
  if (from == "-")
    return import(source.contents, target);
  auto at = source.stored.find(from);
  if (at == source.stored.end())
    at = source.stored.emplace(from, import(source.contents, format::parseFormat(from, order)).tensor).first;
  const auto [one, several] = variantsOf(from, to);
  engine::ConversionReport report;
  runtime::Tensor made = engine::convert(at->second, target, one, &report);
  requireSame(made, engine::convert(at->second, target, several));
  return {std::move(made), report.origin};
}

/// Coordinates with all bits set are -1; a value of any type is a double.
template <class Element> json data(int64_t count, bool crc, Element element) {
  using Value = decltype(element(0));
  std::vector<Value> elements;
  elements.reserve(count);
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(element(i));
  if (!crc)
    return elements;
  auto *bytes = reinterpret_cast<const Bytef *>(elements.data());
  return {count, crc32_z(0, bytes, elements.size() * sizeof(Value))};
}

json fieldData(const runtime::Tensor &tensor, size_t f, bool crc) {
  const format::Field &field = tensor.layout().fields[f];
  const runtime::Buffer &buffer = tensor.buffers[f];
  const runtime::StoredValues values(tensor);
  if (field.kind == format::FieldKind::Values)
    return data(buffer.count, crc, [&](int64_t i) {
      Scalar value = loadScalar(tensor.type, values[i]);
      return isFloat(tensor.type) || isComplex(tensor.type) ? value.f.real() : double(value.i);
    });
  bool mayBeEmpty = field.kind == format::FieldKind::Coordinates && field.width > 2;
  uint64_t ones = field.width == 64 ? ~uint64_t(0) : (uint64_t(1) << field.width) - 1;
  return data(buffer.count, crc, [&](int64_t i) {
    int64_t value = runtime::loadIndex(buffer.data, field.width, i);
    if (mayBeEmpty && uint64_t(value) == ones)
      return int64_t(-1);
    bool negative = field.isSigned && (value >> (field.width - 1) & 1);
    return negative ? int64_t(uint64_t(value) | ~ones) : value;
  });
}

json answer(const Converted &converted, bool crc) {
  const runtime::Tensor &tensor = converted.tensor;
  constexpr const char *kinds[] = {"sizes", "permutation", "positions", "coordinates", "bits", "values"};
  json fields = json::array();
  for (size_t f = 0; f < tensor.layout().fields.size(); ++f) {
    const format::Field &field = tensor.layout().fields[f];
    fields.push_back({kinds[size_t(field.kind)], field.level, field.width, fieldData(tensor, f, crc)});
  }
  if (tensor.encoding->explicitVal && tensor.buffers.back().bytes != 0)
    throw Error("values are stored though the format says what they are");
  json out = {{"fields", fields}, {"origin", converted.origin}};
  try {
    runtime::validate(tensor);
  } catch (const Error &error) {
    out["invalid"] = error.what();
  }
  return out;
}

class Service {
public:
  json handle(const std::vector<std::string> &words) {
    const std::string &command = words.at(0);
    Source &source = sources[words.at(1)];
    if (command == "entries") {
      source = {readEntries(words.at(2), std::stoll(words.at(3))), {}};
    } else if (command == "file") {
      const std::string &path = words.at(2);
      source = {runtime::isGenerator(path) ? runtime::generate(path, {}, ElementType::F64)
                                           : runtime::readFile(path),
                {}};
    } else if (command == "convert") {
      return answer(converted(source, words.at(2), words.at(3)), words.at(4) == "crc");
    } else {
      throw Error("unknown request '" + command + "'");
    }
    return {{"dims", source.contents.dims()},
            {"count", source.contents.isStored ? source.contents.stored.storedCount()
                                               : source.contents.entries.count()}};
  }

private:
  std::map<std::string, Source> sources;
};

} // namespace

int main() {
  runtime::guardBlocks();
  Service service;
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> words;
    std::istringstream in(line);
    for (std::string word; std::getline(in, word, '\t');)
      words.push_back(word);
    json out;
    try {
      out = service.handle(words);
    } catch (const std::exception &error) {
      out = {{"error", error.what()}};
    }
    std::cout << out.dump() << std::endl;
  }
}
