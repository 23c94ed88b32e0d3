/* Multiplies a matrix in CSR by a vector, with the kernel of spmv.h. */
#include "spmv.h"
#include <stdio.h>

int main(void) {
  int32_t positions[] = {0, 2, 3}, coordinates[] = {0, 2, 1};
  double values[] = {1, 2, 3}, x[] = {10, 20, 30}, y[2];
  int64_t sizes[] = {2, 3};
  tulle_buffer of_A[] = {{positions, 3, 32, TULLE_POSITIONS},
                         {coordinates, 3, 32, TULLE_COORDINATES},
                         {values, 3, 64, TULLE_F64}};
  tulle_buffer of_x = {x, 3, 64, TULLE_F64}, of_y = {y, 2, 64, TULLE_F64};
  tulle_tensor A = {1, 2, 2, 3, sizes, of_A, NULL, NULL}, X = {1, 1, 1, 1, &sizes[1], &of_x, NULL, NULL},
               Y = {1, 1, 1, 1, &sizes[0], &of_y, NULL, NULL};
  char error[200];
  tulle_runtime runtime = {0};
  runtime.error = error, runtime.error_size = sizeof error;
  if (spmv(&A, &X, &Y, &runtime) != TULLE_OK) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  printf("%g %g\n", y[0], y[1]);
  return 0;
}
