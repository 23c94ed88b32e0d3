/* What is within the arrays of an input, looked at entry by entry: positions ascend, coordinates lie within their
   level and ascend where the format says so. */

/* A level with segments, or groups of n, and the singletons below it, which have a coordinate for each of its
   positions. */
struct rt_run {
  struct rt_call *call;
  const struct rt_tensor *tensor;
  i64 from, to; /* levels, the last one included */
};

static i64 rt_coordinate(const struct rt_run *run, i64 l, i64 position) {
  const struct rt_level *level = &run->tensor->levels[l];
  return rt_read(&run->call->arrays[run->tensor->first + level->coordinates],
                 run->tensor->fields[level->coordinates].bits,
                 position * level->stride_of_coordinates + level->offset_of_coordinates);
}

static int rt_fail_at(const struct rt_run *run, i64 l, i64 position, const char *what) {
  const struct rt_level *level = &run->tensor->levels[l];
  struct rt_text text = rt_begin_argument_error(run->call, run->tensor, TULLE_INPUT);
  rt_put(&text, run->tensor->fields[level->coordinates].name);
  rt_put(&text, ": coordinate ");
  rt_put_number(&text, rt_coordinate(run, l, position));
  rt_put(&text, " at position ");
  rt_put_number(&text, position);
  rt_put(&text, what);
  rt_end_error(run->call, &text);
  return 0;
}

/* Whether the coordinates at a position come behind those at the one before. */
static int rt_ascends(const struct rt_run *run, i64 position) {
  for (i64 l = run->from; l <= run->to; ++l) {
    const i64 before = rt_coordinate(run, l, position - 1), here = rt_coordinate(run, l, position);
    if (!(run->tensor->levels[l].flags & RT_ORDERED))
      return 1;
    if (before != here)
      return before < here ? 1 : rt_fail_at(run, l, position, " is less than the one before it");
  }
  return !(run->tensor->levels[run->to].flags & RT_UNIQUE)
             ? 1
             : rt_fail_at(run, run->to, position, " is stored twice");
}

static int rt_check_position(const struct rt_run *run, i64 position, int first) {
  for (i64 l = run->from; l <= run->to; ++l) {
    const struct rt_level *level = &run->tensor->levels[l];
    if (level->dim >= 0 &&
        (uint64_t)rt_coordinate(run, l, position) >= (uint64_t)rt_level_size(run->call, run->tensor, level))
      return rt_fail_at(run, l, position, " is not below the size of its level");
  }
  return first || rt_ascends(run, position);
}

/* Positions of the level below `parents` ones; -1: an error. */
static i64 rt_check_run(const struct rt_run *run, i64 parents) {
  const struct rt_level *level = &run->tensor->levels[run->from];
  const struct rt_array *positions = level->positions < 0 ? 0 : &run->call->arrays[run->tensor->first + level->positions];
  i64 begin = 0;
  for (i64 parent = 0; parent < parents; ++parent) {
    const i64 bits = positions ? run->tensor->fields[level->positions].bits : 0;
    const i64 end = positions ? rt_read(positions, bits, parent + 1) : begin + level->n;
    if (positions && (end < begin || rt_read(positions, bits, parent) != begin)) {
      struct rt_text text = rt_begin_argument_error(run->call, run->tensor, TULLE_INPUT);
      rt_put(&text, run->tensor->fields[level->positions].name);
      rt_put(&text, ": must begin with 0 and not descend; wrong below parent ");
      rt_put_number(&text, parent);
      rt_end_error(run->call, &text);
      return -1;
    }
    for (i64 q = begin; q < end && level->coordinates >= 0; ++q)
      if (!rt_check_position(run, q, q == begin))
        return -1;
    begin = end;
  }
  return begin;
}

/* Levels up to the first whose kind has no check. */
static int rt_check_levels(struct rt_call *call, const struct rt_tensor *tensor) {
  const struct rt_counts counts = {call, tensor, 0};
  i64 parents = 1;
  for (i64 l = 0; l < tensor->nlevels; ++l) {
    const i64 kind = tensor->levels[l].kind;
    if (kind == RT_DENSE) {
      parents = rt_level_positions(&counts, &tensor->levels[l], parents);
    } else if (kind == RT_COMPRESSED || kind == RT_RAGGED || kind == RT_STRUCTURED) {
      struct rt_run run = {call, tensor, l, l};
      while (run.to + 1 < tensor->nlevels && tensor->levels[run.to + 1].kind == RT_SINGLETON &&
             !(tensor->levels[run.to + 1].flags & RT_PADDED))
        ++run.to;
      parents = rt_check_run(&run, parents);
      l = run.to;
    } else {
      return 1;
    }
    if (parents < 0)
      return parents != -1;
  }
  return 1;
}

int tulle_rt_1_check(const struct rt_kernel *kernel, tulle_tensor *const *given, char *error, size_t error_size,
                     void *frame) {
  struct rt_call call;
  tulle_runtime runtime;
  __builtin_memset(&runtime, 0, sizeof runtime);
  runtime.error = error;
  runtime.error_size = error_size;
  rt_begin(&call, kernel, &runtime, frame);
  int good = 1;
  for (i64 like = 0; like < 2; ++like)
    for (i64 p = 0; good && p < kernel->nparameters; ++p) {
      const struct rt_tensor *tensor = &kernel->tensors[kernel->parameters[p]];
      if ((tensor->flags & RT_INPUT) && (tensor->like >= 0) == like)
        good = rt_bind_sizes(&call, tensor, given[p]) && rt_bind_arrays(&call, tensor, given[p]);
    }
  for (i64 p = 0; good && p < kernel->nparameters; ++p)
    if (kernel->tensors[kernel->parameters[p]].flags & RT_INPUT)
      good = rt_check_levels(&call, &kernel->tensors[kernel->parameters[p]]);
  return good ? TULLE_OK : call.code;
}
