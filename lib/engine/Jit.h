// Object code in this process: linked, made executable, freed again.
#pragma once
#include <memory>
#include <string_view>

namespace tulle::engine {

/// A linked object. Its code lives as long as this.
class LoadedObject {
public:
  using Entry = void (*)(void **slots);
  virtual ~LoadedObject() = default;
  /// The function of that name. Throws InternalError when the object has none.
  virtual Entry lookup(std::string_view name) const = 0;
};

/// Links `object` (an ELF or Mach-O relocatable file) into the process. Thread-safe. Throws InternalError.
std::unique_ptr<LoadedObject> loadObject(std::string_view object, std::string_view name);

} // namespace tulle::engine
