/* Two kernels in one program. */
#include "spmv.h"

#include "sum.h"

#include "matrix.h"

int main(void) {
  double x[] = {0, 1, 2, 3};
  const int64_t n = 4;
  tulle_buffer arrays[3], of_x;
  tulle_tensor A = csr(arrays), X = vector(&of_x, x, &n), Y, C;
  memset(&C, 0, sizeof C), memset(&Y, 0, sizeof Y);
  if (sum(&A, &A, &C, 0) || spmv(&C, &X, &Y, 0))
    return 1;
  print_values(Y.buffers);
  C.release(C.owner), Y.release(Y.owner);
  return 0;
}
