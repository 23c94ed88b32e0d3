#include "support/Suggest.h"
#include <algorithm>

namespace tulle::support {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

unsigned editDistance(std::string_view a, std::string_view b) {
  std::vector<unsigned> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = unsigned(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    unsigned diagonal = row[0];
    row[0] = unsigned(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      unsigned change = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
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
    // Two edits turn any two-letter word into any other: a guess must share something with the word.
    if (distance < bestDistance && distance < std::min(word.size(), candidate.size())) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

std::string didYouMean(std::string_view word, const std::vector<std::string> &candidates) {
  std::string guess = nearest(word, candidates);
  return guess.empty() ? "" : "; did you mean '" + guess + "'?";
}

} // namespace tulle::support
