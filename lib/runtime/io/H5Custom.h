// Binsparse's formats made of levels: "custom".
#pragma once
#include "format/Encoding.h"
#include <nlohmann/json.hpp>
#include <optional>

namespace tulle::runtime::io {

/// The most dimensions such a format is read with.
constexpr size_t mostLevels = 16;

/// `{"level": …, "transpose": …}` for an encoding whose levels are dense, compressed, or runs of coordinates,
/// each of a whole dimension, ordered and without repeats; nullopt for any other. Arrays are named by level:
/// `pointers_to_<l>`, `indices_<l>`.
std::optional<nlohmann::ordered_json> levelsOf(const format::Encoding &encoding);

/// The encoding such a description means, for a tensor of `order` dimensions: runs keep one array for each
/// level. Throws Error `file: error: …` for what is no description.
format::Encoding encodingOf(const std::string &file, const nlohmann::json &custom, size_t order);

} // namespace tulle::runtime::io
