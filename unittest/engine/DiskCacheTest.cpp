// The disk cache gives back exactly what was stored, or nothing.
#include "engine/DiskCache.h"
#include "support/Diagnostic.h"
#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
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
    code.statements[1].made = {{7, format::parseFormat("DCSR", 2)}};
    code.loops = {{0, 2, 9, {}}, {1, 2, 3, 2}};
    code.remarks = {"B is converted"};
    code.object = object;
    return code;
  }
  std::string fileText(const std::string &key) const {
    std::ifstream in(directory / cacheFile(key), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void setFileText(const std::string &key, const std::string &text) const {
    std::ofstream(directory / cacheFile(key), std::ios::binary) << text;
  }

  bool isRead(const std::string &key) const { return readCached(directory, key).has_value(); }
  int64_t kernels() const { return CacheFolder(directory, false).contents().kernels; }

  fs::path directory;
};

TEST_F(DiskCache, givesBackWhatWasStored) {
  writeCached(directory, "key", sample());
  std::optional<ObjectCode> code = readCached(directory, "key");
  ASSERT_TRUE(code);
  EXPECT_EQ(code->object, sample().object);
  EXPECT_EQ(code->remarks, sample().remarks);
  ASSERT_EQ(code->loops.size(), 2u);
  EXPECT_EQ(code->loops[0].end, 2u);
  EXPECT_FALSE(code->loops[0].until);
  EXPECT_EQ(code->loops[1].begin, 1u);
  EXPECT_EQ(code->loops[1].most, 3);
  EXPECT_EQ(code->loops[1].until, 2u);
  ASSERT_EQ(code->statements.size(), 2u);
  ASSERT_EQ(code->statements[0].arguments.size(), 2u);
  EXPECT_EQ(code->statements[0].arguments[0].tensor, 0u);
  EXPECT_TRUE(code->statements[0].arguments[0].encoding == format::parseFormat("CSR", 2));
  EXPECT_FALSE(code->statements[0].arguments[0].result);
  EXPECT_EQ(code->statements[0].arguments[1].tensor, 2u);
  EXPECT_TRUE(code->statements[0].arguments[1].result);
  EXPECT_TRUE(code->statements[0].made.empty());
  ASSERT_EQ(code->statements[1].made.size(), 1u);
  EXPECT_EQ(code->statements[1].made[0].tensor, 7u);
  EXPECT_TRUE(code->statements[1].made[0].encoding == format::parseFormat("DCSR", 2));
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
  fs::create_directory(directory / cacheFile("key")); // a directory where the file should be
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
      for (int time = 0; time < 50; ++time) {
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

/// Whoever can write a file can have it run: only this user's count.
TEST_F(DiskCache, filesThatOthersCanWriteAreMisses) {
  writeCached(directory, "key", sample());
  const fs::path file = directory / cacheFile("key");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  for (mode_t mode : {0666, 0620, 0602}) {
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
    EXPECT_FALSE(isRead("key")) << std::oct << mode;
  }
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_TRUE(isRead("key"));
  if (geteuid() != 0)
    GTEST_SKIP() << "only root gives files away";
  ASSERT_EQ(chown(file.c_str(), 12345, gid_t(-1)), 0);
  EXPECT_FALSE(isRead("key"));
  EXPECT_EQ(CacheFolder(directory, false).contents().foreign, 1);
}

TEST_F(DiskCache, foldersThatOthersCanWriteAreNotUsed) {
  const fs::path folder = directory / "made";
  writeCached(folder, "key", sample());
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(readCached(folder, "key"));
  for (mode_t mode : {0777, 0770, 0702}) {
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    EXPECT_FALSE(readCached(folder, "key")) << std::oct << mode;
    writeCached(folder, "other", sample());
    EXPECT_FALSE(fs::exists(folder / cacheFile("other"))) << std::oct << mode;
    EXPECT_NE(CacheFolder(folder, true).why().find("others may write"), std::string::npos);
  }
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_TRUE(readCached(folder, "key"));
  if (geteuid() != 0)
    GTEST_SKIP() << "only root gives folders away";
  ASSERT_EQ(chown(folder.c_str(), 12345, gid_t(-1)), 0);
  EXPECT_FALSE(readCached(folder, "key"));
  EXPECT_NE(CacheFolder(folder, true).why().find("belongs to user 12345"), std::string::npos);
}

/// A link at a name that is written to keeps its target, and what is read is no link's target, FIFO or
/// folder.
TEST_F(DiskCache, onlyRegularFilesAreOpened) {
  writeCached(directory, "key", sample());
  const fs::path file = directory / cacheFile("key"), target = directory / "target";
  fs::rename(file, target);
  fs::create_symlink(target, file);
  EXPECT_FALSE(isRead("key"));
  writeCached(directory, "key", sample("another object"));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(file)));
  EXPECT_TRUE(isRead("key"));
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(isRead("key")); // without waiting for a writer

  // All names that the next temporary file can have, as links.
  const fs::path victim = directory / "victim";
  std::ofstream(victim) << "precious";
  for (int serial = 0; serial < 4000; ++serial)
    fs::create_symlink(victim, directory / (cacheFile("planted") + "." + std::to_string(getpid()) + "." +
                                            std::to_string(serial) + ".tmp"));
  writeCached(directory, "planted", sample());
  EXPECT_EQ(fs::file_size(victim), 8u);
  EXPECT_FALSE(isRead("planted"));
}

TEST_F(DiskCache, whatWasNotUsedForLongestIsRemoved) {
  for (const char *key : {"a", "b", "c", "d"}) {
    writeCached(directory, key, sample(std::string(1000, 'o')));
    struct timespec at[] = {{1000 + key[0], 0}, {1000 + key[0], 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, (directory / cacheFile(key)).c_str(), at, 0), 0);
  }
  const int64_t each = CacheFolder(directory, false).contents().bytes / 4;
  EXPECT_TRUE(isRead("a")); // used now
  std::ofstream(directory / "unrelated") << std::string(100000, 'u');
  CacheFolder(directory, false).shrink(2 * each);
  EXPECT_TRUE(isRead("a"));
  EXPECT_FALSE(isRead("b"));
  EXPECT_FALSE(isRead("c"));
  EXPECT_TRUE(isRead("d"));
  EXPECT_TRUE(fs::exists(directory / "unrelated"));

  // What a writer that was ended left an hour ago.
  const fs::path left = directory / (cacheFile("e") + ".1.0.tmp"),
                 recent = directory / (cacheFile("f") + ".1.0.tmp");
  std::ofstream(left) << "x";
  std::ofstream(recent) << "x";
  ASSERT_EQ(chmod(left.c_str(), 0600) + chmod(recent.c_str(), 0600), 0);
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  CacheFolder(directory, false).shrink(1 << 20);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(recent));
  EXPECT_EQ(kernels(), 2);
}

TEST_F(DiskCache, theLimitIsTheEnvironments) {
  setenv("TULLE_CACHE_SIZE", "3K", 1);
  EXPECT_EQ(cacheLimit(), 3072);
  writeCached(directory, "large", sample(std::string(4000, 'o')));
  EXPECT_FALSE(isRead("large"));
  for (const char *wrong : {"x", "-1", "3T", "1e3", " 1", "99999999999999999999", "9999999999G"}) {
    setenv("TULLE_CACHE_SIZE", wrong, 1);
    EXPECT_THROW(cacheLimit(), Error) << wrong;
  }
  setenv("TULLE_CACHE_SIZE", "", 1);
  EXPECT_EQ(cacheLimit(), 256 << 20);
  unsetenv("TULLE_CACHE_SIZE");
  EXPECT_EQ(cacheLimit(), 256 << 20);
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
