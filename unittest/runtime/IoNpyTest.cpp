// NumPy arrays: headers and bytes written by hand from the format's specification.
#include "io_support.h"

using namespace tulle;
using namespace tulle::runtime;
using namespace tulle::runtime::test;
using ::testing::HasSubstr;

namespace {

using C = std::complex<double>;

std::string npy(const std::string &dictionary, std::string_view data, char version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += {version, '\0', char(dictionary.size() & 0xff), char(dictionary.size() >> 8)};
  if (version > 1)
    bytes += {'\0', '\0'};
  return bytes + dictionary + std::string(data);
}

std::string header(const std::string &type, const std::string &shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

template <typename T> std::string raw(std::initializer_list<T> values, bool swap = false) {
  std::string bytes;
  for (T value : values) {
    std::string one(reinterpret_cast<const char *>(&value), sizeof value);
    bytes += swap ? std::string(one.rbegin(), one.rend()) : one;
  }
  return bytes;
}

Tensor parse(const std::string &bytes) {
  FileContents contents = parseFile(bytes, "t.npy");
  EXPECT_TRUE(contents.isStored);
  EXPECT_EQ(contents.suggested, "dense");
  return contents.stored;
}

TEST(IoNpy, EveryElementType) {
  struct {
    std::string type, data;
    ElementType expected;
    std::vector<C> elements;
  } rows[] = {
      {"|b1", std::string("\x00\x01\x02", 3), ElementType::Bool, {0, 1, 1}},
      {"|i1", raw<int8_t>({-128, 0, 127}), ElementType::I8, {-128, 0, 127}},
      {"<i2", raw<int16_t>({-32768, 1, 2}), ElementType::I16, {-32768, 1, 2}},
      {"<i4", raw<int32_t>({INT32_MIN, 1, 2}), ElementType::I32, {double(INT32_MIN), 1, 2}},
      {"<i8", raw<int64_t>({-5, 1, 2}), ElementType::I64, {-5, 1, 2}},
      {"|u1", raw<uint8_t>({255, 0, 1}), ElementType::I16, {255, 0, 1}},
      {"<u2", raw<uint16_t>({65535, 0, 1}), ElementType::I32, {65535, 0, 1}},
      {"<u4", raw<uint32_t>({4294967295u, 0, 1}), ElementType::I64, {4294967295.0, 0, 1}},
      {"<u8", raw<uint64_t>({7, 0, 1}), ElementType::I64, {7, 0, 1}},
      {"<f2", raw<uint16_t>({0x3c00, 0xc000, 0x3800}), ElementType::F16, {1, -2, 0.5}},
      {"<f4", raw<float>({1.5f, -2, 0}), ElementType::F32, {1.5, -2, 0}},
      {"<f8", raw<double>({0.1, -2, 0}), ElementType::F64, {0.1, -2, 0}},
      {"=f8", raw<double>({0.1, -2, 0}), ElementType::F64, {0.1, -2, 0}},
      {"<c8", raw<float>({1, 2, 3, 4, 5, 6}), ElementType::C64, {C(1, 2), C(3, 4), C(5, 6)}},
      {"<c16", raw<double>({1, 2, 3, 4, 5, 6}), ElementType::C128, {C(1, 2), C(3, 4), C(5, 6)}},
      {">i2", raw<int16_t>({-2, 1, 2}, true), ElementType::I16, {-2, 1, 2}},
      {">u4", raw<uint32_t>({4294967295u, 0, 1}, true), ElementType::I64, {4294967295.0, 0, 1}},
      {">f4", raw<float>({1.5f, -2, 0}, true), ElementType::F32, {1.5, -2, 0}},
      {">f8", raw<double>({0.1, -2, 0}, true), ElementType::F64, {0.1, -2, 0}},
      {">c16", raw<double>({1, 2, 3, 4, 5, 6}, true), ElementType::C128, {C(1, 2), C(3, 4), C(5, 6)}},
  };
  for (const auto &row : rows) {
    Tensor tensor = parse(npy(header(row.type, "(3,)"), row.data));
    EXPECT_EQ(tensor.type, row.expected) << row.type;
    EXPECT_EQ(tensor.dims, (std::vector<int64_t>{3})) << row.type;
    EXPECT_EQ(elements(tensor), row.elements) << row.type;
  }
}

TEST(IoNpy, ShapesAndOrders) {
  const std::string six = raw<int8_t>({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(elements(parse(npy(header("|i1", "(2, 3)"), six))), (std::vector<C>{1, 2, 3, 4, 5, 6}));
  // Column-major: [1 3 5; 2 4 6].
  EXPECT_EQ(elements(parse(npy(header("|i1", "(2, 3)", true), six))), (std::vector<C>{1, 3, 5, 2, 4, 6}));
  // Element (i,j,k) of a column-major 2x1x3 array is number i + 2k.
  EXPECT_EQ(elements(parse(npy(header("|i1", "(2, 1, 3)", true), six))), (std::vector<C>{1, 3, 5, 2, 4, 6}));
  // Big-endian and row-major, order 2.
  EXPECT_EQ(elements(parse(npy(header(">i2", "(2, 2)"), raw<int16_t>({1, 2, 3, 4}, true)))),
            (std::vector<C>{1, 2, 3, 4}));
  Tensor scalar = parse(npy(header("<f8", "()"), raw<double>({2.5})));
  EXPECT_TRUE(scalar.dims.empty());
  EXPECT_EQ(elements(scalar), (std::vector<C>{2.5}));
  Tensor empty = parse(npy(header("<f8", "(0, 9223372036854775807, 9223372036854775807)"), ""));
  EXPECT_EQ(empty.storedCount(), 0);
}

TEST(IoNpy, VersionsAndSpellings) {
  for (char version : {1, 2, 3})
    EXPECT_EQ(elements(parse(npy(header("|i1", "(1,)"), "\x05", version))), (std::vector<C>{5}));
  EXPECT_EQ(elements(parse(npy("{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"|i1\"}", "\x05\x06"))),
            (std::vector<C>{5, 6}));
}

TEST(IoNpy, Refusals) {
  const std::string good = npy(header("<f8", "(1,)"), raw<double>({1}));
  struct {
    std::string bytes, reason;
  } refusals[] = {
      {"", "the file is empty"},
      {"\x93NUMP", "not a NumPy array"},
      {"1 2 3 4 5 6 7 8", "not a NumPy array"},
      {npy(header("<f8", "(1,)"), "12345678", 4), "version 4.0 of the .npy format is unknown"},
      {good.substr(0, 11), "the .npy header should have"},
      {good.substr(0, 40), "the file is truncated"},
      {good.substr(0, good.size() - 1), "the .npy header promises 8 bytes of data, but 7 bytes follow"},
      {good + "x", "1 byte follows after the array's 8 bytes"},
      {npy(header("<f8", "(1152921504606846976, 16)"), ""), "more data than memory can hold"},
      {npy(header("<f8", "(1000000000000,)"), "x"),
       "promises 8000000000000 bytes of data, but 1 byte follows"},
      {npy(header("<f8", "(99999999999999999999,)"), ""), "does not fit a signed 64-bit integer"},
      {npy(header("<f8", "(-1,)"), ""), "the size -1 of a dimension is negative; sizes are 0 or more"},
      {npy(header("<f8", "1"), ""), "expected '('"},
      {npy(header("<f8", "(1 2)"), ""), "expected ')'"},
      {npy(header("<f8", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), "12345678"),
       "more than 32 dimensions"},
      {npy(header("|O", "(1,)"), ""), "elements of type '|O' are not supported"},
      {npy(header("<f16", "(1,)"), ""), "'<f16' are not supported"},
      {npy(header("<U3", "(1,)"), ""), "'<U3' are not supported"},
      {npy("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,)}", ""),
       "arrays of records are not supported"},
      {npy("{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", ""), "expected True or False"},
      {npy("{'descr': '<f8', 'shape': (1,)}", ""), "lacks one of"},
      {npy("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", ""),
       "unexpected key 'descr'"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", ""), "unexpected text"},
      {npy("{'descr", ""), "the quote in the .npy header does not end"},
      {npy("", ""), "expected '{'"},
      {npy(header("<u8", "(1,)"), raw<uint64_t>({UINT64_MAX})), "18446744073709551615, which does not fit"},
  };
  for (const auto &refusal : refusals) {
    std::string message = errorOf([&] { parseFile(refusal.bytes, "t.npy"); });
    EXPECT_THAT(message, ::testing::StartsWith("t.npy:")) << refusal.reason;
    EXPECT_THAT(message, HasSubstr(refusal.reason));
  }
}

} // namespace
