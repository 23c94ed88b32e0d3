// The child reads into shared memory and leaves by _exit, whatever the file does to it; the parent waits, and
// believes only what lies within that memory.
#include "runtime/archives/H5.h"
#include "runtime/io/TemporaryFile.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::runtime::io {

namespace {

/// Longer than any descriptor; attributes beyond 64 KiB are rare.
constexpr size_t maxText = 1 << 20;
constexpr size_t maxArrays = 2 * mostLevels + 2, maxMessage = 512;
/// No deflate stream is more than 1032 times smaller than what it holds.
constexpr uint64_t maxRatio = 1032;
constexpr uint64_t page = 4096;

/// The start of the shared memory: what the child found. Arrays follow, each at a multiple of a page.
struct Found {
  struct Array {
    bool present;
    char error[maxMessage];
    ElementType type;
    int64_t count;
    uint64_t offset;
  };
  char error[maxMessage]; ///< of the whole file
  uint64_t textSize;
  char text[maxText];
  Array arrays[maxArrays];
};
constexpr uint64_t foundBytes = (sizeof(Found) + page - 1) / page * page;

void setMessage(char (&to)[maxMessage], const std::string &message) {
  to[message.copy(to, maxMessage - 1)] = '\0';
}
/// A text the child may have left without its end.
std::string message(const char (&from)[maxMessage]) { return {from, strnlen(from, maxMessage)}; }

struct Mapping {
  Mapping(void *data, size_t size) : data(data), size(size) {}
  Mapping(const Mapping &) = delete;
  ~Mapping() { munmap(data, size); }

  void *data;
  size_t size;
};

/// The library's type that `type` is read as, and ours: of unsigned integers the next wider signed one.
std::pair<hid_t, ElementType> memoryType(hid_t type) {
  const size_t size = H5Tget_size(type);
  if (H5Tget_class(type) == H5T_INTEGER && size <= 8) {
    const std::pair<hid_t, ElementType> types[] = {{H5T_NATIVE_INT8, ElementType::I8},
                                                   {H5T_NATIVE_INT16, ElementType::I16},
                                                   {H5T_NATIVE_INT32, ElementType::I32},
                                                   {H5T_NATIVE_INT64, ElementType::I64},
                                                   {H5T_NATIVE_UINT64, ElementType::I64}};
    const bool isUnsigned = H5Tget_sign(type) == H5T_SGN_NONE;
    return types[(size <= 2 ? size - 1 : size <= 4 ? 2 : 3) + isUnsigned];
  }
  if (H5Tget_class(type) == H5T_FLOAT && size <= 8)
    return size <= 4 ? std::pair(H5T_NATIVE_FLOAT, ElementType::F32)
                     : std::pair(H5T_NATIVE_DOUBLE, ElementType::F64);
  return {-1, ElementType::F64};
}

/// Runs in the child; errors are texts in shared memory.
class Child {
public:
  Child(hid_t file, int memory, Found &found) : file(file), memory(memory), found(found) {}

  void run(const std::vector<std::string> &names) {
    if (std::string error = attribute(); !error.empty())
      return setMessage(found.error, error);
    for (size_t k = 0; k < names.size(); ++k)
      if (H5Lexists(file, names[k].c_str(), H5P_DEFAULT) > 0) {
        found.arrays[k].present = true;
        setMessage(found.arrays[k].error, dataset(names[k], found.arrays[k]));
      }
  }

private:
  std::string attribute() {
    if (H5Aexists(file, "binsparse") <= 0)
      return "the file has no attribute 'binsparse'; only matrices in the binsparse format are read, from "
             "the root of the file";
    Handle attribute(H5Aopen(file, "binsparse", H5P_DEFAULT), H5Aclose);
    Handle stored(attribute < 0 ? -1 : H5Aget_type(attribute), H5Tclose);
    Handle space(stored < 0 ? -1 : H5Aget_space(attribute), H5Sclose);
    auto unreadable = [] {
      return fmt::format("the attribute 'binsparse' cannot be read ({})", lastH5Error());
    };
    if (space < 0)
      return unreadable();
    const size_t size = H5Tget_size(stored);
    if (H5Tget_class(stored) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1 || size > maxText)
      return "the attribute 'binsparse' is not one text; the binsparse format stores its description in it "
             "as JSON";
    if (H5Tis_variable_str(stored) > 0) {
      char *text = nullptr;
      Handle type(H5Tcopy(stored), H5Tclose);
      if (H5Aread(attribute, type, &text) < 0 || !text)
        return unreadable();
      found.textSize = strnlen(text, maxText);
      std::memcpy(found.text, text, found.textSize);
      return "";
    }
    if (H5Aread(attribute, stored, found.text) < 0)
      return unreadable();
    found.textSize = strnlen(found.text, size);
    return "";
  }

  std::string elements(hid_t set, hid_t stored, Found::Array &array) {
    auto [type, element] = memoryType(stored);
    if (type < 0)
      return "holds neither integers nor floating-point numbers of up to 64 bits";
    array.type = element;
    array.offset = end;
    const uint64_t bytes = (uint64_t(array.count) * byteWidth(element) + page - 1) / page * page;
    if (bytes == 0)
      return "";
    void *to = ftruncate(memory, off_t(end + bytes)) != 0
                   ? MAP_FAILED
                   : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, off_t(end));
    if (to == MAP_FAILED)
      return fmt::format("does not fit in memory: {}", std::strerror(errno));
    end += bytes;
    if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0)
      return fmt::format("cannot be read ({}); copy the file again", lastH5Error());
    if (H5Tequal(type, H5T_NATIVE_UINT64) > 0)
      for (int64_t k = 0; k < array.count; ++k)
        if (static_cast<const int64_t *>(to)[k] < 0)
          return fmt::format("[{}] is {}, which does not fit a signed 64-bit integer", k,
                             static_cast<const uint64_t *>(to)[k]);
    return "";
  }

  std::string dataset(const std::string &name, Found::Array &array) {
    Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    Handle space(set < 0 ? -1 : H5Dget_space(set), H5Sclose);
    Handle stored(space < 0 ? -1 : H5Dget_type(set), H5Tclose);
    Handle creation(stored < 0 ? -1 : H5Dget_create_plist(set), H5Pclose);
    if (creation < 0)
      return fmt::format("is no dataset that can be opened ({})", lastH5Error());
    if (H5Pget_external_count(creation) != 0 || H5Pget_layout(creation) == H5D_VIRTUAL)
      return "lies in other files; copy it into this one";
    if (H5Sget_simple_extent_ndims(space) > 1)
      return fmt::format("has {} dimensions, expected 1", H5Sget_simple_extent_ndims(space));
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(stored);
    const uint64_t held = H5Dget_storage_size(set);
    if (count < 0 || size == 0 || uint64_t(count) / maxRatio > held / size + 1)
      return fmt::format("promises {} elements of {} bytes, but holds {} bytes; the file is damaged", count,
                         size, held);
    array.count = count;
    try {
      requireMemory(checkedMul(count, 8, name), name);
    } catch (const Error &error) {
      return error.what();
    }
    return elements(set, stored, array);
  }

  hid_t file;
  int memory;
  Found &found;
  uint64_t end = foundBytes;
};

/// Never returns. What the parent prints when it crashes does not belong here, nor a core file.
[[noreturn]] void runChild(const std::string &path, const std::vector<std::string> &names,
                           const std::string_view *image, int memory, Found &found, rlim_t seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (int null = open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0)
    dup2(null, STDERR_FILENO);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM, SIGINT})
    std::signal(signal, SIG_DFL);
  const rlimit none = {0, 0}, processor = {seconds, seconds};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_CPU, &processor);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  hid_t access = H5P_DEFAULT;
  std::string bytes;
  if (image) {
    bytes = *image;
    access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 16, /*backing_store=*/false);
    H5Pset_file_image(access, bytes.data(), bytes.size());
  }
  hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  if (file < 0)
    setMessage(found.error,
               fmt::format("not a whole HDF5 file ({}); copy it again if it was cut short", lastH5Error()));
  else
    Child(file, memory, found).run(names);
  _exit(0);
}

/// What the child left, where its bounds hold.
ExtractedFile collect(const std::string &path, const std::vector<std::string> &names, const Found &found,
                      std::shared_ptr<Mapping> all) {
  ExtractedFile file;
  file.text.assign(found.text, std::min<uint64_t>(found.textSize, maxText));
  for (size_t k = 0; k < names.size(); ++k) {
    const Found::Array &from = found.arrays[k];
    if (!from.present)
      continue;
    ExtractedArray &array = file.arrays[names[k]];
    array.error = message(from.error);
    if (!array.error.empty())
      continue;
    const bool known = from.type == ElementType::F32 || from.type == ElementType::F64 || isInteger(from.type);
    const uint64_t left = from.offset <= all->size ? all->size - from.offset : 0;
    if (!known || from.count < 0 || uint64_t(from.count) > left / byteWidth(from.type))
      throwFileError(path, "the file is damaged; copy it again");
    array.elements = borrowDense(from.type, {from.count}, static_cast<char *>(all->data) + from.offset, all);
  }
  return file;
}

} // namespace

std::string lastH5Error() {
  std::string message;
  auto take = [](unsigned, const H5E_error2_t *error, void *user) -> herr_t {
    auto &text = *static_cast<std::string *>(user);
    if (text.empty() && error->desc)
      text = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &message);
  H5Eclear2(H5E_DEFAULT);
  return message.empty() ? "unknown reason" : message;
}

ExtractedFile extractH5(const std::string &path, const std::vector<std::string> &names,
                        const std::string_view *image) {
  const Descriptor memory(memfd_create("tulle-h5", MFD_CLOEXEC));
  if (!memory || ftruncate(memory.fd, off_t(foundBytes)) != 0)
    failSystem(path, "no shared memory to read the file into");
  void *head = mmap(nullptr, foundBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd, 0);
  if (head == MAP_FAILED)
    failSystem(path, "no shared memory to read the file into");
  Mapping header(head, foundBytes);
  Found &found = *static_cast<Found *>(head);

  struct stat info = {};
  const uint64_t size = image ? image->size() : stat(path.c_str(), &info) == 0 ? uint64_t(info.st_size) : 0;
  const rlim_t seconds = 5 + size / (1 << 20); // a megabyte takes milliseconds
  pid_t child;
  {
    LibraryUse use; // no other thread is inside the library when its state is copied
    child = fork();
    if (child == 0)
      runChild(path, names, image, memory.fd, found, seconds);
  }
  if (child < 0)
    failSystem(path, "no process to read the file in");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
    throwFileError(
        path,
        "reading was stopped after {} seconds or for want of memory; the file is damaged, copy it again",
        uint64_t(seconds));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throwFileError(path, "the HDF5 library cannot read the file; it is damaged, copy it again");
  if (found.error[0] != '\0')
    throwFileError(path, "{}", message(found.error));
  if (fstat(memory.fd, &info) != 0)
    throwFileError(path, "the shared memory is gone");
  void *data = mmap(nullptr, size_t(info.st_size), PROT_READ | PROT_WRITE, MAP_PRIVATE, memory.fd, 0);
  if (data == MAP_FAILED)
    failSystem(path, "the contents do not fit in memory");
  return collect(path, names, found, std::make_shared<Mapping>(data, size_t(info.st_size)));
}

} // namespace tulle::runtime::io
