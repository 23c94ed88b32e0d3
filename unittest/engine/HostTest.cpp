#include "engine/Codegen.h"
#include <gtest/gtest.h>

namespace tulle::engine {
namespace {

TEST(Host, HasCachesAndARow) {
  const iteration::Cpu &cpu = host().plan;
  EXPECT_NE(iteration::findCpu(cpu.name), nullptr);
  EXPECT_GE(cpu.l1, 4 << 10);
  EXPECT_GE(cpu.l2, cpu.l1);
  EXPECT_GE(cpu.line, 16);
  EXPECT_GE(cpu.vectorBits, 128u);
}

} // namespace
} // namespace tulle::engine
