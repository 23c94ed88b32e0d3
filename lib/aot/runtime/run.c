/* The steps of a kernel, and what comes back. */

/* New memory for the values of a dense tensor, zero, or for those of one with the structure of `pattern`. */
static int rt_allocate_values(struct rt_call *call, const struct rt_tensor *tensor,
                              const struct rt_tensor *pattern) {
  const i64 values = tensor->nfields - 1;
  struct rt_array *array = &call->arrays[tensor->first + values];
  char placeholder;
  const i64 was = call->making;
  call->making = tensor - call->kernel->tensors;
  array->data = &placeholder; /* counts are derived before there is memory */
  const struct rt_counts counts = {call, tensor, 1};
  i64 bytes = 0;
  const int good = rt_check_counts(&counts);
  if (good < 0) /* the same levels, then */
    array->count = call->arrays[pattern->first + pattern->nfields - 1].count;
  array->data = 0;
  if (good && __builtin_mul_overflow(array->count, tensor->fields[values].bits / 8, &bytes))
    bytes = INT64_MAX;
  if (good)
    array->data = rt_allocate(call, (uint64_t)bytes);
  if (array->data)
    __builtin_memset(array->data, 0, (size_t)bytes);
  call->making = was;
  return array->data != 0;
}

/* The memory of a tensor that a step writes to. */
static int rt_place(struct rt_call *call, const struct rt_argument *argument) {
  const struct rt_tensor *tensor = &call->kernel->tensors[argument->tensor], *pattern = 0;
  i64 *present = &call->present[argument->tensor];
  if (argument->pattern >= 0) {
    pattern = &call->kernel->tensors[argument->pattern];
    int same = *present != 0;
    for (i64 f = 0; f + 1 < tensor->nfields; ++f)
      same = same && call->arrays[tensor->first + f].data == call->arrays[pattern->first + f].data;
    if (*present && !same && *present == 1) {
      struct rt_text text = rt_begin_argument_error(call, tensor, TULLE_INPUT);
      rt_put(&text, "expected the positions and coordinates of '");
      rt_put(&text, pattern->name);
      rt_put(&text, "', whose structure the result has, or an empty tensor");
      rt_end_error(call, &text);
      return 0;
    }
    if (same)
      return 1;
    for (i64 f = 0; f + 1 < tensor->nfields; ++f)
      call->arrays[tensor->first + f] = call->arrays[pattern->first + f];
  } else if (*present) {
    return 1;
  }
  *present = 2; /* the run time's own */
  return rt_allocate_values(call, tensor, pattern);
}

/* Of an argument whose memory this step writes: its values as they are before. Null: no memory. */
static void *rt_keep(struct rt_call *call, const struct rt_tensor *tensor) {
  const i64 values = tensor->nfields - 1;
  const struct rt_array *array = &call->arrays[tensor->first + values];
  const i64 bytes = array->count * (tensor->fields[values].bits / 8);
  void *copy = rt_allocate(call, (uint64_t)bytes);
  if (copy)
    rt_copy(copy, array->data, bytes);
  return copy;
}

static int rt_writes(const struct rt_step *step, i64 tensor) {
  for (i64 a = 0; a < step->nargs; ++a)
    if (step->args[a].result && step->args[a].tensor == tensor)
      return 1;
  return 0;
}

/* Five slots for each array (data, data, 0, count, 1), then one for each size. Null: an error. */
static void **rt_lay_out(struct rt_call *call, void **slot, const struct rt_tensor *tensor, void *values) {
  for (i64 f = 0; f < tensor->nfields; ++f) {
    const struct rt_array *array = &call->arrays[tensor->first + f];
    void *data = values && f + 1 == tensor->nfields ? values : array->data;
    *slot++ = data;
    *slot++ = data;
    *slot++ = 0;
    *slot++ = (void *)array->count;
    *slot++ = (void *)1;
  }
  for (i64 d = 0; d < tensor->order; ++d)
    *slot++ = (void *)call->sizes[tensor->sizes[d]];
  return slot;
}

/* Gives memory back that no tensor has any more. */
static void rt_drop(struct rt_call *call, void *data) {
  for (i64 f = 0; f < call->kernel->nfields; ++f)
    if (call->arrays[f].data == data)
      return;
  rt_give(call, data);
}

struct rt_step_call {
  rt_entry entry;
  void **slots;
};

static void rt_enter(void *context, i64 number) {
  (void)number;
  const struct rt_step_call *step = context;
  step->entry(step->slots);
}

/* The arrays of the new tensors take the place of the old ones. */
static void rt_adopt(struct rt_call *call, const struct rt_step *step, void **slot) {
  for (i64 m = 0; m < step->nmade; ++m) {
    const struct rt_tensor *made = &call->kernel->tensors[step->made[m]];
    for (i64 f = 0; f < made->nfields; ++f, slot += 5) {
      void *old = call->arrays[made->first + f].data;
      call->arrays[made->first + f].data = slot[1];
      call->arrays[made->first + f].count = (i64)slot[3];
      if (call->present[step->made[m]] == 2 && old && old != slot[1])
        rt_drop(call, old);
    }
    call->present[step->made[m]] = 2;
  }
}

/* Gives the copies back that rt_keep made; those of the call's tensors stay. */
static void rt_drop_kept(struct rt_call *call, const struct rt_step *step) {
  void **slot = call->slots;
  for (i64 a = 0; a < step->nargs; ++a) {
    const struct rt_tensor *tensor = &call->kernel->tensors[step->args[a].tensor];
    const i64 values = tensor->nfields - 1;
    if (!step->args[a].result && rt_writes(step, step->args[a].tensor))
      rt_drop(call, slot[5 * values]);
    slot += 5 * tensor->nfields + tensor->order;
  }
}

static int rt_step(struct rt_call *call, const struct rt_variant *variant, i64 number) {
  const struct rt_kernel *kernel = call->kernel;
  const struct rt_step *step = &kernel->steps[number];
  call->step = number;
  call->making = step->nmade > 0 ? step->made[0] : step->computes;
  for (i64 a = 0; a < step->nargs; ++a)
    if (step->args[a].result && !rt_place(call, &step->args[a]))
      return 0;
  void **slot = call->slots;
  for (i64 a = 0; a < step->nargs; ++a) {
    const struct rt_argument *argument = &step->args[a];
    const struct rt_tensor *tensor = &kernel->tensors[argument->tensor];
    void *values = 0;
    if (!argument->result && rt_writes(step, argument->tensor) && !(values = rt_keep(call, tensor)))
      return 0;
    slot = rt_lay_out(call, slot, tensor, values);
  }
  struct rt_step_call entered = {variant->entries[number], call->slots};
  if (!rt_run(call, 0, rt_enter, &entered, 0))
    return 0;
  rt_drop_kept(call, step);
  rt_adopt(call, step, slot);
  return 1;
}

/* Steps [begin, end), those of the loops from number `loop` on again and again: a loop stands before those
   within it. */
static int rt_steps(struct rt_call *call, const struct rt_variant *variant, i64 begin, i64 end, i64 loop) {
  const struct rt_kernel *kernel = call->kernel;
  while (begin < end) {
    while (loop < kernel->nloops && kernel->loops[loop].begin < begin)
      ++loop;
    const struct rt_loop *next = loop < kernel->nloops ? &kernel->loops[loop] : 0;
    if (!next || next->begin != begin || next->end > end) {
      if (!rt_step(call, variant, begin++))
        return 0;
      continue;
    }
    int ended = 0;
    for (i64 round = 0; round < next->most && !ended; ++round) {
      if (!rt_steps(call, variant, next->begin, next->end, loop + 1))
        return 0;
      if (next->until >= 0) {
        const struct rt_tensor *tensor = &kernel->tensors[next->until];
        ended = *(const char *)call->arrays[tensor->first + tensor->nfields - 1].data != 0;
      }
    }
    begin = next->end;
    ++loop;
  }
  return 1;
}

/*===--- Results ---===*/

/* What the memory of a result belongs to. */
struct rt_owner {
  tulle_runtime runtime;
  void *raw;
  i64 nblocks;
  void *blocks[];
};

static void rt_release(void *pointer) {
  struct rt_owner *owner = pointer;
  const tulle_runtime runtime = owner->runtime;
  for (i64 k = 0; k < owner->nblocks; ++k)
    rt_raw_free(&runtime, owner->blocks[k]);
  rt_raw_free(&runtime, owner->raw);
}

/* An array of a result in memory of its own: the block that has it, or a copy. */
static int rt_own(struct rt_call *call, struct rt_owner *owner, const struct rt_tensor *tensor, i64 f) {
  struct rt_array *array = &call->arrays[tensor->first + f];
  if (tensor->fields[f].implied)
    return 1;
  struct rt_block *block = array->data ? rt_take(call, array->data) : 0;
  if (!block) {
    const i64 bytes = (array->count * tensor->fields[f].bits + 7) / 8;
    void *copy = rt_allocate(call, (uint64_t)bytes);
    if (!copy)
      return 0;
    rt_copy(copy, array->data, bytes);
    array->data = copy;
    block = rt_take(call, copy);
  }
  owner->blocks[owner->nblocks++] = block->raw;
  return 1;
}

static int rt_export(struct rt_call *call, const struct rt_tensor *tensor, tulle_tensor *into) {
  const i64 n = tensor->nfields;
  const size_t bytes = sizeof(struct rt_owner) + (size_t)n * (sizeof(void *) + sizeof(tulle_buffer)) +
                       (size_t)tensor->order * sizeof(i64);
  struct rt_owner *owner = rt_allocate(call, bytes);
  if (!owner)
    return 0;
  tulle_buffer *buffers = (tulle_buffer *)&owner->blocks[n];
  i64 *dims = (i64 *)&buffers[n];
  owner->raw = rt_take(call, owner)->raw;
  owner->nblocks = 0;
  __builtin_memset(&owner->runtime, 0, sizeof owner->runtime);
  if (call->runtime)
    owner->runtime = *call->runtime;
  for (i64 f = 0; f < n; ++f) {
    if (!rt_own(call, owner, tensor, f)) {
      rt_release(owner);
      return 0;
    }
    const struct rt_array *array = &call->arrays[tensor->first + f];
    buffers[f].data = tensor->fields[f].implied ? 0 : array->data;
    buffers[f].count = array->count;
    buffers[f].width = (int32_t)tensor->fields[f].bits;
    buffers[f].kind = (int32_t)tensor->fields[f].kind;
  }
  for (i64 d = 0; d < tensor->order; ++d)
    dims[d] = call->sizes[tensor->sizes[d]];
  into->abi = 1;
  into->order = (uint32_t)tensor->order;
  into->levels = (uint32_t)tensor->nlevels;
  into->nbuffers = (uint32_t)n;
  into->dims = dims;
  into->buffers = buffers;
  into->release = rt_release;
  into->owner = owner;
  return 1;
}

/* Gives the caller all results that the run time made, or none. */
static int rt_publish(struct rt_call *call, tulle_tensor *const *given, tulle_tensor *made) {
  const struct rt_kernel *kernel = call->kernel;
  int good = 1;
  i64 last = 0;
  for (; good && last < kernel->nparameters; ++last) {
    const i64 t = kernel->parameters[last];
    made[last].owner = 0;
    good = call->present[t] != 2 || rt_export(call, &kernel->tensors[t], &made[last]);
  }
  for (i64 p = 0; p < last; ++p) {
    if (call->present[kernel->parameters[p]] != 2)
      continue;
    if (!good) {
      if (made[p].owner)
        rt_release(made[p].owner);
      continue;
    }
    if ((kernel->tensors[kernel->parameters[p]].flags & RT_INPUT) && given[p]->release)
      given[p]->release(given[p]->owner); /* what the new value replaces */
    *given[p] = made[p];
  }
  return good;
}

/*===--- The call ---===*/

/* `frame`: words for sizes, arrays (two each), presence of tensors, new results (six each), and slots. */
static void rt_begin(struct rt_call *call, const struct rt_kernel *kernel, const tulle_runtime *runtime,
                     void *frame) {
  __builtin_memset(call, 0, sizeof *call);
  call->kernel = kernel;
  call->runtime = runtime;
  call->sizes = frame;
  call->arrays = (struct rt_array *)(call->sizes + kernel->nsizes);
  call->present = (i64 *)(call->arrays + kernel->nfields);
  call->slots = (void **)(call->present + kernel->ntensors + 6 * kernel->nparameters);
  for (i64 s = 0; s < kernel->nsizes; ++s)
    call->sizes[s] = kernel->sizes[s].fixed;
  __builtin_memset(call->arrays, 0, (size_t)kernel->nfields * sizeof *call->arrays);
  __builtin_memset(call->present, 0, (size_t)kernel->ntensors * sizeof *call->present);
  if (runtime && runtime->error && runtime->error_size > 0)
    runtime->error[0] = 0;
}

static const struct rt_variant *rt_variant_for(struct rt_call *call) {
  const struct rt_variant *variant = rt_choose(call->kernel);
  if (variant)
    return variant;
  struct rt_text text = rt_begin_error(call, TULLE_CPU);
  rt_put(&text, "this processor lacks instructions of ");
  rt_put(&text, call->kernel->variants[0].march);
  rt_put(&text, ", the least that the kernel was compiled for");
  rt_end_error(call, &text);
  return 0;
}

int tulle_rt_1_call(const struct rt_kernel *kernel, tulle_tensor *const *given, const tulle_runtime *runtime,
                    void *frame) {
  struct rt_call call;
  rt_begin(&call, kernel, runtime, frame);
  const struct rt_variant *variant = rt_variant_for(&call);
  const int good = variant && rt_bind(&call, given) && rt_steps(&call, variant, 0, kernel->nsteps, 0) &&
                   rt_publish(&call, given, (tulle_tensor *)(call.present + kernel->ntensors));
  rt_free_all(&call);
  return good ? TULLE_OK : call.code;
}

int tulle_rt_1_raw(const struct rt_kernel *kernel, const i64 *words, void *frame) {
  struct rt_call call;
  rt_begin(&call, kernel, 0, frame);
  const struct rt_variant *variant = rt_variant_for(&call);
  const int good = variant && rt_bind_raw(&call, words) && rt_steps(&call, variant, 0, kernel->nsteps, 0);
  rt_free_all(&call);
  return good ? TULLE_OK : call.code;
}
