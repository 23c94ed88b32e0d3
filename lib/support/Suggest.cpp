// Edit distance over all candidates: the words of a parser are few.
#include "support/Suggest.h"
#include <algorithm>

namespace tulle::support {
namespace {

/// Insertions, deletions, changes, and swapped neighbours (`CRS` is one slip from `CSR`): optimal
/// string alignment.
unsigned editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<unsigned>> d(a.size() + 1, std::vector<unsigned>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = unsigned(i + j);
        continue;
      }
      char x = lower(a[i - 1]), y = lower(b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (x != y)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

} // namespace

std::string nearest(std::string_view word, const std::vector<std::string> &candidates) {
  constexpr size_t longest = 64;
  std::string best;
  unsigned bestDistance = 3;
  for (const std::string &candidate : candidates) {
    if (word.size() > longest || candidate.size() > longest)
      continue;
    unsigned distance = editDistance(word, candidate);
    // Two edits turn any two-letter word into any other: a guess must have a letter of the word.
    if (distance < bestDistance && distance < std::min(word.size(), candidate.size())) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

std::string didYouMean(std::string_view word, const std::vector<std::string> &candidates,
                       const std::string &otherwise) {
  std::string guess = nearest(word, candidates);
  return guess.empty() ? otherwise : "; did you mean '" + guess + "'?";
}

} // namespace tulle::support
