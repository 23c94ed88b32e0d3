// Object code to a shared library, by the machine's own linker.
#pragma once
#include <string>

namespace tulle::aot {

/// The bytes of a shared library of one object. The C compiler that links is $CC, else the target's. Throws
/// Error where there is none, or it fails.
std::string linkShared(const std::string &object, const std::string &triple, bool openMp);

} // namespace tulle::aot
