// Reading by name: endings, gzip, and everything a path can be instead of a good file.
#include "io_support.h"
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

using namespace tulle;
using namespace tulle::runtime;
using namespace tulle::runtime::test;
using ::testing::HasSubstr;

namespace {

const std::string matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.5\n2 2 2.5\n";
const Values expected{{{0, 0}, 1.5}, {{1, 1}, 2.5}};

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, uLong(bytes.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = uInt(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

using IoFile = FolderTest;

TEST_F(IoFile, EveryEnding) {
  EXPECT_EQ(values(readFile(store("a.mtx", matrix)).entries), expected);
  EXPECT_EQ(values(readFile(store("a.mtx.gz", gzip(matrix))).entries), expected);
  EXPECT_EQ(values(readFile(store("a.tns", "1 1 1.5\n2 2 2.5\n")).entries), expected);
  EXPECT_EQ(values(readFile(store("a.tns.gz", gzip("1 1 1.5\n2 2 2.5\n"))).entries), expected);
  EXPECT_EQ(values(readFile(store("b.tns", "1 1\n2 2\n"), {}, 2).entries),
            (Values{{{0, 0}, 1}, {{1, 1}, 1}}));
  EXPECT_EQ(values(readFile(store("a.smtx", "2, 2, 2\n0 1 2\n0 1\n")).entries),
            (Values{{{0, 0}, 1}, {{1, 1}, 1}}));
  EXPECT_EQ(readFile(store("a.smtx.gz", gzip("2, 2, 2\n0 1 2\n0 1\n"))).entries.count(), 2);
}

TEST_F(IoFile, GzipMembersAndPadding) {
  EXPECT_EQ(
      values(readFile(store("two.mtx.gz", gzip(matrix.substr(0, 50)) + gzip(matrix.substr(50)))).entries),
      expected);
  EXPECT_EQ(values(readFile(store("pad.mtx.gz", gzip(matrix) + std::string(512, '\0'))).entries), expected);
}

TEST_F(IoFile, LongGzip) {
  // Longer than any first guess of the decompressed size.
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n1 1 200000\n";
  for (int i = 0; i < 200000; ++i)
    text += "1 1\n";
  Entries entries = readFile(store("long.mtx.gz", gzip(text))).entries;
  EXPECT_EQ(entries.count(), 200000);
  EXPECT_EQ(values(entries), (Values{{{0, 0}, 200000}}));
}

#if !__has_feature(address_sanitizer) // whose own address space is beyond any limit
/// What is available bounds the contents, to the byte and not to the next power of two.
TEST_F(IoFile, GzipBeyondWhatIsAvailable) {
  constexpr size_t mebi = size_t(1) << 20, line = 1 << 10;
  const std::string comment = "%" + std::string(line - 2, 'c') + "\n";
  std::string text = matrix.substr(0, matrix.find('\n') + 1);
  while (text.size() < 80 * mebi)
    text += comment;
  text += matrix.substr(matrix.find('\n') + 1);
  const std::string path = store("large.mtx.gz", gzip(text));
  std::string().swap(text);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  auto read = [&](size_t available) -> std::string {
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limited{size_t(pages * sysconf(_SC_PAGESIZE)) + available, before.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
    std::string message;
    try {
      EXPECT_EQ(values(readFile(path).entries), expected);
    } catch (const Error &error) {
      message = error.what();
    }
    EXPECT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    return message;
  };
  EXPECT_EQ(read(110 * mebi), "");
  EXPECT_THAT(read(60 * mebi), HasSubstr("large.mtx.gz: error: out of memory"));
}
#endif

TEST_F(IoFile, Progress) {
  std::vector<double> seen;
  readFile(store("a.mtx", matrix), [&](double fraction) { seen.push_back(fraction); });
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_GE(seen.front(), 0);
  EXPECT_EQ(seen.back(), 1);
}

TEST_F(IoFile, Refusals) {
  std::filesystem::create_directory(folder / "folder.mtx");
  const std::string packed = gzip(matrix);
  std::string damaged = packed;
  damaged[packed.size() / 2] = char(damaged[packed.size() / 2] ^ 0x55);
  std::string checksum = packed;
  checksum[packed.size() - 6] = char(checksum[packed.size() - 6] ^ 1);
  struct {
    std::string file, reason;
  } refusals[] = {
      {path("missing.mtx"), "cannot open the file; check the name and the folder: No such file or directory"},
      {path("missing/missing.mtx"), "No such file or directory"},
      {path("folder.mtx"), "this is a directory"},
      {store("a.txt", matrix), "unknown file format; the name must end in .mtx, .tns"},
      {store("a.gz", matrix), "unknown file format"},
      {".mtx", "unknown file format"},
      {store("empty.mtx", ""), "empty.mtx:1:1: error: the file is empty"},
      {store("empty.tns", ""), "the file is empty"},
      {store("empty.smtx", ""), "the file is empty"},
      {store("empty.npy", ""), "the file is empty"},
      {store("empty.mtx.gz", ""), "the file is empty; expected gzip data"},
      {store("empty2.mtx.gz", gzip("")), "empty2.mtx.gz:1:1: error: the file is empty"},
      {store("plain.mtx.gz", matrix), "not gzip data, though the name ends in .gz"},
      {store("packed.mtx", packed), "the file is gzip data; append .gz to its name"},
      {store("cut.mtx.gz", packed.substr(0, packed.size() - 20)),
       "truncated gzip data: the file ends at byte"},
      {store("tail.mtx.gz", packed.substr(0, packed.size() - 4)), "truncated gzip data"},
      {store("two.mtx.gz", packed.substr(0, 2)), "truncated gzip data"},
      {store("checksum.mtx.gz", checksum), "damaged gzip data (incorrect data check)"},
      {store("damaged.mtx.gz", damaged), "damaged gzip data"},
      {store("trailing.mtx.gz", packed + "rubbish"), "data after the end of the gzip stream"},
      {store("cutmember.mtx.gz", packed + packed.substr(0, 12)), "truncated gzip data"},
      {store("zeros.mtx", std::string(100, '\0')), "expected the banner"},
      {store("zeros.tns", std::string(100, '\0')), "found '\\x00"},
  };
  for (const auto &refusal : refusals) {
    std::string message = errorOf([&] { readFile(refusal.file); });
    EXPECT_THAT(message, ::testing::StartsWith(refusal.file + ":")) << refusal.file;
    EXPECT_THAT(message, HasSubstr(refusal.reason)) << refusal.file;
  }
  EXPECT_THAT(errorOf([] { readFile(""); }), HasSubstr("the name of the file is empty"));
}

} // namespace
