// A program through all stages of the compiler, as one page for a browser.
#pragma once
#include "engine/Engine.h"

namespace tulle::engine {

/// An HTML document of its own, which fetches nothing: the text of the program, its tensors with pictures of
/// their formats, what the compiler chose and why, and the stages side by side; lines that are of one
/// statement light up together. Throws Error as compile does.
std::string explainPage(const notation::Program &program, const Options &options = {});

} // namespace tulle::engine
