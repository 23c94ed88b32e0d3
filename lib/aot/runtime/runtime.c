/* The run time of kernels compiled ahead of time, as one unit: lib/aot links its bitcode into each kernel, where
   all of it becomes local. It needs a C library for memory and setjmp, and nothing else. */
#include "call.h"

#include "text.c"

#include "memory.c"

#include "generated.c"

#include "threads.c"

#include "cpu.c"

#include "bind.c"

#include "run.c"

#include "check.c"
