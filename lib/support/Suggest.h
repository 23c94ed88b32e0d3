// Guesses at misspelt words, for every parser's "did you mean".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tulle::support {

/// The candidate within two edits of `word` (case counts for nothing) that is closest; empty when there is
/// none.
std::string nearest(std::string_view word, const std::vector<std::string> &candidates);
/// `; did you mean 'candidate'?`, or nothing.
std::string didYouMean(std::string_view word, const std::vector<std::string> &candidates);

} // namespace tulle::support
