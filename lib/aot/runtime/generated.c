/* What generated code calls (HACKING.md, contract 5). Errors leave it by longjmp to where the call, or the part
   of a parallel region, began: its frames hold nothing to destroy, and no frame of the caller is between. */
int _setjmp(void *target) __attribute__((returns_twice));
void _longjmp(void *target, int value) __attribute__((noreturn));

static _Thread_local struct rt_exit *rt_innermost;

static struct rt_call *rt_current(void) { return rt_innermost->call; }
static __attribute__((noreturn)) void rt_leave(void) { _longjmp(rt_innermost->target, 1); }

/* Whether `task` came to its end. */
static __attribute__((noinline)) int rt_run(struct rt_call *call, int worker, void (*task)(void *, i64),
                                            void *context, i64 number) {
  struct rt_exit exit;
  exit.call = call;
  exit.outer = rt_innermost;
  exit.worker = worker;
  rt_innermost = &exit;
  int came = 0;
  if (_setjmp(exit.target) == 0) {
    task(context, number);
    came = 1;
  }
  rt_innermost = exit.outer;
  return came;
}

void *_mlir_memref_to_llvm_alloc(uint64_t bytes) {
  void *data = rt_allocate(rt_current(), bytes);
  if (!data)
    rt_leave();
  return data;
}

void _mlir_memref_to_llvm_free(void *data) { rt_give(rt_current(), data); }

void *tulle_allocate_filled(i64 count, i64 bytes, i64 bits) {
  i64 all;
  if (__builtin_mul_overflow(count, bytes, &all))
    all = INT64_MAX;
  void *data = _mlir_memref_to_llvm_alloc((uint64_t)all);
  rt_fill(data, count, bytes, bits);
  return data;
}

void tulle_free_filled(void *data, i64 count, i64 bytes, i64 bits) {
  (void)count, (void)bytes, (void)bits;
  rt_give(rt_current(), data);
}

i64 tulle_checked_size(i64 level, i64 parents, i64 each) {
  i64 positions;
  /* Far beyond any memory, and sixteen bytes of each still fit 64 bits. */
  if (!__builtin_mul_overflow(parents, each, &positions) && positions >= 0 && positions <= (i64)1 << 58)
    return positions;
  struct rt_call *call = rt_current();
  struct rt_text text = rt_begin_error(call, TULLE_MEMORY);
  rt_put_result(&text, call);
  rt_put(&text, " needs ");
  rt_put_number(&text, parents);
  rt_put(&text, " x ");
  rt_put_number(&text, each);
  rt_put(&text, " positions at ");
  rt_put_level(&text, call, level);
  rt_put(&text, ", more than any memory holds; use a sparser format or smaller sizes");
  rt_end_error(call, &text);
  rt_leave();
}

i64 tulle_checked_positions(i64 level, i64 parents, i64 each) {
  return tulle_checked_size(level, parents, each);
}

_Bool tulle_fits(i64 bytes) { return rt_fits(bytes) != 0; }

void tulle_making(i64 number) {
  struct rt_call *call = rt_current();
  const struct rt_step *step = &call->kernel->steps[call->step];
  if (number < step->nmade)
    call->making = step->made[number];
}

i64 tulle_ordered_scan(i64 *cell, i64 number, i64 amount) {
  struct rt_call *call = rt_current();
  while (__atomic_load_n(&cell[0], __ATOMIC_ACQUIRE) != number)
    if (__atomic_load_n(&call->failed, __ATOMIC_ACQUIRE))
      rt_leave();
  const i64 before = cell[1];
  cell[1] = before + amount;
  __atomic_store_n(&cell[0], number + 1, __ATOMIC_RELEASE);
  return before;
}

void tulle_error_width(i64 level, i64 value, i64 width) {
  struct rt_call *call = rt_current();
  struct rt_text text = rt_begin_error(call, TULLE_WIDTH);
  rt_put_result(&text, call);
  rt_put(&text, ": ");
  rt_put_level(&text, call, level);
  rt_put(&text, ": coordinate or position ");
  rt_put_number(&text, value);
  rt_put(&text, " does not fit ");
  rt_put_number(&text, width);
  rt_put(&text, " bits; compile the kernel with a wider posWidth or crdWidth");
  rt_end_error(call, &text);
  rt_leave();
}

void tulle_error_declared(i64 level, i64 fault, i64 parent, i64 value) {
  struct rt_call *call = rt_current();
  struct rt_text text = rt_begin_error(call, TULLE_INPUT);
  (void)fault;
  rt_put_result(&text, call);
  rt_put(&text, ": ");
  rt_put_level(&text, call, level);
  rt_put(&text, ": its declaration contradicts itself below position ");
  rt_put_number(&text, parent);
  rt_put(&text, ", at ");
  rt_put_number(&text, value);
  rt_end_error(call, &text);
  rt_leave();
}

void tulle_error_group(i64 level, i64 parent, i64 found, i64 most) {
  struct rt_call *call = rt_current();
  struct rt_text text = rt_begin_error(call, TULLE_INPUT);
  rt_put_result(&text, call);
  rt_put(&text, ": ");
  rt_put_level(&text, call, level);
  if (found < most) {
    rt_put(&text, ": the last group's ");
  } else {
    rt_put(&text, ": the group below position ");
    rt_put_number(&text, parent);
    rt_put(&text, " has ");
  }
  rt_put_number(&text, found);
  rt_put(&text, found < most ? " coordinates are fewer than " : " entries, this level holds at most ");
  rt_put_number(&text, most);
  rt_put(&text, "; use compressed instead");
  rt_end_error(call, &text);
  rt_leave();
}

static void rt_put_numbers(struct rt_text *text, const i64 *numbers, i64 count) {
  for (i64 k = 0; k < count; ++k) {
    rt_put(text, k ? ", " : "");
    rt_put_number(text, numbers[k]);
  }
}

static struct rt_text rt_begin_index_error(struct rt_call *call, const char *words, i64 length,
                                           const i64 *coordinates, i64 rank, i64 value) {
  struct rt_text text = rt_begin_error(call, TULLE_INPUT);
  rt_put(&text, "'");
  rt_put_some(&text, words, length);
  rt_put(&text, "' is ");
  rt_put_number(&text, value);
  rt_put(&text, " at (");
  rt_put_numbers(&text, coordinates, rank);
  return text;
}

void tulle_error_index(const char *words, i64 length, const i64 *coordinates, i64 rank, i64 value, i64 size) {
  struct rt_call *call = rt_current();
  struct rt_text text = rt_begin_index_error(call, words, length, coordinates, rank, value);
  rt_put(&text, "), which is no coordinate below ");
  rt_put_number(&text, size);
  rt_end_error(call, &text);
  rt_leave();
}

void tulle_error_repeated(const char *words, i64 length, const i64 *coordinates, i64 rank, i64 value,
                          i64 size) {
  (void)size;
  struct rt_call *call = rt_current();
  struct rt_text text = rt_begin_index_error(call, words, length, coordinates, rank, value);
  rt_put(&text, "), and at a place before: each coordinate is given once");
  rt_end_error(call, &text);
  rt_leave();
}

void tulle_error_repeated_place(const char *words, i64 length, const i64 *coordinates, i64 rank,
                                const i64 *values, i64 count) {
  struct rt_call *call = rt_current();
  struct rt_text text = rt_begin_error(call, TULLE_INPUT);
  rt_put(&text, "'");
  rt_put_some(&text, words, length);
  rt_put(&text, "' is (");
  rt_put_numbers(&text, values, count);
  rt_put(&text, ") at (");
  rt_put_numbers(&text, coordinates, rank);
  rt_put(&text, "), and at a place before: each element is given once");
  rt_end_error(call, &text);
  rt_leave();
}

/* Rounding to bf16, on processors without an instruction for it; compilers' libraries have it since GCC 13. */
float __truncsfbf2(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  const int is_nan = (bits & 0x7fffffff) > 0x7f800000;
  const uint32_t narrow = is_nan ? (bits >> 16) | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  __builtin_memcpy(&x, &narrow, 4);
  return x;
}

float __truncdfbf2(double x) {
  float f = (float)x;
  uint32_t bits;
  __builtin_memcpy(&bits, &f, 4);
  /* Rounding to odd first keeps the second rounding exact. */
  if ((double)f != x && x == x && !(bits & 1))
    bits += __builtin_fabs((double)f) < __builtin_fabs(x) ? 1u : ~0u;
  __builtin_memcpy(&f, &bits, 4);
  return __truncsfbf2(f);
}
