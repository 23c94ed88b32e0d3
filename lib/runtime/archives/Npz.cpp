// scipy.sparse.load_npz is the specification: which members each format has, and which may be unordered.
#include "runtime/io/CompressedArrays.h"
#include "runtime/io/TemporaryFile.h"
#include "runtime/io/Text.h"
#include "runtime/tensor/LevelShapes.h"
#include "runtime/tensor/MemoryLimits.h"
#include <algorithm>
#include <fmt/ranges.h>
#include <zip.h>

namespace tulle::runtime::io {

namespace {

/// No deflate stream is more than 1032 times smaller than what it holds (zlib's technical notes).
constexpr uint64_t maxRatio = 1032;
/// 1980-01-01, the earliest day an archive can name.
constexpr uint16_t fixedDate = (1 << 5) | 1;

struct ZipError : zip_error_t {
  ZipError() { zip_error_init(this); }
  ~ZipError() { zip_error_fini(this); }
};

//===--- Reading ---===//

/// The members of one archive as arrays. SciPy names them without the `.npy` that the archive adds.
class Members : public NamesFile {
public:
  explicit Members(const Text &text)
      : NamesFile{text.name}, total(text.bytes.size()), archive(nullptr, zip_discard) {
    ZipError error;
    zip_source_t *source = zip_source_buffer_create(text.bytes.data(), total, 0, &error);
    archive.reset(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
    if (!archive) {
      zip_source_free(source);
      fail("not a whole zip archive ({}); an .npz file is one that numpy.savez or scipy.sparse.save_npz "
           "wrote; "
           "copy it again if it was cut short",
           zip_error_strerror(&error));
    }
    for (zip_int64_t i = 0, n = zip_get_num_entries(archive.get(), 0); i < n; ++i) {
      const char *name = zip_get_name(archive.get(), zip_uint64_t(i), 0);
      names.push_back(name ? name : "");
    }
  }

  bool has(const std::string &name) const { return std::ranges::count(names, name + ".npy") > 0; }
  NamedArray array(const std::string &name) const { return {name, parse(name, readNpy).stored}; }
  std::vector<int64_t> list(const std::string &name) const { return indexList(file, array(name)); }
  std::string word(const std::string &name) const { return parse(name, readNpyText); }

  std::vector<std::string> names; ///< in the order of the archive

private:
  template <class Result> Result parse(const std::string &name, Result (*reader)(const Text &)) const {
    if (!has(name))
      fail("the array '{}' is missing; a matrix of scipy.sparse has format, shape, data and the index arrays "
           "of its format; write it with scipy.sparse.save_npz",
           name);
    const std::string bytes = read(name + ".npy"), label = file + ": " + name + ".npy";
    return reader({bytes, label});
  }

  /// The bytes of a member. Throws Error when it is damaged or encrypted, and before allocating when its size
  /// cannot be right or is beyond memory.
  std::string read(const std::string &member) const {
    auto failMember = [&]<class... Args>(fmt::format_string<Args...> what, Args &&...args) {
      fail("member '{}': {}", io::quoted(member), fmt::format(what, std::forward<Args>(args)...));
    };
    const auto index = zip_uint64_t(std::ranges::find(names, member) - names.begin());
    zip_stat_t info;
    zip_stat_init(&info);
    constexpr zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if (zip_stat_index(archive.get(), index, 0, &info) != 0 || (info.valid & wanted) != wanted)
      failMember("its size is missing from the archive's directory; write the file again");
    if (info.comp_size > total)
      failMember("{} compressed bytes are more than the archive's {}; the archive is damaged", info.comp_size,
                 total);
    if (info.size / maxRatio > info.comp_size || info.size > uint64_t(INT64_MAX))
      failMember("{} compressed bytes cannot hold the {} promised; the archive is damaged", info.comp_size,
                 info.size);
    requireMemory(int64_t(info.size), fmt::format("member '{}' of {}", io::quoted(member), file));
    std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> stream(zip_fopen_index(archive.get(), index, 0),
                                                              zip_fclose);
    if (!stream)
      failMember("{}; write the file again, without a password", zip_strerror(archive.get()));
    std::string bytes(size_t(info.size), '\0');
    size_t got = 0;
    while (got < bytes.size()) {
      zip_int64_t n = zip_fread(stream.get(), bytes.data() + got, bytes.size() - got);
      if (n <= 0)
        failMember("damaged after {} of {} ({}); copy the file again", got,
                   counted(int64_t(bytes.size()), "byte", "bytes"),
                   n < 0 ? zip_file_strerror(stream.get()) : "the data ends");
      got += size_t(n);
    }
    // The checksum is compared when the end is read.
    char more;
    if (zip_fread(stream.get(), &more, 1) != 0)
      failMember("its checksum or size is wrong; copy the file again");
    return bytes;
  }

  uint64_t total; ///< bytes of the archive
  std::unique_ptr<zip_t, void (*)(zip_t *)> archive;
};

std::vector<int64_t> readShape(const Members &members) {
  std::vector<int64_t> dims = members.list("shape");
  if (dims.size() != 2)
    members.fail("'shape' has {} elements; matrices with 2 are supported", dims.size());
  for (int64_t size : dims)
    if (size < 0 || size == INT64_MAX)
      members.fail("'shape' is ({}); sizes lie between 0 and 2^63 - 2", fmt::join(dims, ", "));
  return dims;
}

FileContents readCompressed(const Members &members, const std::string &format, std::vector<int64_t> dims) {
  CompressedArrays arrays;
  arrays.dims = std::move(dims);
  arrays.positions = members.array("indptr");
  arrays.coordinates = members.array("indices");
  arrays.values = members.array("data");
  const std::vector<int64_t> &shape = arrays.values.data.dims;
  if (shape.size() != (format == "bsr" ? 3 : 1))
    members.fail("'data' has {} dimensions, expected {}", shape.size(), format == "bsr" ? 3 : 1);
  if (format != "bsr") {
    arrays.format = format == "csr" ? "CSR" : "CSC";
    if (format == "csc")
      arrays.segmentFirst = {1, 0};
    return compressedContents(members.file, arrays);
  }
  for (size_t d : {0u, 1u})
    if (shape[d + 1] < 1 || arrays.dims[d] % shape[d + 1] != 0 || shape[d + 1] > INT32_MAX)
      members.fail("blocks of {} x {} do not divide the sizes {} x {}", shape[1], shape[2], arrays.dims[0],
                   arrays.dims[1]);
  arrays.block = {shape[1], shape[2]};
  arrays.format = fmt::format("BCSR({},{})", shape[1], shape[2]);
  return compressedContents(members.file, arrays);
}

/// Element (k, j) of `data` belongs to row j - offsets[k]; zeros are padding, as SciPy takes them.
FileContents readDia(const Members &members, std::vector<int64_t> dims) {
  const std::vector<int64_t> offsets = members.list("offsets");
  const Tensor data = members.array("data").data;
  if (data.dims.size() != 2 || data.dims[0] != int64_t(offsets.size()))
    members.fail("'data' has shape ({}), expected {} rows, as many as 'offsets' has elements",
                 fmt::join(data.dims, ", "), offsets.size());
  const int64_t columns = std::min(data.dims[1], dims[1]);
  Entries out{data.type, dims, {{}, {}}, {}};
  for (size_t k = 0; k < offsets.size(); ++k)
    for (int64_t j = 0; j < columns; ++j) {
      int64_t i;
      if (__builtin_sub_overflow(j, offsets[k], &i) || i < 0 || i >= dims[0])
        continue;
      const std::byte *value = data.value(int64_t(k) * data.dims[1] + j);
      const Scalar scalar = loadScalar(out.type, value);
      if (scalar.i == 0 && scalar.f == 0.0)
        continue;
      out.coords[0].push_back(i);
      out.coords[1].push_back(j);
      out.values.insert(out.values.end(), value, value + byteWidth(out.type));
    }
  return {std::move(out), "DIA"};
}

FileContents readMatrix(const Members &members) {
  const std::string format = members.word("format");
  if (format != "csr" && format != "csc" && format != "bsr" && format != "coo" && format != "dia")
    members.fail("matrices in SciPy's format '{}' are not supported; csr, csc, coo, bsr and dia are: convert "
                 "with A.tocsr()",
                 io::quoted(format));
  std::vector<int64_t> dims = readShape(members);
  if (format == "dia")
    return readDia(members, std::move(dims));
  if (format != "coo")
    return readCompressed(members, format, std::move(dims));
  NamedArray values = members.array("data");
  return coordinateContents(members.file, dims, {members.array("row"), members.array("col")}, values);
}

//===--- Writing ---===//

/// The members of an archive but for the format's word. SciPy wants positions and coordinates of one signed
/// type.
using Arrays = std::vector<std::pair<std::string, Tensor>>;

Tensor indexArray(const std::vector<int64_t> &list) {
  Tensor made = makeDense(ElementType::I64, {int64_t(list.size())}, /*zeroed=*/false);
  std::ranges::copy(list, static_cast<int64_t *>(made.values()));
  return made;
}

/// The elements of a buffer, in another shape.
Tensor reshaped(ElementType type, const std::vector<int64_t> &dims, const Buffer &buffer) {
  return borrowDense(type, dims, buffer.data, buffer.owner);
}

/// An unsigned field of the layout as i64.
std::vector<int64_t> widened(const Tensor &tensor, unsigned fieldNumber) {
  const Buffer &buffer = tensor.buffers[fieldNumber];
  std::vector<int64_t> list(size_t(buffer.count));
  for (size_t k = 0; k < list.size(); ++k)
    list[k] = loadIndex(buffer.data, tensor.layout().fields[fieldNumber].width, int64_t(k));
  return list;
}

/// Positions and coordinates of the level `l`; 32-bit ones as they are.
Arrays indexArrays(const Tensor &tensor, unsigned l) {
  const unsigned pos = *tensor.layout().positions[l], crd = tensor.layout().coordinates[l]->field;
  Arrays arrays;
  const bool narrow = tensor.layout().fields[pos].width == 32 && tensor.layout().fields[crd].width == 32 &&
                      std::max(tensor.dims[0], tensor.dims[1]) <= INT32_MAX &&
                      tensor.buffers[crd].count <= INT32_MAX;
  for (auto [name, field] : {std::pair("indptr", pos), std::pair("indices", crd)}) {
    const Buffer &buffer = tensor.buffers[field];
    arrays.emplace_back(name, narrow ? reshaped(ElementType::I32, {buffer.count}, buffer)
                                     : indexArray(widened(tensor, field)));
  }
  return arrays;
}

/// Of BCSR.
std::pair<int64_t, int64_t> blockSizes(const Tensor &tensor) {
  const auto digits = *format::digits(tensor.encoding);
  return {format::levelSize(digits[2], tensor.dims), format::levelSize(digits[3], tensor.dims)};
}

Arrays compressedArrays(const Tensor &tensor, const std::string &word) {
  Arrays arrays = indexArrays(tensor, 1);
  std::vector<int64_t> shape = {tensor.storedCount()};
  if (word == "bsr") {
    const auto [rows, columns] = blockSizes(tensor);
    shape = {tensor.storedCount() / (rows * columns), rows, columns};
  }
  arrays.emplace_back("data", reshaped(tensor.type, shape, tensor.buffers.back()));
  return arrays;
}

Arrays cooArrays(const Tensor &tensor) {
  Entries entries = unpack(tensor);
  const auto count = int64_t(entries.values.size() / byteWidth(tensor.type));
  entries.coords.resize(2, std::vector<int64_t>(size_t(count))); // a vector is a column, as in .mtx
  Tensor values = makeDense(tensor.type, {count}, /*zeroed=*/false);
  std::ranges::copy(entries.values, values.value(0));
  return {{"row", indexArray(entries.coords[0])}, {"col", indexArray(entries.coords[1])}, {"data", values}};
}

/// Diagonals that hold a stored slot, ascending, each indexed by its columns.
Arrays diaArrays(const Tensor &tensor) {
  std::vector<int64_t> offsets;
  forEachStored(tensor, [&](std::span<const int64_t> at, int64_t) {
    int64_t k = at[1] - at[0];
    auto found = std::lower_bound(offsets.begin(), offsets.end(), k);
    if (found == offsets.end() || *found != k)
      offsets.insert(found, k);
  });
  Tensor data = makeDense(tensor.type, {int64_t(offsets.size()), tensor.dims[1]});
  forEachStored(tensor, [&](std::span<const int64_t> at, int64_t position) {
    int64_t row = std::lower_bound(offsets.begin(), offsets.end(), at[1] - at[0]) - offsets.begin();
    std::memcpy(data.value(row * tensor.dims[1] + at[1]), tensor.value(position), byteWidth(tensor.type));
  });
  return {{"offsets", indexArray(offsets)}, {"data", data}};
}

/// SciPy's word for the tensor's format; "coo" for those it has none for.
std::string scipyFormat(const Tensor &tensor, const std::string &name) {
  if (name == "CSR" || name == "CSC" || name == "DIA")
    return name == "CSR" ? "csr" : name == "CSC" ? "csc" : "dia";
  if (!name.starts_with("BCSR("))
    return "coo";
  const auto [rows, columns] = blockSizes(tensor);
  return tensor.dims[0] % rows == 0 && tensor.dims[1] % columns == 0 ? "bsr" : "coo";
}

} // namespace

FileContents readNpz(const Text &text) {
  const Members members(text);
  const std::vector<std::string> &all = members.names;
  if (members.has("format"))
    return readMatrix(members);
  if (all.size() == 1 && all[0].ends_with(".npy"))
    return {members.array(all[0].substr(0, all[0].size() - 4)).data, "dense"};
  std::string names;
  for (size_t k = 0; k < all.size() && k < 8; ++k)
    names += (k ? ", " : "") + io::quoted(all[k]);
  members.fail("the archive holds {} ({}) and no 'format'; expected one dense array, or a matrix that "
               "scipy.sparse.save_npz wrote; save the array you mean with numpy.save",
               counted(int64_t(all.size()), "member", "members"), names);
}

void writeZip(const std::string &path, const std::vector<ZipMember> &members) {
  TemporaryFile file(path);
  int64_t bytes = 0;
  for (const ZipMember &member : members)
    for (std::string_view piece : member.pieces)
      bytes += int64_t(piece.size());
  requireMemory(bytes, "the file " + path);
  ZipError error;
  auto fail = [&](const char *why) { throwFileError(path, "cannot write the archive: {}", why); };
  std::unique_ptr<zip_source_t, void (*)(zip_source_t *)> image(
      zip_source_buffer_create(nullptr, 0, 0, &error), zip_source_free);
  zip_t *opened = image ? zip_open_from_source(image.get(), ZIP_CREATE | ZIP_TRUNCATE, &error) : nullptr;
  if (!opened)
    fail(zip_error_strerror(&error));
  zip_source_keep(image.get()); // the archive owns it, too
  std::unique_ptr<zip_t, void (*)(zip_t *)> archive(opened, zip_discard);
  for (const ZipMember &member : members) {
    std::vector<zip_buffer_fragment_t> pieces;
    for (std::string_view piece : member.pieces)
      pieces.push_back({reinterpret_cast<zip_uint8_t *>(const_cast<char *>(piece.data())), piece.size()});
    zip_source_t *source = zip_source_buffer_fragment(opened, pieces.data(), pieces.size(), 0);
    const zip_int64_t index = source ? zip_file_add(opened, member.name.c_str(), source, 0) : -1;
    if (index < 0)
      zip_source_free(source);
    if (index < 0 || zip_file_set_dostime(opened, zip_uint64_t(index), 0, fixedDate, 0) != 0)
      fail(zip_strerror(opened));
  }
  if (zip_close(opened) != 0)
    fail(zip_strerror(opened));
  (void)archive.release();
  if (zip_source_open(image.get()) != 0)
    fail(zip_error_strerror(zip_source_error(image.get())));
  char chunk[1 << 16];
  while (const zip_int64_t got = zip_source_read(image.get(), chunk, sizeof chunk)) {
    if (got < 0)
      fail(zip_error_strerror(zip_source_error(image.get())));
    file.write({chunk, size_t(got)});
  }
  file.commit();
}

std::string writeNpz(const std::string &path, const Tensor &tensor) {
  Arrays arrays;
  std::string note, word;
  if (format::isAllDense(tensor.encoding)) {
    arrays = {{"arr_0", toDense(tensor)}};
  } else {
    if (tensor.dims.size() > 2)
      throwFileError(path, ".npz files hold matrices, but the tensor has {} dimensions; write .tns instead",
                     tensor.dims.size());
    if (!format::hasZeroFill(tensor.encoding))
      throwFileError(
          path,
          ".npz files mean 0 where nothing is stored, but this tensor's fill is {}; convert it to dense",
          tensor.encoding->fill.value_or("not 0"));
    const std::string name = format::displayName(tensor.encoding);
    word = scipyFormat(tensor, name);
    arrays = word == "coo"   ? cooArrays(tensor)
             : word == "dia" ? diaArrays(tensor)
                             : compressedArrays(tensor, word);
    std::vector<int64_t> shape = tensor.dims;
    shape.resize(2, 1);
    arrays.emplace_back("shape", indexArray(shape));
    if (word == "coo" && !name.starts_with("COO"))
      note = fmt::format("{}: SciPy has no {}; the entries are written as coo", path, name);
  }
  std::vector<ZipMember> members;
  std::vector<std::string> headers(arrays.size() + 1);
  for (size_t k = 0; k < arrays.size(); ++k) {
    const auto &[name, array] = arrays[k];
    headers[k] = npyHeader(array.type, array.dims);
    const Buffer &data = array.buffers.back();
    members.push_back(
        {name + ".npy", {headers[k], {static_cast<const char *>(data.data), size_t(data.bytes)}}});
  }
  if (!word.empty()) { // NumPy's text of three bytes; the header of an i8 scalar has the same length
    headers.back() = npyHeader(ElementType::I8, {});
    headers.back().replace(headers.back().find("|i1"), 3, "|S3");
    members.push_back({"format.npy", {headers.back(), word}});
  }
  writeZip(path, members);
  return note;
}

} // namespace tulle::runtime::io
