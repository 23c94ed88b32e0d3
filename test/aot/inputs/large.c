/* C = A + A of so many entries, whose arrays are large, from several threads: memory that came back is taken
   again, and no more is kept than a kernel may. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "sum.h"

#include "matrix.h"

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

static long mapped(void) { return (long)(mallinfo2().hblkhd >> 20); }

/* Whether the sum of this tensor and itself is right, in the first and the last row. */
static int add(const tulle_tensor *A) {
  tulle_tensor C;
  int64_t n = A->buffers[1].count;
  int right;
  memset(&C, 0, sizeof C);
  if (sum(A, A, &C, 0) != TULLE_OK)
    return 0;
  right = C.buffers[2].count == n && ((double *)C.buffers[2].data)[0] == 2 &&
          ((double *)C.buffers[2].data)[n - 1] == 2. * (double)n &&
          ((int32_t *)C.buffers[1].data)[n - 1] == (int32_t)(n / 4 - 1);
  C.release(C.owner);
  return right;
}

static void *add_often(void *tensor) {
  int k, right = 1;
  for (k = 0; k < 5; ++k)
    right = right && add(tensor);
  return right ? tensor : 0;
}

int main(int argc, char **argv) {
  int64_t most = argc > 1 ? atol(argv[1]) : 4, n, k;
  int32_t rows[5], *columns = malloc((size_t)most * sizeof *columns);
  double *numbers = malloc((size_t)most * sizeof *numbers);
  int64_t sizes[2];
  tulle_buffer arrays[3];
  tulle_tensor A = csr(arrays);
  pthread_t threads[4];
  long before;
  A.dims = sizes, sizes[0] = 4, sizes[1] = most;
  arrays[0].data = rows, arrays[1].data = columns, arrays[2].data = numbers, arrays[0].count = 5;
  for (n = most; n > most / 2; n -= most / 40 / 4 * 4) {
    for (k = 0; k < 5; ++k)
      rows[k] = (int32_t)(k * (n / 4));
    for (k = 0; k < n; ++k)
      columns[k] = (int32_t)(k % (n / 4)), numbers[k] = (double)k + 1;
    arrays[1].count = arrays[2].count = n;
    if (!add(&A))
      return 1;
  }
  before = faults();
  for (k = 0; k < 5; ++k)
    if (!add(&A))
      return 2;
  printf("%s\n", faults() - before < 20 ? "memory was taken again" : "memory was new");
  for (k = 0; k < 4; ++k)
    pthread_create(&threads[k], 0, add_often, &A);
  for (k = 0; k < 4; ++k) {
    void *right;
    pthread_join(threads[k], &right);
    if (!right)
      return 3;
  }
  printf("%s\n", mapped() < 256 + most * 12 / (1 << 20) + 4 ? "little is kept" : "much is kept");
  free(columns), free(numbers);
  return 0;
}
