// Errors from a format and its arguments.
#pragma once
#include "tulle/error.h"
#include <fmt/format.h>
#include <string_view>

namespace tulle {

/// Throws Error with the formatted text.
template <class... Args> [[noreturn]] void throwError(fmt::format_string<Args...> text, Args &&...args) {
  throw Error(fmt::format(text, std::forward<Args>(args)...));
}

/// Throws Error `file: error: text`.
template <class... Args>
[[noreturn]] void throwFileError(std::string_view file, fmt::format_string<Args...> text, Args &&...args) {
  throwError("{}: error: {}", file, fmt::format(text, std::forward<Args>(args)...));
}

/// The text of the Error that `check` throws, or nothing.
template <class Check> std::string reasonOf(const Check &check) {
  try {
    check();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

} // namespace tulle
