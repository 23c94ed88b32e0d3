#ifndef TULLE_ABI_1
#define TULLE_ABI_1
#include <stddef.h>
#include <stdint.h>

/* What an array of a tensor holds. The kinds of values are their types. */
enum {
  TULLE_SIZES = 0, /* sizes of levels that depend on the data */
  TULLE_PERMUTATION = 1,
  TULLE_POSITIONS = 2,
  TULLE_COORDINATES = 3,
  TULLE_BITS = 4,
  TULLE_BOOL = 16,
  TULLE_I8 = 17,
  TULLE_I16 = 18,
  TULLE_I32 = 19,
  TULLE_I64 = 20,
  TULLE_BF16 = 21,
  TULLE_F16 = 22,
  TULLE_F32 = 23,
  TULLE_F64 = 24,
  TULLE_C64 = 25,
  TULLE_C128 = 26
};

/* An array of `count` elements of `width` bits. */
typedef struct {
  void *data;
  int64_t count;
  int32_t width, kind;
} tulle_buffer;

/* A tensor: its sizes, and the arrays of its format in the order that the README of a kernel and NAME_info()
   say. Set `abi` to 1. Memory that a kernel made for a result is freed by `release(owner)`, once. */
typedef struct {
  uint32_t abi, order, levels, nbuffers;
  const int64_t *dims;
  tulle_buffer *buffers;
  void (*release)(void *owner);
  void *owner;
} tulle_tensor;

/* What a kernel takes from its caller; every member may be null or 0. `alloc(user, bytes, alignment)` returns
   null where there is no memory. `parallel(user, parts, part, context)` calls `part(context, k)` for every
   0 <= k < parts, on any threads, and returns 0 once all are done. `threads`: how many it may use. `error`
   receives a text of at most `error_size` bytes where a call fails. */
typedef struct {
  void *(*alloc)(void *user, size_t bytes, size_t alignment);
  void (*free)(void *user, void *data);
  int (*parallel)(void *user, int64_t parts, void (*part)(void *context, int64_t k), void *context);
  int threads;
  void *user;
  char *error;
  size_t error_size;
} tulle_runtime;

/* What a kernel returns. */
enum {
  TULLE_OK = 0,
  TULLE_INPUT = 1,  /* an argument is not what the kernel takes */
  TULLE_MEMORY = 2, /* there is not enough */
  TULLE_WIDTH = 3,  /* a size, coordinate or position does not fit the integers of the format */
  TULLE_CPU = 4     /* the processor lacks instructions that the kernel was compiled for */
};
#endif
