/* One call of a kernel. */
#ifndef TULLE_RT_CALL_H
#define TULLE_RT_CALL_H
#include "kernel.h"

struct rt_block {
  i64 all; /* bytes from `raw` on; the first word of a block of the C library's, wherever this struct is in it */
  struct rt_block *next;
  void *raw;  /* what the allocator gave */
  char *data;
  i64 bytes;  /* from `data` on */
  i64 padding[3];
};

struct rt_array {
  void *data;
  i64 count;
};

struct rt_call {
  const struct rt_kernel *kernel;
  const tulle_runtime *runtime; /* null: defaults */
  i64 *sizes;                   /* -1: not known yet */
  struct rt_array *arrays;      /* of all tensors */
  i64 *present;                 /* of each tensor, whether its arrays are there */
  void **slots;
  struct rt_block *blocks;
  i64 nblocks;
  i64 step;   /* that runs */
  i64 making; /* the tensor that messages are about */
  int lock;   /* of blocks and of what follows */
  int failed;
  int code;
};

/* Where generated code on this thread goes when something is wrong. */
struct rt_exit {
  struct rt_call *call;
  struct rt_exit *outer;
  int worker;
  _Alignas(16) char target[512]; /* a jmp_buf: glibc's has 200 bytes on x86-64, 312 on aarch64 */
};

struct rt_text {
  char *at, *end;
};

#endif
