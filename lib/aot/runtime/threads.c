/* Parallel regions: parts are begun in ascending order, whatever the caller's hook does, since a part may wait
   for what those before it leave. */
void GOMP_parallel(void (*part)(void *), void *context, unsigned threads, unsigned flags);
int omp_get_max_threads(void);
int omp_in_parallel(void);

void tulle_rt_1_openmp_parallel(void (*part)(void *), void *context, i64 parts) {
  GOMP_parallel(part, context, (unsigned)parts, 0);
}
i64 tulle_rt_1_openmp_threads(void) { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

static i64 rt_threads(const struct rt_call *call) {
  const tulle_runtime *runtime = call->runtime;
  if (rt_innermost->worker)
    return 1;
  if (runtime && runtime->parallel)
    return runtime->threads > 0 ? runtime->threads : 1;
  if (!call->kernel->threads)
    return 1;
  const i64 free = call->kernel->threads();
  return runtime && runtime->threads > 0 && runtime->threads < free ? runtime->threads : free;
}

static i64 rt_tasks(i64 work, i64 most) {
  const i64 tasks = work / rt_current()->kernel->work_per_thread;
  return tasks < 1 ? 1 : tasks > most ? most : tasks;
}

i64 tulle_threads(i64 work) { return rt_tasks(work, rt_threads(rt_current())); }
i64 tulle_fixed_tasks(i64 work) { return rt_tasks(work, 16); }

struct rt_region {
  struct rt_call *call;
  void (*task)(void *, i64);
  void *context;
  i64 tasks, next;
  int failed;
};

static void rt_work(void *context) {
  struct rt_region *region = context;
  for (;;) {
    const i64 k = __atomic_fetch_add(&region->next, 1, __ATOMIC_RELAXED);
    if (k >= region->tasks || __atomic_load_n(&region->failed, __ATOMIC_RELAXED))
      return;
    if (!rt_run(region->call, 1, region->task, region->context, k))
      __atomic_store_n(&region->failed, 1, __ATOMIC_RELAXED);
  }
}

static void rt_part(void *context, i64 k) {
  (void)k;
  rt_work(context);
}

void tulle_parallel(i64 tasks, void (*task)(void *, i64), void *context) {
  struct rt_call *call = rt_current();
  if (tasks == 1) {
    task(context, 0);
    return;
  }
  struct rt_region region = {call, task, context, tasks, 0, 0};
  const i64 free = rt_threads(call), parts = tasks < free ? tasks : free;
  if (parts > 1 && call->runtime && call->runtime->parallel)
    call->runtime->parallel(call->runtime->user, parts, rt_part, &region);
  else if (parts > 1)
    call->kernel->parallel(rt_work, &region, parts);
  rt_work(&region); /* what the caller's hook has left */
  if (region.failed)
    rt_leave();
}
