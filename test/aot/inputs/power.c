/* Rounds of x = A x in place: what the steps of a round leave is gone before the next one. */
#include <stdlib.h>

#include "power.h"

#include "matrix.h"

static int held, most;
static void *take(void *user, size_t bytes, size_t alignment) {
  void *data = 0;
  (void)user;
  if (posix_memalign(&data, alignment, bytes) != 0)
    return 0;
  most = ++held > most ? held : most;
  return data;
}
static void give(void *user, void *data) {
  (void)user;
  --held;
  free(data);
}

int main(void) {
  int32_t p[] = {0, 1, 2}, c[] = {1, 0};
  double v[] = {2, 3}, x[] = {1, 10};
  const int64_t size[] = {2, 2};
  tulle_buffer arrays[3], of_x;
  tulle_tensor A = csr(arrays), X = vector(&of_x, x, size), S;
  tulle_runtime runtime;
  memset(&runtime, 0, sizeof runtime), memset(&S, 0, sizeof S);
  runtime.alloc = take, runtime.free = give;
  arrays[0].data = p, arrays[1].data = c, arrays[2].data = v;
  arrays[0].count = 3, arrays[1].count = arrays[2].count = 2;
  A.dims = size;
  if (power(&X, &A, &S, &runtime) != TULLE_OK)
    return 1;
  print_values(&of_x);
  print_values(&S.buffers[2]);
  S.release(S.owner);
  printf("%d held, %s at most\n", held, most < 20 ? "few" : "many");
  return 0;
}
