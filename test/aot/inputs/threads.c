/* y = A x for a matrix of many entries, on threads that OpenMP or this program gives; every hook must do, also one
   that begins parts backwards, or none of them. */
#include <stdlib.h>

#include "spmv.h"

#include "matrix.h"

enum { ROWS = 60000, EACH = 20 };
static int64_t calls, most;

static int backwards(void *user, int64_t parts, void (*part)(void *, int64_t), void *context) {
  int64_t k;
  (void)user;
  ++calls, most = parts > most ? parts : most;
  for (k = parts; k-- > 0;)
    part(context, k);
  return 0;
}
static int lazy(void *user, int64_t parts, void (*part)(void *, int64_t), void *context) {
  (void)user, (void)parts, (void)part, (void)context;
  return 1;
}

int main(void) {
  static int32_t p[ROWS + 1], c[ROWS * EACH];
  static double v[ROWS * EACH], x[ROWS], y[ROWS];
  const int64_t n = ROWS;
  const int64_t size[] = {ROWS, ROWS};
  tulle_buffer arrays[3], of_x, of_y;
  tulle_tensor A = csr(arrays), X = vector(&of_x, x, &n), Y = vector(&of_y, y, &n);
  tulle_runtime runtime;
  int (*hooks[3])(void *, int64_t, void (*)(void *, int64_t), void *) = {0, backwards, lazy};
  int k, h;
  for (k = 0; k < ROWS * EACH; ++k)
    c[k] = k / EACH / 2 + k % EACH, v[k] = k % 7;
  for (k = 0; k < ROWS; ++k)
    p[k + 1] = (k + 1) * EACH, x[k] = k % 5;
  arrays[0].data = p, arrays[0].count = ROWS + 1;
  arrays[1].data = c, arrays[2].data = v, arrays[1].count = arrays[2].count = ROWS * EACH;
  A.dims = size;
  memset(&runtime, 0, sizeof runtime);
  runtime.threads = 3;
  for (h = 0; h < 3; ++h) {
    memset(y, 0, sizeof y);
    runtime.parallel = hooks[h];
    if (spmv(&A, &X, &Y, &runtime) != TULLE_OK)
      return 1;
    for (k = 0; k < ROWS; ++k) {
      double sum = 0;
      int e;
      for (e = p[k]; e < p[k + 1]; ++e)
        sum += v[e] * x[c[e]];
      if (sum != y[k])
        return 2;
    }
  }
  printf("%s\n", calls > 0 && most == 3 ? "in three parts" : "in one part");
  return 0;
}
