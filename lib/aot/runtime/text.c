/* Messages. A text that is longer than its memory is cut. */
static void rt_put(struct rt_text *text, const char *words) {
  while (*words && text->at < text->end)
    *text->at++ = *words++;
}

static void rt_put_some(struct rt_text *text, const char *words, i64 count) {
  while (count-- > 0 && text->at < text->end)
    *text->at++ = *words++;
}

static void rt_put_number(struct rt_text *text, i64 number) {
  char digits[20];
  int count = 0;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do
    digits[count++] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0)
    rt_put(text, "-");
  while (count > 0)
    rt_put_some(text, &digits[--count], 1);
}

static void rt_lock(struct rt_call *call) {
  while (__atomic_exchange_n(&call->lock, 1, __ATOMIC_ACQUIRE))
    ;
}
static void rt_unlock(struct rt_call *call) { __atomic_store_n(&call->lock, 0, __ATOMIC_RELEASE); }

/* The beginning of a message, of the first error alone: where its text is null, there was one before. */
static struct rt_text rt_begin_error(struct rt_call *call, int code) {
  struct rt_text text = {0, 0};
  rt_lock(call);
  if (!call->failed) {
    call->code = code;
    if (call->runtime && call->runtime->error && call->runtime->error_size > 0) {
      text.at = call->runtime->error;
      text.end = text.at + call->runtime->error_size - 1;
    }
  }
  __atomic_store_n(&call->failed, 1, __ATOMIC_RELEASE);
  rt_put(&text, call->kernel->name);
  rt_put(&text, ": ");
  return text;
}

static void rt_end_error(struct rt_call *call, struct rt_text *text) {
  if (text->at)
    *text->at = 0;
  rt_unlock(call);
}

static void rt_put_result(struct rt_text *text, const struct rt_call *call) {
  const struct rt_tensor *tensor = &call->kernel->tensors[call->making];
  rt_put(text, "computing '");
  rt_put(text, tensor->name);
  rt_put(text, "' as ");
  rt_put(text, tensor->format);
}

static void rt_put_level(struct rt_text *text, const struct rt_call *call, i64 level) {
  const struct rt_tensor *tensor = &call->kernel->tensors[call->making];
  rt_put(text, "level ");
  rt_put_number(text, level);
  if (level < 0 || level >= tensor->nlevels)
    return;
  rt_put(text, " (");
  rt_put(text, tensor->levels[level].text);
  rt_put(text, ")");
}
