/* Loaded into mlir-runner before all else (scripts/upstream-tests --leaks): counts the memory that compiled code takes
   from malloc and does not free. Calls from code of no loaded file are those of compiled code. At the end the number of
   bytes is written to the file TULLE_LEAKS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 1 << 20, MODULES = 512 };
static struct block {
  void *at;
  size_t size;
} blocks[SLOTS];
static struct {
  uintptr_t begin, end;
} modules[MODULES];
static int moduleCount;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *(*realMalloc)(size_t);
static void *(*realAligned)(size_t, size_t);
static void (*realFree)(void *);

static int addModule(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  (void)data;
  for (int k = 0; k < info->dlpi_phnum; ++k)
    if (info->dlpi_phdr[k].p_type == PT_LOAD && moduleCount < MODULES) {
      modules[moduleCount].begin = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;
      modules[moduleCount].end = modules[moduleCount].begin + info->dlpi_phdr[k].p_memsz;
      ++moduleCount;
    }
  return 0;
}

static int isInModule(uintptr_t address) {
  for (int k = 0; k < moduleCount; ++k)
    if (address >= modules[k].begin && address < modules[k].end)
      return 1;
  return 0;
}

static int isCompiled(void *caller) {
  if (isInModule((uintptr_t)caller))
    return 0;
  Dl_info found;
  if (dladdr(caller, &found) && found.dli_fname) {
    moduleCount = 0;
    dl_iterate_phdr(addModule, NULL);
    return 0;
  }
  return 1;
}

static struct block *slotOf(void *at) {
  size_t k = ((uintptr_t)at >> 4) * 0x9E3779B97F4A7C15u >> 44;
  while (blocks[k].at && blocks[k].at != at)
    k = (k + 1) % SLOTS;
  return &blocks[k];
}

static void *taken(void *at, size_t size, void *caller) {
  if (at && isCompiled(caller)) {
    pthread_mutex_lock(&lock);
    struct block *slot = slotOf(at);
    slot->at = at;
    slot->size = size;
    pthread_mutex_unlock(&lock);
  }
  return at;
}

void *malloc(size_t size) {
  if (!realMalloc)
    realMalloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  return taken(realMalloc(size), size, __builtin_return_address(0));
}

void *aligned_alloc(size_t alignment, size_t size) {
  if (!realAligned)
    realAligned = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
  return taken(realAligned(alignment, size), size, __builtin_return_address(0));
}

void free(void *at) {
  if (!realFree)
    realFree = (void (*)(void *))dlsym(RTLD_NEXT, "free");
  if (at) {
    pthread_mutex_lock(&lock);
    struct block *slot = slotOf(at);
    if (slot->at)
      slot->size = 0;
    pthread_mutex_unlock(&lock);
  }
  realFree(at);
}

__attribute__((destructor)) static void report(void) {
  const char *name = getenv("TULLE_LEAKS");
  FILE *file = name ? fopen(name, "w") : NULL;
  if (!file)
    return;
  size_t bytes = 0;
  for (int k = 0; k < SLOTS; ++k)
    bytes += blocks[k].size;
  fprintf(file, "%zu\n", bytes);
  fclose(file);
}
