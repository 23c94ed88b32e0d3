// Memory in blocks: what is kept, what is given back.
#include "GuardedBlocks.h"
#include "runtime/tensor/BlockPool.h"
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace tulle::runtime {
namespace {

constexpr int64_t kMiB = int64_t(1) << 20;

TEST(Blocks, largeBlocksAreUsedAgain) {
  releaseBlocks();
  Block first = takeBlock(64 * kMiB);
  ASSERT_NE(first.data, nullptr);
  EXPECT_GE(first.bytes, 64 * kMiB);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.data) % (2 * kMiB), 0u);
  std::memset(first.data, 1, size_t(first.bytes));
  giveBlock(first);
  Block second = takeKeptBlock(60 * kMiB); // a little smaller: the same
  EXPECT_EQ(second.data, first.data);
  Block third = takeBlock(60 * kMiB);
  EXPECT_NE(third.data, second.data);
  giveBlock(second);
  Block small = takeBlock(8 * kMiB); // much smaller: wasteful
  EXPECT_NE(small.data, second.data);
  giveBlock(third);
  giveBlock(small);
  releaseBlocks();
}

// A workspace that is as its next user wants it need not be filled; of another content, or size, it is not
// it.
TEST(Blocks, filledBlocksAreTakenAsTheyWereGiven) {
  releaseBlocks();
  const Element zeros{8, 0}, ones{8, 1};
  const Block block = takeBlock(kMiB);
  ASSERT_NE(block.data, nullptr);
  giveFilledBlock({block, 64, kMiB - 64, zeros});
  EXPECT_EQ(takeFilledBlock(kMiB - 64, ones).block.data, nullptr);
  EXPECT_EQ(takeFilledBlock(kMiB, zeros).block.data, nullptr) << "so much was not filled";
  EXPECT_EQ(takeFilledBlock(kMiB / 8, zeros).block.data, nullptr) << "who needs the whole would fill another";
  const FilledBlock found = takeFilledBlock(kMiB - 128, zeros);
  EXPECT_EQ(found.block.data, block.data);
  EXPECT_EQ(found.offset, 64);
  EXPECT_EQ(takeFilledBlock(kMiB - 128, zeros).block.data, nullptr) << "somebody has it";
  giveFilledBlock(found);
  releaseBlocks();
  EXPECT_EQ(takeFilledBlock(kMiB - 128, zeros).block.data, nullptr);
}

// With other addresses the system would have to break its huge pages up.
TEST(Blocks, blocksMadeLongerBeginAtAHugePage) {
  releaseBlocks();
  Block block = takeBlock(9 * kMiB + 4096);
  ASSERT_NE(block.data, nullptr);
  static_cast<char *>(block.data)[4096] = 7;
  Block behind = takeBlock(5 * kMiB); // so that the block cannot grow where it is
  for (int64_t mib : {31, 67, 133}) {
    giveBlock(block);
    block = takeBlock(mib * kMiB + 4096);
    ASSERT_NE(block.data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % size_t(2 * kMiB), 0u) << mib;
    EXPECT_EQ(static_cast<char *>(block.data)[4096], 7) << "the block was not made longer";
    static_cast<char *>(block.data)[block.bytes - 1] = 1;
  }
  giveBlock(behind);
  giveBlock(block);
  releaseBlocks();
}

// An upper bound is requested again and again, of which little is used.
TEST(Blocks, trimmedBlocksHoldTheirBoundAgainWithoutMoving) {
  releaseBlocks();
  Block block = takeBlock(256 * kMiB);
  ASSERT_NE(block.data, nullptr);
  char *data = static_cast<char *>(block.data);
  std::memset(data, 7, size_t(12 * kMiB));
  trimBlock(block, 8 * kMiB + 1);
  EXPECT_EQ(block.data, data);
  EXPECT_EQ(block.bytes, 10 * kMiB);
  unsigned char resident = 1;
  ASSERT_EQ(mincore(data + 10 * kMiB, 4096, &resident), 0);
  EXPECT_EQ(resident & 1, 0) << "memory behind the block was not given back";
  giveBlock(block);
  EXPECT_EQ(takeKeptBlock(256 * kMiB).data, nullptr) << "it has not that much memory";
  Block small = takeBlock(4 * kMiB); // 10 MiB for it would be a waste, though it has the addresses
  EXPECT_NE(small.data, data);
  block = takeBlock(256 * kMiB);
  EXPECT_EQ(block.data, data);
  EXPECT_EQ(block.bytes, 256 * kMiB);
  EXPECT_EQ(data[0], 7) << "its pages were cleared";
  data[256 * kMiB - 1] = 1;
  giveBlock(small);
  giveBlock(block);
  releaseBlocks();
}

TEST(Blocks, smallBlocksAreAligned) {
  for (int64_t bytes : {0, 1, 63, 64, 65, 100000}) {
    Block block = takeBlock(bytes);
    ASSERT_NE(block.data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % 64, 0u);
    std::memset(block.data, 1, size_t(bytes));
    giveBlock(block);
  }
}

// Blocks of half a megabyte are mapped; rounded up, those a little smaller hold as much.
TEST(Blocks, blocksRoundedUpToALargeOneAreMapped) {
  Block block = takeBlock(kMiB / 2 - 1);
  ASSERT_NE(block.data, nullptr);
  EXPECT_GE(block.bytes, kMiB / 2);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % 4096, 0u)
      << "it is the C library's, and would be unmapped";
  giveBlock(block);
  releaseBlocks();
}

TEST(Blocks, trimmingKeepsTheContents) {
  for (int64_t from : {16 * kMiB, 3 * kMiB})
    for (int64_t to : {int64_t(0), int64_t(5000), 2 * kMiB, 5 * kMiB}) {
      if (to > from)
        continue;
      Block block = takeBlock(from);
      ASSERT_NE(block.data, nullptr);
      auto *bytes = static_cast<unsigned char *>(block.data);
      for (int64_t k = 0; k < to; ++k)
        bytes[k] = (unsigned char)(k * 7);
      trimBlock(block, to);
      EXPECT_GE(block.bytes, to);
      EXPECT_LE(block.bytes, to < 2 * kMiB ? to + 8192 : to + 2 * kMiB);
      bytes = static_cast<unsigned char *>(block.data);
      for (int64_t k = 0; k < to; k += 97)
        ASSERT_EQ(bytes[k], (unsigned char)(k * 7));
      giveBlock(block);
    }
}

TEST(Blocks, whatNoSystemHasIsNull) { EXPECT_EQ(takeBlock(INT64_MAX - 1).data, nullptr); }

TEST(Blocks, threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int time = 0; time < 200; ++time) {
        Block block = takeBlock((4 + (time + t) % 7) * kMiB);
        auto *mark = static_cast<int *>(block.data);
        *mark = t;
        std::this_thread::yield();
        EXPECT_EQ(*mark, t);
        giveBlock(block);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// What happens to a guarded block of 20 bytes that `touch` is given the first byte of.
template <class Touch> void touchGuarded(Touch touch) {
  guardBlocks();
  Block block = takeBlock(20);
  touch(static_cast<volatile char *>(block.data));
  giveBlock(block);
}

TEST(Guard, WhatIsTouchedOutsideOfABlockEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(touchGuarded([](volatile char *data) { data[20] = 0; }), "written behind its end");
  auto addNothing = [](volatile char *data) { reinterpret_cast<volatile double *>(data)[3] += 0.0; };
  EXPECT_DEATH(touchGuarded(addNothing), "written behind its end");
  // By a signal, or as a sanitizer reports that.
  EXPECT_DEATH(touchGuarded([](volatile char *data) { (void)data[64]; }), "");
  EXPECT_DEATH(touchGuarded([](volatile char *data) { (void)data[-4096]; }), "");
  EXPECT_EXIT(
      {
        touchGuarded([](volatile char *data) { data[0] = data[19] = 1; });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace tulle::runtime
