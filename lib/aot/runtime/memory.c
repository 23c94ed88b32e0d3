/* Memory of a call: blocks in a list, all of which are freed when it ends, but for those of results. */
enum { RT_ALIGNMENT = 64, RT_LARGE = 1 << 19, RT_HUGE_PAGE = 1 << 21 };

int posix_memalign(void **data, size_t alignment, size_t bytes);
int madvise(void *data, size_t bytes, int advice);
void free(void *data);
long sysconf(int name);

static void *rt_raw_alloc(const tulle_runtime *runtime, size_t bytes) {
  void *data = 0;
  if (runtime && runtime->alloc)
    return runtime->alloc(runtime->user, bytes, RT_ALIGNMENT);
  if (posix_memalign(&data, bytes < RT_HUGE_PAGE ? RT_ALIGNMENT : RT_HUGE_PAGE, bytes) != 0)
    return 0;
  if (bytes >= RT_HUGE_PAGE) {
    enum { HUGE_PAGES = 14 }; /* of madvise, on Linux; a refusal is harmless */
    (void)madvise(data, bytes & ~(size_t)(RT_HUGE_PAGE - 1), HUGE_PAGES);
  }
  return data;
}

static void rt_raw_free(const tulle_runtime *runtime, void *data) {
  if (!runtime || !runtime->alloc)
    free(data);
  else if (runtime->free)
    runtime->free(runtime->user, data);
}

/* Whether the machine has so much memory at all; the system grants more. */
static int rt_fits(i64 bytes) {
  enum { PAGE_SIZE = 30, PHYSICAL_PAGES = 85 }; /* of sysconf, on Linux */
  const i64 page = sysconf(PAGE_SIZE), pages = sysconf(PHYSICAL_PAGES);
  return bytes >= 0 && (page <= 0 || pages <= 0 || bytes / page < pages);
}

/* Null, with the error set, where there is no memory. A block is 64-byte aligned; large ones start at different
   distances from a page, since processors compare the low 12 bits of addresses (experiments 025). */
static void *rt_allocate(struct rt_call *call, uint64_t bytes) {
  struct rt_block *block = 0;
  const int fits = bytes < (uint64_t)INT64_MAX / 2 && rt_fits((i64)bytes);
  rt_lock(call);
  const i64 distance = bytes < RT_LARGE ? 0 : (1 + call->nblocks % 16) * 13 * RT_ALIGNMENT;
  rt_unlock(call);
  char *raw = fits ? rt_raw_alloc(call->runtime, bytes + (uint64_t)distance + sizeof(struct rt_block)) : 0;
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
