/* C = A + B, whose arrays the kernel makes, once from the C library's memory and once from the caller's. */
#include <stdlib.h>

#include "sum.h"

#include "matrix.h"

static int taken, given, most = 1000;

static void *take(void *user, size_t bytes, size_t alignment) {
  void *data = 0;
  (void)user;
  if (taken == most || posix_memalign(&data, alignment, bytes) != 0)
    return 0;
  ++taken;
  return data;
}
static void give(void *user, void *data) {
  (void)user;
  ++given;
  free(data);
}

int main(void) {
  tulle_buffer arrays[3], others[3];
  tulle_tensor A = csr(arrays), B = csr(others), C;
  double twice[] = {1, 1, 1, 1};
  char error[200];
  tulle_runtime runtime;
  int32_t crd_of_b[] = {1, 2, 1, 2};
  others[1].data = crd_of_b, others[2].data = twice;
  memset(&C, 0, sizeof C);
  if (sum(&A, &B, &C, 0) != TULLE_OK)
    return 1;
  print_integers("pos[1]", &C.buffers[0]), print_integers("crd[1]", &C.buffers[1]), print_values(&C.buffers[2]);
  C.release(C.owner);
  memset(&runtime, 0, sizeof runtime);
  runtime.alloc = take, runtime.free = give, runtime.error = error, runtime.error_size = sizeof error;
  for (most = 0; most < 20; ++most) {
    int code;
    memset(&C, 0, sizeof C), taken = given = 0;
    code = sum(&A, &B, &C, &runtime);
    if (code == TULLE_OK)
      break;
    if (code != TULLE_MEMORY || taken != given || C.buffers)
      return 2;
    if (most == 0)
      printf("%s\n", error);
  }
  print_values(&C.buffers[2]);
  C.release(C.owner);
  printf("%s\n", taken == given ? "all memory came back" : "memory was lost");
  return 0;
}
