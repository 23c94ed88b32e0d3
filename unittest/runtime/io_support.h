// What the tests of runtime/io share: values by coordinate, errors by text, a folder that goes away.
#pragma once
#include "runtime/io/Io.h"
#include "tulle/error.h"
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <unistd.h>

namespace tulle::runtime::test {

/// Sum of the entries at each coordinate, as complex numbers (exact for what the tests write by hand).
using Values = std::map<std::vector<int64_t>, std::complex<double>>;

inline std::complex<double> valueAt(ElementType type, const std::byte *data) {
  Scalar scalar = loadScalar(type, data);
  return isInteger(type) || type == ElementType::Bool ? std::complex<double>(double(scalar.i)) : scalar.f;
}

inline Values values(const Entries &entries) {
  Values out;
  for (int64_t k = 0; k < entries.count(); ++k) {
    std::vector<int64_t> at;
    for (const auto &coords : entries.coords)
      at.push_back(coords[size_t(k)]);
    out[at] += valueAt(entries.type, entries.values.data() + k * byteWidth(entries.type));
  }
  return out;
}

inline Values valuesOf(const FileContents &contents) {
  return values(contents.isStored ? unpack(contents.stored) : contents.entries);
}

/// All elements of a dense row-major tensor.
inline std::vector<std::complex<double>> elements(const Tensor &dense) {
  std::vector<std::complex<double>> out;
  for (int64_t k = 0; k < dense.storedCount(); ++k)
    out.push_back(
        valueAt(dense.type, static_cast<const std::byte *>(dense.values()) + k * byteWidth(dense.type)));
  return out;
}

/// The message of the Error that `action` throws; a failure when it throws none.
template <typename Action> std::string errorOf(Action action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  ADD_FAILURE() << "expected a tulle::Error";
  return "";
}

/// A folder of its own for each test, removed at the end.
class FolderTest : public ::testing::Test {
protected:
  void SetUp() override {
    const auto *info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             (std::string("tulle_io_") + info->name() + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const { return (folder / name).string(); }
  std::string store(const std::string &name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
    return path(name);
  }
  static std::string load(const std::string &file) {
    std::ostringstream out;
    out << std::ifstream(file, std::ios::binary).rdbuf();
    return out.str();
  }
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    return names;
  }

  std::filesystem::path folder;
};

} // namespace tulle::runtime::test
