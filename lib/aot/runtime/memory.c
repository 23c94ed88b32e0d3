/* Memory of a call: blocks in a list, all of which are freed when it ends, but for those of results. */
enum { RT_ALIGNMENT = 64, RT_LARGE = 1 << 19, RT_HUGE_PAGE = 1 << 21 };

int posix_memalign(void **data, size_t alignment, size_t bytes);
int madvise(void *data, size_t bytes, int advice);
void free(void *data);
long sysconf(int name);

/* Large blocks given back last: memory that the system gives anew is cleared again, page by page, which is up to
   a fifth of the time of a sum of two matrices. Who does not get the lock goes without, so that nobody waits,
   a process that was forked while it was held included. */
enum { RT_KEPT = 16 };
static struct {
  int lock;
  i64 count, bytes;
  struct {
    void *raw;
    i64 bytes;
  } blocks[RT_KEPT];
} rt_kept;

static int rt_try_kept(void) { return !__atomic_exchange_n(&rt_kept.lock, 1, __ATOMIC_ACQUIRE); }
static void rt_leave_kept(void) { __atomic_store_n(&rt_kept.lock, 0, __ATOMIC_RELEASE); }

static i64 rt_machine_bytes(void) {
  enum { PAGE_SIZE = 30, PHYSICAL_PAGES = 85 }; /* of sysconf, on Linux */
  const i64 page = sysconf(PAGE_SIZE), pages = sysconf(PHYSICAL_PAGES);
  return page <= 0 || pages <= 0 ? INT64_MAX : page * pages;
}

/* How much a kernel keeps at most. */
static i64 rt_most_kept(void) {
  const i64 most = (i64)256 << 20, share = rt_machine_bytes() / 16;
  return share < most ? share : most;
}

static void *rt_remove_kept(i64 at) {
  void *raw = rt_kept.blocks[at].raw;
  rt_kept.bytes -= rt_kept.blocks[at].bytes;
  rt_kept.count--;
  __builtin_memmove(&rt_kept.blocks[at], &rt_kept.blocks[at + 1],
                    (size_t)(rt_kept.count - at) * sizeof rt_kept.blocks[0]);
  return raw;
}

/* The smallest block that is large enough and wastes little; null: there is none. */
static void *rt_take_kept(i64 *bytes) {
  if (*bytes < RT_LARGE || !rt_try_kept())
    return 0;
  i64 best = -1, least = *bytes + *bytes / 4 + RT_HUGE_PAGE;
  for (i64 k = 0; k < rt_kept.count; ++k)
    if (rt_kept.blocks[k].bytes >= *bytes && rt_kept.blocks[k].bytes <= least)
      best = k, least = rt_kept.blocks[k].bytes;
  void *raw = best < 0 ? 0 : rt_remove_kept(best);
  if (raw)
    *bytes = least;
  rt_leave_kept();
  return raw;
}

/* Whether the block is kept; the oldest make room. */
static int rt_keep_block(void *raw, i64 bytes) {
  const i64 most = bytes < RT_LARGE ? 0 : rt_most_kept();
  if (bytes > most || !rt_try_kept())
    return 0;
  while (rt_kept.count == RT_KEPT || rt_kept.bytes + bytes > most)
    free(rt_remove_kept(0));
  rt_kept.blocks[rt_kept.count].raw = raw;
  rt_kept.blocks[rt_kept.count++].bytes = bytes;
  rt_kept.bytes += bytes;
  rt_leave_kept();
  return 1;
}

/* When the process ends or the library is unloaded. The lock stays held: what comes later is freed. */
__attribute__((destructor)) static void rt_free_kept(void) {
  if (rt_try_kept())
    while (rt_kept.count > 0)
      free(rt_remove_kept(0));
}

/* `bytes` becomes what the block has, which its first word says, too. */
static void *rt_raw_alloc(const tulle_runtime *runtime, i64 *bytes) {
  if (runtime && runtime->alloc)
    return runtime->alloc(runtime->user, (size_t)*bytes, RT_ALIGNMENT);
  void *data = rt_take_kept(bytes);
  if (!data && posix_memalign(&data, *bytes < RT_HUGE_PAGE ? RT_ALIGNMENT : RT_HUGE_PAGE, (size_t)*bytes) != 0)
    return 0;
  if (*bytes >= RT_HUGE_PAGE) {
    enum { HUGE_PAGES = 14 }; /* of madvise, on Linux; a refusal is harmless */
    (void)madvise(data, (size_t)*bytes & ~(size_t)(RT_HUGE_PAGE - 1), HUGE_PAGES);
  }
  *(i64 *)data = *bytes;
  return data;
}

static void rt_raw_free(const tulle_runtime *runtime, void *data) {
  if (!runtime || !runtime->alloc) {
    if (!rt_keep_block(data, *(const i64 *)data))
      free(data);
  } else if (runtime->free) {
    runtime->free(runtime->user, data);
  }
}

/* Whether the machine has so much memory at all; the system grants more. */
static int rt_fits(i64 bytes) { return bytes >= 0 && bytes < rt_machine_bytes(); }

/* Null, with the error set, where there is no memory. A block is 64-byte aligned; large ones start at different
   distances from a page, since processors compare the low 12 bits of addresses (experiments 025). */
static void *rt_allocate(struct rt_call *call, uint64_t bytes) {
  struct rt_block *block = 0;
  const int fits = bytes < (uint64_t)INT64_MAX / 2 && rt_fits((i64)bytes);
  rt_lock(call);
  const i64 distance = bytes < RT_LARGE ? 0 : (1 + call->nblocks % 16) * 13 * RT_ALIGNMENT;
  rt_unlock(call);
  i64 all = fits ? (i64)bytes + distance + (i64)sizeof(struct rt_block) : 0;
  char *raw = fits ? rt_raw_alloc(call->runtime, &all) : 0;
  if (!raw) {
    struct rt_text text = rt_begin_error(call, TULLE_MEMORY);
    rt_put_result(&text, call);
    rt_put(&text, " needs ");
    rt_put_number(&text, (i64)(bytes > INT64_MAX ? INT64_MAX : bytes));
    rt_put(&text, " bytes, which there are not; use a sparser format or smaller sizes");
    rt_end_error(call, &text);
    return 0;
  }
  block = (struct rt_block *)(raw + distance);
  block->all = all;
  block->raw = raw;
  block->data = (char *)(block + 1);
  block->bytes = (i64)bytes;
  rt_lock(call);
  block->next = call->blocks;
  call->blocks = block;
  call->nblocks++;
  rt_unlock(call);
  return block->data;
}

/* Takes the block that holds `data` out of the list; null where none does. */
static struct rt_block *rt_take(struct rt_call *call, const void *data) {
  const uintptr_t wanted = (uintptr_t)data;
  rt_lock(call);
  struct rt_block **link = &call->blocks;
  while (*link && !(wanted >= (uintptr_t)(*link)->data &&
                    wanted < (uintptr_t)(*link)->data + (uint64_t)((*link)->bytes ? (*link)->bytes : 1)))
    link = &(*link)->next;
  struct rt_block *block = *link;
  if (block)
    *link = block->next;
  rt_unlock(call);
  return block;
}

static void rt_give(struct rt_call *call, void *data) {
  struct rt_block *block = data ? rt_take(call, data) : 0;
  if (block)
    rt_raw_free(call->runtime, block->raw);
}

static void rt_free_all(struct rt_call *call) {
  while (call->blocks) {
    struct rt_block *block = call->blocks;
    call->blocks = block->next;
    rt_raw_free(call->runtime, block->raw);
  }
}

static void rt_copy(void *to, const void *from, i64 bytes) {
  __builtin_memcpy(to, from, (size_t)bytes);
}

static void rt_fill(char *data, i64 count, i64 width, i64 bits) {
  if (bits == 0) {
    __builtin_memset(data, 0, (size_t)(count * width));
    return;
  }
  for (i64 k = 0; k < count; ++k)
    switch (width) {
    case 1:
      ((uint8_t *)data)[k] = (uint8_t)bits;
      break;
    case 2:
      ((uint16_t *)data)[k] = (uint16_t)bits;
      break;
    case 4:
      ((uint32_t *)data)[k] = (uint32_t)bits;
      break;
    default:
      ((uint64_t *)data)[k] = (uint64_t)bits;
    }
}
