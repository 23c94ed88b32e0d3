// Guesses at misspelt words, for every parser's "did you mean".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tulle::support {

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

/// The candidate within two edits of `word` (case counts for nothing) that is closest; empty when there is
/// none.
std::string nearest(std::string_view word, const std::vector<std::string> &candidates);
/// `; did you mean 'candidate'?`, or `otherwise` where no candidate is near.
std::string didYouMean(std::string_view word, const std::vector<std::string> &candidates,
                       const std::string &otherwise = "");

} // namespace tulle::support
