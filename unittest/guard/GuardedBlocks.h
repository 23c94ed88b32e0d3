// Blocks between memory that nobody may touch: tests learn of what generated code, which no sanitizer has
// seen, touches outside its buffers.
#pragma once

namespace tulle::runtime {

/// From now on, touching memory before a small block or behind it is a segmentation fault, and a write to the
/// bytes that its alignment leaves behind it ends the program when the block is given back.
void guardBlocks();

} // namespace tulle::runtime
