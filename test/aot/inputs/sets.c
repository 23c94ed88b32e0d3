/* Sets without values: all entries of A, which share its structure, those above the diagonal, and A there. */
#include <stdlib.h>

#include "sets.h"

#include "matrix.h"

static void print_set(const tulle_tensor *set) {
  print_integers("pos[1]", &set->buffers[0]), print_integers("crd[1]", &set->buffers[1]);
  printf("%d values, %s\n", (int)set->buffers[2].count, set->buffers[2].data ? "stored" : "none is stored");
}

int main(void) {
  tulle_buffer arrays[3], of_s[3];
  tulle_tensor A = csr(arrays), S, T, B;
  tulle_runtime runtime;
  char error[200];
  memset(&S, 0, sizeof S), memset(&T, 0, sizeof T), memset(&B, 0, sizeof B), memset(&runtime, 0, sizeof runtime);
  if (sets(&A, &S, &T, &B, 0) != TULLE_OK)
    return 1;
  print_set(&S), print_set(&T);
  print_integers("crd[1]", &B.buffers[1]), print_values(&B.buffers[2]);
  S.release(S.owner), T.release(T.owner), B.release(B.owner);
  memcpy(of_s, arrays, sizeof of_s), S = A, S.buffers = of_s;
  runtime.error = error, runtime.error_size = sizeof error;
  memset(&T, 0, sizeof T), memset(&B, 0, sizeof B);
  printf("%d ", sets(&A, &S, &T, &B, &runtime));
  printf("%s\n", error);
  return 0;
}
