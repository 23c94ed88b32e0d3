// Every loop runs at least once, so that the order of the text decides what is there already.
#include "notation/Loops.h"
#include "notation/Sparsity.h"

namespace tulle::notation {

std::vector<bool> carriedTensors(const Program &program) {
  std::vector<bool> carried(program.tensors.size());
  for (const Loop &loop : program.loops) {
    std::vector<bool> read(program.tensors.size()), written(program.tensors.size());
    for (unsigned s = loop.begin; s < loop.end; ++s) {
      const Statement &statement = program.statements[s];
      for (const Access *access : accesses(statement))
        read[access->tensor] = read[access->tensor] || !written[access->tensor];
      const unsigned result = statement.lhs.tensor;
      read[result] = read[result] || (statement.accumulate && !written[result]);
      written[result] = true;
    }
    for (size_t t = 0; t < carried.size(); ++t)
      carried[t] = carried[t] || (read[t] && written[t]);
  }
  return carried;
}

} // namespace tulle::notation
