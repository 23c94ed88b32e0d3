// tulle::query: the answers of an attribute query by the name of each aggregate.
#include "Impl.h"
#include "engine/AnswerQuery.h"
#include "tulle/query.h"

namespace tulle {

using detail::Access;

std::map<std::string, AnyTensor> query(const std::string &text, const AnyTensor &tensor) {
  const runtime::Tensor &source = Access::unwrap(tensor);
  notation::Query parsed = notation::parseQuery(text, format::dimensionNames(source.dims.size()));
  std::vector<runtime::Tensor> answers = engine::query(source, parsed);
  std::map<std::string, AnyTensor> named;
  for (size_t k = 0; k < answers.size(); ++k)
    named[parsed.aggregates[k].name] = Access::wrap(std::move(answers[k]));
  return named;
}

} // namespace tulle
