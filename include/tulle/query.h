// Statistics of where a tensor stores entries.
#pragma once
#include "tulle/tensor.h"

namespace tulle {

/// Answers a query such as "select [i] -> count(j) as n, max(j - i) as upper": one dense tensor of int64_t
/// for each name, with the selected dimensions. Dimensions are called i, j, k, l, … in order. `count(j,…)` is
/// the number of different coordinates of these dimensions among the entries, `max(e)` and `min(e)` are of an
/// expression of the dimensions (+, -, and *, floordiv, mod by integers), `id()` is 1 where there is an
/// entry. Where there is none a count is 0, a max is one less than the smallest value its expression can
/// have, and a min one more than the largest. Throws Error pointing into the text.
TULLE_EXPORT std::map<std::string, AnyTensor> query(const std::string &text, const AnyTensor &tensor);

} // namespace tulle
