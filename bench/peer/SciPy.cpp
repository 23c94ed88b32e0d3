#include "SciPy.h"
#include "runtime/io/Io.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

/// A CSR tensor over the view's arrays.
static runtime::Tensor tensorOf(const CsrView &a) {
  runtime::Tensor tensor;
  tensor.encoding = format::resolveWidths(format::parseFormat("CSR", 2), 1, 1);
  tensor.dims = {a.rows, a.columns};
  tensor.layout = format::layout(tensor.encoding);
  const int64_t count = a.pos[a.rows];
  auto borrow = [](const void *data, int64_t elements, int64_t width) {
    return runtime::Buffer::borrow(const_cast<void *>(data), elements, elements * width);
  };
  tensor.buffers = {borrow(a.pos, a.rows + 1, 4), borrow(a.crd, count, 4), borrow(a.value, count, 8)};
  return tensor;
}

SciPy::SciPy(const std::string &script, const CsrView &a, const CsrView &b) {
  std::string name = (std::filesystem::temp_directory_path() / "tulle-bench-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw std::runtime_error("no temporary folder for SciPy's matrices");
  folder = name;
  const std::string fileA = folder + "/A.npz", fileB = folder + "/B.npz";
  runtime::writeFile(fileA, tensorOf(a));
  runtime::writeFile(fileB, tensorOf(b));
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0)
    throw std::runtime_error("no pipe to SciPy");
  std::signal(SIGPIPE, SIG_IGN);
  process = fork();
  if (process == 0) {
    dup2(down[0], STDIN_FILENO);
    dup2(up[1], STDOUT_FILENO);
    for (int end : {down[0], down[1], up[0], up[1]})
      close(end);
    // Debian's own Python has Debian's SciPy, whatever else is in PATH.
    execl("/usr/bin/python3", "python3", script.c_str(), fileA.c_str(), fileB.c_str(), nullptr);
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  toChild = down[1];
  fromChild = up[0];
}

SciPy::~SciPy() {
  close(toChild);
  close(fromChild);
  int status;
  waitpid(process, &status, 0);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

double SciPy::run(const std::string &operation) {
  const std::string line = operation + "\n";
  std::string answer;
  char c;
  bool asked = write(toChild, line.data(), line.size()) == ssize_t(line.size());
  while (asked && read(fromChild, &c, 1) == 1 && c != '\n')
    answer += c;
  if (answer.empty())
    throw std::runtime_error("SciPy cannot run '" + operation + "'");
  return std::atof(answer.c_str());
}

} // namespace tulle::bench
