/* Arguments to arrays: what costs no more than a glance at each is checked, so that a wrong one is an error. */
static i64 rt_read(const struct rt_array *array, i64 bits, i64 at) {
  switch (bits) {
  case 2: /* four to a byte, low bits first */
    return ((const uint8_t *)array->data)[at / 4] >> at % 4 * 2 & 3;
  case 8:
    return ((const uint8_t *)array->data)[at];
  case 16:
    return ((const uint16_t *)array->data)[at];
  case 32:
    return ((const uint32_t *)array->data)[at];
  default:
    return ((const i64 *)array->data)[at];
  }
}

static struct rt_text rt_begin_argument_error(struct rt_call *call, const struct rt_tensor *tensor, int code) {
  struct rt_text text = rt_begin_error(call, code);
  rt_put(&text, "argument '");
  rt_put(&text, tensor->name);
  rt_put(&text, "': ");
  return text;
}

static void rt_put_expected(struct rt_text *text, const char *what, i64 expected, i64 got) {
  rt_put(text, what);
  rt_put(text, ": expected ");
  rt_put_number(text, expected);
  rt_put(text, ", got ");
  rt_put_number(text, got);
}

static int rt_expect(struct rt_call *call, const struct rt_tensor *tensor, const char *what, i64 expected,
                     i64 got) {
  if (expected == got)
    return 1;
  struct rt_text text = rt_begin_argument_error(call, tensor, TULLE_INPUT);
  rt_put_expected(&text, what, expected, got);
  rt_end_error(call, &text);
  return 0;
}

/*===--- Sizes ---===*/

static int rt_bind_size(struct rt_call *call, const struct rt_tensor *tensor, i64 dimension, i64 size) {
  const struct rt_size *known = &call->kernel->sizes[tensor->sizes[dimension]];
  i64 *bound = &call->sizes[tensor->sizes[dimension]];
  if (*bound < 0 && size >= 0)
    *bound = size;
  if (*bound == size)
    return 1;
  struct rt_text text = rt_begin_argument_error(call, tensor, TULLE_INPUT);
  rt_put(&text, "size of dimension ");
  rt_put_number(&text, dimension + 1);
  if (size < 0) {
    rt_put(&text, " is negative");
  } else {
    rt_put_expected(&text, "", *bound, size);
    rt_put(&text, known->fixed >= 0 ? ": the kernel was compiled for that size" : ", as the other arguments have");
  }
  rt_end_error(call, &text);
  return 0;
}

static int rt_bind_sizes(struct rt_call *call, const struct rt_tensor *tensor, const tulle_tensor *given) {
  if (!given)
    return rt_expect(call, tensor, "a tensor", 1, 0);
  if (given->nbuffers == 0 && given->order == 0 && !(tensor->flags & RT_INPUT))
    return 1; /* an empty result */
  if (!rt_expect(call, tensor, "abi", 1, given->abi) ||
      !rt_expect(call, tensor, "order", tensor->order, given->order) ||
      (tensor->order > 0 && !rt_expect(call, tensor, "dims", 1, given->dims != 0)))
    return 0;
  for (i64 d = 0; d < tensor->order; ++d)
    if (!rt_bind_size(call, tensor, d, given->dims[d]))
      return 0;
  return 1;
}

static int rt_know_sizes(struct rt_call *call) {
  const struct rt_kernel *kernel = call->kernel;
  for (i64 s = 0; s < kernel->nsizes; ++s) {
    const i64 size = call->sizes[s], least = kernel->sizes[s].least;
    if (size >= least && (!kernel->index32 || size <= INT32_MAX))
      continue;
    struct rt_text text = rt_begin_error(call, size < least ? TULLE_INPUT : TULLE_WIDTH);
    rt_put(&text, "size ");
    rt_put(&text, kernel->sizes[s].name);
    if (size < 0) {
      rt_put(&text, " is unknown: set dims and order of the result that has it");
    } else {
      rt_put(&text, " = ");
      rt_put_number(&text, size);
      rt_put(&text, size < least ? ": expected that of the tensor that a slice is cut from, at least "
                                 : " is more than 2147483647: compile the kernel with 64-bit coordinates");
      if (size < least)
        rt_put_number(&text, least);
    }
    rt_end_error(call, &text);
    return 0;
  }
  return 1;
}

/*===--- Arrays ---===*/

/* How many elements the arrays of a tensor have, as its sizes and positions say. */
struct rt_counts {
  struct rt_call *call;
  const struct rt_tensor *tensor;
  int derive; /* set counts, instead of comparing with them */
};

static int rt_count(const struct rt_counts *counts, i64 field, i64 count) {
  struct rt_array *array = &counts->call->arrays[counts->tensor->first + field];
  if (field < 0)
    return 1;
  if (counts->derive)
    array->count = count;
  const struct rt_field *info = &counts->tensor->fields[field];
  if (array->count < count) {
    struct rt_text text = rt_begin_argument_error(counts->call, counts->tensor, TULLE_INPUT);
    rt_put(&text, info->name);
    rt_put_expected(&text, "", count, array->count);
    rt_put(&text, " elements");
    rt_end_error(counts->call, &text);
    return 0;
  }
  if (count == 0 || array->data || info->implied)
    return 1;
  struct rt_text text = rt_begin_argument_error(counts->call, counts->tensor, TULLE_INPUT);
  rt_put(&text, info->name);
  rt_put(&text, ": data is null");
  rt_end_error(counts->call, &text);
  return 0;
}

static int rt_product(const struct rt_counts *counts, i64 *parents, i64 each) {
  if (!__builtin_mul_overflow(*parents, each, parents) && *parents >= 0)
    return 1;
  struct rt_text text = rt_begin_argument_error(counts->call, counts->tensor, TULLE_INPUT);
  rt_put(&text, "more positions than 64 bits count");
  rt_end_error(counts->call, &text);
  return 0;
}

static i64 rt_level_size(const struct rt_call *call, const struct rt_tensor *tensor,
                         const struct rt_level *level) {
  if (level->modulus)
    return level->modulus;
  const i64 size = call->sizes[tensor->sizes[level->dim]];
  return size / level->stride + (size % level->stride != 0);
}

/* The number of positions of a level whose segments positions bound, for so many parents; -1: an error. */
static i64 rt_last_position(const struct rt_counts *counts, const struct rt_level *level, i64 parents) {
  const struct rt_field *field = &counts->tensor->fields[level->positions];
  if (!rt_count(counts, level->positions, parents + 1))
    return -1;
  const i64 last = rt_read(&counts->call->arrays[counts->tensor->first + level->positions], field->bits, parents);
  if (last >= 0)
    return last;
  struct rt_text text = rt_begin_argument_error(counts->call, counts->tensor, TULLE_INPUT);
  rt_put(&text, field->name);
  rt_put(&text, ": the last one is negative");
  rt_end_error(counts->call, &text);
  return -1;
}

/* Positions of a level below `parents` ones; -1: an error, -2: it is not known without the data. */
static i64 rt_level_positions(const struct rt_counts *counts, const struct rt_level *level, i64 parents) {
  i64 positions = parents;
  switch (level->kind) {
  case RT_DENSE:
  case RT_BATCH:
    if (level->dim < 0)
      return -2;
    return rt_product(counts, &positions, rt_level_size(counts->call, counts->tensor, level)) ? positions : -1;
  case RT_COMPRESSED:
  case RT_RAGGED:
    positions = rt_last_position(counts, level, parents);
    break;
  case RT_SINGLETON:
    break;
  case RT_STRUCTURED:
    if (!rt_product(counts, &positions, level->n))
      return -1;
    break;
  case RT_FIXED:
    if (level->sizes >= 0 && !rt_count(counts, level->sizes, 1))
      return -1;
    if (!rt_product(counts, &positions,
                    level->sizes < 0 ? level->n
                                     : rt_read(&counts->call->arrays[counts->tensor->first + level->sizes], 64, 0)))
      return -1;
    break;
  default:
    return -2;
  }
  if (positions < 0 || level->coordinates < 0)
    return positions;
  i64 coordinates = positions;
  if (!rt_product(counts, &coordinates, level->stride_of_coordinates) ||
      !rt_count(counts, level->coordinates, coordinates))
    return -1;
  return positions;
}

/* 0: an error, -1: the number of values is not known without the data. */
static int rt_check_counts(const struct rt_counts *counts) {
  const struct rt_tensor *tensor = counts->tensor;
  i64 positions = 1;
  int batched = 0;
  for (i64 l = 0; l < tensor->nlevels; ++l) {
    const i64 kind = tensor->levels[l].kind;
    batched |= kind == RT_BATCH;
    if (batched && kind != RT_BATCH && kind != RT_DENSE)
      return -1; /* each batch has positions of its own */
    positions = rt_level_positions(counts, &tensor->levels[l], positions);
    if (positions == -1)
      return 0;
    if (positions == -2)
      return -1;
  }
  if (!rt_count(counts, tensor->nfields - 1, positions))
    return 0;
  if (!counts->call->kernel->index32 || positions <= INT32_MAX || (tensor->flags & RT_DENSE_ALL))
    return 1;
  struct rt_text text = rt_begin_argument_error(counts->call, tensor, TULLE_WIDTH);
  rt_put_number(&text, positions);
  rt_put(&text, " stored entries need a format with posWidth = 64");
  rt_end_error(counts->call, &text);
  return 0;
}

/* The structure of another tensor, of which this one has values alone. */
static int rt_bind_like(struct rt_call *call, const struct rt_tensor *tensor, i64 field) {
  struct rt_array *own = &call->arrays[tensor->first + field];
  const struct rt_tensor *other = &call->kernel->tensors[tensor->like];
  const struct rt_array *its = &call->arrays[other->first + field];
  if (own->data && own->data != its->data) {
    struct rt_text text = rt_begin_argument_error(call, tensor, TULLE_INPUT);
    rt_put(&text, tensor->fields[field].name);
    rt_put(&text, ": expected the array of '");
    rt_put(&text, other->name);
    rt_put(&text, "', whose structure it has, or null");
    rt_end_error(call, &text);
    return 0;
  }
  *own = *its;
  return 1;
}

static int rt_bind_arrays(struct rt_call *call, const struct rt_tensor *tensor, const tulle_tensor *given) {
  if (given->nbuffers == 0 && !(tensor->flags & RT_INPUT))
    return 1;
  if (!(tensor->flags & RT_INPUT) && (tensor->flags & RT_MADE))
    return rt_expect(call, tensor, "buffers of a result that the kernel allocates", 0, given->nbuffers);
  if (!rt_expect(call, tensor, "nbuffers", tensor->nfields, given->nbuffers) ||
      !rt_expect(call, tensor, "buffers", 1, given->buffers != 0))
    return 0;
  for (i64 f = 0; f < tensor->nfields; ++f) {
    const tulle_buffer *buffer = &given->buffers[f];
    struct rt_array *array = &call->arrays[tensor->first + f];
    array->data = buffer->data;
    array->count = buffer->count;
    if (tensor->like >= 0 && f + 1 < tensor->nfields && !rt_bind_like(call, tensor, f))
      return 0;
    if (buffer->kind == tensor->fields[f].kind && buffer->width == tensor->fields[f].bits)
      continue;
    struct rt_text text = rt_begin_argument_error(call, tensor, TULLE_INPUT);
    rt_put(&text, tensor->fields[f].name);
    rt_put_expected(&text, ": kind", tensor->fields[f].kind, buffer->kind);
    rt_put_expected(&text, "; width", tensor->fields[f].bits, buffer->width);
    rt_end_error(call, &text);
    return 0;
  }
  call->present[tensor - call->kernel->tensors] = 1;
  const struct rt_counts counts = {call, tensor, 0};
  return rt_check_counts(&counts);
}

static int rt_overlap(const struct rt_tensor *a, const struct rt_array *x, i64 f, const struct rt_tensor *b,
                      const struct rt_array *y, i64 g) {
  const uintptr_t from = (uintptr_t)x->data, other = (uintptr_t)y->data;
  const uint64_t bytes = (uint64_t)(x->count * a->fields[f].bits + 7) / 8,
                 others = (uint64_t)(y->count * b->fields[g].bits + 7) / 8;
  return from && other && bytes && others && from < other + others && other < from + bytes;
}

/* Generated code takes what is written to be apart from all else. */
static int rt_apart(struct rt_call *call) {
  const struct rt_kernel *kernel = call->kernel;
  for (i64 p = 0; p < kernel->nparameters; ++p) {
    const struct rt_tensor *result = &kernel->tensors[kernel->parameters[p]];
    const i64 values = result->nfields - 1;
    for (i64 q = 0; q < kernel->nparameters && (result->flags & RT_RESULT); ++q) {
      const struct rt_tensor *other = &kernel->tensors[kernel->parameters[q]];
      for (i64 f = 0; f < other->nfields && call->present[kernel->parameters[p]]; ++f) {
        if ((q == p && f == values) || !call->present[kernel->parameters[q]] ||
            !rt_overlap(result, &call->arrays[result->first + values], values, other,
                        &call->arrays[other->first + f], f))
          continue;
        struct rt_text text = rt_begin_argument_error(call, result, TULLE_INPUT);
        rt_put(&text, "its values are in memory that an array of '");
        rt_put(&text, other->name);
        rt_put(&text, "' has; give it memory of its own");
        rt_end_error(call, &text);
        return 0;
      }
    }
  }
  return 1;
}

static int rt_bind(struct rt_call *call, tulle_tensor *const *given) {
  const struct rt_kernel *kernel = call->kernel;
  for (i64 results = 0; results < 2; ++results)
    for (i64 p = 0; p < kernel->nparameters; ++p) {
      const struct rt_tensor *tensor = &kernel->tensors[kernel->parameters[p]];
      if (((tensor->flags & RT_INPUT) == 0) == results && !rt_bind_sizes(call, tensor, given[p]))
        return 0;
    }
  if (!rt_know_sizes(call))
    return 0;
  for (i64 like = 0; like < 2; ++like)
    for (i64 p = 0; p < kernel->nparameters; ++p) {
      const struct rt_tensor *tensor = &kernel->tensors[kernel->parameters[p]];
      if ((tensor->like >= 0) == like && !rt_bind_arrays(call, tensor, given[p]))
        return 0;
    }
  return rt_apart(call);
}

/* Sizes that are not fixed, then the arrays of each parameter, in order: pointers as 8-byte words. Of a result,
   or a tensor with another's structure, its values alone. */
static int rt_bind_raw(struct rt_call *call, const i64 *words) {
  const struct rt_kernel *kernel = call->kernel;
  for (i64 s = 0; s < kernel->nsizes; ++s)
    if (kernel->sizes[s].fixed < 0)
      call->sizes[s] = *words++;
  if (!rt_know_sizes(call))
    return 0;
  for (i64 p = 0; p < kernel->nparameters; ++p) {
    const struct rt_tensor *tensor = &kernel->tensors[kernel->parameters[p]];
    for (i64 f = 0; f < tensor->nfields; ++f) {
      if (f + 1 < tensor->nfields && (tensor->like >= 0 || !(tensor->flags & RT_INPUT)))
        call->arrays[tensor->first + f] = call->arrays[kernel->tensors[tensor->like].first + f];
      else
        call->arrays[tensor->first + f].data = (void *)*words++;
    }
    call->present[kernel->parameters[p]] = 1;
    const struct rt_counts counts = {call, tensor, 1};
    if (!rt_check_counts(&counts))
      return 0;
  }
  return rt_apart(call);
}
