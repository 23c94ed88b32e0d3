// The `tulle` command: sub-commands, and the one place where errors become text and exit codes.
#include "Commands.h"
#include "Misuse.h"
#include "runtime/io/Io.h"
#include "tulle/error.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <unistd.h>

namespace {

constexpr int userError = 1;
constexpr int internalError = 2;

int dispatch(int argc, char **argv) {
  CLI::App app("Tulle compiles sparse tensor algebra: a formula and storage formats become machine code.",
               "tulle");
  app.require_subcommand(1);
  app.set_version_flag("--version", "tulle 0.1.0 (MLIR 22)");
  app.footer("Example:\n  tulle run 'y(i) = A(i,j) * x(j)' -t A=grid2d:100 -t x=random:7\n\n"
             "Exit codes: 0 done, 1 the input is wrong (message on stderr), 2 internal error.");
  tulle::cli::addRun(app);
  tulle::cli::addConvert(app);
  tulle::cli::addExplain(app);
  tulle::cli::addCompile(app);
  tulle::cli::addQuery(app);
  tulle::cli::addPrint(app);
  tulle::cli::addShow(app);
  tulle::cli::addFormats(app);
  tulle::cli::addDoctor(app);
  tulle::cli::addBench(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) // --help, --version
      return app.exit(error);
    throw tulle::Error(tulle::cli::explainMisuse(app, error, {argv + 1, argv + argc}));
  }
  return 0;
}

/// Output that never reached its file (disk full, closed pipe) is not a success. The stream keeps that an
/// earlier write failed, but not why: another one says so.
void requirePrinted() {
  errno = 0;
  const bool whole = std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (whole)
    return;
  if (errno == 0 && write(STDOUT_FILENO, "\n", 1) >= 0)
    throw tulle::Error("cannot write to standard output");
  throw tulle::Error(std::string("cannot write to standard output: ") + std::strerror(errno));
}

} // namespace

int main(int argc, char **argv) {
  tulle::runtime::removeTemporariesOnSignals();
  try {
    int code = dispatch(argc, argv);
    requirePrinted();
    return code;
  } catch (const tulle::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return userError;
  } catch (const std::bad_alloc &) {
    std::fputs(
        "out of memory: the tensors of this program do not fit; use smaller sizes or a sparser format\n",
        stderr);
    return userError;
  } catch (const std::system_error &error) {
    std::fprintf(stderr, "cannot write to standard output: %s\n", error.code().message().c_str());
    return userError;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\nPlease report this with the command line.\n", error.what());
    return internalError;
  }
}
