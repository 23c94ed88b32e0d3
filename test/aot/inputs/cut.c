/* Products with slices of the matrix: of every second row, and there of two columns. */
#include <stdlib.h>

#include "cut.h"

#include "rows.h"

#include "matrix.h"

int main(void) {
  tulle_buffer arrays[3], of_x, of_v, of_y, of_z;
  double two[] = {10, 100}, four[] = {1, 2, 3, 4}, first[2], second[2];
  const int64_t sizes[] = {2, 4, 2, 4};
  tulle_tensor A = csr(arrays), x = vector(&of_x, two, sizes), v = vector(&of_v, four, sizes + 1),
               y = vector(&of_y, first, sizes), z = vector(&of_z, second, sizes), C;
  tulle_runtime runtime;
  char error[200];
  memset(&runtime, 0, sizeof runtime), memset(&C, 0, sizeof C);
  runtime.error = error, runtime.error_size = sizeof error;
  if (cut(&A, &x, &A, &v, &y, &z, 0) != TULLE_OK || cut_check(&A, &x, &A, &v, error, sizeof error) != TULLE_OK)
    return 1;
  print_values(&of_y), print_values(&of_z);
  memset(first, 0, sizeof first), memset(second, 0, sizeof second);
  if (cut_raw(3, 4, 3, 4, pos, crd, values, two, pos, crd, values, four, first, second) != TULLE_OK)
    return 2;
  print_values(&of_y), print_values(&of_z);
  if (rows(&A, &C, 0) != TULLE_OK)
    return 3;
  print_integers("pos[1]", &C.buffers[0]), print_integers("crd[1]", &C.buffers[1]), print_values(&C.buffers[2]);
  printf("%d x %d\n", (int)C.dims[0], (int)C.dims[1]);
  C.release(C.owner);
  A.dims = sizes + 2;
  printf("%d ", cut(&A, &x, &A, &v, &y, &z, &runtime));
  printf("%s\n", error);
  return 0;
}
