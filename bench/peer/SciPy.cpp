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

/// One array as an .npy file, which is written without compressing it.
template <typename T>
static void save(const std::string &file, ElementType type, const T *data, int64_t count) {
  runtime::writeFile(file, runtime::borrowDense(type, {count}, const_cast<T *>(data)));
}

static void saveMatrix(const std::string &stem, const CsrView &a) {
  const int64_t count = a.pos[a.rows], shape[] = {a.rows, a.columns};
  save(stem + "-shape.npy", ElementType::I64, shape, 2);
  save(stem + "-indptr.npy", ElementType::I32, a.pos, a.rows + 1);
  save(stem + "-indices.npy", ElementType::I32, a.crd, count);
  save(stem + "-data.npy", ElementType::F64, a.value, count);
}

SciPy::SciPy(const std::string &script, const CsrView &a, const CsrView &b) {
  std::string name = (std::filesystem::temp_directory_path() / "tulle-bench-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw std::runtime_error("no temporary folder for SciPy's matrices");
  folder = name;
  const std::string fileA = folder + "/A", fileB = folder + "/B";
  saveMatrix(fileA, a);
  saveMatrix(fileB, b);
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
    unsetenv("GLIBC_TUNABLES"); // SciPy as its users run it
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
