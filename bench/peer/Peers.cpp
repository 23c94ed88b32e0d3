#include "Peer.h"
#include <cctype>

namespace tulle::bench {

std::vector<runtime::Tensor> Task::factors() const {
  std::vector<runtime::Tensor> made;
  for (size_t d = 1; d < input.dims.size(); ++d)
    made.push_back(input.dense(std::string(1, char('D' + d - 1)), {input.dims[d], n}));
  return made;
}

runtime::Tensor Task::features(std::string name, int64_t rows) const {
  if (n == 0)
    return dense(name, {rows});
  name[0] = char(std::toupper(name[0]));
  return dense(name, {rows, n});
}

const std::vector<Peer> &peers() {
  static const std::vector<Peer> all = {
      {"loop", loopPeer},
      {"Eigen", eigenPeer},
      {"MKL", mklPeer},
      {kMklOwnFormat, mklOwnFormatPeer},
      {"GraphBLAS", graphBlasPeer},
      {"librsb", rsbPeer},
      {"OpenBLAS", blasPeer},
      {"SciPy", scipyPeer},
      {"SciPy unsorted", scipyUnsortedPeer},
      {"NumPy", numpyPeer},
      {kIm2col, numpyIm2colPeer},
      {kAwkward, awkwardPeer},
      {"MLIR", mlirPeer},
      {kMlirLibrary, mlirLibraryPeer},
  };
  return all;
}

void append(Answer &answer, const runtime::Tensor &result) {
  // Sums of a million values depend on their order that much.
  answer.precision = result.type == ElementType::F64 ? 1e-10 : 1e-3;
  if (result.type == ElementType::F64) {
    answer.values.push_back(valuesOf(result));
    return;
  }
  struct Wide {
    std::vector<double> values;
    std::shared_ptr<void> before;
  };
  auto *values = static_cast<const float *>(result.values());
  auto wide =
      std::make_shared<Wide>(std::vector<double>(values, values + result.storedCount()), answer.owner);
  answer.values.push_back(wide->values);
  answer.owner = wide;
}

Runner into(std::span<double> out, std::function<void()> run) {
  return {[run = std::move(run)] { return timed(run); },
          [out] {
            Answer answer;
            answer.values = {out};
            return answer;
          }};
}

} // namespace tulle::bench
