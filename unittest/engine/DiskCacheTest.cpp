// The disk cache gives back exactly what was stored, or nothing.
#include "engine/DiskCache.h"
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::engine {
namespace {

namespace fs = std::filesystem;

class DiskCache : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tulle-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory = pattern;
  }
  void TearDown() override { fs::remove_all(directory); }

  static ObjectCode sample(const std::string &object = "the object's bytes\0 with a zero") {
    ObjectCode code;
    code.statements.resize(2);
    code.statements[0].arguments = {{0, format::parseFormat("CSR", 2), false},
                                    {2, format::denseEncoding(1), true}};
    code.statements[1].made = format::parseFormat("DCSR", 2);
    code.remarks = {"B is converted"};
    code.object = object;
    return code;
  }
  std::string fileText(const std::string &key) const {
    std::ifstream in(cacheFile(directory, key), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void setFileText(const std::string &key, const std::string &text) const {
    std::ofstream(cacheFile(directory, key), std::ios::binary) << text;
  }

  fs::path directory;
};

TEST_F(DiskCache, givesBackWhatWasStored) {
  writeCached(directory, "key", sample());
  std::optional<ObjectCode> code = readCached(directory, "key");
  ASSERT_TRUE(code);
  EXPECT_EQ(code->object, sample().object);
  EXPECT_EQ(code->remarks, sample().remarks);
  ASSERT_EQ(code->statements.size(), 2u);
  ASSERT_EQ(code->statements[0].arguments.size(), 2u);
  EXPECT_EQ(code->statements[0].arguments[0].tensor, 0u);
  EXPECT_TRUE(code->statements[0].arguments[0].encoding == format::parseFormat("CSR", 2));
  EXPECT_FALSE(code->statements[0].arguments[0].result);
  EXPECT_EQ(code->statements[0].arguments[1].tensor, 2u);
  EXPECT_TRUE(code->statements[0].arguments[1].result);
  EXPECT_FALSE(code->statements[0].made);
  EXPECT_TRUE(code->statements[1].made == format::parseFormat("DCSR", 2));
}

TEST_F(DiskCache, anotherKeyIsAMiss) {
  writeCached(directory, "key", sample());
  EXPECT_FALSE(readCached(directory, "kez"));
}

TEST_F(DiskCache, leavesNoTemporaryFiles) {
  writeCached(directory, "a", sample());
  writeCached(directory, "b", sample());
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), fs::directory_iterator()), 2);
}

TEST_F(DiskCache, everyTruncationIsAMiss) {
  writeCached(directory, "key", sample());
  std::string whole = fileText("key");
  for (size_t length = 0; length < whole.size(); ++length) {
    setFileText("key", whole.substr(0, length));
    EXPECT_FALSE(readCached(directory, "key")) << "of " << length << " bytes";
  }
  setFileText("key", whole + "x");
  EXPECT_FALSE(readCached(directory, "key"));
  setFileText("key", whole);
  EXPECT_TRUE(readCached(directory, "key"));
}

TEST_F(DiskCache, everyFlippedByteIsAMiss) {
  writeCached(directory, "key", sample());
  std::string whole = fileText("key");
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 0x10;
    setFileText("key", damaged);
    EXPECT_FALSE(readCached(directory, "key")) << "byte " << at;
  }
}

TEST_F(DiskCache, aFileUnderAnotherNameIsAMiss) {
  writeCached(directory, "key", sample());
  setFileText("other", fileText("key"));
  EXPECT_FALSE(readCached(directory, "other"));
}

TEST_F(DiskCache, aDamagedFileIsReplaced) {
  setFileText("key", "garbage");
  writeCached(directory, "key", sample());
  EXPECT_TRUE(readCached(directory, "key"));
}

TEST_F(DiskCache, unusableDirectoriesAreSilentlyNoCache) {
  std::ofstream(directory / "file") << "not a directory";
  for (const fs::path &bad :
       {directory / "file", directory / "file" / "below", fs::path("/proc/none"), fs::path()}) {
    EXPECT_NO_THROW(writeCached(bad, "key", sample())) << bad;
    EXPECT_FALSE(readCached(bad, "key")) << bad;
  }
  fs::create_directory(cacheFile(directory, "key")); // a directory where the file should be
  EXPECT_NO_THROW(writeCached(directory, "key", sample()));
  EXPECT_FALSE(readCached(directory, "key"));
}

TEST_F(DiskCache, concurrentProcessesSeeWholeFilesOnly) {
  ObjectCode code = sample(std::string(200000, 'o'));
  writeCached(directory, "key", code);
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      bool good = true;
      for (int round = 0; round < 50; ++round) {
        writeCached(directory, "key", code);
        std::optional<ObjectCode> seen = readCached(directory, "key");
        good &= seen && seen->object == code.object;
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), fs::directory_iterator()), 1);
}

TEST(CacheDirectory, followsTheEnvironment) {
  auto restore = [](const char *name) {
    const char *old = std::getenv(name);
    return std::pair(std::string(name), old ? std::optional<std::string>(old) : std::nullopt);
  };
  std::vector saved = {restore("TULLE_CACHE_DIR"), restore("XDG_CACHE_HOME"), restore("HOME")};
  setenv("TULLE_CACHE_DIR", "/a", 1);
  setenv("XDG_CACHE_HOME", "/b", 1);
  setenv("HOME", "/c", 1);
  EXPECT_EQ(cacheDirectory(), "/a");
  unsetenv("TULLE_CACHE_DIR");
  EXPECT_EQ(cacheDirectory(), "/b/tulle");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(cacheDirectory(), "/c/.cache/tulle");
  unsetenv("HOME");
  EXPECT_TRUE(cacheDirectory().empty());
  for (auto &[name, value] : saved)
    value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
}

} // namespace
} // namespace tulle::engine
