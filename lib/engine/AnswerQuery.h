// Attribute queries as generated code.
#pragma once
#include "engine/Engine.h"
#include "notation/Query.h"

namespace tulle::engine {

/// The answers in the order of the query's aggregates: dense i64 tensors over the selected dimensions. Where
/// nothing is stored a count and an id are 0, a max is one less than the smallest and a min one more than the
/// largest value the expression can have. Throws Error when memory does not suffice.
std::vector<runtime::Tensor> query(const runtime::Tensor &tensor, const notation::Query &query,
                                   const Options &options = {});

/// The text of a stage of the code that answers a query.
std::string explainQuery(ElementType type, const format::Encoding &encoding, const notation::Query &query,
                         std::string_view stage, const Options &options = {});

} // namespace tulle::engine
