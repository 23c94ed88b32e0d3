// Checks that say which part of an encoding they refuse, so that errors can point at it.
#pragma once
#include "format/Encoding.h"

namespace tulle::format {

/// The first dimension whose given inverse is wrong at one of these points; those where the map has no value
/// are left out.
std::optional<Violation> wrongInverse(const Encoding &encoding,
                                      const std::vector<std::vector<int64_t>> &points);
/// Points within these sizes: all where they are few, else corners and others.
std::vector<std::vector<int64_t>> samplePoints(const std::vector<int64_t> &sizes);

/// Why the map of an executable encoding has no inverse at these sizes, if so: two coordinates would be
/// stored as one. Where a size is negative, nothing is known of it.
std::optional<Violation> notInvertible(const Encoding &encoding, const std::vector<int64_t> &sizes);

/// As parseFormat, for a tensor of these sizes: throws SyntaxError at what has no inverse there, too.
Encoding parseFormatFor(std::string_view text, const std::vector<int64_t> &sizes, std::string_view name,
                        const Declarations &declared = {});

} // namespace tulle::format
