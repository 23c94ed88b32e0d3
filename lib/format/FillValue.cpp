// Values that an encoding names: of coordinates that are not stored, and of all that are.
#include "format/Encoding.h"
#include <charconv>

namespace tulle::format {
namespace {

/// Reads one number of a canonical scalar text and what separates it from the next.
double takeNumber(std::string_view &text) {
  while (!text.empty() && (text[0] == ' ' || text[0] == ',' || text[0] == '(' || text[0] == '+'))
    text.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(end - text.data());
  return error == std::errc() ? value : 0;
}

/// The number of a canonical scalar text; the type the text names is not looked at.
Scalar scalarOf(const std::string &given, ElementType type) {
  Scalar value;
  std::string_view text = std::string_view(given).substr(0, given.find(" :"));
  if (text == "true" || text == "false") {
    value.i = text == "true";
    return convertScalar(value, ElementType::Bool, type);
  }
  // Integers beyond 2^53 would lose digits as doubles.
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value.i);
  if (error == std::errc() && end == text.data() + text.size())
    return convertScalar(value, ElementType::I64, type);
  double re = takeNumber(text), im = takeNumber(text);
  value = {0, {re, im}};
  return convertScalar(value, ElementType::C128, type);
}

} // namespace

Scalar fillValue(const Encoding &encoding, ElementType type) {
  const std::optional<std::string> &given = encoding.fill ? encoding.fill : encoding.implicitVal;
  return given ? scalarOf(*given, type) : Scalar();
}

std::optional<Scalar> explicitValue(const Encoding &encoding, ElementType type) {
  return encoding.explicitVal ? std::optional(scalarOf(*encoding.explicitVal, type)) : std::nullopt;
}

Encoding withStoredValues(Encoding encoding) {
  encoding.explicitVal.reset();
  return encoding;
}

bool hasZeroFill(const Encoding &encoding) {
  return fillValue(encoding, ElementType::C128).f == std::complex<double>(0, 0);
}

} // namespace tulle::format
