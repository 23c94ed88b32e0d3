/* What the compiler tells the run time of a kernel. Every member has eight bytes: lib/aot/EmitKernel.cpp
   writes these structs in this order. */
#ifndef TULLE_RT_KERNEL_H
#define TULLE_RT_KERNEL_H
#include "abi.h"

typedef int64_t i64;
typedef void (*rt_entry)(void **slots);

/* One array of a tensor. */
struct rt_field {
  i64 kind;        /* as in tulle_buffer */
  i64 bits;        /* of an element */
  i64 implied;     /* counted, and without memory */
  const char *name; /* `positions of level 1` */
};

/* As format::LevelKind; the run time knows these. */
enum {
  RT_DENSE = 0,
  RT_BATCH = 1,
  RT_COMPRESSED = 2,
  RT_LOOSE = 3,
  RT_SINGLETON = 4,
  RT_STRUCTURED = 5,
  RT_RAGGED = 6,
  RT_FIXED = 7,
  RT_BANDED = 9
};
enum { RT_UNIQUE = 1, RT_ORDERED = 2, RT_PADDED = 4 };

struct rt_level {
  i64 kind, n, flags;
  i64 dim, stride, modulus; /* of its size; dim -1: no digit of a dimension */
  i64 sizes, positions, coordinates, stride_of_coordinates, offset_of_coordinates; /* fields, or -1 */
  const char *text;         /* its format */
};

enum {
  RT_INPUT = 1,    /* has a value when the kernel is called */
  RT_RESULT = 2,   /* is given to the caller */
  RT_DENSE_ALL = 4,
  RT_MADE = 8      /* a step makes new arrays for it */
};

struct rt_tensor {
  const char *name, *format;
  i64 flags, order;
  const i64 *sizes; /* of each dimension, by number in rt_kernel.sizes */
  i64 nlevels;
  const struct rt_level *levels;
  i64 nfields;
  const struct rt_field *fields;
  i64 first;     /* of its fields among those of all tensors */
  i64 parameter; /* -1: none */
  i64 like;      /* the tensor whose structure it is given with, or -1 */
};

struct rt_argument {
  i64 tensor, result;
  i64 pattern; /* of a sparse result: the tensor whose structure it has, else -1 */
};

struct rt_step {
  i64 nargs;
  const struct rt_argument *args;
  i64 nmade;
  const i64 *made;
  i64 computes; /* the tensor that messages are about */
};

struct rt_loop {
  i64 begin, end, most, until; /* until: a tensor, or -1 */
};

struct rt_size {
  const char *name;
  i64 fixed; /* -1: any */
  i64 least; /* that a slice reaches */
};

struct rt_variant {
  const char *march;
  i64 nneeds;
  const uint64_t *needs; /* pairs: a word of rt_cpu_words, and bits it must have */
  const rt_entry *entries; /* of the steps */
};

struct rt_kernel {
  const char *name;
  i64 nparameters;
  const i64 *parameters; /* tensors */
  i64 ntensors;
  const struct rt_tensor *tensors;
  i64 nfields; /* of all tensors */
  i64 nsteps;
  const struct rt_step *steps;
  i64 nloops;
  const struct rt_loop *loops;
  i64 nsizes;
  const struct rt_size *sizes;
  i64 nvariants;
  const struct rt_variant *variants;
  i64 *chosen; /* variant + 1; 0: not yet, -1: none */
  i64 index32; /* sizes and numbers of entries must fit 31 bits */
  i64 work_per_thread;
  void (*parallel)(void (*part)(void *), void *context, i64 parts); /* of OpenMP, or null */
  i64 (*threads)(void);                                             /* of OpenMP, or null */
};

#endif
