#include "Peer.h"

namespace tulle::bench {

std::vector<runtime::Tensor> Task::factors() const {
  std::vector<runtime::Tensor> made;
  for (size_t d = 1; d < input.dims.size(); ++d)
    made.push_back(input.dense(std::string(1, char('D' + d - 1)), {input.dims[d], n}));
  return made;
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
      {"MLIR", mlirPeer},
      {kMlirLibrary, mlirLibraryPeer},
  };
  return all;
}

Runner into(std::span<double> out, std::function<void()> run) {
  return {[run = std::move(run)] { return timed(run); },
          [out] {
            Answer answer;
            answer.values = out;
            return answer;
          }};
}

} // namespace tulle::bench
