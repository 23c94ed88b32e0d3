/* y = A x in three ways: into memory of the caller, into memory of the kernel, and from arrays alone. */
#include "spmv.h"

#include "matrix.h"

int main(void) {
  double x[] = {0, 1, 2, 3}, y[3];
  const int64_t n = 4, m = 3;
  tulle_buffer arrays[3], of_x, of_y;
  tulle_tensor A = csr(arrays), X = vector(&of_x, x, &n), Y = vector(&of_y, y, &m), made;
  if (spmv_check(&A, &X, 0, 0) != TULLE_OK || spmv(&A, &X, &Y, 0) != TULLE_OK)
    return 1;
  print_values(&of_y);
  memset(&made, 0, sizeof made);
  if (spmv(&A, &X, &made, 0) != TULLE_OK)
    return 2;
  print_values(made.buffers);
  made.release(made.owner);
  memset(y, 0, sizeof y);
  if (spmv_raw(3, 4, pos, crd, values, x, y) != TULLE_OK)
    return 3;
  print_values(&of_y);
  return strstr(spmv_info(), "\"name\":\"spmv\"") == 0;
}
