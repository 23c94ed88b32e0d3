#pragma once
#include "notation/Program.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tulle::notation {

inline Binding input(std::vector<int64_t> dims, ElementType type = ElementType::F64,
                     std::optional<format::Encoding> encoding = {}) {
  return {type, std::move(dims), std::move(encoding), true};
}

/// The diagnostic of a text that must be refused.
inline std::string refusal(std::string_view text, const std::map<std::string, Binding> &bindings) {
  try {
    check(text, bindings);
  } catch (const support::SyntaxError &error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

} // namespace tulle::notation
