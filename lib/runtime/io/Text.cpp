// Numbers that the scanner's fast paths leave: signs, many digits, exponents of Fortran; and what is no
// number.
#include "runtime/io/Text.h"
#include "support/Diagnostic.h"
#include "tulle/error.h"
#include <charconv>

namespace tulle::runtime::io {

std::string quoted(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 40))
    if (c >= ' ' && c <= '~')
      out += c;
    else
      out += fmt::format("\\x{:02x}", unsigned(static_cast<unsigned char>(c)));
  return text.size() > 40 ? out + "…" : out;
}

bool takeEnding(std::string_view &name, std::string_view ending) {
  const bool has = name.size() > ending.size() && name.ends_with(ending);
  name.remove_suffix(has ? ending.size() : 0);
  return has;
}

std::string counted(int64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

void Text::failWith(const char *at, const std::string &message) const {
  size_t offset = size_t(at - begin());
  throw Error(support::render(name, bytes, {offset, offset + 1}, message));
}

std::string_view Scanner::token(const char *start, std::string_view what) const {
  const std::string_view found = word(start);
  if (found.empty())
    text.fail(start, "expected the {}, found the end of the {}; the line is cut short", what,
              start == end ? "file" : "line");
  return found;
}

int64_t Scanner::slowInteger(const char *start, std::string_view what, bool allowNegative) {
  const std::string_view token = this->token(start, what);
  std::string_view digits = token.front() == '+' ? token.substr(1) : token;
  int64_t value = 0;
  auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  bool whole = stop == digits.data() + digits.size() && !(token.front() == '+' && digits.substr(0, 1) == "-");
  if (whole && error == std::errc::result_out_of_range)
    text.fail(start, "the {} {} does not fit a signed 64-bit integer", what, quoted(token));
  if (whole && error == std::errc()) {
    if (value < 0 && !allowNegative)
      text.fail(start, "the {} {} is negative; it must be an unsigned integer", what, quoted(token));
    p = token.data() + token.size();
    return value;
  }
  text.fail(start, "expected the {} (an integer), found '{}'", what, quoted(token));
}

double Scanner::slowReal(std::string_view what) {
  const char *start = p;
  const std::string_view token = this->token(start, what);
  std::string number(token);
  if (number.size() > 1 && number[0] == '+' && number[1] != '-')
    number.erase(0, 1);
  // Fortran writes 1.5D+03; no other letter than the exponent's can be a d after a digit or a point.
  size_t d = number.find_first_of("dD");
  if (d != std::string::npos && d > 0 &&
      (std::isdigit(static_cast<unsigned char>(number[d - 1])) || number[d - 1] == '.'))
    number[d] = 'e';
  double value = 0;
  auto [stop, error] = fast_float::from_chars(number.data(), number.data() + number.size(), value);
  bool whole = stop == number.data() + number.size();
  bool spelled = number.find_first_of("iInN") != std::string::npos;
  if (whole && !spelled && (error == std::errc::result_out_of_range || std::isinf(value)))
    text.fail(start, "the {} {} is beyond the range of a 64-bit float", what, quoted(token));
  if (!whole || error != std::errc())
    text.fail(start, "expected the {} (a number), found '{}'", what, quoted(token));
  p = token.data() + token.size();
  return value;
}

} // namespace tulle::runtime::io
