/* What the processor has, as words of bits; lib/aot/Targets.cpp says which ones LLVM's features are. */
enum { RT_CPU_WORDS = 10 };

#if defined(__x86_64__)
static void rt_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4]) {
  __asm__("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "a"(leaf), "c"(sub));
}

static void rt_cpu_words(uint64_t words[RT_CPU_WORDS]) {
  uint32_t most[4], extended[4], r[4] = {0, 0, 0, 0};
  rt_cpuid(0, 0, most);
  rt_cpuid(0x80000000u, 0, extended);
  rt_cpuid(1, 0, r);
  words[0] = r[2];
  words[1] = r[3];
  if (r[2] >> 27 & 1) { /* the system saves the registers that XCR0 names */
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    words[9] = low | (uint64_t)high << 32;
  }
  if (most[0] >= 7) {
    rt_cpuid(7, 0, r);
    words[2] = r[1];
    words[3] = r[2];
    words[4] = r[3];
    if (r[0] >= 1) {
      rt_cpuid(7, 1, r);
      words[5] = r[0];
      words[6] = r[3];
    }
  }
  if (extended[0] >= 0x80000001u) {
    rt_cpuid(0x80000001u, 0, r);
    words[7] = r[2];
    words[8] = r[3];
  }
}
#elif defined(__aarch64__)
unsigned long getauxval(unsigned long type);

static void rt_cpu_words(uint64_t words[RT_CPU_WORDS]) {
  enum { HWCAP = 16, HWCAP2 = 26 }; /* of Linux */
  words[0] = getauxval(HWCAP);
  words[1] = getauxval(HWCAP2);
}
#else
#error "the run time does not know this processor"
#endif

static int rt_suits(const struct rt_variant *variant, const uint64_t words[RT_CPU_WORDS]) {
  for (i64 k = 0; k < variant->nneeds; ++k)
    if (variant->needs[2 * k + 1] & ~words[variant->needs[2 * k]])
      return 0;
  return 1;
}

/* The last variant that this processor has all instructions of; null where there is none. */
static const struct rt_variant *rt_choose(const struct rt_kernel *kernel) {
  i64 chosen = __atomic_load_n(kernel->chosen, __ATOMIC_RELAXED);
  if (chosen == 0) {
    uint64_t words[RT_CPU_WORDS] = {0};
    rt_cpu_words(words);
    chosen = -1;
    for (i64 k = 0; k < kernel->nvariants; ++k)
      if (rt_suits(&kernel->variants[k], words))
        chosen = k + 1;
    __atomic_store_n(kernel->chosen, chosen, __ATOMIC_RELAXED);
  }
  return chosen < 0 ? 0 : &kernel->variants[chosen - 1];
}
