#include "engine/Parallel.h"
#include "tulle/error.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tulle::engine {
namespace {

/// Sets a variable, and puts it back.
class Variable {
public:
  Variable(const char *name, const char *value) : name(name) {
    if (const char *now = std::getenv(name))
      before = now;
    setenv(name, value, 1);
  }
  ~Variable() { before ? setenv(name, before->c_str(), 1) : unsetenv(name); }
  Variable(const Variable &) = delete;

private:
  const char *name;
  std::optional<std::string> before;
};

TEST(OmpVariables, TheFirstOfAListIsTheNumberOfThreads) {
  for (auto [value, threads] :
       {std::pair("1", 1), {"4", 4}, {" 4\t", 4}, {"007", 7}, {"4,2", 4}, {" 3 , 2 ", 3}, {"65536", 65536}}) {
    Variable variable("OMP_NUM_THREADS", value);
    EXPECT_EQ(ompNumThreads(), threads) << value;
  }
}

TEST(OmpVariables, OthersAreNoNumberOfThreads) {
  for (const char *value : {"", " ", "x", "0", "-1", "+4", "1e3", "4x", "4 2", "4;2", "4,", ",4", "4,,2",
                            "4,x", "4,0", "4\n", "65537", "2147483648", "18446744073709551617"}) {
    Variable variable("OMP_NUM_THREADS", value);
    EXPECT_THROW(checkOmpVariables(), Error) << value;
  }
}

TEST(OmpVariables, StacksAreNotLargerThanAThreadCanHave) {
  for (auto [name, value] : {std::pair("OMP_STACKSIZE", "1048576"),
                             {"OMP_STACKSIZE", "1 g"},
                             {"OMP_STACKSIZE", "x"},
                             {"GOMP_STACKSIZE", "1024MB"},
                             {"KMP_STACKSIZE", "1048577"}}) {
    Variable variable(name, value);
    EXPECT_NO_THROW(checkOmpVariables()) << name << '=' << value;
  }
  for (auto [name, value] : {std::pair("OMP_STACKSIZE", "1048577"),
                             {"OMP_STACKSIZE", "2 G"},
                             {"OMP_STACKSIZE", "1t"},
                             {"GOMP_STACKSIZE", "1025MB"},
                             {"KMP_STACKSIZE", "1073741825"},
                             {"KMP_STACKSIZE", "99999999999999999999999"}}) {
    Variable variable(name, value);
    EXPECT_THROW(checkOmpVariables(), Error) << name << '=' << value;
  }
}

} // namespace
} // namespace tulle::engine
