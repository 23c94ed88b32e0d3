// Conversion between formats, and attribute queries, as generated code.
#pragma once
#include "engine/Engine.h"
#include "notation/Query.h"

namespace tulle::engine {

struct ConversionReport {
  double compileMs = 0, convertMs = 0;
  const char *origin = "shared"; ///< "compiled", "memory cache", "disk cache"; "shared": all buffers were
};

/// The same tensor in another executable format. Buffers that are `own` and the same in both formats are
/// shared, all of them where `tensor` has that format already: who writes to one of the two copies them
/// first. Widths the format does not name are 32, or 64 where the data needs it. What is stored stays stored,
/// zeros and block padding included, except that a dense tensor stored sparsely leaves out what equals the
/// fill. A format with `explicitVal` takes tensors only whose entries all have that value: zeros that are
/// stored are entries. Throws Error when the format cannot hold data of this order, size or pattern, when
/// memory does not suffice (before it is touched), and when the two formats have different fills.
/// Thread-safe.
runtime::Tensor convert(const runtime::Tensor &tensor, const format::Encoding &encoding,
                        const Options &options = {}, ConversionReport *report = nullptr);

/// Throws Error unless tensors in one format can become tensors in the other, whatever their sizes.
void requireConvertible(ElementType type, const format::Encoding &from, const format::Encoding &to);

/// A tensor whose rows are picked (runtime/tensor/Views.h) with the same in buffers of its own, one row
/// behind the other; any other tensor as it is. Throws Error when memory does not suffice.
runtime::Tensor compact(const runtime::Tensor &tensor, const Options &options = {});

/// Stores entries in an executable format: the conversion from a coordinate format over the entries' own
/// arrays. Duplicates are summed (bool: or). Throws as `convert` does, and for a coordinate outside its
/// dimension.
runtime::Tensor store(runtime::Entries entries, const format::Encoding &encoding, const Options &options = {},
                      ConversionReport *report = nullptr);

/// The text of a stage of the code that converts between two formats of the same order, whose widths are
/// resolved (Notation: the two formats).
std::string explainConversion(ElementType type, const format::Encoding &from, const format::Encoding &to,
                              std::string_view stage, const Options &options = {});

/// The answers in the order of the query's aggregates: dense i64 tensors over the selected coordinates, a
/// computed one from the least value that its expression can have for the tensor's sizes on; a counter goes
/// as far as there are entries. Where
/// nothing is stored a count and an id are 0, a max is one less than the smallest and a min one more than the
/// largest value the expression can have. Throws Error when memory does not suffice.
std::vector<runtime::Tensor> query(const runtime::Tensor &tensor, const notation::Query &query,
                                   const Options &options = {});

/// The text of a stage of the code that answers a query.
std::string explainQuery(const runtime::Tensor &tensor, const notation::Query &query, std::string_view stage,
                         const Options &options = {});

} // namespace tulle::engine
