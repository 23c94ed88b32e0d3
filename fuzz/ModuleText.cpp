#include "ModuleText.h"
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace tulle::fuzz {
namespace {

/// Tokens of one kind, each of which may stand where another does.
const std::vector<std::vector<std::string_view>> kinds = {
    {"dense", "batch", "compressed", "compressed(nonunique)", "compressed(nonunique, nonordered)",
     "loose_compressed", "loose_compressed(nonunique)", "singleton", "singleton(soa)", "singleton(nonunique)",
     "structured[2, 4]", "structured[1, 3]"},
    {"i", "j", "k", "i floordiv 2", "i mod 2", "j floordiv 3", "j mod 3", "i + j", "j - i", "d0", "d1", "d2",
     "d0 floordiv 2", "d0 mod 2", "d1 floordiv 2", "d1 mod 2"},
    {"f64", "f32", "f16", "bf16", "i1", "i8", "i16", "i32", "i64", "index", "complex<f64>", "complex<f32>"},
    {"0", "1", "2", "3", "4", "5", "8", "10", "32", "-1", "100"},
    {"0.0", "1.0", "-1.0", "2.5e+300", "0x7FF0000000000000"},
    {"parallel", "reduction", "window"},
    {"true", "false"},
    {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minnumf"},
    {"arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.andi", "arith.ori", "arith.xori",
     "arith.maxsi", "arith.shli", "arith.shrui"},
    {"arith.negf", "math.absf", "math.exp", "math.sqrt", "math.tanh", "math.floor", "math.log1p"},
    {"arith.extf", "arith.truncf", "arith.sitofp", "arith.fptosi", "arith.extsi", "arith.trunci",
     "arith.index_cast", "arith.bitcast"},
    {"linalg.matmul", "linalg.batch_matmul", "linalg.add", "linalg.sub", "linalg.mul", "linalg.div"},
    {"linalg.abs", "linalg.exp", "linalg.copy", "linalg.negf", "linalg.transpose"},
    {"sparse_tensor.convert", "tensor.cast", "sparse_tensor.reinterpret_map", "bufferization.alloc_tensor"},
    {"sparse_tensor.positions", "sparse_tensor.coordinates", "sparse_tensor.coordinates_buffer",
     "sparse_tensor.values", "sparse_tensor.number_of_entries"},
    {"tensor.expand_shape", "tensor.collapse_shape", "tensor.extract_slice", "tensor.pad", "tensor.concat"},
    {"tensor.empty", "bufferization.alloc_tensor", "sparse_tensor.load", "sparse_tensor.load hasInserts"},
    {"posWidth", "crdWidth"},
    {"explicitVal", "implicitVal"},
    {"overlap", "left", "right"},
};

/// A part of a text.
struct Piece {
  size_t begin, size;
};

/// Names with their dots and signs, numbers, and single characters; spaces lie between.
std::vector<Piece> tokens(const std::string &text) {
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  std::vector<Piece> found;
  for (size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    if (isWord(text[at]) || text[at] == '%' || text[at] == '#' || text[at] == '@' || text[at] == '^')
      while (end < text.size() && isWord(text[end]))
        ++end;
    found.push_back({at, end - at});
    at = end;
  }
  return found;
}

std::vector<Piece> lines(const std::string &text) {
  std::vector<Piece> found;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    found.push_back({at, end - at});
    at = end;
  }
  return found;
}

std::string part(const std::string &text, Piece piece) { return text.substr(piece.begin, piece.size); }

std::string replaced(const std::string &text, Piece piece, std::string_view by) {
  return text.substr(0, piece.begin) + std::string(by) + text.substr(piece.begin + piece.size);
}

/// Another word of a kind that the token is of; `4x?xf64`, the inside of a type, has several words.
std::string alternative(const std::string &token, Random &random) {
  if (const size_t x = token.rfind('x');
      x != std::string::npos && x + 1 < token.size() && std::isdigit(static_cast<unsigned char>(token[0]))) {
    static constexpr std::array<std::string_view, 7> sizes = {"?", "1", "2", "3", "4", "8", "100"};
    const std::string element = alternative(token.substr(x + 1), random);
    return random(2) ? std::string(sizes[random(sizes.size())]) + token.substr(token.find('x'))
                     : token.substr(0, x + 1) + element;
  }
  for (const std::vector<std::string_view> &kind : kinds)
    if (std::ranges::find(kind, token) != kind.end())
      return std::string(kind[random(kind.size())]);
  return token;
}

bool isSameKind(const std::string &a, const std::string &b) {
  auto sign = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) ? 'a' : c; };
  return sign(a[0]) == sign(b[0]);
}

std::string mutateToken(const std::string &text, Random &random) {
  const std::vector<Piece> all = tokens(text);
  if (all.empty())
    return text;
  const Piece piece = all[random(all.size())];
  const std::string token = part(text, piece);
  switch (random(8)) {
  case 0:
    return replaced(text, piece, "");
  case 1:
    return replaced(text, piece, token + " " + token);
  case 2:
  case 3: { // the same kind of token from elsewhere: another value, type alias or op
    std::vector<Piece> others;
    for (const Piece &other : all)
      if (isSameKind(token, part(text, other)))
        others.push_back(other);
    return replaced(text, piece, part(text, others[random(others.size())]));
  }
  default: { // the next one that has alternatives
    for (size_t tried = 0, first = random(all.size()); tried < all.size(); ++tried) {
      const Piece next = all[(first + tried) % all.size()];
      if (std::string other = alternative(part(text, next), random); other != part(text, next))
        return replaced(text, next, other);
    }
    return text;
  }
  }
}

std::string mutateLine(const std::string &text, Random &random) {
  const std::vector<Piece> all = lines(text);
  if (all.empty())
    return text;
  const size_t chosen = random(all.size());
  const std::string line = part(text, all[chosen]);
  switch (random(3)) {
  case 0:
    return replaced(text, all[chosen], "");
  case 1:
    return replaced(text, all[chosen], line + line);
  default: {
    const size_t other = random(all.size());
    const auto [first, second] = std::minmax(chosen, other);
    return replaced(replaced(text, all[second], part(text, all[first])), all[first], part(text, all[second]));
  }
  }
}

} // namespace

std::string mutate(const std::string &text, Random &random) {
  std::string changed = text;
  for (size_t changes = 1 + random(4); changes > 0; --changes)
    changed = random(6) ? mutateToken(changed, random) : mutateLine(changed, random);
  return changed;
}

std::string mix(const std::string &first, const std::string &second, Random &random) {
  const bool byLines = random(3) == 0;
  const std::vector<Piece> from = byLines ? lines(second) : tokens(second);
  const std::vector<Piece> to = byLines ? lines(first) : tokens(first);
  if (from.empty() || to.empty())
    return first;
  const Piece place = to[random(to.size())];
  if (byLines)
    return replaced(first, place, part(second, from[random(from.size())]));
  std::vector<Piece> fitting;
  for (const Piece &piece : from)
    if (isSameKind(part(first, place), part(second, piece)))
      fitting.push_back(piece);
  return fitting.empty() ? first : replaced(first, place, part(second, fitting[random(fitting.size())]));
}

} // namespace tulle::fuzz
